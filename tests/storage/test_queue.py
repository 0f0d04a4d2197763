"""Queues: what enters, in which order it is shown, and that what is known of the choice stays known."""

from __future__ import annotations

import hashlib
import math
import sqlite3
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa
from sqlmodel import select

from model.answers import Answer
from model.questions import schema_hash
from storage.database import Database
from storage.decisions import record_decisions
from storage.errors import Conflict, InvalidValue, NotFound, StorageError
from storage.labels import current_labels, history
from storage.leases import Act, Done, Lease, perform, take
from storage.queue import (
    Queue,
    Reach,
    arrivals,
    enrol,
    items_of,
    next_stream,
    open_queue,
    remeasure,
    set_queue,
)
from storage.tables import QueueItemRow, QueueStepRow
from tests.storage.conftest import BOTH, SCORER, MakeRecord, on_sqlite

STORES = BOTH

ANN, BOB = "Ann", "Bob"
TAB = str(uuid4())


def text(i: int) -> str:
    """States that are no near-duplicates of each other."""
    return hashlib.sha256(str(i).encode()).hexdigest().translate(str.maketrans("0123456789", "ghijklmnop"))


@pytest.fixture
def queue(database: Database, record: MakeRecord) -> Queue:
    return filled(database, record, 40)


def filled(database: Database, record: MakeRecord, n: int, *, states: Sequence[Any] | None = None) -> Queue:
    """A queue of n answers on "refund" whose doubt falls from 1 to nearly 0."""
    records = [
        record(state=states[i] if states else text(i), answers=_answers(0.5 + 0.5 * i / n), cut=None, words=())
        for i in range(n)
    ]
    record_decisions(database, records)
    made = open_queue(
        database, questions=schema_hash(records[0].questions), scorer=SCORER.fingerprint, question="refund"
    )
    fill(database, made)
    return made


def _answers(p: float) -> dict[str, Answer]:
    return {
        "refund": Answer("noul", ("true", "false"), (p, 1 - p)),
        "team": Answer("choice", ("2", "billing", "10"), (0.2, 0.3, 0.5)),
        "anger": Answer("score", ("0", "1", "2"), (0.2, 0.5, 0.3), ("calm", "annoyed", "furious")),
    }


def fill(database: Database, queue: Queue) -> int:
    given = arrivals(database, queue.serial, limit=1000)
    return enrol(database, given, [0.05 + 0.95 * (1 - abs(2 * p[0] - 1)) for p in given.probabilities])


def items(database: Database, queue: Queue) -> list[QueueItemRow]:
    with database.read_session() as session:
        return list(session.exec(select(QueueItemRow).where(QueueItemRow.queue == queue.serial)))


def label(database: Database, lease: Lease, choice: str | None = "true", *, who: str = ANN, **more: Any) -> Done:
    (done,) = perform(
        database, [Act(id=str(uuid4()), kind="label", lease=lease.id, choice=choice, **more)], labeller=who
    )
    if done.error:
        raise done.error
    return done


def test_items_enter_once_with_numbers_that_never_change(database: Database, queue: Queue) -> None:
    before = items(database, queue)
    assert len(before) == 40
    assert all(0 < n <= 1 for i in before for n in (i.u, i.v, i.w, i.x))
    assert all(i.place == i.u / i.x for i in before)
    assert fill(database, queue) == 0
    given = arrivals(database, queue.serial, limit=10)
    assert (given.decisions, given.more) == ((), False)
    for column in ("u", "v", "w"):
        with pytest.raises(sa.exc.IntegrityError, match="drawn once"), database.write_session() as session:
            session.execute(sa.text(f"UPDATE queue_items SET {column} = 0.5"))


def test_two_who_enrol_at_once_enrol_once(database: Database, queue: Queue, record: MakeRecord) -> None:
    record_decisions(database, [record(state=f"late {i}") for i in range(3)])
    given = arrivals(database, queue.serial, limit=2)
    assert given.more
    assert enrol(database, given, [0.5, 0.5]) == 2
    assert enrol(database, given, [0.5, 0.5]) == 0
    assert len(items(database, queue)) == 42


