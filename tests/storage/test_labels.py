"""Labels: what fits, what supersedes what, and that an acknowledged one is there."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa

from storage.database import Database
from storage.decisions import StoredDecision, record_decision
from storage.errors import Conflict, InvalidLabel, InvalidValue, NotFound
from storage.labels import Label, add_label, current_labels, history, undo_label

from .conftest import BOTH, MakeRecord, on_sqlite

STORES = BOTH


@pytest.fixture
def case(database: Database, record: MakeRecord) -> StoredDecision:
    """The model says: refund false, team 10, anger 1."""
    return record_decision(database, record())


def label(database: Database, case: StoredDecision, **changes: Any) -> Label:
    arguments: dict[str, Any] = {
        "id": str(uuid4()), "decision": case.id, "question": "team", "verdict": "right", "labeller": "ann",
        "source": "volunteered",
    }  # fmt: skip
    return add_label(database, **(arguments | changes))


@pytest.mark.parametrize(
    ("question", "verdict", "given", "kept"),
    [
        ("refund", "right", None, "false"),
        ("refund", "right", "false", "false"),
        ("refund", "wrong", None, "true"),
        ("refund", "wrong", "true", "true"),
        ("refund", "cant_tell", None, None),
        ("team", "right", None, "10"),
        ("team", "wrong", None, None),
        ("team", "wrong", "billing", "billing"),
        ("anger", "wrong", "2", "2"),
        ("anger", "wrong", None, None),
    ],
)
def test_the_true_option(
    database: Database, case: StoredDecision, question: str, verdict: str, given: str | None, kept: str | None
) -> None:
    made = label(database, case, question=question, verdict=verdict, true_option=given)
    assert (made.verdict, made.true_option) == (verdict, kept)
    assert current_labels(database, case.id) == [made]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"verdict": "right", "true_option": "billing"}, "true_option"),
        ({"verdict": "wrong", "true_option": "10"}, "true_option"),
        ({"verdict": "wrong", "true_option": "sales"}, "true_option"),
        ({"verdict": "cant_tell", "true_option": "billing"}, "true_option"),
        ({"question": "refund", "verdict": "wrong", "true_option": "false"}, "true_option"),
        ({"question": "anger", "verdict": "wrong", "true_option": "furious"}, "true_option"),
        ({"verdict": "withdrawn"}, "verdict"),
        ({"source": "luck"}, "source"),
        ({"source": "volunteered", "propensity": 0.5}, "propensity"),
        ({"source": "bulk", "propensity": 1.0}, "propensity"),
        ({"source": "queue", "propensity": 0.0}, "propensity"),
        ({"source": "audit", "propensity": 1.01}, "propensity"),
        ({"source": "audit", "propensity": float("nan")}, "propensity"),
        ({"seconds": -1.0}, "seconds"),
        ({"seconds": float("inf")}, "seconds"),
        ({"labeller": " "}, "labeller"),
        ({"note": "x" * 10_001}, "note"),
        ({"id": "one"}, "id"),
        ({"question": "colour"}, "question"),
        ({"decision": str(uuid4())}, "decision"),
    ],
)
def test_what_does_not_fit_is_named(
    database: Database, case: StoredDecision, changes: dict[str, Any], field: str
) -> None:
    with pytest.raises((InvalidLabel, InvalidValue, NotFound)) as caught:
        label(database, case, **changes)
    assert caught.value.field == field
    assert current_labels(database, case.id) == []


def test_a_label_keeps_all_that_was_said(database: Database, case: StoredDecision) -> None:
    made = label(
        database, case, verdict="wrong", true_option="2", note=" why ", source="queue", propensity=0.125, blind=True,
        seconds=3.5,
    )  # fmt: skip
    assert (made.note, made.source, made.propensity, made.blind, made.seconds) == ("why", "queue", 0.125, True, 3.5)
    assert (made.decision, made.labeller, made.supersedes) == (case.id, "ann", None)


def test_sent_twice_is_kept_once(database: Database, case: StoredDecision) -> None:
    key = str(uuid4())
    once = label(database, case, id=key, seconds=1.0)
    assert label(database, case, id=key.upper(), seconds=2.0) == once
    label(database, case, verdict="wrong")
    # Sent again after it was superseded: still the same row, and what stands is not changed.
    assert label(database, case, id=key) == once
    assert [x.verdict for x in history(database, case.id, "team")] == ["right", "wrong"]
    assert [x.verdict for x in current_labels(database, case.id)] == ["wrong"]


@pytest.mark.parametrize(
    "changes",
    [
        {"verdict": "wrong"},
        {"question": "refund"},
        {"labeller": "bo"},
        {"note": "and"},
        {"source": "audit"},
        {"blind": True},
    ],
    ids=lambda value: next(iter(value)),
)
def test_another_label_under_the_same_id_is_a_conflict(
    database: Database, case: StoredDecision, changes: dict[str, Any]
) -> None:
    key = str(uuid4())
    once = label(database, case, id=key)
    with pytest.raises(Conflict, match=next(iter(changes))):
        label(database, case, id=key, **changes)
    assert current_labels(database, case.id) == [once]


def test_only_the_same_labellers_label_of_the_same_answer_is_superseded(
    database: Database, case: StoredDecision, record: MakeRecord
) -> None:
    other = record_decision(database, record())
    first = label(database, case)
    kept = [label(database, case, labeller="bo"), label(database, case, question="refund")]
    elsewhere = label(database, other)
    second = label(database, case, verdict="wrong", true_option="2")
    assert second.supersedes == first.id
    assert [x.supersedes for x in kept] == [None, None]
    assert current_labels(database, case.id) == [*kept, second]
    assert current_labels(database, other.id) == [elsewhere]
    assert history(database, case.id, "team") == [first, kept[0], second]


def test_undo_withdraws_and_the_history_stays(database: Database, case: StoredDecision) -> None:
    first = label(database, case)
    key = str(uuid4())
    gone = undo_label(database, first.id, id=key)
    assert (gone.verdict, gone.true_option, gone.supersedes) == ("withdrawn", None, first.id)
    assert undo_label(database, first.id, id=key) == gone
    assert current_labels(database, case.id) == []
    again = label(database, case, verdict="wrong")
    assert again.supersedes == gone.id
    assert [x.verdict for x in history(database, case.id, "team")] == ["right", "withdrawn", "wrong"]


def test_only_what_stands_can_be_undone(database: Database, case: StoredDecision) -> None:
    first = label(database, case)
    second = label(database, case, verdict="wrong")
    with pytest.raises(Conflict, match="does not stand"):
        undo_label(database, first.id, id=str(uuid4()))
    gone = undo_label(database, second.id, id=str(uuid4()))
    for dead in (second, gone):
        with pytest.raises(Conflict, match="does not stand"):
            undo_label(database, dead.id, id=str(uuid4()))
    with pytest.raises(Conflict):
        undo_label(database, second.id, id=first.id)
    with pytest.raises(NotFound):
        undo_label(database, str(uuid4()), id=str(uuid4()))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE labels SET verdict = 'wrong'",
        "DELETE FROM labels",
        "DELETE FROM decisions",
    ],
)
def test_labels_are_append_only_whoever_writes(database: Database, case: StoredDecision, statement: str) -> None:
    made = label(database, case)
    with pytest.raises(sa.exc.IntegrityError), database.write_session() as session:
        session.execute(sa.text(statement))
    assert current_labels(database, case.id) == [made]


@on_sqlite
def test_a_label_is_not_replaced_either(database: Database, case: StoredDecision) -> None:
    made = label(database, case)
    with pytest.raises(sa.exc.IntegrityError), database.write_session() as session:
        session.execute(sa.text("INSERT OR REPLACE INTO labels SELECT * FROM labels"))
    assert current_labels(database, case.id) == [made]


@pytest.mark.parametrize(
    ("column", "value"), [("verdict", "'maybe'"), ("source", "'luck'"), ("propensity", "1.5"), ("propensity", "0")]
)
def test_the_file_itself_refuses_odd_labels(database: Database, case: StoredDecision, column: str, value: str) -> None:
    made = label(database, case)
    columns = {
        "id": f"'{uuid4()}'", "decision": str(case.serial), "question": "'team'", "verdict": "'right'", "note": "''",
        "labeller": "'bo'", "source": "'audit'", "blind": "false", "created": "'2026-01-01 00:00:00.000000'",
    }  # fmt: skip
    columns[column] = value
    insert = f"INSERT INTO labels ({', '.join(columns)}) VALUES ({', '.join(columns.values())})"
    with pytest.raises(sa.exc.IntegrityError, match=r"(?i)check"), database.write_session() as session:
        session.execute(sa.text(insert))
    assert current_labels(database, case.id) == [made]


def test_threads_leave_one_chain(database: Database, case: StoredDecision) -> None:
    """8 threads label one answer as one labeller, each 10 times: 80 rows, each superseding the one before."""
    start = threading.Barrier(8)

    def work() -> None:
        start.wait()
        for _ in range(10):
            label(database, case)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = history(database, case.id, "team")
    assert len(rows) == 80
    assert [row.supersedes for row in rows] == [None, *(row.id for row in rows[:-1])]


WRITE = """
import sys
from pathlib import Path
from uuid import uuid4
from storage.database import Database
from storage.labels import add_label

