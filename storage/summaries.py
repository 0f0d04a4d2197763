"""Decisions as a list shows them: small, newest first, with the leading answers and how much is labelled.

Contract
--------
Reads only. Pages through by `serial`, so that decisions which arrive meanwhile move nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

import sqlalchemy as sa
from sqlmodel import Session, col, func, select

from storage.database import Database
from storage.errors import plain_id
from storage.tables import AnswerRow, DecisionPictureRow, DecisionRow, LabelRow, ScorerRow

Show: TypeAlias = Literal["all", "kept", "labelled", "history"]
"""`history` is what somebody kept or labelled."""


@dataclass(frozen=True, kw_only=True)
class TopAnswer:
    """An answer as a list shows it: the leading option and its probability."""

    question: str
    type: str
    top: str
    probability: float
    expected_level: float | None


@dataclass(frozen=True, kw_only=True)
class DecisionSummary:
    """A decision as a list shows it. `labels` counts answers that have a standing label."""

    serial: int
    id: str
    created: datetime
    preview: str
    source: str
    kept: bool
    schema_id: str | None
    version: int | None
    questions_sha256: str
    scorer: str
    fingerprint: str
    pictures: int
    labels: int
    answers: tuple[TopAnswer, ...]


def list_decisions(
    database: Database,
    *,
    show: Show = "history",
    schema_id: str | None = None,
    version: int | None = None,
    limit: int = 50,
    before: int | None = None,
) -> list[DecisionSummary]:
    """Decisions, newest first.

    Parameters
    ----------
    schema_id, version : only those of this schema, or of this version of it.
    limit : how many at most.
    before : only those older than this `serial` (the last one of the page before).
    """
    query = select(DecisionRow, ScorerRow.name).join(ScorerRow, col(ScorerRow.fingerprint) == col(DecisionRow.scorer))
    labelled = col(DecisionRow.serial).in_(_standing().with_only_columns(col(LabelRow.decision)))
    conditions = {
        "kept": col(DecisionRow.kept),
        "labelled": labelled,
        "history": sa.or_(col(DecisionRow.kept), labelled),
    }
    if show != "all":
        query = query.where(conditions[show])
    if schema_id is not None:
        query = query.where(DecisionRow.schema_id == plain_id(schema_id))
    if version is not None:
        query = query.where(DecisionRow.version == version)
    if before is not None:
        query = query.where(col(DecisionRow.serial) < before)
    with database.read_session() as session:
        rows = session.exec(query.order_by(col(DecisionRow.serial).desc()).limit(limit)).all()
        return _summaries(session, rows)


def _standing() -> sa.Select[Any]:
    """Labels that nobody superseded or withdrew."""
    newer = sa.orm.aliased(LabelRow)
    replaced = sa.exists().where(col(newer.supersedes) == col(LabelRow.serial))
    return sa.select(LabelRow).where(~replaced, col(LabelRow.verdict) != "withdrawn")


def _summaries(session: Session, rows: Sequence[tuple[DecisionRow, str]]) -> list[DecisionSummary]:
    serials = [row.serial for row, _ in rows]
    answers: dict[int, list[TopAnswer]] = {}
    query = select(AnswerRow).where(col(AnswerRow.decision).in_(serials))
    for answer in session.exec(query.order_by(col(AnswerRow.decision), col(AnswerRow.position))):
        top = TopAnswer(
            question=answer.question,
            type=answer.type,
            top=answer.top,
            probability=answer.probability,
            expected_level=answer.expected_level,
        )
        answers.setdefault(answer.decision, []).append(top)
    answered = sa.distinct(col(LabelRow.question))
    labels = _count(session, _standing(), col(LabelRow.decision), answered, serials)
    pictures = _count(
        session, sa.select(DecisionPictureRow), col(DecisionPictureRow.decision), DecisionPictureRow.position, serials
    )
    return [
        DecisionSummary(
            serial=serial,
            id=row.id,
            created=row.created,
            preview=row.preview,
            source=row.source,
            kept=row.kept,
            schema_id=row.schema_id,
            version=row.version,
            questions_sha256=row.questions,
            scorer=scorer,
            fingerprint=row.scorer,
            pictures=pictures.get(serial, 0),
            labels=labels.get(serial, 0),
            answers=tuple(answers.get(serial, ())),
        )
        for serial, (row, scorer) in zip(serials, rows, strict=True)
        if serial is not None
    ]


def _count(
    session: Session, query: sa.Select[Any], decision: Any, counted: Any, serials: Sequence[int | None]
) -> dict[int, int]:
    """How many `counted` each decision has, for those that have any."""
    grouped = query.with_only_columns(decision, func.count(counted)).where(decision.in_(serials)).group_by(decision)
    return {int(serial): int(number) for serial, number in session.execute(grouped)}
