"""`x_policy`: a policy that is in force speaks on every route, for its questions and scorer only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text as sql

from model.questions import parse_questions, schema_hash
from storage.decisions import get_decision
from storage.policies import save_policy, withdraw_policy
from tests.api.conftest import Served, serving
from tests.api.hash_scorer import HashScorer
from tests.api.requests import THREE, body

SYSTEM_ONE = "/v1/systemone"


@pytest.fixture
def recording(tmp_path: Path) -> Iterator[Served]:
    with serving(HashScorer(), folder=tmp_path) as served:
        yield served


def ask(served: Served, path: str = SYSTEM_ONE, **fields: Any) -> dict[str, Any]:
    reply = served.client.post(path, json=body(questions=THREE, **fields))
    assert reply.status_code == 200, reply.text
    said = reply.json()
    return dict(said.get("result", said))


def place(served: Served, question: str, questions: Any = THREE) -> dict[str, str]:
    fingerprint = served.engine.scorer.info.fingerprint
    return {"questions": schema_hash(parse_questions(questions)), "scorer": fingerprint, "question": question}


def keep(served: Served, question: str, act: float | None, refuse: float | None, questions: Any = THREE) -> None:
    basis = {"kind": "by hand"}
    where = place(served, question, questions)
    save_policy(served.database, id=str(uuid4()), act=act, refuse=refuse, basis=basis, by="Maren", **where)


def test_nothing_is_said_without_a_policy(recording: Served) -> None:
    assert "x_policy" not in ask(recording)


def test_a_policy_says_act_ask_or_refuse(recording: Served) -> None:
    first = ask(recording)
    lead = max(first["answers"]["team"]["probabilities"].values())
    for act, refuse, says in ((lead - 0.01, None, "act"), (lead + 0.01, None, "ask"), (None, lead + 0.01, "refuse")):
        keep(recording, "team", act, refuse)
        said = ask(recording)
        assert said["x_policy"] == {"team": says}
        assert said["answers"] == first["answers"]
    keep(recording, "urgent", None, None)
    assert ask(recording)["x_policy"] == {"team": "refuse", "urgent": "ask"}


def test_it_stands_on_the_unrounded_probability(recording: Served) -> None:
    ask(recording)
    probability = max(_inside(recording))
    assert round(probability, 6) != probability
    # Of two thresholds that the wire cannot tell apart, only the lower one is met.
    keep(recording, "team", probability, None)
    assert ask(recording)["x_policy"] == {"team": "act"}
    keep(recording, "team", probability + 1e-9, None)
    assert ask(recording)["x_policy"] == {"team": "ask"}


def _inside(served: Served) -> tuple[float, ...]:
    return tuple(get_decision(served.database, ask(served)["x_decision_id"]).answers["team"].probabilities)


def test_it_ends_when_it_is_withdrawn(recording: Served) -> None:
    ask(recording)
    keep(recording, "team", 0.01, None)
    assert ask(recording)["x_policy"] == {"team": "act"}
    withdraw_policy(recording.database, id=str(uuid4()), by="Maren", **place(recording, "team"))
    assert "x_policy" not in ask(recording)


def test_other_questions_have_no_policy(recording: Served) -> None:
    ask(recording)
    keep(recording, "team", 0.01, None)
    other = {**THREE, "urgent": {**THREE["urgent"], "instructions": "Now?"}}
    reply = recording.client.post(SYSTEM_ONE, json=body(questions=other)).json()
    assert "x_policy" not in reply


@pytest.mark.parametrize("path", ["/api/alpha/decisions", "/client/v4/accounts/a/ai/run/@cf/cloudflare/clef"])
def test_the_same_on_paths_with_the_same_body(recording: Served, path: str) -> None:
    ask(recording)
    keep(recording, "team", 0.01, None)
    assert ask(recording, path, **({"model": "clef"} if "client" in path else {}))["x_policy"] == {"team": "act"}


def test_openai_gets_a_list_in_the_order_of_the_questions(recording: Served) -> None:
    asked = {"model": "gpt-6-luna", "input": "x", "questions": [{"type": "predicate"}, {"type": "predicate"}]}
    assert "x_policy" not in recording.client.post("/v1/decisions", json=asked).json()
    keep(recording, "1", 0.01, None, {"0": {"type": "noul"}, "1": {"type": "noul"}})
    assert recording.client.post("/v1/decisions", json=asked).json()["x_policy"] == [None, "act"]


def test_policies_that_cannot_be_read_let_nothing_act(recording: Served, caplog: pytest.LogCaptureFixture) -> None:
    ask(recording)
    keep(recording, "team", 0.01, None)
    with recording.database.write_session() as session:
        session.execute(sql("ALTER TABLE policies RENAME TO elsewhere"))
    assert "x_policy" not in ask(recording)
    assert "the policies could not be read" in caplog.text
