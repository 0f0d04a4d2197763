"""Emptied states, states that are never kept, and a case that is given out or deleted whole."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa

from model.questions import schema_hash
from storage.database import Database
from storage.decisions import get_decision, record_decision
from storage.errors import InvalidValue, NotFound
from storage.labels import current_labels
from storage.leases import Act, perform, take
from storage.pictures import get_picture, picture_path, save_picture
from storage.privacy import erase, export_case, get_privacy, redact, set_privacy, sweep
from storage.queue import arrivals, enrol, open_queue, set_queue
from storage.samples import read_sample
from storage.schemas import create_schema, publish
from storage.search import Filter, find
from tests.storage.conftest import BOTH, SCORER, MakeRecord

STORES = BOTH


def everything(database: Database) -> str:
    """All that the database holds, as text."""
    with database.read_session() as session:
        tables = sa.inspect(session.connection()).get_table_names()
        rows = [session.execute(sa.text(f'SELECT * FROM "{name}"')).all() for name in tables if "searches_" not in name]
        return repr(rows)


def picture(database: Database, content: bytes = b"x") -> str:
    return save_picture(database, content, format="png", width=1, height=1).sha256


def queued(database: Database, questions: Any) -> int:
    queue = open_queue(database, questions=schema_hash(questions), scorer=SCORER.fingerprint, question="refund")
    set_queue(database, queue.serial, overlap=0.0)
    given = arrivals(database, queue.serial, limit=100)
    enrol(database, given, [0.5] * len(given.decisions))
    return queue.serial


def labelled(database: Database, queue: int) -> list[str]:
    held = take(database, queue, labeller="Ann", tab=str(uuid4()), want=10)
    perform(database, [Act(id=str(uuid4()), kind="label", lease=x.id, choice="true") for x in held], labeller="Ann")
    return [x.decision for x in held]


def test_an_emptied_state_leaves_probabilities_and_labels(database: Database, record: MakeRecord) -> None:
    kept = record_decision(database, record(pictures=(picture(database),)))
    queue = queued(database, kept.questions)
    labelled(database, queue)
    redact(database, kept.id)
    redact(database, kept.id)
    after = get_decision(database, kept.id)
    assert (after.state, after.words, after.looked, after.pictures) == ("", (), {}, ())
    assert after.answers == kept.answers
    assert len(current_labels(database, kept.id)) == 1
    assert read_sample(database, queue).items[0].said[0].true_option == "true"
    assert "Geld" not in everything(database)
    assert "INVOICE" not in everything(database)
    assert not [path for path in (database.folder / "pictures").rglob("*") if path.is_file()]
    # The same request may still be sent again.
    assert record_decision(database, record(id=kept.id, state="another")).state == ""


def test_nobody_is_shown_an_emptied_state(database: Database, record: MakeRecord) -> None:
    ids = [record_decision(database, record(state=f"state {i} {uuid4()}")).id for i in range(4)]
    queue = queued(database, record().questions)
    (held, *_) = take(database, queue, labeller="Ann", tab=str(uuid4()), want=1)
    redact(database, held.decision)
    redact(database, next(i for i in ids if i != held.decision))
    shown = take(database, queue, labeller="Bob", tab=str(uuid4()), want=10)
    assert len(shown) == 2
    sample = read_sample(database, queue)
    assert sum(not item.said for item in sample.items) == len(sample.items)
    assert sample.population == 4


def test_pictures_stay_while_something_points_at_them(database: Database, record: MakeRecord) -> None:
    shared, drafted = picture(database, b"shared"), picture(database, b"drafted")
    one = record_decision(database, record(pictures=(shared, drafted)))
    record_decision(database, record(pictures=(shared,)))
    create_schema(database, name="Draft", document={"doc": {"pictures": [{"token": drafted}]}})
    redact(database, one.id)
    assert picture_path(database, shared).is_file()
    assert picture_path(database, drafted).is_file()


def test_states_are_kept_as_long_as_the_schema_says(database: Database, record: MakeRecord) -> None:
    schema = create_schema(database, name="Short")
    now = datetime.now(UTC)
    old = record_decision(database, record(schema_id=schema.id, created=now - timedelta(days=31)))
    new = record_decision(database, record(schema_id=schema.id, created=now - timedelta(days=29)))
    free = record_decision(database, record(created=now - timedelta(days=999)))
    assert sweep(database) == 0
    set_privacy(database, schema.id, states=True, retention=30)
    assert get_privacy(database, schema.id) == (True, 30)
    assert sweep(database) == 1
    assert sweep(database) == 0
    assert [get_decision(database, d.id).state == "" for d in (old, new, free)] == [True, False, False]
    assert sweep(database, at=now + timedelta(days=2)) == 1


def test_a_schema_may_keep_no_states(database: Database, record: MakeRecord) -> None:
    schema = create_schema(database, name="Bare")
    version = publish(database, schema.id, record().questions)
    set_privacy(database, schema.id, states=False, retention=None)
    token = picture(database, b"secret")
    kept = record_decision(
        database, record(schema_id=schema.id, version=version.number, pictures=(token,), state="top secret")
    )
    assert (kept.state, kept.pictures, kept.words) == ("", (), ())
    assert get_decision(database, kept.id).answers == kept.answers
    assert "secret" not in everything(database)
    with pytest.raises(NotFound):
        get_picture(database, token)
    assert not find(
        database, questions=version.sha256, scorer=SCORER.fingerprint, question="refund", wanted=Filter(text="secret")
    )
    queue = queued(database, record().questions)
    assert take(database, queue, labeller="Ann", tab=str(uuid4()), want=5) == []


def test_a_case_is_given_out_whole_and_deleted_whole(database: Database, record: MakeRecord) -> None:
    gone = record_decision(database, record(pictures=(picture(database),)))
    stays = record_decision(database, record(state="stays, being something else altogether"))
    queue = queued(database, gone.questions)
    assert set(labelled(database, queue)) == {gone.id, stays.id}
    case = export_case(database, gone.id)
    assert json.loads(json.dumps(case)) == case
    assert case["body"]["state"] == {"text": "Geld zurück, sofort! 🙏", "n": 0.1}
    assert [len(case[part]) for part in ("pictures", "answers", "labels", "queue_items", "leases", "acts")] == [
        1, 3, 1, 1, 1, 1,
    ]  # fmt: skip
    erase(database, gone.id, by="Ann")
    left = everything(database)
    assert "Geld" not in left
    assert left.count(gone.id) == 1  # In `erasures`, and nowhere else.
    assert case["labels"][0]["id"] not in left
    assert len(current_labels(database, stays.id)) == 1
    assert read_sample(database, queue).population == 1
    for again in (erase, export_case):
        with pytest.raises(NotFound):
            again(database, gone.id, **({"by": "Ann"} if again is erase else {}))


def test_labels_of_other_cases_still_cannot_be_deleted(database: Database, record: MakeRecord) -> None:
    one, two = (record_decision(database, record(state=f"{i} {uuid4()}")) for i in range(2))
    queue = queued(database, one.questions)
    labelled(database, queue)
    erase(database, one.id, by="Ann")
    with pytest.raises(sa.exc.IntegrityError, match="never deleted"), database.write_session() as session:
        session.execute(sa.text("DELETE FROM labels"))
    assert len(current_labels(database, two.id)) == 1


def test_what_cannot_be_is_named(database: Database) -> None:
    schema = create_schema(database, name="S")
    with pytest.raises(InvalidValue, match="retention: must be from 1"):
        set_privacy(database, schema.id, states=True, retention=0)
    with pytest.raises(NotFound, match="schema_id"):
        get_privacy(database, str(uuid4()))
