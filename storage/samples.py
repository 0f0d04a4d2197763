"""What people said of the answers that a queue showed them, and what is known of how these were chosen.

Contract
--------
* `read_sample` gives every item that a stream reached: its numbers, how far the streams came, and the standing labels
  of those who were shown it. Labels that nobody was asked for (volunteered, bulk, imported) are not among them, unless
  they correct a label that was asked for.
* An item without labels is non-response: skipped, forgotten, left out as a near-duplicate, or not kept.
* What is concluded from it (`studio.calibration.sampling`) is not decided here.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

import sqlalchemy as sa
from sqlmodel import Session, col, select

from storage.database import Database
from storage.labels import standing
from storage.queue import Stream, queue_row
from storage.tables import (
    AnswerRow,
    DecisionRow,
    LabelRow,
    LeaseRow,
    QueueItemRow,
    QueueStepRow,
    VerdictRow,
)


@dataclass(frozen=True, kw_only=True)
class Said:
    """A person's standing label on an item. `true_option` is None for can't tell, and where only wrong is known."""

    labeller: str
    verdict: str
    true_option: str | None
    blind: bool
    seconds: float | None


@dataclass(frozen=True, kw_only=True)
class Item:
    """An item that a stream reached.

    `decision` is the uuid, `source` where the decision came from, `first` the stream that showed it (None: nobody was
    asked). `settled` is the newest verdict where people differed: (true option or None for can't tell,) or ().
    """

    decision: str
    source: str
    u: float
    x: float
    v: float
    before: float
    since: int
    by_queue: bool
    by_audit: bool
    first: Stream | None
    probabilities: tuple[float, ...]
    top: str
    said: tuple[Said, ...]
    settled: tuple[str | None, ...]


@dataclass(frozen=True, kw_only=True)
class Steps:
    """The servings of a stream, by number: the furthest one served, and the next unserved one (infinity: none)."""

    number: tuple[int, ...]
    served: tuple[float, ...]
    following: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A queue's sample. `population` counts all its items, reached or not; `options` are in request order."""

    type: str
    options: tuple[str, ...]
    population: int
    items: tuple[Item, ...]
    queue: Steps
    audit: Steps


def read_sample(database: Database, queue: int) -> Sample:
    """Raises NotFound."""
    with database.read_session() as session:
        row = queue_row(session, queue)
        reached = col(QueueItemRow.queue_step).is_not(None) | col(QueueItemRow.audit_step).is_not(None)
        columns = (
            col(QueueItemRow.decision), col(DecisionRow.id), col(DecisionRow.source), col(QueueItemRow.u),
            col(QueueItemRow.x), col(QueueItemRow.v), col(QueueItemRow.before), col(QueueItemRow.since),
            col(QueueItemRow.queue_step), col(QueueItemRow.audit_step), col(QueueItemRow.first),
            col(AnswerRow.type), col(AnswerRow.options), col(AnswerRow.probabilities), col(AnswerRow.top),
        )  # fmt: skip
        query = (
            sa.select(*columns)
            .join(DecisionRow, col(DecisionRow.serial) == col(QueueItemRow.decision))
            .join(
                AnswerRow,
                sa.and_(col(AnswerRow.decision) == col(QueueItemRow.decision), col(AnswerRow.question) == row.question),
            )
            .where(col(QueueItemRow.queue) == queue, reached)
        )
        rows = session.execute(query.order_by(col(QueueItemRow.serial))).all()
        said, settled = _said(session, queue, row.question), _settled(session, queue, row.question)
        population = sa.select(sa.func.count()).where(col(QueueItemRow.queue) == queue)
        return Sample(
            type=rows[0].type if rows else "",
            options=tuple(rows[0].options) if rows else (),
            population=session.execute(population).scalar_one(),
            items=tuple(
                Item(
                    decision=r.id,
                    source=r.source,
                    u=r.u,
                    x=r.x,
                    v=r.v,
                    before=r.before,
                    since=r.since,
                    by_queue=r.queue_step is not None,
                    by_audit=r.audit_step is not None,
                    first=r.first,
                    probabilities=tuple(r.probabilities),
                    top=r.top,
                    said=tuple(said[r.decision]),
                    settled=settled.get(r.decision, ()),
                )
                for r in rows
            ),
            queue=_steps(session, queue, "queue"),
            audit=_steps(session, queue, "audit"),
        )


def asked_for(queue: int) -> sa.ColumnElement[bool]:
    """Condition on labels: their labeller labelled the answer in its turn."""
    return sa.exists().where(
        col(QueueItemRow.queue) == queue,
        col(QueueItemRow.decision) == col(LabelRow.decision),
        col(LeaseRow.item) == col(QueueItemRow.serial),
        col(LeaseRow.labeller) == col(LabelRow.labeller),
        col(LeaseRow.outcome) == "labelled",
    )


def _said(session: Session, queue: int, question: str) -> dict[int, list[Said]]:
    query = select(LabelRow).where(LabelRow.question == question, *standing(), asked_for(queue))
    found: dict[int, list[Said]] = defaultdict(list)
    for row in session.exec(query.order_by(col(LabelRow.serial))):
        said = Said(
            labeller=row.labeller,
            verdict=row.verdict,
            true_option=row.true_option,
            blind=row.blind,
            seconds=row.seconds,
        )
        found[row.decision].append(said)
    return found


def _settled(session: Session, queue: int, question: str) -> dict[int, tuple[str | None, ...]]:
    query = (
        select(VerdictRow)
        .join(QueueItemRow, col(QueueItemRow.decision) == col(VerdictRow.decision))
        .where(QueueItemRow.queue == queue, VerdictRow.question == question)
    )
    return {row.decision: (row.true_option,) for row in session.exec(query.order_by(col(VerdictRow.serial)))}


def _steps(session: Session, queue: int, stream: Stream) -> Steps:
    query = select(QueueStepRow).where(QueueStepRow.queue == queue, QueueStepRow.stream == stream)
    rows = session.exec(query.order_by(col(QueueStepRow.step))).all()
    return Steps(
        number=tuple(row.step for row in rows),
        served=tuple(row.served for row in rows),
        following=tuple(math.inf if row.following is None else row.following for row in rows),
    )
