"""Recorded decisions and labels from code: kept once, on the disk, matched to the schema version that was asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from model.questions import parse_questions
from storage.decisions import get_decision
from storage.labels import current_labels, history
from storage.pictures import read_picture
from storage.schemas import archive_schema, create_schema, publish, record_schema
from tests.api.conftest import Served, serving
from tests.api.hash_scorer import HashScorer
from tests.api.requests import THREE, body, picture, text


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("data")
    with serving(HashScorer(), folder=folder) as served:
        yield served


def decide(served: Served, **fields: Any) -> dict[str, Any]:
    reply = served.client.post("/v1/systemone", json=body(questions=THREE, **fields))
    assert reply.status_code == 200, reply.text
    return dict(reply.json())


def say(served: Served, **fields: Any) -> httpx.Response:
    return served.client.post("/v1/feedback", json=fields)


def test_nothing_is_recorded_unless_asked(hashed: Served) -> None:
    assert "x_decision_id" not in decide(hashed)


def test_a_schema_that_records_keeps_its_own_decisions_only() -> None:
    with serving(HashScorer()) as served:
        schema = create_schema(served.database, name="Three")
        version = publish(served.database, schema.id, parse_questions(THREE))
        assert "x_decision_id" not in decide(served)
        record_schema(served.database, schema.id)
        kept = get_decision(served.database, decide(served)["x_decision_id"])
        assert (kept.schema_id, kept.version) == (schema.id, version.number)
        assert "x_decision_id" not in served.client.post("/v1/systemone", json=body()).json()
        archive_schema(served.database, schema.id)
        assert "x_decision_id" not in decide(served)


def test_a_decision_is_recorded_with_its_pictures_unrounded(recording: Served) -> None:
    photo = picture()
    reply = decide(recording, state={"a": [1]}, images=[text(photo)])
    kept = get_decision(recording.database, reply["x_decision_id"])
    assert (kept.source, kept.state, kept.scorer.name, kept.schema_id) == ("api", {"a": [1]}, "hash-1", None)
    assert read_picture(recording.database, kept.pictures[0]) == photo
    wire = reply["answers"]["team"]["probabilities"]
    inside = dict(zip(kept.answers["team"].options, kept.answers["team"].probabilities, strict=True))
    assert wire == {option: round(p, 6) for option, p in inside.items()}
    assert wire != inside


def test_a_decision_belongs_to_the_version_that_asks_its_questions(recording: Served) -> None:
    schema = create_schema(recording.database, name="Three", document={})
    version = publish(recording.database, schema.id, parse_questions(THREE))
    kept = get_decision(recording.database, decide(recording)["x_decision_id"])
    assert (kept.schema_id, kept.version) == (schema.id, version.number)


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/api/alpha/decisions", body()),
        ("/client/v4/accounts/a/ai/run/@cf/cloudflare/clef", body() | {"model": "clef"}),
        ("/v1/decisions", {"model": "gpt-6-luna", "input": "x", "questions": [{"type": "predicate", "name": "q"}]}),
    ],
)
def test_every_path_records(recording: Served, path: str, fields: dict[str, Any]) -> None:
    reply = recording.client.post(path, json=fields).json()
    ident = reply.get("result", reply)["x_decision_id"]
    assert list(get_decision(recording.database, ident).answers) == ["q"]


def test_the_true_answer_tells_whether_the_model_was_right(recording: Served) -> None:
    reply = decide(recording)
    ident, team = reply["x_decision_id"], reply["answers"]["team"]
    other = next(option for option in team["probabilities"] if option != team["choice"])
    level = max(reply["answers"]["severity"]["probabilities"].items(), key=lambda item: item[1])[0]
    says = reply["answers"]["urgent"]["noul"] >= 0.5
    for question, answer, verdict in (
        ("team", team["choice"], "right"),
        ("team", other, "wrong"),
        ("severity", int(level), "right"),
        ("severity", (int(level) + 1) % 3, "wrong"),
        ("urgent", says, "right"),
        ("urgent", not says, "wrong"),
    ):
        said = say(recording, decision_id=ident, question=question, true_answer=answer)
        assert said.status_code == 200, said.text
        assert said.json()["verdict"] == verdict
        assert said.json()["true_answer"] == str(answer).lower()
    labels = current_labels(recording.database, ident)
    assert [(label.question, label.verdict, label.labeller) for label in labels] == [
        ("team", "wrong", "api"), ("severity", "wrong", "api"), ("urgent", "wrong", "api"),
    ]  # fmt: skip
    assert {label.source for label in labels} == {"volunteered"}
    assert len(history(recording.database, ident, "team")) == 2


def test_the_same_key_is_one_label(recording: Served) -> None:
    ident = decide(recording)["x_decision_id"]
    fields = {"decision_id": ident, "question": "team", "verdict": "cant_tell", "note": "unclear", "labeller": "Ada"}
    first = say(recording, **fields, key="ticket 7")
    again = say(recording, **fields, key="ticket 7")
    assert first.json() == again.json()
    assert len(history(recording.database, ident, "team")) == 1
    other = say(recording, **fields | {"note": "other"}, key="ticket 7")
    assert (other.status_code, other.json()["detail"]["error_type"]) == (409, "conflict")
    headers = {"idempotency-key": "ticket 8"}
    ids = {recording.client.post("/v1/feedback", json=fields, headers=headers).json()["label_id"] for _ in range(2)}
    assert len(ids) == 1
    assert len(history(recording.database, ident, "team")) == 2


@pytest.mark.parametrize(
    ("fields", "status", "where"),
    [
        ({"decision_id": None}, 422, "decision_id"),
        ({"decision_id": "nobody"}, 404, None),
        ({"decision_id": "00000000-0000-4000-8000-000000000000"}, 404, None),
        ({"question": "nothing"}, 422, "question"),
        ({"true_answer": "nothing"}, 422, "true_answer"),
        ({"true_answer": 1.5}, 422, "true_answer"),
        ({"true_answer": "\ud83d"}, 422, "true_answer"),
        ({"verdict": "maybe"}, 422, "verdict"),
        ({"verdict": "cant_tell"}, 422, "true_answer"),
        ({"note": "x" * 20_000}, 422, "note"),
        ({"note": "\ud83d"}, 422, "note"),
        ({"labeller": " "}, 422, "labeller"),
        ({"key": 7}, 422, "key"),
    ],
)
def test_refused_labels(recording: Served, fields: dict[str, Any], status: int, where: str | None) -> None:
    good = {"decision_id": decide(recording)["x_decision_id"], "question": "team", "true_answer": "billing"}
    data = json.dumps(good | fields).encode()
    reply = recording.client.post("/v1/feedback", content=data, headers={"content-type": "application/json"})
    assert reply.status_code == status, reply.text
    if where is not None:
        assert reply.json()["detail"][0]["loc"] == ["body", where]


def test_what_is_missing_is_named(recording: Served) -> None:
    locs = [error["loc"][1] for error in say(recording).json()["detail"]]
    assert locs == ["decision_id", "question", "true_answer"]