def test_what_is_served_first_has_the_smallest_place(database: Database, queue: Queue) -> None:
    set_queue(database, queue.serial, audit_share=0.0)
    held = take(database, queue.serial, labeller=ANN, tab=TAB, want=10)
    assert {lease.stream for lease in held} == {"queue"}
    rows = sorted(items(database, queue), key=lambda i: i.place)
    assert [i.queue_step for i in rows] == [1] * 10 + [None] * 30
    t = rows[10].place
    with database.read_session() as session:
        reach = Reach(session, queue.serial)
        for row in rows[:10]:
            assert reach.either(row) == pytest.approx(min(1, t * row.x))
        # For what was not served, the others' tenth decides.
        for row in rows[10:]:
            assert reach.either(row) == pytest.approx(min(1, rows[9].place * row.x))


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 1.0])
def test_the_audit_keeps_its_share(database: Database, queue: Queue, share: float) -> None:
    set_queue(database, queue.serial, audit_share=share)
    take(database, queue.serial, labeller=ANN, tab=TAB, want=20)
    rows = items(database, queue)
    # What both streams reached counts for both, and is shown once.
    audit, both = (sum(getattr(i, f"{s}_step") is not None for i in rows) for s in ("audit", "queue"))
    assert audit == pytest.approx((audit + both) * share, abs=1)


def test_next_stream_is_the_share_in_the_long_run() -> None:
    counts = {"queue": 0, "audit": 0}
    for _ in range(1000):
        counts[next_stream(counts["queue"], counts["audit"], 0.2)] += 1
    assert counts == {"queue": 800, "audit": 200}


def test_a_page_gets_what_it_holds_and_nobody_else_does(database: Database, queue: Queue) -> None:
    set_queue(database, queue.serial, overlap=0.0)
    first = take(database, queue.serial, labeller=ANN, tab=TAB, want=10)
    again = take(database, queue.serial, labeller=ANN, tab=TAB, want=12)
    assert [x.id for x in again[:10]] == [x.id for x in first]
    other = take(database, queue.serial, labeller=BOB, tab=str(uuid4()), want=40)
    assert len(other) == 28
    assert not {x.decision for x in other} & {x.decision for x in again}


def test_an_item_that_wants_two_people_gets_two(database: Database, queue: Queue) -> None:
    set_queue(database, queue.serial, overlap=1.0)
    (first,) = take(database, queue.serial, labeller=ANN, tab=TAB, want=1)
    label(database, first, "true")
    second = take(database, queue.serial, labeller=BOB, tab=str(uuid4()), want=1)[0]
    assert (second.decision, second.second, second.stream) == (first.decision, True, first.stream)
    label(database, second, "false", who=BOB)
    assert first.decision not in {x.decision for x in take(database, queue.serial, labeller="Cy", tab=TAB, want=40)}
    assert {x.labeller for x in current_labels(database, first.decision)} == {ANN, BOB}


def test_a_lease_that_ended_is_handed_on_and_a_late_label_counts(database: Database, queue: Queue) -> None:
    set_queue(database, queue.serial, overlap=0.0)
    (gone,) = take(database, queue.serial, labeller=ANN, tab=TAB, want=1, hold=timedelta(0))
    (again,) = take(database, queue.serial, labeller=BOB, tab=str(uuid4()), want=1)
    assert again.decision == gone.decision
    label(database, gone, "true")
    label(database, again, "true", who=BOB)
    assert len(current_labels(database, gone.decision)) == 2


def test_a_label_says_how_it_was_chosen(database: Database, queue: Queue) -> None:
    set_queue(database, queue.serial, blind_audit=1.0, blind_queue=0.0)
    for lease in take(database, queue.serial, labeller=ANN, tab=TAB, want=10):
        done = label(database, lease, "true", note="seen", seconds=1.5)
        (kept,) = current_labels(database, lease.decision)
        assert (kept.source, kept.blind, kept.note, kept.seconds) == (
            lease.stream,
            lease.stream == "audit",
            "seen",
            1.5,
        )
        assert kept.propensity == pytest.approx(lease.inclusion)
        assert (done.verdict, done.top) == ("right", "true")
    (hidden,) = [x for x in take(database, queue.serial, labeller=ANN, tab=TAB, want=3) if x.stream == "queue"][:1]
    label(database, hidden, None, hidden=True)
    (kept,) = current_labels(database, hidden.decision)
    assert (kept.verdict, kept.blind) == ("cant_tell", True)


