"""Finding decisions: by words of their state, and by what was answered and labelled.

Contract
--------
* Words are found by their beginning, without regard to case and accents; all of them must be there. What a person types
  is never read as a query language.
* `find` pages through by serial, newest first, within one set of questions, scorer and question.
* Whatever is labelled from here is `volunteered`, or `bulk` (`accept`): it teaches, it never measures.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

import sqlalchemy as sa
from sqlmodel import Session, col, select

from storage.database import Database
from storage.errors import InvalidValue, NotFound, checked_id, checked_text
from storage.labels import LABELLER_LENGTH, standing, write_label
from storage.states_index import matching
from storage.tables import AnswerRow, DecisionRow, LabelRow

Differs: TypeAlias = Literal["model", "people"]

MOST = 500
"""Decisions that one bulk action may label."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """A decision that was found. `labels` are (labeller, verdict, true option, source) of those that stand."""

    serial: int
    id: str
    created: datetime
    preview: str
    redacted: bool
    top: str
    probability: float
    labels: tuple[tuple[str, str, str | None, str], ...]


@dataclass(frozen=True, kw_only=True)
class Filter:
    """What to find; what is None (or "") does not matter.

    `option`: the model's answer or a label's true option. `low`, `high`: probability of the model's answer. `stream`:
    the source of a standing label. `differs`: a label differs from the model, or people from each other. `labelled`:
    whether anybody labelled the answer.
    """

    text: str = ""
    option: str | None = None
    low: float | None = None
    high: float | None = None
    stream: str | None = None
    labeller: str | None = None
    differs: Differs | None = None
    labelled: bool | None = None


def find(
    database: Database,
    *,
    questions: str,
    scorer: str,
    question: str,
    wanted: Filter,
    limit: int = 50,
    before: int | None = None,
) -> list[Found]:
    """What fits, newest first, at most `limit`, older than the serial `before`. Raises InvalidValue."""
    for name, value in (("low", wanted.low), ("high", wanted.high)):
        if value is not None and not 0 <= value <= 1:
            raise InvalidValue(name, f"must be a probability from 0 to 1, not {value}")
    query = (
        sa.select(DecisionRow, AnswerRow)
        .join(
            AnswerRow, sa.and_(col(AnswerRow.decision) == col(DecisionRow.serial), col(AnswerRow.question) == question)
        )
        .where(
            col(DecisionRow.questions) == questions, col(DecisionRow.scorer) == scorer, *_conditions(question, wanted)
        )
    )
    if before is not None:
        query = query.where(col(DecisionRow.serial) < before)
    with database.read_session() as session:
        if (serials := matching(session, wanted.text)) is not None:
            query = query.where(col(DecisionRow.serial).in_(serials))
        rows = session.execute(query.order_by(col(DecisionRow.serial).desc()).limit(limit)).all()
        labels = _labels(session, question, [row.serial for row, _ in rows])
        return [
            Found(
                serial=row.serial,
                id=row.id,
                created=row.created,
                preview=row.preview,
                redacted=row.redacted is not None,
                top=answer.top,
                probability=answer.probability,
                labels=tuple(labels[row.serial]),
            )
            for row, answer in rows
        ]


def accept(
    database: Database, *, id: str, decisions: Sequence[str], question: str, choice: str | None, labeller: str
) -> int:
    """Labels many answers at once, as `bulk`; returns how many.

    Parameters
    ----------
    id : a uuid of this action; sent again, it is done once.
    choice : the option that is true of all of them; None accepts the model's answer of each.

    Raises
    ------
    InvalidValue : too many, or `labeller`; InvalidLabel : `choice`; NotFound : a decision or the question.
    """
    action = uuid.UUID(checked_id(id, "id"))
    who = checked_text(labeller, "labeller", limit=LABELLER_LENGTH, blank=False)
    if len(decisions) > MOST:
        raise InvalidValue("decisions", f"are {len(decisions):,}; at most {MOST} at once")
    with database.write_session() as session:
        query = (
            sa.select(DecisionRow, AnswerRow)
            .join(AnswerRow, col(AnswerRow.decision) == col(DecisionRow.serial))
            .where(col(DecisionRow.id).in_(decisions), col(AnswerRow.question) == question)
        )
        answers = {row.id: answer for row, answer in session.execute(query)}
        for key in decisions:
            if key not in answers:
                raise NotFound("decisions", f"there is no decision {key} with a question {question!r}")
            answer = answers[key]
            right = choice is None or choice == answer.top
            write_label(
                session,
                answer,
                id=str(uuid.uuid5(action, key)),
                verdict="right" if right else "wrong",
                true_option=answer.top if right else choice,
                labeller=who,
                source="bulk",
            )
    return len(answers)


def _conditions(question: str, wanted: Filter) -> list[sa.ColumnElement[bool]]:
    found: list[sa.ColumnElement[bool]] = []
    if wanted.option is not None:
        named = _any_label(question, col(LabelRow.true_option) == wanted.option)
        found.append((col(AnswerRow.top) == wanted.option) | named)
    if wanted.low is not None:
        found.append(col(AnswerRow.probability) >= wanted.low)
    if wanted.high is not None:
        found.append(col(AnswerRow.probability) <= wanted.high)
    if wanted.stream is not None:
        found.append(_any_label(question, col(LabelRow.source) == wanted.stream))
    if wanted.labeller is not None:
        found.append(_any_label(question, col(LabelRow.labeller) == wanted.labeller))
    if wanted.labelled is not None:
        there = _any_label(question)
        found.append(there if wanted.labelled else ~there)
    if wanted.differs == "model":
        found.append(_any_label(question, col(LabelRow.verdict) == "wrong"))
    elif wanted.differs == "people":
        said = sa.func.coalesce(col(LabelRow.true_option), "")
        kinds = sa.select(sa.func.count(sa.distinct(said))).where(*_on_this(question))
        found.append(kinds.correlate(DecisionRow).scalar_subquery() > 1)
    return found


def _on_this(question: str) -> tuple[sa.ColumnElement[bool], ...]:
    return (col(LabelRow.decision) == col(DecisionRow.serial), col(LabelRow.question) == question, *standing())


def _any_label(question: str, *conditions: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    query = sa.select(sa.literal(1)).select_from(LabelRow).where(*_on_this(question), *conditions)
    return query.correlate(DecisionRow).exists()


def _labels(
    session: Session, question: str, serials: Sequence[int]
) -> dict[int, list[tuple[str, str, str | None, str]]]:
    query = select(LabelRow).where(col(LabelRow.decision).in_(serials), LabelRow.question == question, *standing())
    found: dict[int, list[tuple[str, str, str | None, str]]] = defaultdict(list)
    for row in session.exec(query.order_by(col(LabelRow.serial))):
        found[row.decision].append((row.labeller, row.verdict, row.true_option, row.source))
    return found
