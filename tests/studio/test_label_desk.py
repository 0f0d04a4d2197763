"""The Label page's functions, without a browser: what they take, say and keep."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from model.answers import Answer
from model.questions import parse_questions, schema_hash
from model.scorer import ScorerInfo
from model.state import Tokens
from storage.database import Database
from storage.decisions import DecisionRecord, record_decisions
from storage.labels import current_labels
from studio import person
from studio.pages.label_desk import desk_functions

QUESTIONS = parse_questions(
    {
        "team": {"type": "choice", "instructions": "Who?", "criteria": {"zeta": "last", "2": None, "alpha": {"a": 1}}},
        "spam": {"type": "noul", "instructions": "Is it spam?", "criteria": {"true": "unwanted"}},
        "mood": {"type": "score", "criteria": ["calm", "angry"]},
    }
)
SCORER = ScorerInfo(
    name="tiny", kind="clef", fingerprint="a" * 64, question_ids="literal", max_tokens=512, sees_pictures=False
)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database.open(tmp_path) as opened:
        yield opened


def seed(database: Database, n: int, **more: Any) -> list[str]:
    """Records n API decisions; returns their ids."""
    records = [
        DecisionRecord(
            id=str(uuid.uuid4()),
            source="api",
            questions=QUESTIONS,
            scorer=SCORER,
            state={"message": f"{uuid.uuid4().hex} {uuid.uuid4().hex}", "n": i},
            answers={
                "team": Answer("choice", ("zeta", "2", "alpha"), (0.5, 0.3, 0.2)),
                "spam": Answer("noul", ("true", "false"), (0.6 + 0.3 * i / n, 0.4 - 0.3 * i / n)),
                "mood": Answer("score", ("0", "1"), (0.2, 0.8), ("calm", "angry")),
            },
            tokens=Tokens(state=20, pictures=0, questions=30, frame=5, limit=512, read=18),
            seconds=0.01,
            **more,
        )
        for i in range(n)
    ]
    record_decisions(database, records)
    return [record.id for record in records]


@pytest.fixture
def call(database: Database) -> Any:
    functions = {f.__name__: f for f in desk_functions(database)}
    return lambda function, /, **payload: functions[function](payload)


WHERE = {"questions": schema_hash(QUESTIONS), "scorer": SCORER.fingerprint, "question": "spam"}


def sync(call: Any, **more: Any) -> Any:
    return call("sync", **{"labeller": "Ann", "tab": str(uuid.UUID(int=1)), "where": WHERE, **more})


def test_places_say_what_is_asked(database: Database, call: Any) -> None:
    assert call("places") == {"places": []}
    seed(database, 3)
    (place,) = call("places")["places"]
    assert [a["id"] for a in place["asked"]] == ["team", "spam", "mood"]
    assert (place["decisions"], place["scorer_name"], place["schema"], place["version"]) == (3, "tiny", None, None)


def test_questions_bring_their_options_in_request_order(database: Database, call: Any) -> None:
    seed(database, 1)
    options = {key: call("question", **{**WHERE, "question": key})["question"]["options"] for key in QUESTIONS}
    assert options == {
        "team": [["zeta", "zeta", "last"], ["2", "2", None], ["alpha", "alpha", '{"a":1}']],
        "spam": [["true", "Yes", "unwanted"], ["false", "No", None]],
        "mood": [["0", "calm", None], ["1", "angry", None]],
    }


def test_blind_items_come_without_the_answer(database: Database, call: Any) -> None:
    seed(database, 60)
    items = sync(call, want=40)["items"]
    assert {item["stream"] for item in items} == {"queue", "audit"}
    for item in items:
        assert ("probabilities" in item, "top" in item) == (not item["blind"],) * 2
        assert item["blind"] == (item["stream"] == "audit")
    one = next(item for item in items if item["blind"])
    act = {"id": str(uuid.uuid4()), "kind": "label", "lease": one["lease"], "choice": "false"}
    (done,) = sync(call, acts=[act])["done"]
    assert (done["verdict"], done["top"]) == ("wrong", "true")


def test_sync_is_done_once_and_tells_what_is_held(database: Database, call: Any) -> None:
    seed(database, 30)
    first = sync(call, want=10)
    assert (first["status"]["waiting"], first["status"]["ahead"]) == (20, 10)
    known = first["held"]
    acts = [
        {"id": str(uuid.uuid4()), "kind": "label", "lease": lease, "choice": "true", "seconds": 0.8}
        for lease in known[:3]
    ]
    second = sync(call, acts=acts, known=known, want=10)
    assert [d["id"] for d in second["done"]] == [a["id"] for a in acts]
    assert len(second["items"]) == 3
    assert len(second["held"]) == 10
    third = sync(call, acts=acts, known=[*known, *second["held"]], want=10)
    assert third["items"] == []
    assert third["status"]["labelled"] == 3


def test_an_act_that_fails_is_said_and_a_gone_place_does_not_hold_up_acts(database: Database, call: Any) -> None:
    seed(database, 5)
    (one, *_) = sync(call)["items"]
    acts = [
        {"id": str(uuid.uuid4()), "kind": "label", "lease": one["lease"], "choice": "maybe"},
        {"id": str(uuid.uuid4()), "kind": "label", "lease": one["lease"], "choice": "true", "note": "clear"},
    ]
    reply = sync(call, acts=acts, where={**WHERE, "question": "gone"})
    assert "not an option" in reply["done"][0]["error"]
    assert reply["done"][1]["verdict"] in ("right", "wrong")
    assert "no 'gone'" in reply["lost"]
    (label,) = current_labels(database, one["decision"])
    assert (label.labeller, label.note) == ("Ann", "clear")


def test_who_is_signed_in_labels_under_that_name(database: Database, call: Any) -> None:
    seed(database, 5)
    with person.acting_as("Maren"):
        (one, *_) = sync(call)["items"]
        sync(call, acts=[{"id": str(uuid.uuid4()), "kind": "label", "lease": one["lease"], "choice": None}])
    (label,) = current_labels(database, one["decision"])
    assert (label.labeller, label.verdict) == ("Maren", "cant_tell")


def test_settings_change_what_comes_next(database: Database, call: Any) -> None:
    seed(database, 40)
    changed = call("set_desk", where=WHERE, audit_share=1.0, blind_audit=0.0, measure="entropy", apart=False)
    assert changed["settings"] == {
        "measure": "entropy",
        "audit_share": 1.0,
        "overlap": 0.1,
        "blind_queue": 0.0,
        "blind_audit": 0.0,
        "apart": False,
    }
    items = sync(call, want=10)["items"]
    assert {(i["stream"], i["blind"]) for i in items} == {("audit", False)}
    refused = call("set_desk", where=WHERE, audit_share=2)
    assert refused["error"]["message"]
    assert call("question", **WHERE)["settings"] == changed["settings"]


def test_items_that_arrive_are_taken_in(database: Database, call: Any) -> None:
    seed(database, 2)
    assert len(sync(call, want=10)["held"]) == 2
    seed(database, 4)
    assert len(sync(call, want=10)["held"]) == 6
