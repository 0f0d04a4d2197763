"""Queues: the answers to one question by one scorer, waiting for people, and how they are chosen.

Contract
--------
* A queue holds every decision that was asked the same questions of the same scorer, whatever its source, as `items`. It
  is found by `open_queue`, which makes it where it is missing.
* Items enter by `enrol`, each once, with three random numbers that are drawn here and never again, and the target
  inclusion x that the caller computed from the model's doubt (`studio.calibration.sampling`).
* The order of service is that of u / x in the stream `queue`, and of v in the stream `audit`. Who is served is
  `storage.leases`; what may be concluded is `storage.samples`.
* Another measure of doubt (`remeasure`) changes x. What each item's inclusion had become until then stays known.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import sqlalchemy as sa
from sqlmodel import Session, col, select

from storage.database import Database
from storage.errors import InvalidValue, NotFound
from storage.replays import replayed
from storage.schemas import read_questions
from storage.tables import MEASURES, AnswerRow, DecisionRow, QueueItemRow, QueueRow, QueueStepRow, ScorerRow

Stream: TypeAlias = Literal["queue", "audit"]
Measure: TypeAlias = Literal["margin", "entropy", "cost"]

_RANDOM = random.SystemRandom()
"""Not seeded: nobody can foresee who will be asked about what."""
SHARES = ("audit_share", "overlap", "blind_queue", "blind_audit")


@dataclass(frozen=True, kw_only=True)
class Queue:
    """A queue and its settings. `questions` is the sha256 of the set, `scorer` a fingerprint; shares are in [0, 1]."""

    serial: int
    questions: str
    scorer: str
    question: str
    type: str
    measure: Measure
    audit_share: float
    overlap: float
    blind_queue: float
    blind_audit: float
    apart: bool


@dataclass(frozen=True, kw_only=True)
class Arrivals:
    """Decisions that are not in the queue yet: their serials and probabilities, in request order.

    `base` and `through` are the serials between which they were looked for; `more` says whether there are others.
    """

    queue: int
    ordered: bool
    decisions: tuple[int, ...]
    probabilities: tuple[tuple[float, ...], ...]
    base: int
    through: int
    more: bool


def draw() -> float:
    """A random number in (0, 1]: with a 0, an item would be served before everything, whatever its doubt."""
    return 1 - _RANDOM.random()


def next_stream(queue: int, audit: int, share: float) -> Stream:
    """Which stream serves next, after so many items were reached by each: the audit keeps up with its share."""
    return "audit" if audit + 1 <= share * (queue + audit + 1) + 1e-9 else "queue"


def open_queue(database: Database, *, questions: str, scorer: str, question: str) -> Queue:
    """The queue of these answers, made where it is missing.

    Raises
    ------
    NotFound : the set of questions, the scorer or the question.
    """
    with database.read_session() as session:
        row = _find(session, questions, scorer, question)
        if row is not None:
            return _view(session, row)
    with database.write_session() as session:
        row = _find(session, questions, scorer, question)
        if row is None:
            if session.get(ScorerRow, scorer) is None:
                raise NotFound("scorer", f"no decision of a scorer {scorer[:16]!r} is kept")
            row = QueueRow(questions=questions, scorer=scorer, question=question)
            _type(session, row)
            session.add(row)
            session.flush()
        return _view(session, row)


def find_queue(database: Database, *, questions: str, scorer: str, question: str) -> Queue | None:
    """The queue of these answers, None where nobody has opened one."""
    with database.read_session() as session:
        row = _find(session, questions, scorer, question)
        return None if row is None else _view(session, row)


def set_queue(database: Database, queue: int, *, apart: bool | None = None, **shares: float) -> Queue:
    """Changes settings: shares in [0, 1] by name (`SHARES`), and whether near-duplicates are left out.

    What was shown already keeps how it was shown. Raises NotFound, InvalidValue.
    """
    for name, value in shares.items():
        if name not in SHARES:
            raise InvalidValue(name, f"is no setting of a queue; use {', '.join(SHARES)} or apart")
        if not (math.isfinite(value) and 0 <= value <= 1):
            raise InvalidValue(name, f"must be a share from 0 to 1, not {value}")
    with database.write_session() as session:
        row = queue_row(session, queue)
        for name, value in shares.items():
            setattr(row, name, value)
        if apart is not None:
            row.apart = apart
        if "overlap" in shares:
            # By the permanent w, so that a larger share takes in those of the smaller one. Not of those left out (0).
            wanted = sa.case((col(QueueItemRow.w) < shares["overlap"], 2), else_=1)
            items = sa.update(QueueItemRow).where(col(QueueItemRow.queue) == queue, col(QueueItemRow.wanted) > 0)
            session.execute(items.values(wanted=wanted).execution_options(synchronize_session=False))
        return _view(session, row)


def arrivals(database: Database, queue: int, *, limit: int) -> Arrivals:
    """The oldest decisions that are not in the queue yet, at most `limit`, replayed ones left out. Raises NotFound."""
    with database.read_session() as session:
        row = queue_row(session, queue)
        query = (
            sa.select(col(DecisionRow.serial), col(AnswerRow.probabilities))
            .join(AnswerRow, sa.and_(col(AnswerRow.decision) == col(DecisionRow.serial), _asks(row.question)))
            .where(
                col(DecisionRow.questions) == row.questions,
                col(DecisionRow.scorer) == row.scorer,
                col(DecisionRow.serial) > row.enrolled,
                ~replayed(),
            )
        )
        found = session.execute(query.order_by(col(DecisionRow.serial)).limit(limit + 1)).all()
        kept = found[:limit]
        return Arrivals(
            queue=queue,
            ordered=_type(session, row) == "score",
            decisions=tuple(serial for serial, _ in kept),
            probabilities=tuple(tuple(p) for _, p in kept),
            base=row.enrolled,
            through=kept[-1][0] if kept else row.enrolled,
            more=len(found) > limit,
        )


def enrol(database: Database, given: Arrivals, targets: Sequence[float]) -> int:
    """Puts arrivals into their queue with their target inclusions, each in (0, 1]; returns how many.

    Another caller who was there first has enrolled them: then nothing happens. Raises NotFound, InvalidValue.
    """
    if len(targets) != len(given.decisions):
        raise InvalidValue("targets", f"must be one for each of the {len(given.decisions)} decisions")
    if any(not 0 < x <= 1 for x in targets):
        raise InvalidValue("targets", "must be over 0 and at most 1")
    with database.write_session() as session:
        row = queue_row(session, given.queue)
        if row.enrolled != given.base:
            return 0
        # One may have been deleted meanwhile.
        there = {
            serial
            for start in range(0, len(given.decisions), 10_000)
            for serial in session.execute(
                sa.select(col(DecisionRow.serial)).where(
                    col(DecisionRow.serial).in_(given.decisions[start : start + 10_000])
                )
            ).scalars()
        }
        rows = [_item(row, d, x) for d, x in zip(given.decisions, targets, strict=True) if d in there]
        if rows:
            session.execute(sa.insert(QueueItemRow), rows)
        row.enrolled = given.through
        return len(rows)


def _item(queue: QueueRow, decision: int, x: float) -> dict[str, float | int | None]:
    u, v, w = draw(), draw(), draw()
    return {
        "queue": queue.serial,
        "decision": decision,
        "u": u,
        "v": v,
        "w": w,
        "x": x,
        "place": u / x,
        "before": 0.0,
        "since": queue.step,
        "wanted": 2 if w < queue.overlap else 1,
        "answers": 0,
    }


def items_of(database: Database, queue: int) -> tuple[bool, dict[int, tuple[float, ...]]]:
    """Whether the options are ordered, and each enrolled item's probabilities: what `remeasure` needs targets for."""
    with database.read_session() as session:
        row = queue_row(session, queue)
        query = (
            sa.select(col(QueueItemRow.serial), col(AnswerRow.probabilities))
            .join(AnswerRow, sa.and_(col(AnswerRow.decision) == col(QueueItemRow.decision), _asks(row.question)))
            .where(col(QueueItemRow.queue) == queue)
        )
        return _type(session, row) == "score", {serial: tuple(p) for serial, p in session.execute(query)}