def test_acts_that_are_sent_twice_are_done_once(database: Database, queue: Queue) -> None:
    one, two = take(database, queue.serial, labeller=ANN, tab=TAB, want=2)
    ids = [str(uuid4()) for _ in range(5)]
    acts = [
        Act(id=ids[0], kind="skip", lease=one.id),
        Act(id=ids[1], kind="undo", lease=one.id),
        Act(id=ids[2], kind="label", lease=one.id, choice="false"),
        Act(id=ids[3], kind="label", lease=two.id, choice="true"),
        Act(id=ids[4], kind="undo", lease=two.id),
    ]
    first = perform(database, acts, labeller=ANN)
    assert [d.error for d in first] == [None] * 5
    assert perform(database, acts, labeller=ANN) == first
    assert [x.verdict for x in history(database, one.decision, "refund")] == ["wrong"]
    assert [x.verdict for x in history(database, two.decision, "refund")] == ["right", "withdrawn"]
    held = take(database, queue.serial, labeller=ANN, tab=TAB, want=1)
    assert [x.id for x in held] == [two.id]


def test_one_refused_act_leaves_the_others(database: Database, queue: Queue) -> None:
    one, two = take(database, queue.serial, labeller=ANN, tab=TAB, want=2)
    acts = [
        Act(id=str(uuid4()), kind="label", lease=one.id, choice="perhaps"),
        Act(id=str(uuid4()), kind="label", lease=two.id, choice="true"),
        Act(id=str(uuid4()), kind="undo", lease=one.id),
        Act(id=str(uuid4()), kind="skip", lease=str(uuid4())),
        Act(id="no uuid", kind="skip", lease=one.id),
        Act(id=str(uuid4()), kind="skip", lease=two.id),
    ]
    kinds = [type(d.error) for d in perform(database, acts, labeller=ANN)]
    assert [kind.__name__ for kind in kinds] == [
        "InvalidLabel", "NoneType", "Conflict", "NotFound", "InvalidValue", "Conflict",
    ]  # fmt: skip
    (refused,) = perform(database, [Act(id=str(uuid4()), kind="skip", lease=one.id)], labeller=BOB)
    assert isinstance(refused.error, Conflict)
    assert len(current_labels(database, two.decision)) == 1


def test_a_skipped_item_goes_to_others_only(database: Database, queue: Queue) -> None:
    (one,) = take(database, queue.serial, labeller=ANN, tab=TAB, want=1)
    perform(database, [Act(id=str(uuid4()), kind="skip", lease=one.id)], labeller=ANN)
    assert one.decision not in {x.decision for x in take(database, queue.serial, labeller=ANN, tab=TAB, want=40)}
    assert one.decision in {x.decision for x in take(database, queue.serial, labeller=BOB, tab=TAB, want=40)}


def test_near_duplicates_are_left_out_of_the_queue_but_not_of_the_audit(database: Database, record: MakeRecord) -> None:
    states = [f"Order {i}: the parcel never came, please look into it and answer me soon" for i in range(30)]
    queue = filled(database, record, 30, states=states)
    set_queue(database, queue.serial, audit_share=0.0)
    (only,) = take(database, queue.serial, labeller=ANN, tab=TAB, want=10)
    rows = items(database, queue)
    assert sum(i.twin is not None for i in rows) == 29
    set_queue(database, queue.serial, audit_share=0.5)
    more = take(database, queue.serial, labeller=ANN, tab=TAB, want=4)
    assert [x.stream for x in more] == ["queue", "audit", "audit", "audit"]
    assert more[0].id == only.id


def test_pictures_are_not_compared(database: Database, record: MakeRecord) -> None:
    from storage.pictures import save_picture

    tokens = [save_picture(database, bytes([i]), format="png", width=1, height=1).sha256 for i in range(1, 4)]
    records = [record(state="Is this a receipt?", pictures=(token,)) for token in tokens]
    record_decisions(database, records)
    queue = open_queue(
        database, questions=schema_hash(records[0].questions), scorer=SCORER.fingerprint, question="refund"
    )
    fill(database, queue)
    assert len(take(database, queue.serial, labeller=ANN, tab=TAB, want=10)) == 3