database = Database.open(Path(sys.argv[1]))
while True:
    key = str(uuid4())
    add_label(database, id=key, decision=sys.argv[2], question="team", verdict="right", labeller="ann", source="audit")
    print(key, flush=True)
"""


@pytest.mark.parametrize("count", [1, 20, 60])
def test_an_acknowledged_label_survives_sigkill(tmp_path: Path, record: MakeRecord, count: int) -> None:
    made = record()
    with Database.open(tmp_path) as database:
        record_decision(database, made)
    writer = subprocess.Popen([sys.executable, "-c", WRITE, str(tmp_path), made.id], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    acknowledged = [writer.stdout.readline().strip() for _ in range(count)]
    writer.kill()
    # What it printed before the signal reached it was acknowledged too; the last line may be torn.
    acknowledged += [line.strip() for line in writer.stdout if line.endswith("\n")]
    writer.wait()
    writer.stdout.close()
    with Database.open(tmp_path) as database:
        kept = [row.id for row in history(database, made.id, "team")]
        # One more may have been written whose acknowledgement never left.
        assert kept[: len(acknowledged)] == acknowledged
        assert len(kept) - len(acknowledged) in (0, 1)
        with database.read_session() as session:
            assert session.execute(sa.text("PRAGMA integrity_check")).scalar() == "ok"
