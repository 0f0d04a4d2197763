"""Labels that nobody was asked for: volunteered, given in bulk, imported. They teach; they never measure.

Contract
--------
Reads only. They are read to show what they *would* have claimed, beside what the asked-for ones say. One row per
answer: its newest standing label that decides it, by whomever.
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from sqlmodel import col

from storage.database import Database
from storage.labels import standing
from storage.samples import asked_for
from storage.tables import AnswerRow, DecisionRow, ErasureRow, LabelRow, QueueRow, VerdictRow


@dataclass(frozen=True, kw_only=True)
class Unasked:
    """A label that nobody was asked for. `true_option` is None where it only says that the leading option is wrong."""

    decision: str
    probabilities: tuple[float, ...]
    true_option: str | None


def unasked_labels(
    database: Database, *, questions: str, scorer: str, question: str, queue: int | None
) -> list[Unasked]:
    """The labels on these answers that `queue` did not ask for (None: nobody was asked), oldest answer first."""
    conditions = [
        col(DecisionRow.questions) == questions,
        col(DecisionRow.scorer) == scorer,
        col(LabelRow.question) == question,
        col(LabelRow.verdict).in_(("right", "wrong")),
        standing()[0],
    ]
    if queue is not None:
        conditions.append(~asked_for(queue))
    query = (
        sa.select(col(LabelRow.decision), col(DecisionRow.id), col(AnswerRow.probabilities), col(LabelRow.true_option))
        .join(DecisionRow, col(DecisionRow.serial) == col(LabelRow.decision))
        .join(
            AnswerRow,
            sa.and_(
                col(AnswerRow.decision) == col(LabelRow.decision), col(AnswerRow.question) == col(LabelRow.question)
            ),
        )
        .where(*conditions)
        .order_by(col(LabelRow.serial))
    )
    with database.read_session() as session:
        newest = {
            serial: Unasked(decision=key, probabilities=tuple(probabilities), true_option=option)
            for serial, key, probabilities, option in session.execute(query)
        }
    return [newest[serial] for serial in sorted(newest)]


def stamp(database: Database, queue: int | None) -> tuple[int, ...]:
    """Changes with whatever the statistics of a queue are made of: cheap to ask, to know whether they still hold."""
    with database.read_session() as session:
        newest = [session.execute(sa.select(sa.func.max(column))).scalar() or 0 for column in _SERIALS]
        erased = session.execute(sa.select(sa.func.count()).select_from(ErasureRow)).scalar_one()
        row = None if queue is None else session.get(QueueRow, queue)
    return (*newest, erased, 0 if row is None else row.step)


_SERIALS = (col(LabelRow.serial), col(VerdictRow.serial))