def test_late_arrivals_count_from_when_they_came(database: Database, queue: Queue, record: MakeRecord) -> None:
    set_queue(database, queue.serial, audit_share=0.0)
    take(database, queue.serial, labeller=ANN, tab=TAB, want=10)
    record_decisions(database, [record(state=text(100 + i), answers=_answers(0.6)) for i in range(20)])
    fill(database, queue)
    late = [i for i in items(database, queue) if i.since == 1]
    assert len(late) == 20
    with database.read_session() as session:
        assert {Reach(session, queue.serial).either(i) for i in late} == {0.0}
    take(database, queue.serial, labeller=ANN, tab=TAB, want=20)
    with database.read_session() as session:
        reach = Reach(session, queue.serial)
        assert all(0 < reach.either(i) <= 1 for i in late)


def test_steps_that_were_gone_beyond_are_not_kept(database: Database, queue: Queue) -> None:
    for want in range(2, 43, 2):
        take(database, queue.serial, labeller=ANN, tab=TAB, want=want)
    with database.read_session() as session:
        steps = session.exec(select(QueueStepRow)).all()
        assert {s.stream for s in steps} == {"queue", "audit"}
        assert len(steps) == 2
        # Nothing is left to show: whatever there is has been included for certain.
        reach = Reach(session, queue.serial)
        assert {reach.either(i) for i in session.exec(select(QueueItemRow))} == {1.0}


def test_another_measure_keeps_what_was_known(database: Database, queue: Queue) -> None:
    take(database, queue.serial, labeller=ANN, tab=TAB, want=10)
    with database.read_session() as session:
        reach = Reach(session, queue.serial)
        before = {i.serial: reach.queue(i) for i in session.exec(select(QueueItemRow))}
    ordered, probabilities = items_of(database, queue.serial)
    assert not ordered
    remeasure(database, queue.serial, "entropy", dict.fromkeys(probabilities, 0.5))
    with database.read_session() as session:
        reach = Reach(session, queue.serial)
        for item in session.exec(select(QueueItemRow)):
            assert (item.x, item.place) == (0.5, item.u / 0.5)
            assert reach.queue(item) == before[item.serial]
    take(database, queue.serial, labeller=ANN, tab=TAB, want=30)
    with database.read_session() as session:
        reach = Reach(session, queue.serial)
        assert all(reach.queue(i) >= before[i.serial] for i in session.exec(select(QueueItemRow)))


def test_what_cannot_be_is_named(database: Database, queue: Queue) -> None:
    with pytest.raises(InvalidValue, match="audit_share: must be a share"):
        set_queue(database, queue.serial, audit_share=math.nan)
    with pytest.raises(InvalidValue, match="speed: is no setting"):
        set_queue(database, queue.serial, speed=0.5)
    with pytest.raises(InvalidValue, match="measure: 'luck'"):
        remeasure(database, queue.serial, "luck", {})  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match="tab:"):
        take(database, queue.serial, labeller=ANN, tab="mine", want=1)
    with pytest.raises(InvalidValue, match="labeller: must not be empty"):
        take(database, queue.serial, labeller=" ", tab=TAB, want=1)
    for field, more in (
        ("questions", {"questions": "0" * 64}),
        ("scorer", {"scorer": "0" * 64}),
        ("question", {"question": "?"}),
    ):
        where = {"questions": queue.questions, "scorer": queue.scorer, "question": "refund", **more}
        with pytest.raises(StorageError, match=f"^{field}:"):
            open_queue(database, **where)
    with pytest.raises(NotFound, match="queue: there is no queue 99"):
        arrivals(database, 99, limit=1)
    given = arrivals(database, queue.serial, limit=1)
    with pytest.raises(InvalidValue, match="targets"):
        enrol(database, given, [0.5])


@on_sqlite
def test_labels_of_the_queue_are_on_the_disk(database: Database, queue: Queue) -> None:
    (one,) = take(database, queue.serial, labeller=ANN, tab=TAB, want=1)
    label(database, one)
    other = sqlite3.connect(database.dialect.place)
    try:
        assert other.execute("SELECT verdict FROM labels").fetchall() == [("right",)]
    finally:
        other.close()
