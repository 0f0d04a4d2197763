"""The other three paths: the same answers in Cloudflare's envelope, OpenAI's arrays and on OpenRouter's path."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.api.conftest import Served
from tests.api.requests import NOUL, THREE, body, picture, text

RUN = "/client/v4/accounts/0123/ai/run/@cf/cloudflare/clef-flash"


def post(served: Served, path: str, fields: Any) -> httpx.Response:
    return served.client.post(path, json=fields)


def test_cloudflare_wraps_the_same_answers_with_its_own_confidence(hashed: Served) -> None:
    reply = post(hashed, RUN, body(questions=THREE) | {"model": "clef-flash"})
    assert reply.status_code == 200
    envelope = reply.json()
    plain = post(hashed, "/v1/systemone", body(questions=THREE)).json()
    assert list(envelope) == ["result", "success", "errors", "messages"]
    assert (envelope["success"], envelope["errors"], envelope["messages"]) == (True, [], [])
    result = envelope["result"]
    assert (result["model"], result["usage"]) == ("clef-flash", plain["usage"])
    p = list(plain["answers"]["team"]["probabilities"].values())
    assert result["answers"]["team"]["confidence"] == pytest.approx((sum(x * x for x in p) - 1 / 3) / (2 / 3), abs=1e-5)
    for answers in (result["answers"], plain["answers"]):
        for answer in answers.values():
            answer.pop("confidence", None)
    assert result["answers"] == plain["answers"]


@pytest.mark.parametrize("model", [None, "clef-flash", "@cf/cloudflare/clef-flash", " clef-flash "])
def test_cloudflare_models(hashed: Served, model: str | None) -> None:
    fields = {"state": "x", "questions": NOUL} | ({} if model is None else {"model": model})
    assert post(hashed, RUN, fields).status_code == 200


@pytest.mark.parametrize(
    ("path", "data", "status", "code"),
    [
        (RUN, b"{", 400, 6003),
        (RUN, b"{}", 400, 5006),
        (RUN, b'{"state":"x","questions":{"q":{"type":"boolean"}}}', 400, 5006),
        (RUN, b'{"state":"x","questions":{"q":{"type":"choice","criteria":{}}}}', 422, 5012),
        (RUN, b'{"state":"x","questions":{"q":{"type":"noul"}},"images":["@"]}', 422, 5012),
        (RUN, b'{"model":"clef","state":"x","questions":{"q":{"type":"noul"}}}', 400, 5006),
        (RUN, b'{"state":"' + b"x" * 400_000 + b'","questions":{"q":{"type":"noul"}}}', 413, 5021),
        (RUN + "-2", b"{}", 404, 7000),
        ("/client/v4/accounts/a/ai/run/@cf/other/model", b"{}", 404, 7000),
    ],
)
def test_cloudflare_refusals(hashed: Served, path: str, data: bytes, status: int, code: int) -> None:
    reply = hashed.client.post(path, content=data, headers={"content-type": "application/json"})
    assert reply.status_code == status
    envelope = reply.json()
    assert (envelope["result"], envelope["success"], envelope["messages"]) == (None, False, [])
    (error,) = envelope["errors"]
    assert error["code"] == code
    assert error["message"]
    assert reply.headers["x-typesafe-request-id"]


def test_openrouter_takes_its_own_model_names(hashed: Served) -> None:
    fields = body(questions=THREE)
    for model in ("typesafe/jev-1.13", "~typesafe/jev-latest", "jev-latest"):
        reply = post(hashed, "/api/alpha/decisions", fields | {"model": model})
        assert reply.json() == post(hashed, "/v1/systemone", fields).json()
    refused = post(hashed, "/api/alpha/decisions", fields | {"model": "other/model"})
    assert (refused.status_code, refused.json()["detail"]["error_type"]) == (400, "api_usage_error")


def arrays(**more: Any) -> dict[str, Any]:
    question = {"type": "predicate", "name": "q", "instructions": "Is it urgent?"}
    return {"model": "gpt-6-luna", "input": "The database is down.", "questions": [question]} | more


def test_openai_arrays_hold_the_answers_of_the_map(hashed: Served) -> None:
    map_of = {
        "q": NOUL["q"],
        "1": {"type": "choice", "instructions": "Who?", "criteria": {"sales": None, "billing": "Payments"}},
        "bad": {"type": "score", "instructions": "How bad?", "criteria": ["none", "some: a few", "all"]},
    }
    listed = [
        {"type": "predicate", "name": "q", "instructions": "Is it urgent?"},
        {"type": "choice", "instructions": "Who?",
         "choices": [{"value": "sales"}, {"value": "billing", "description": "Payments"}]},
        {"type": "score", "name": "bad", "instructions": "How bad?",
         "levels": [{"label": "none"}, {"label": "some", "description": "a few"}, {"label": "all"}]},
    ]  # fmt: skip
    reply = post(hashed, "/v1/decisions", arrays(questions=listed))
    assert reply.status_code == 200, reply.text
    plain = post(hashed, "/v1/systemone", body(questions=map_of)).json()
    q, who, bad = reply.json()["answers"]
    assert q == {"type": "predicate", "name": "q", "probability": plain["answers"]["q"]["noul"]}
    assert who["name"] is None
    assert {e["value"]: e["probability"] for e in who["probabilities"]} == plain["answers"]["1"]["probabilities"]
    assert who["choice"] == plain["answers"]["1"]["choice"]
    assert [e["label"] for e in bad["probabilities"]] == ["none", "some", "all"]
    assert bad["score"] == plain["answers"]["bad"]["score"]
    assert reply.json()["usage"]["total_tokens"] == plain["usage"]["input_tokens"]


def test_openai_pictures_are_shown_to_the_model_and_not_read_as_text(hashed: Served) -> None:
    def probability(data: bytes) -> tuple[float, int]:
        part = {"type": "input_image", "image_url": "data:image/png;base64," + text(data), "detail": "low"}
        message = {"role": "user", "content": [{"type": "input_text", "text": "look"}, part]}
        reply = post(hashed, "/v1/decisions", arrays(input=[message])).json()
        return reply["answers"][0]["probability"], reply["usage"]["input_tokens"]

    (red, tokens), (blue, same_tokens) = probability(picture()), probability(picture((0, 0, 250)))
    assert red != blue
    assert tokens == same_tokens < 60


def test_openai_questions_of_one_name_are_told_apart(hashed: Served) -> None:
    questions = [{"type": "predicate", "name": "same", "instructions": f"{i}?"} for i in range(3)]
    answers = post(hashed, "/v1/decisions", arrays(questions=questions)).json()["answers"]
    assert [answer["name"] for answer in answers] == ["same"] * 3
    assert len({answer["probability"] for answer in answers}) == 3


IMAGE = {"type": "input_image", "image_url": "https://example.com/a.png"}


@pytest.mark.parametrize(
    ("fields", "param", "code"),
    [
        ({"model": "gpt-6-luna"}, "input", "missing"),
        (arrays(questions={}), "questions", "list_type"),
        (arrays(questions=[]), "questions", "too_short"),
        (arrays(questions=["x"]), "questions[0]", "dict_type"),
        (arrays(questions=[{"type": "noul"}]), "questions[0].type", "union_tag_invalid"),
        (arrays(questions=[{"type": "predicate", "name": 3}]), "questions[0].name", "string_type"),
        (arrays(questions=[{"type": "predicate", "instructions": 3}]), "questions[0].instructions", "description_type"),
        (arrays(questions=[{"type": "choice"}]), "questions[0].choices", "list_type"),
        (arrays(questions=[{"type": "choice", "choices": []}]), "questions[0].choices", "too_short"),
        (arrays(questions=[{"type": "choice", "choices": ["a"]}]), "questions[0].choices[0].value", "value_type"),
        (arrays(questions=[{"type": "choice", "choices": [{"value": 1}]}]), "questions[0].choices[0].value",
         "value_type"),
        (arrays(questions=[{"type": "choice", "choices": [{"value": ""}]}]), "questions[0].choices", "option_name"),
        (arrays(questions=[{"type": "choice", "choices": [{"value": True}] * 2}]), "questions[0].choices[1].value",
         "duplicate_value"),
        (arrays(questions=[{"type": "score"}]), "questions[0].levels", "list_type"),
        (arrays(questions=[{"type": "score", "levels": [{}]}]), "questions[0].levels[0].label", "string_type"),
        (arrays(input=3), "input", "input_type"),
        (arrays(input={"a": 1}), "input", "input_type"),
        (arrays(input=[{"role": "user", "content": [IMAGE]}]), "input[0].content[0].image_url", "image_url"),
    ],
)  # fmt: skip
def test_openai_refusals(hashed: Served, fields: Any, param: str, code: str) -> None:
    reply = post(hashed, "/v1/decisions", fields)
    assert reply.status_code == 400, reply.text
    error = reply.json()["error"]
    assert list(error) == ["message", "type", "param", "code"]
    assert (error["type"], error["param"], error["code"]) == ("invalid_request_error", param, code)


def test_openai_unknown_model(hashed: Served) -> None:
    error = post(hashed, "/v1/decisions", arrays(model="claude")).json()["error"]
    assert (error["code"], error["param"]) == ("api_usage_error", None)
