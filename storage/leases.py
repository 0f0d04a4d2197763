"""Leases: who is shown which item of a queue, and what they did with it.

Contract
--------
* `take` hands a page its next items: first what it holds already, then items that want another person or whose lease
  ended without a word, then new ones from both streams. Nobody else gets an item while a lease holds it, unless it
  wants two people.
* `perform` does what people did (label, skip, undo), in order, each by the uuid that the page made: sent again, it is
  done once. What it returns is on the disk.
* A label given late, after its lease ended, is kept like any other.
* Skips, leases that ended, near-duplicates and states that are not kept (any more) leave an item without an outcome; it
  stays in the sample (`storage.samples`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, TypeAlias
from uuid import uuid4

import sqlalchemy as sa
from sqlmodel import Session, col, select

from storage.database import Database
from storage.errors import (
    Conflict,
    InvalidLabel,
    InvalidValue,
    NotFound,
    StorageError,
    checked_id,
    checked_text,
    plain_id,
)
from storage.labels import LABELLER_LENGTH, write_label, write_undo
from storage.queue import Reach, Stream, draw, next_stream, queue_row
from storage.sketch import near, sketch
from storage.tables import (
    ActRow,
    AnswerRow,
    DecisionBodyRow,
    DecisionPictureRow,
    DecisionRow,
    LabelRow,
    LeaseRow,
    QueueItemRow,
    QueueRow,
    QueueStepRow,
    now,
)

HOLD = timedelta(minutes=15)
"""How long a lease lasts; every `take` of its page begins it anew."""
COMPARED = 2_000
"""So many of the items shown last are looked at for near-duplicates."""

Kind: TypeAlias = Literal["label", "skip", "undo"]


@dataclass(frozen=True, kw_only=True)
class Lease:
    """An item that a page holds.

    `decision` is its uuid. `inclusion` is the probability that this item is shown at all, as far as the streams have
    come, `drawn` that by its own stream. `second`: somebody labelled it already, and it wants two people. `blind`: the
    model's answer is to be hidden.
    """

    id: str
    decision: str
    question: str
    stream: Stream
    blind: bool
    second: bool
    inclusion: float
    drawn: float


@dataclass(frozen=True, kw_only=True)
class Act:
    """What a person did with a lease. `id` is a uuid of the page's.

    A label has the option `choice` that the person holds for true (None: can't tell), with `note` and `seconds`, and
    `hidden` if the page hid the model's answer, whether or not the lease asked for it. An undo takes back what was done
    with this lease last.
    """

    id: str
    kind: Kind
    lease: str
    choice: str | None = None
    note: str = ""
    seconds: float | None = None
    hidden: bool = False


@dataclass(frozen=True, kw_only=True)
class Done:
    """What became of an act. `error` says why it was refused, None if it is on the disk.

    For a label, `verdict` and the model's `top` option.
    """

    id: str
    error: StorageError | None = None
    verdict: str | None = None
    top: str | None = None


def take(database: Database, queue: int, *, labeller: str, tab: str, want: int, hold: timedelta = HOLD) -> list[Lease]:
    """The items that the page `tab` of `labeller` holds now, at most `want`, in the order in which to show them.

    Raises
    ------
    NotFound : `queue`.
    InvalidValue : `labeller` or `tab`.
    """
    who = checked_text(labeller, "labeller", limit=LABELLER_LENGTH, blank=False)
    page = checked_id(tab, "tab")
    with database.write_session() as session:
        row = queue_row(session, queue)
        held = _held(session, queue, who, page, hold)
        taken: list[LeaseRow] = []
        if len(held) < want:
            for item in _waiting(session, queue, who, want - len(held)):
                assert item.first is not None
                taken.append(_lease(row, item, item.first, who, page, hold))
            if len(held) + len(taken) < want:
                fresh = _Servings(session, row).serve(want - len(held) - len(taken))
                taken += [_lease(row, item, stream, who, page, hold) for item, stream in fresh]
            session.add_all(taken)
            session.flush()
        return _views(session, queue, [*held, *taken][:want])


def perform(database: Database, acts: Sequence[Act], *, labeller: str) -> list[Done]:
    """Does what a person did, in order and in one transaction; what is refused leaves the others as they are.

    Raises
    ------
    InvalidValue : `labeller`.
    """
    who = checked_text(labeller, "labeller", limit=LABELLER_LENGTH, blank=False)
    done = []
    with database.write_session() as session:
        for act in acts:
            try:
                with session.begin_nested():
                    done.append(_perform(session, act, who))
            except StorageError as error:
                done.append(Done(id=act.id, error=error))
    return done


@dataclass(frozen=True, kw_only=True)
class Status:
    """Where a queue stands for a person: items that wait for them, and answers that anybody labelled, by stream."""

    waiting: int
    labelled: int
    by_audit: int


def status(database: Database, queue: int, *, labeller: str) -> Status:
    """Raises NotFound."""
    with database.read_session() as session:
        queue_row(session, queue)
        mine = col(QueueItemRow.queue) == queue
        shown = col(QueueItemRow.first).is_not(None)

        def count(*conditions: sa.ColumnElement[bool]) -> int:
            query = sa.select(sa.func.count()).select_from(QueueItemRow).where(mine, *conditions)
            return session.execute(query).scalar_one()

        said = count(shown, col(QueueItemRow.answers) > 0)
        audit = count(shown, col(QueueItemRow.answers) > 0, col(QueueItemRow.audit_step).is_not(None))
        left = count() - count(shown)
        return Status(waiting=left + len(_waiting(session, queue, labeller, 1000)), labelled=said, by_audit=audit)


def _perform(session: Session, act: Act, who: str) -> Done:
    key = checked_id(act.id, "id")
    lease = session.exec(select(LeaseRow).where(LeaseRow.id == plain_id(act.lease))).first()
    if lease is None:
        raise NotFound("lease", "this item is gone; take the next one")
    if lease.labeller != who:
        raise Conflict("lease", f"this item was handed to {lease.labeller}, not to {who}; take items of your own")
    item = session.get_one(QueueItemRow, lease.item)
    queue = session.get_one(QueueRow, item.queue)
    answer = session.get_one(AnswerRow, (item.decision, queue.question))
    known = session.exec(select(ActRow).where(ActRow.id == key)).first()
    if known is not None:
        if known.lease != lease.serial:
            raise Conflict("id", f"{key} was another act; use a new uuid")
        return _done(session, key, answer)
    if act.kind == "label":
        _label(session, act, key, lease, item, answer)
        kind = lease.outcome = "labelled"
    elif act.kind == "skip":
        if lease.outcome == "labelled":
            raise Conflict("lease", "this item is labelled already; undo that first")
        kind = lease.outcome = "skipped"
    elif act.kind == "undo":
        _undo(session, key, lease)
        kind, lease.outcome, lease.expires = "undone", None, now() + HOLD
    else:
        raise InvalidValue("kind", f"{act.kind!r} is not known; use label, skip or undo")
    assert lease.serial is not None
    session.add(ActRow(id=key, lease=lease.serial, kind=kind))
    session.flush()
    people = sa.select(sa.func.count(sa.distinct(col(LeaseRow.labeller))))
    counted = people.where(col(LeaseRow.item) == item.serial, col(LeaseRow.outcome) == "labelled")
    item.answers = session.execute(counted).scalar_one()
    session.flush()
    return _done(session, key, answer)


def _label(session: Session, act: Act, key: str, lease: LeaseRow, item: QueueItemRow, answer: AnswerRow) -> None:
    if act.choice is not None and act.choice not in answer.options:
        raise InvalidLabel("choice", f"{act.choice!r} is not an option of {answer.question!r}")
    verdict: Literal["right", "wrong", "cant_tell"]
    verdict = "cant_tell" if act.choice is None else "right" if act.choice == answer.top else "wrong"
    write_label(
        session,
        answer,
        id=key,
        verdict=verdict,
        true_option=act.choice,
        labeller=lease.labeller,
        source=lease.stream,  # type: ignore[arg-type]
        note=act.note,
        propensity=Reach(session, item.queue).either(item) or None,
        blind=lease.blind or act.hidden,
        seconds=act.seconds,
    )


def _undo(session: Session, key: str, lease: LeaseRow) -> None:
    if lease.outcome is None:
        raise Conflict("lease", "there is nothing to undo")
    if lease.outcome == "labelled":
        labels = sa.select(col(ActRow.id)).where(col(ActRow.lease) == lease.serial, col(ActRow.kind) == "labelled")
        write_undo(session, session.execute(labels.order_by(col(ActRow.serial).desc()).limit(1)).scalar_one(), id=key)


def _done(session: Session, key: str, answer: AnswerRow) -> Done:
    label = session.exec(select(LabelRow).where(LabelRow.id == key)).first()
    if label is None or label.verdict == "withdrawn":
        return Done(id=key)
    return Done(id=key, verdict=label.verdict, top=answer.top)


def _held(session: Session, queue: int, who: str, page: str, hold: timedelta) -> list[LeaseRow]:
    """What the page holds already, for `hold` from now."""
    query = (
        select(LeaseRow)
        .join(QueueItemRow, col(QueueItemRow.serial) == col(LeaseRow.item))
        .where(LeaseRow.tab == page, LeaseRow.labeller == who, col(LeaseRow.outcome).is_(None))
        .where(col(LeaseRow.expires) > now(), QueueItemRow.queue == queue, col(QueueItemRow.wanted) > 0)
    )
    held = list(session.exec(query.order_by(col(LeaseRow.serial))))
    for lease in held:
        lease.expires = now() + hold
    return held


def _waiting(session: Session, queue: int, who: str, limit: int) -> list[QueueItemRow]:
    """Items that were shown and want (another) person, whom `who` may be."""
    own, held = sa.orm.aliased(LeaseRow), sa.orm.aliased(LeaseRow)
    mine = sa.exists().where(
        col(own.item) == col(QueueItemRow.serial),
        col(own.labeller) == who,
        col(own.outcome).is_not(None) | (col(own.expires) > now()),
    )
    holders = (
        sa.select(sa.func.count())
        .where(col(held.item) == col(QueueItemRow.serial), col(held.outcome).is_(None), col(held.expires) > now())
        .scalar_subquery()
    )
    query = select(QueueItemRow).where(
        QueueItemRow.queue == queue,
        col(QueueItemRow.first).is_not(None),
        col(QueueItemRow.answers) < col(QueueItemRow.wanted),
        ~mine,
        col(QueueItemRow.answers) + holders < col(QueueItemRow.wanted),
    )
    # What somebody has judged already first: a second opinion is what it lacks.
    order = col(QueueItemRow.answers).desc(), col(QueueItemRow.serial)
    return list(session.exec(query.order_by(*order).limit(limit)))


def _lease(queue: QueueRow, item: QueueItemRow, stream: str, who: str, page: str, hold: timedelta) -> LeaseRow:
    share = queue.blind_audit if stream == "audit" else queue.blind_queue
    assert item.serial is not None
    return LeaseRow(
        id=str(uuid4()),
        item=item.serial,
        labeller=who,
        tab=page,
        stream=stream,
        # Drawn for each showing, so that both halves hold answers of the same kind.
        blind=draw() < share,
        expires=now() + hold,
    )


def _views(session: Session, queue: int, leases: Sequence[LeaseRow]) -> list[Lease]:
    reach = Reach(session, queue)
    question = queue_row(session, queue).question
    query = (
        sa.select(QueueItemRow, col(DecisionRow.id))
        .join(DecisionRow, col(DecisionRow.serial) == col(QueueItemRow.decision))
        .where(col(QueueItemRow.serial).in_([lease.item for lease in leases]))
    )
    items = {item.serial: (item, decision) for item, decision in session.execute(query)}
    return [
        Lease(
            id=lease.id,
            decision=items[lease.item][1],
            question=question,
            stream=lease.stream,  # type: ignore[arg-type]
            blind=lease.blind,
            second=items[lease.item][0].answers > 0,
            inclusion=reach.either(items[lease.item][0]),
            drawn=(reach.audit if lease.stream == "audit" else reach.queue)(items[lease.item][0]),
        )
        for lease in leases
    ]


class _Servings:
    """Serves new items from both streams, and notes how far each came."""

    def __init__(self, session: Session, queue: QueueRow) -> None:
        self.session, self.queue = session, queue
        self.step = queue.step + 1
        self.served: dict[Stream, float] = {}
        self.ahead: dict[Stream, list[QueueItemRow]] = {"queue": [], "audit": []}
        self.shown: list[tuple[int, int]] | None = None

    def serve(self, want: int) -> list[tuple[QueueItemRow, Stream]]:
        """At most `want` items that nobody was shown before, with the stream that shows each."""
        found: list[tuple[QueueItemRow, Stream]] = []
        while len(found) < want:
            queue = self.queue
            stream = next_stream(queue.queue_reached, queue.audit_reached, queue.audit_share)
            item = self._next(stream)
            if item is None:
                stream = "queue" if stream == "audit" else "audit"
                # Without a share, an audit would be what nobody asked for: the queue alone ends when it is empty.
                item = self._next(stream) if stream == "queue" or queue.audit_share > 0 else None
            if item is None:
                break
            self._reach(item, stream)
            if item.first is None and self._show(item, stream):
                found.append((item, stream))
        self._note()
        return found

    def _next(self, stream: Stream) -> QueueItemRow | None:
        if not self.ahead[stream]:
            step, place = _columns(stream)
            query = select(QueueItemRow).where(QueueItemRow.queue == self.queue.serial, step.is_(None))
            # Newest reads are those of this session: what it reached is not found again.
            self.session.flush()
            self.ahead[stream] = list(self.session.exec(query.order_by(place).limit(32)))[::-1]
        return self.ahead[stream][-1] if self.ahead[stream] else None

    def _reach(self, item: QueueItemRow, stream: Stream) -> None:
        self.ahead[stream].pop()
        if stream == "queue":
            item.queue_step, self.served["queue"] = self.step, item.place
            self.queue.queue_reached += 1
        else:
            item.audit_step, self.served["audit"] = self.step, item.v
            self.queue.audit_reached += 1

    def _show(self, item: QueueItemRow, stream: Stream) -> bool:
        """Whether the item can be shown; if not, why is noted, and nobody will be asked."""
        if self.session.get_one(DecisionRow, item.decision).redacted is not None:
            item.first, item.wanted = stream, 0
            return False
        mark = self._sketch(item)
        if stream == "queue" and self.queue.apart and mark is not None:
            twin = next((serial for serial, other in self._seen() if near(mark, other)), None)
            if twin is not None:
                # The audit may still come to it: it is left out of the queue only.
                item.twin = twin
                return False
        item.first, item.twin = stream, None
        if mark is not None:
            item.sketch = mark
            assert item.serial is not None
            self._seen().append((item.serial, mark))
        return True

    def _sketch(self, item: QueueItemRow) -> int | None:
        """None for a state with pictures: what they show is not compared."""
        pictures = select(DecisionPictureRow).where(DecisionPictureRow.decision == item.decision).limit(1)
        if self.session.exec(pictures).first() is not None:
            return None
        return sketch(self.session.get_one(DecisionBodyRow, item.decision).state)

    def _seen(self) -> list[tuple[int, int]]:
        if self.shown is None:
            query = sa.select(col(QueueItemRow.serial), col(QueueItemRow.sketch)).where(
                col(QueueItemRow.queue) == self.queue.serial,
                col(QueueItemRow.first).is_not(None),
                col(QueueItemRow.sketch).is_not(None),
            )
            rows = self.session.execute(query.order_by(col(QueueItemRow.serial).desc()).limit(COMPARED))
            self.shown = [(serial, mark) for serial, mark in rows]
        return self.shown

    def _note(self) -> None:
        """One row for each stream that moved; rows that this one goes beyond are not needed any more."""
        if not self.served:
            return
        self.queue.step = self.step
        for stream, served in self.served.items():
            coming = self._next(stream)
            following = None if coming is None else coming.place if stream == "queue" else coming.v
            beyond = sa.true() if following is None else col(QueueStepRow.following) <= following
            old = sa.delete(QueueStepRow).where(
                col(QueueStepRow.queue) == self.queue.serial,
                col(QueueStepRow.stream) == stream,
                col(QueueStepRow.served) <= served,
                beyond,
            )
            self.session.execute(old)
            self.session.add(
                QueueStepRow(
                    queue=self.queue.serial or 0, stream=stream, step=self.step, served=served, following=following
                )
            )
        self.session.flush()


def _columns(stream: Stream) -> tuple[Any, Any]:
    """What says whether the stream reached an item, and by what it is ordered."""
    if stream == "queue":
        return col(QueueItemRow.queue_step), col(QueueItemRow.place)
    return col(QueueItemRow.audit_step), col(QueueItemRow.v)