def remeasure(database: Database, queue: int, measure: Measure, targets: Mapping[int, float]) -> None:
    """Orders the queue by another measure of doubt.

    Parameters
    ----------
    targets : by serial of the item, its new target inclusion; items without one (they just arrived) keep theirs.

    What each item's inclusion had become is kept as `before`, and counts if it is greater than what the new order
    reaches. Raises NotFound, InvalidValue.
    """
    if measure not in MEASURES:
        raise InvalidValue("measure", f"{measure!r} is not known; use one of {', '.join(MEASURES)}")
    if any(not 0 < x <= 1 for x in targets.values()):
        raise InvalidValue("targets", "must be over 0 and at most 1")
    with database.write_session() as session:
        row = queue_row(session, queue)
        row.measure = measure
        reach = Reach(session, queue)
        query = select(QueueItemRow).where(QueueItemRow.queue == queue)
        changes = []
        for item in session.exec(query):
            x = targets.get(item.serial or 0, item.x)
            before = reach.queue(item)
            changes.append({"serial": item.serial, "x": x, "place": item.u / x, "before": before})
        # The audit's order does not change: only the queue's servings up to here are closed for these items.
        session.execute(sa.delete(QueueStepRow).where(col(QueueStepRow.queue) == queue, _of("queue")))
        if changes:
            session.execute(sa.update(QueueItemRow), changes)


