"""Schemas, versions, kept runs and the history, without a browser: what the page's functions take, say and keep."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from model.engine import Engine
from model.questions import CLEF_LIMITS
from storage.database import Database
from storage.decisions import get_decision
from studio.pages.design_ask import Asker
from studio.pages.design_history import PAGE, history_functions
from studio.pages.design_keep import Keeper, save_draft
from studio.pages.design_pictures import Gallery
from studio.pages.design_schemas import schema_functions
from tests.browser.bench import WordCounter

QUESTIONS = [
    {"id": "spam", "type": "noul", "instructions": "Is it spam?"},
    {"id": "team", "type": "choice", "options": [["zeta", "last"], ["2", None], ["alpha", None]]},
    {"id": "mood", "type": "score", "criteria": ["calm", "angry"]},
]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database.open(tmp_path) as opened:
        yield opened


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = Engine(lambda _: WordCounter())
    assert made.wait_ready(30).phase == "ready"
    yield made
    made.close()


@pytest.fixture
def call(database: Database) -> Any:
    """call("versions", schema_id=...) → the reply of that function."""
    functions = {f.__name__: f for f in [*schema_functions(database, CLEF_LIMITS), *history_functions(database)]}
    return lambda function, /, **payload: functions[function](payload)


def saved(database: Database, name: str = "Triage", **more: Any) -> str:
    """The id of a schema that has a draft."""
    key = str(uuid.uuid4())
    reply = save_draft(database, {"schema_id": key, "revision": 0, "name": name, "document": {"doc": name}, **more})
    assert reply == {"revision": 1}
    return key


def request(**more: Any) -> dict[str, Any]:
    """A run as the page sends it."""
    return {
        "key": "tab", "run": str(uuid.uuid4()), "questions": QUESTIONS, "state": "Hello there", "pictures": [], **more,
    }  # fmt: skip


def keep(database: Database, engine: Engine, schema: str | None = None, **more: Any) -> dict[str, Any]:
    """Asks and keeps a run; returns the reply."""
    keeper = Keeper(database, Asker(engine, CLEF_LIMITS, Gallery(database), database))
    given = {"request": request(**more), "fingerprint": "0" * 64, "schema_id": schema}
    return asyncio.run(keeper.keep_run(given))


def test_a_published_version_comes_back_in_its_order(database: Database, call: Any) -> None:
    key = saved(database)
    first = call("publish", schema_id=key, name="Triage", document={}, note="as it began", questions=QUESTIONS)
    again = call("publish", schema_id=key, name="Triage", document={}, note="no change", questions=QUESTIONS)
    assert (first["version"]["number"], again["version"]["number"], again["version"]["note"]) == (1, 1, "as it began")
    assert first["version"]["questions"] == QUESTIONS
    call("publish", schema_id=key, name="Triage", document={}, questions=QUESTIONS[:1])
    assert [v["number"] for v in call("versions", schema_id=key)["versions"]] == [2, 1]


def test_what_cannot_be_published_is_said(database: Database, call: Any) -> None:
    wrong = [{"id": "a", "type": "choice", "options": [["x", None], ["x", None]]}]
    reply = call("publish", schema_id=saved(database), name="", document={}, questions=wrong)
    assert reply["error"]["kind"] == "invalid"
    assert "twice" in reply["error"]["message"]
    assert call("versions", schema_id=str(uuid.uuid4())) == {"versions": []}
    assert call("open_schema", schema_id=str(uuid.uuid4()))["error"]["kind"] == "not_found"
    assert call("open_schema", schema_id="../x")["error"]["kind"] == "failed"


def test_schemas_are_listed_opened_and_archived(database: Database, call: Any) -> None:
    key = saved(database, "Triage", description="Who takes it")
    other = saved(database, "Guard")
    names = [(s["name"], s["description"]) for s in call("schemas")["schemas"]]
    assert names == [("Guard", ""), ("Triage", "Who takes it")]
    opened = call("open_schema", schema_id=key)
    assert (opened["document"], opened["revision"]) == ({"doc": "Triage"}, 1)
    call("archive", schema_id=key)
    assert [s["id"] for s in call("schemas")["schemas"]] == [other]
    assert [s["id"] for s in call("schemas", archived=True)["schemas"]] == [key]
    call("archive", schema_id=key, archived=False)
    assert call("schemas", archived=True) == {"schemas": []}


def test_a_first_save_whose_reply_was_lost_does_not_drop_the_second(database: Database) -> None:
    key = saved(database)
    reply = save_draft(database, {"schema_id": key, "revision": 0, "name": "Triage", "document": {"doc": "newer"}})
    assert reply["conflict"] == {"revision": 1, "document": {"doc": "Triage"}}


def test_a_kept_run_is_in_the_history_and_can_be_let_go(database: Database, engine: Engine, call: Any) -> None:
    key = saved(database)
    run = keep(database, engine, key)["kept"]
    keep(database, engine, None, state='{"b": 1.0, "a": 2}')
    assert [r["id"] for r in call("runs", schema_id=key)["runs"]] == [run]
    newest, oldest = call("runs")["runs"]
    assert (oldest["id"], oldest["answers"][0]["top"]) == (run, "false")
    found = call("one_run", run=newest["id"])["run"]
    assert (found["json"], found["state"]) == (True, '{\n  "b": 1.0,\n  "a": 2\n}')
    assert found["questions"] == QUESTIONS
    assert [a["options"] for a in found["answers"]] == [["true", "false"], ["zeta", "2", "alpha"], ["0", "1"]]
    Keeper(database, Asker(engine, CLEF_LIMITS, Gallery(database), database)).drop_run({"run": run})
    assert call("runs", schema_id=key) == {"runs": [], "more": False}


def test_the_history_comes_in_portions(database: Database, engine: Engine, call: Any) -> None:
    for _ in range(PAGE + 2):
        assert "kept" in keep(database, engine)
    first = call("runs")
    rest = call("runs", before=first["runs"][-1]["serial"])
    assert (len(first["runs"]), first["more"], len(rest["runs"]), rest["more"]) == (PAGE, True, 2, False)


def test_a_run_stays_under_the_schema_that_it_was_first_kept_under(
    database: Database, engine: Engine, call: Any
) -> None:
    keeper = Keeper(database, Asker(engine, CLEF_LIMITS, Gallery(database), database))
    asked = request()
    key = str(uuid.uuid4())

    def label(question: str) -> dict[str, Any]:
        given = {"uuid": str(uuid.uuid4()), "verdict": "cant_tell", "question": question, "fingerprint": "0" * 64}
        return asyncio.run(keeper.label({**given, "schema_id": key, "request": asked}))

    # The schema is saved and published only between the two labels.
    assert "label" in label("spam")
    save_draft(database, {"schema_id": key, "revision": 0, "name": "Triage", "document": {}})
    call("publish", schema_id=key, name="Triage", document={}, questions=QUESTIONS)
    assert "label" in label("team")
    kept = get_decision(database, asked["run"])
    assert (kept.schema_id, kept.version) == (None, None)
    later = keep(database, engine, key)["kept"]
    assert (get_decision(database, later).schema_id, get_decision(database, later).version) == (key, 1)


def test_another_request_under_a_kept_id_is_refused(database: Database, engine: Engine) -> None:
    run = str(uuid.uuid4())
    assert keep(database, engine, run=run) == {"kept": run}
    assert keep(database, engine, run=run) == {"kept": run}
    error = keep(database, engine, run=run, state="Something else")["error"]
    assert "already kept with another state" in error["message"]
