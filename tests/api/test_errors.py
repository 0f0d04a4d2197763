"""Refusals: the right status, a `loc` that points at the field, never a 5xx, never an echo of the state."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from model.engine import Engine
from studio.api.errors import MAX_FIELDS
from tests.api.conftest import Served, serving
from tests.api.hash_scorer import HashScorer
from tests.api.requests import NOUL, body

SECRET = "secret-7f3a"


def post(served: Served, data: bytes | str, path: str = "/v1/systemone") -> httpx.Response:
    content = data if isinstance(data, bytes) else data.encode()
    return served.client.post(path, content=content, headers={"content-type": "application/json"})


def question(**fields: Any) -> dict[str, Any]:
    return body(SECRET, {"q": fields})


OPTIONS = {f"o{i}": None for i in range(256)}


@pytest.mark.parametrize(
    ("fields", "loc", "kind"),
    [
        ({}, ["model"], "missing"),
        ({"model": "jev-latest", "questions": NOUL}, ["state"], "missing"),
        ({"model": "jev-latest", "state": SECRET}, ["questions"], "missing"),
        ({"state": SECRET, "questions": NOUL}, ["model"], "missing"),
        (body(SECRET) | {"model": 3}, ["model"], "string_type"),
        (body(SECRET) | {"model": None}, ["model"], "string_type"),
        (body(None), ["state"], "state_type"),
        (body(7), ["state"], "state_type"),
        (body(True), ["state"], "state_type"),
        (body(SECRET, {}), ["questions"], "too_short"),
        (body(SECRET, []), ["questions"], "dict_type"),
        (body(SECRET, "q"), ["questions"], "dict_type"),
        (body(SECRET, {"q": None}), ["questions", "q"], None),
        (body(SECRET, {"q": []}), ["questions", "q"], None),
        (body(SECRET, {"": NOUL["q"]}), ["questions", ""], "question_id"),
        (body(SECRET, {"x" * 257: NOUL["q"]}), ["questions", "x" * 40], "question_id"),
        (body(SECRET, {f"q{i}": NOUL["q"] for i in range(65)}), ["questions"], "too_long"),
        (question(type="boolean"), ["questions", "q"], "union_tag_invalid"),
        (question(type="box", instructions="Where?"), ["questions", "q"], "union_tag_invalid"),
        (question(type=["noul"]), ["questions", "q"], "union_tag_invalid"),
        (question(instructions="?"), ["questions", "q"], "union_tag_not_found"),
        (question(type="noul", instructions=3), ["questions", "q", "noul", "instructions"], "description_type"),
        (
            question(type="noul", criteria={"maybe": "x"}),
            ["questions", "q", "noul", "criteria", "maybe"],
            "literal_error",
        ),
        (question(type="noul", criteria=["x"]), ["questions", "q", "noul", "criteria"], "dict_type"),
        (question(type="noul", criteria={"true": 1}), ["questions", "q", "noul", "criteria"], "description_type"),
        (question(type="choice"), ["questions", "q", "choice", "criteria"], "missing"),
        (question(type="choice", criteria={}), ["questions", "q", "choice", "criteria"], "too_short"),
        (question(type="choice", criteria=["a"]), ["questions", "q", "choice", "criteria"], "dict_type"),
        (
            question(type="choice", criteria={"": None, "a": None}),
            ["questions", "q", "choice", "criteria"],
            "option_name",
        ),
        (question(type="choice", criteria={"a": 1}), ["questions", "q", "choice", "criteria"], "description_type"),
        (question(type="choice", criteria=OPTIONS), ["questions", "q", "choice", "criteria"], "too_long"),
        (question(type="score", criteria={"0": "a", "1": "b"}), ["questions", "q", "score", "criteria"], "list_type"),
        (question(type="score", criteria=[]), ["questions", "q", "score", "criteria"], "too_short"),
        (question(type="score", criteria=["a", None]), ["questions", "q", "score", "criteria"], "level_null"),
        (question(type="score", criteria=["a"] * 11), ["questions", "q", "score", "criteria"], "too_long"),
        (question(type="score"), ["questions", "q", "score", "criteria"], "missing"),
    ],
)
def test_wrong_fields_are_named(hashed: Served, fields: Any, loc: list[Any], kind: str | None) -> None:
    reply = post(hashed, json.dumps(fields))
    assert reply.status_code == 422, reply.text
    first = reply.json()["detail"][0]
    assert list(first) == ["loc", "msg", "type"]
    assert first["loc"] == ["body", *loc]
    assert first["msg"]
    if kind is not None:
        assert first["type"] == kind
    assert SECRET not in reply.text


def test_all_wrong_fields_are_named_at_once(hashed: Served) -> None:
    reply = post(hashed, json.dumps(body(SECRET, {"u": {"type": "score", "criteria": {}}, "b": {"type": "boolean"}})))
    locs = [error["loc"] for error in reply.json()["detail"]]
    assert locs == [["body", "questions", "u", "score", "criteria"], ["body", "questions", "b"]]


GOOD = json.dumps(
    body("STATE", {"q": {"type": "choice", "instructions": "INSTRUCTIONS", "criteria": {"OPTION": "SAID"}}})
)
HALF = '"\\ud83d"'


@pytest.mark.parametrize(
    ("data", "loc", "kind"),
    [
        pytest.param(b"", [0], "json_invalid", id="empty"),
        pytest.param(b"{", [1], "json_invalid", id="not JSON"),
        pytest.param(b"[]", [], "dict_type", id="array"),
        pytest.param(b"null", [], "dict_type", id="null"),
        pytest.param(b'"text"', [], "dict_type", id="string"),
        pytest.param(b"\x89PNG\r\n\x1a\n", [0], "json_invalid", id="a picture"),
        pytest.param(b'{"state":"\xe9"}', [10], "json_invalid", id="latin-1"),
        pytest.param(GOOD.encode("utf-16"), None, "json_invalid", id="utf-16"),
        pytest.param(b"\xef\xbb\xbf" + GOOD.encode(), None, "json_invalid", id="byte order mark"),
        pytest.param(GOOD + "x", None, "json_invalid", id="more behind it"),
        pytest.param(GOOD.replace('"STATE"', '{"a": NaN}'), [], "json_invalid", id="NaN"),
        pytest.param(GOOD.replace('"STATE"', "[-Infinity]"), [], "json_invalid", id="-Infinity"),
        pytest.param(GOOD.replace('"STATE"', "[1e999]"), ["state", 0], "finite_number", id="overflow"),
        pytest.param(GOOD.replace('"STATE"', f'[{"9" * 5000}]'), [], "json_invalid", id="5,000 digits"),
        pytest.param(GOOD.replace('"STATE"', "[" * 100_000), None, None, id="100,000 brackets"),
        pytest.param(GOOD.replace('"STATE"', "[" * 900 + "]" * 900), ["state"], "too_deep", id="depth 900"),
        pytest.param(GOOD.replace('"STATE"', '{"a":' * 50_000 + "1" + "}" * 50_000), [], "too_deep", id="depth 50,000"),
        pytest.param(GOOD.replace('"SAID"', "[" * 90 + "]" * 90), None, "too_deep", id="deep description"),
        pytest.param(GOOD.replace('"STATE"', "[" + "[]," * 600_000 + "[]]"), [], "too_many_values", id="many values"),
        pytest.param(GOOD.replace('"STATE"', HALF), ["state"], "string_unicode", id="half a pair in the state"),
        pytest.param(GOOD.replace('"STATE"', f"{{{HALF}: 1}}"), ["state"], "string_unicode", id="in a key of it"),
        pytest.param(GOOD.replace('"INSTRUCTIONS"', HALF), None, "string_unicode", id="in the instructions"),
        pytest.param(GOOD.replace('"OPTION"', HALF), None, None, id="in an option"),
        pytest.param(GOOD.replace('"SAID"', HALF), None, "string_unicode", id="in a description"),
        pytest.param(GOOD.replace('"q"', HALF), None, None, id="in an id"),
        pytest.param(GOOD.replace('"choice"', HALF), None, None, id="in a type"),
        pytest.param(GOOD.replace('"OPTION": "SAID"', '"a": "1", "a": "2"'), ["questions", "q", "criteria", "a"],
                     "duplicate_key", id="an option twice"),
        pytest.param('{"questions": {"q": {}, "q": {}}}', ["questions", "q"], "duplicate_key", id="an id twice"),
        pytest.param('{"state": 1, "state": 2}', ["state"], "duplicate_key", id="a field twice"),
        pytest.param('{"state": [{"a": {"b": 1, "b": 2}}]}', ["state", 0, "a", "b"], "duplicate_key", id="deep twice"),
        pytest.param('{"a": {"b": 1, "b": 2}, "a": 1}', ["a"], "duplicate_key", id="twice inside twice"),
        pytest.param(f"{{{HALF}: 1, {HALF}: 2}}", None, "duplicate_key", id="half a pair twice"),
    ],
)  # fmt: skip
def test_bad_json(hashed: Served, data: bytes | str, loc: list[Any] | None, kind: str | None) -> None:
    reply = post(hashed, data)
    assert reply.status_code == 422, reply.text[:300]
    first = reply.json()["detail"][0]
    assert first["loc"][0] == "body"
    if loc is not None:
        assert first["loc"] == ["body", *loc]
    if kind is not None:
        assert first["type"] == kind
    assert len(reply.content) < 2000
    assert hashed.client.post("/v1/systemone", json=body()).status_code == 200


def test_a_refusal_stays_small_however_much_is_wrong(hashed: Served) -> None:
    criteria = {f"{i:>2000}": "x" for i in range(2000)}
    reply = post(hashed, json.dumps(question(type="noul", criteria=criteria)))
    assert reply.status_code == 422
    assert len(reply.json()["detail"]) == MAX_FIELDS
    assert len(reply.content) < 64_000


def test_unknown_models_are_refused_without_repeating_them(hashed: Served) -> None:
    reply = post(hashed, json.dumps(body() | {"model": "no-such-model"}))
    assert (reply.status_code, reply.json()["detail"]["error_type"]) == (400, "api_usage_error")
    assert "hash-1" in reply.json()["detail"]["message"]


@pytest.mark.parametrize(
    ("method", "path", "status", "kind"),
    [
        ("GET", "/v1/nope", 404, "not_found"),
        ("POST", "/v1/v1/systemone", 404, "not_found"),
        ("POST", "/v1/", 404, "not_found"),
        ("POST", "/client/v4/accounts/a/ai/run/@cf/other/model", 404, None),
        ("POST", "/api/alpha/nope", 404, "not_found"),
        ("GET", "/v1/systemone", 405, "method_not_allowed"),
        ("PUT", "/v1/systemone", 405, "method_not_allowed"),
        ("POST", "/v1/models", 405, "method_not_allowed"),
    ],
)
def test_paths_and_methods(hashed: Served, method: str, path: str, status: int, kind: str | None) -> None:
    reply = hashed.client.request(method, path)
    assert reply.status_code == status
    assert reply.headers["x-typesafe-request-id"]
    if kind is not None:
        assert reply.json()["detail"]["error_type"] == kind
    if status == 405:
        assert reply.headers["allow"] in ("POST", "GET", "GET, HEAD")
    if "/v1/v1" in path:
        assert "must not end in /v1" in reply.json()["detail"]["message"]


def test_the_guard_answers_under_a_request_id_too(hashed: Served) -> None:
    reply = hashed.client.post("/v1/systemone", json=body(), headers={"origin": "http://evil.example"})
    assert (reply.status_code, reply.json()["detail"]["error_type"]) == (403, "cross_site")
    assert reply.headers["x-typesafe-request-id"]
    assert hashed.client.get("/v1/models", headers={"host": "evil.example"}).status_code == 400


class Broken(HashScorer):
    """A scorer whose weights are broken, or whose code is."""

    def score(self, requests: Any) -> Any:
        readings = super().score(requests)
        if requests[0].state.value == "nan":
            return [type(readings[0])({"q": [float("nan"), 0.0]}, readings[0].tokens)]
        raise RuntimeError(SECRET)


def test_a_fault_of_ours_is_a_500_that_tells_nothing_and_the_next_request_is_served(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with serving(Broken()) as served:
        for state in ("nan", "boom"):
            reply = post(served, json.dumps(body(state)))
            assert (reply.status_code, reply.json()["detail"]["error_type"]) == (500, "internal_error")
            assert SECRET not in reply.text
            assert reply.headers["x-typesafe-request-id"] in caplog.text
        assert served.client.get("/healthz").status_code == 200


def test_while_the_model_loads_or_after_it_failed_callers_are_told() -> None:
    def fail(_: Any) -> Any:
        raise OSError("the weights are missing")

    engine = Engine(fail)
    engine.wait_ready(10)
    with serving(engine=engine) as served:
        ready = served.client.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (503, "failed")
        assert served.client.get("/healthz").json() == {"status": "ok", "model": "failed"}
        for reply in (post(served, json.dumps(body())), served.client.get("/v1/models")):
            assert (reply.status_code, reply.json()["detail"]["error_type"]) == (529, "model_loading")
            assert reply.headers["retry-after"] == "2"