class Reach:
    """How far the streams of a queue came, to tell the inclusion of an item (the formulas of `sampling`)."""

    def __init__(self, session: Session, queue: int) -> None:
        self._steps: dict[str, list[tuple[int, float, float]]] = {"queue": [], "audit": []}
        query = select(QueueStepRow).where(QueueStepRow.queue == queue)
        rows = session.exec(query.order_by(col(QueueStepRow.step).desc())).all()
        furthest = {"queue": (0.0, 0.0), "audit": (0.0, 0.0)}
        for row in rows:
            served, following = furthest[row.stream]
            coming = math.inf if row.following is None else row.following
            furthest[row.stream] = max(served, row.served), max(following, coming)
            self._steps[row.stream].append((row.step, *furthest[row.stream]))

    def queue(self, item: QueueItemRow) -> float:
        """The inclusion by the queue."""
        reached = self._came("queue", item.since, item.queue_step is not None)
        return min(1.0, max(item.before, item.x * reached))

    def audit(self, item: QueueItemRow) -> float:
        """The inclusion by the audit."""
        return min(1.0, self._came("audit", item.since, item.audit_step is not None))

    def either(self, item: QueueItemRow) -> float:
        """The inclusion by the queue, the audit, or both."""
        return 1 - (1 - self.queue(item)) * (1 - self.audit(item))

    def _came(self, stream: Stream, since: int, reached: bool) -> float:
        steps = self._steps[stream]
        # Newest first: the first one after `since` from the end holds the furthest of all after it.
        low, high = 0, len(steps)
        while low < high:
            middle = (low + high) // 2
            if steps[middle][0] > since:
                low = middle + 1
            else:
                high = middle
        if low == 0:
            return 0.0
        _, served, following = steps[low - 1]
        return following if reached else served


def queue_row(session: Session, queue: int) -> QueueRow:
    """Raises NotFound."""
    row = session.get(QueueRow, queue)
    if row is None:
        raise NotFound("queue", f"there is no queue {queue}; open it by its question")
    return row


def _find(session: Session, questions: str, scorer: str, question: str) -> QueueRow | None:
    query = select(QueueRow).where(
        QueueRow.questions == questions, QueueRow.scorer == scorer, QueueRow.question == question
    )
    return session.exec(query).first()


def _type(session: Session, row: QueueRow) -> str:
    try:
        asked = read_questions(session, row.questions)
    except sa.exc.NoResultFound:
        raise NotFound("questions", f"no questions {row.questions[:16]!r} are kept") from None
    if row.question not in asked:
        raise NotFound("question", f"these questions have no {row.question!r}")
    return asked[row.question].type


def _asks(question: str) -> sa.ColumnElement[bool]:
    return col(AnswerRow.question) == question


def _of(stream: Stream) -> sa.ColumnElement[bool]:
    return col(QueueStepRow.stream) == stream


def _view(session: Session, row: QueueRow) -> Queue:
    assert row.serial is not None
    return Queue(
        serial=row.serial,
        questions=row.questions,
        scorer=row.scorer,
        question=row.question,
        type=_type(session, row),
        measure=row.measure,  # type: ignore[arg-type]
        audit_share=row.audit_share,
        overlap=row.overlap,
        blind_queue=row.blind_queue,
        blind_audit=row.blind_audit,
        apart=row.apart,
    )
