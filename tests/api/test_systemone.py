"""Answers on the wire: exactly the fields, the order and the numbers of the System One format."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.api.conftest import Served
from tests.api.requests import THREE, body


def ask(served: Served, **fields: Any) -> dict[str, Any]:
    reply = served.client.post("/v1/systemone", json=body(**fields))
    assert reply.status_code == 200, reply.text
    return dict(reply.json())


def test_a_reply_has_exactly_the_fields_of_the_format(hashed: Served) -> None:
    reply = ask(hashed, questions=THREE)
    assert list(reply) == ["model", "answers", "usage"]
    assert list(reply["answers"]) == list(THREE)
    assert reply["model"] == "hash-1"
    assert list(reply["answers"]["team"]) == ["type", "choice", "confidence", "probabilities"]
    assert list(reply["answers"]["severity"]) == ["type", "score", "confidence", "legend", "probabilities"]
    assert list(reply["answers"]["urgent"]) == ["type", "noul"]
    assert reply["usage"]["output_tokens"] == 0
    assert type(reply["usage"]["input_tokens"]) is int
    assert reply["usage"]["input_tokens"] > 0


def test_numbers_agree_with_each_other(hashed: Served) -> None:
    answers = ask(hashed, questions=THREE)["answers"]
    team, severity, urgent = answers["team"], answers["severity"], answers["urgent"]
    p = team["probabilities"]
    assert list(p) == ["sales", "billing", "2"]  # request order; the scorer reads them sorted
    assert sum(p.values()) == pytest.approx(1, abs=2e-6)
    assert p[team["choice"]] == max(p.values())
    assert team["confidence"] == pytest.approx((max(p.values()) - 1 / 3) / (1 - 1 / 3), abs=3e-6)
    q = list(severity["probabilities"].values())
    assert list(severity["probabilities"]) == ["0", "1", "2"]
    assert severity["score"] == pytest.approx(sum(i * x for i, x in enumerate(q)), abs=5e-6)
    spread = sum(x * abs(i - q.index(max(q))) for i, x in enumerate(q))
    assert severity["confidence"] == pytest.approx(max(0, 1 - spread / (2 / 3)), abs=5e-6)
    assert 0 <= urgent["noul"] <= 1


def test_the_legend_is_what_was_sent(hashed: Served) -> None:
    legend = ask(hashed, questions=THREE)["answers"]["severity"]["legend"]
    assert legend == {"0": "No impact", "1": {"label": "Minor"}, "2": ["Major"]}


def test_no_number_has_more_than_six_decimals(hashed: Served) -> None:
    texts: list[str] = []
    texts: list[str] = []
    reply = hashed.client.post("/v1/systemone", json=body(questions=THREE)).text
    json.loads(reply, parse_float=lambda text: texts.append(text) or float(text))
    assert len(texts) > 5
    assert all(len(text.partition(".")[2]) <= 6 for text in texts)


def test_one_option_and_one_level_are_certain(hashed: Served) -> None:
    questions = {"c": {"type": "choice", "criteria": {"only": None}}, "s": {"type": "score", "criteria": ["only"]}}
    answers = ask(hashed, questions=questions)["answers"]
    assert answers["c"] == {"type": "choice", "choice": "only", "confidence": 1.0, "probabilities": {"only": 1.0}}
    assert answers["s"] == {
        "type": "score", "score": 0.0, "confidence": 1.0, "legend": {"0": "only"}, "probabilities": {"0": 1.0},
    }  # fmt: skip


@pytest.mark.parametrize("options", [2, 26, 64, 128, 255])
def test_many_options(hashed: Served, options: int) -> None:
    criteria = {f"option {i}": None for i in range(options)}
    answer = ask(hashed, questions={"q": {"type": "choice", "criteria": criteria}})["answers"]["q"]
    assert list(answer["probabilities"]) == list(criteria)
    assert sum(answer["probabilities"].values()) == pytest.approx(1, abs=options * 5e-7)


def test_sixty_four_questions_get_sixty_four_answers(hashed: Served) -> None:
    questions = {f"q{i}": {"type": "noul", "instructions": f"Number {i}?"} for i in range(64)}
    assert list(ask(hashed, questions=questions)["answers"]) == list(questions)


@pytest.mark.parametrize(
    "ident", ["ticket-1", "q.2", "with space", "질문", "🎯", "10", "__proto__", "toString", "x" * 256]
)
def test_ids_are_any_text_and_do_not_matter(hashed: Served, ident: str) -> None:
    question = {"type": "choice", "criteria": {"constructor": None, "날씨 🙂": {"desc": ["nested", 1]}}}
    answers = ask(hashed, questions={ident: question})["answers"]
    assert list(answers) == [ident]
    assert answers[ident] == ask(hashed, questions={"other": question})["answers"]["other"]


@pytest.mark.parametrize(
    "state",
    ["", "text", {}, [], {"a": [1, None, True, 2.5]}, [{"role": "user", "content": "hi"}], "\u0000 \u202e \ufeff"],
    ids=repr,
)
def test_states_of_every_kind(hashed: Served, state: Any) -> None:
    assert ask(hashed, state=state)["answers"]["q"]["type"] == "noul"


@pytest.mark.parametrize(
    "model", ["jev-latest", " jev-latest ", "jev-1.13.0", "jev-preview", "hash-1", "clef", "Cloudflare/clef-flash"]
)
def test_model_names(hashed: Served, model: str) -> None:
    reply = hashed.client.post("/v1/systemone", json=body() | {"model": model})
    assert (reply.status_code, reply.json()["model"]) == (200, "hash-1")


def test_unknown_fields_and_headers_are_ignored(hashed: Served) -> None:
    plain = ask(hashed)
    headers = {"TypeSafe-Danger-Zone-Images": "true", "Authorization": "Bearer anything", "X-TypeSafe-Retry-Count": "1"}
    questions = {"q": {"type": "noul", "instructions": "Is it urgent?", "weight": 3, "x": [[]]}}
    more = {"seed": 7, "x_trace_id": "abc", "stream": True, "audio": [], "videos": None}
    reply = hashed.client.post("/v1/systemone", json=body(questions=questions, **more), headers=headers)
    assert reply.json() == plain


def test_criteria_alone_are_enough(hashed: Served) -> None:
    for question in (
        {"type": "noul"},
        {"type": "noul", "criteria": {}},
        {"type": "noul", "criteria": None, "instructions": ""},
        {"type": "noul", "criteria": {"false": None}},
        {"type": "choice", "criteria": {"a": None, "b": ["x"]}, "instructions": None},
        {"type": "score", "criteria": ["a", "b"], "instructions": {"text": ["how?"]}},
    ):
        assert ask(hashed, questions={"q": question})["answers"]["q"]["type"] == question["type"]


def test_a_state_that_is_too_long_is_refused_with_counts_or_cut_when_allowed(hashed: Served) -> None:
    state = "word " * 20_000
    refused = hashed.client.post("/v1/systemone", json=body(state))
    assert refused.status_code == 422
    (error,) = refused.json()["detail"]
    assert error["loc"] == ["body", "state"]
    assert "25,000" in error["msg"]
    assert "20,000" in error["msg"]
    reply = ask(hashed, state=state, x_truncate=True)
    cut = reply["x_truncated"]
    assert cut["state_tokens"] == 25_000
    assert reply["usage"]["input_tokens"] == 20_000
    assert cut["tokens"] == cut["state_tokens"] - cut["from_character"] // 4
    assert "x_truncated" not in ask(hashed, x_truncate=True)


def test_replies_name_their_request_and_their_time(hashed: Served) -> None:
    replies = [hashed.client.post("/v1/systemone", json=body()) for _ in range(2)]
    names = {reply.headers["x-typesafe-request-id"] for reply in replies}
    assert len(names) == 2
    assert replies[0].headers["server-timing"].startswith("run;dur=")
    assert replies[0].headers["content-type"] == "application/json"


def test_models_and_health(hashed: Served) -> None:
    listed = hashed.client.get("/v1/models").json()["models"]
    assert [entry["name"] for entry in listed] == ["hash-1", "jev-latest"]
    assert all(set(entry) == {"name", "description", "release_date"} for entry in listed)
    assert all(isinstance(value, str) and value for entry in listed for value in entry.values())
    assert len(listed[0]["release_date"]) == 10
    assert "question ids neutral" in listed[0]["description"]
    ready = hashed.client.get("/readyz")
    assert (ready.status_code, ready.json()["model"]) == (200, "hash-1")
    assert len(ready.json()["fingerprint"]) == 64
    for path in ("/healthz", "/health"):
        assert hashed.client.get(path).json() == {"status": "ok", "model": "hash-1"}
