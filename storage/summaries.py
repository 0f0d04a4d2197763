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
    conditions = []
    if schema_id is not None:
        conditions.append(col(DecisionRow.schema_id) == plain_id(schema_id))
    if version is not None:
        conditions.append(col(DecisionRow.version) == version)
    if before is not None:
        conditions.append(col(DecisionRow.serial) < before)
    with database.read_session() as session:
        serials = _serials(session, show, conditions, limit)
        query = select(DecisionRow, ScorerRow.name).join(
            ScorerRow, col(ScorerRow.fingerprint) == col(DecisionRow.scorer)
        )
        rows = session.exec(query.where(col(DecisionRow.serial).in_(serials)).order_by(col(DecisionRow.serial).desc()))
        return _summaries(session, rows.all())


def _serials(session: Session, show: Show, conditions: Sequence[sa.ColumnElement[bool]], limit: int) -> list[int]:
    """The newest decisions that fit. Each query walks an index from its end and stops at the limit."""
    serial = col(DecisionRow.serial)
    found: set[int | None] = set()
    if show in ("all", "kept", "history"):
        kept = () if show == "all" else (col(DecisionRow.kept),)
        query = sa.select(serial).where(*conditions, *kept).order_by(serial.desc()).limit(limit)
        found.update(session.execute(query).scalars())
    if show in ("labelled", "history"):
        case = col(LabelRow.decision)
        labelled = sa.select(case).join(DecisionRow, serial == case).where(*conditions, *_standing())
        query = labelled.distinct().order_by(case.desc()).limit(limit)
        found.update(session.execute(query).scalars())
    return sorted((number for number in found if number is not None), reverse=True)[:limit]


def _standing() -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    """Conditions on labels: nobody superseded or withdrew them."""
    newer = sa.orm.aliased(LabelRow)
    replaced = sa.exists().where(col(newer.supersedes) == col(LabelRow.serial))
    return ~replaced, col(LabelRow.verdict) != "withdrawn"


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
    labels = _count(session, col(LabelRow.decision), col(LabelRow.question), serials, *_standing())
    pictures = _count(session, col(DecisionPictureRow.decision), col(DecisionPictureRow.position), serials)
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
    session: Session, decision: Any, counted: Any, serials: Sequence[int | None], *conditions: sa.ColumnElement[bool]
) -> dict[int, int]:
    """How many different `counted` each decision has, for those that have any."""
    query = sa.select(decision, func.count(sa.distinct(counted))).where(decision.in_(serials), *conditions)
    return {int(serial): int(number) for serial, number in session.execute(query.group_by(decision))}
