"""The official clients, unchanged, against a running server: Python, JavaScript and OpenAI's."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
import typesafe_sdk as sdk

from tests.api.conftest import KEY, Served, serving
from tests.api.hash_scorer import HashScorer
from tests.api.requests import picture, text

NO_RETRY = sdk.RetryPolicy(max_retries=0)
ASK = {"q": sdk.Noul(instructions="Is it red?")}


@pytest.fixture
def client(hashed: Served) -> Iterator[sdk.TypeSafeClient]:
    with sdk.TypeSafeClient(base_url=hashed.url, api_key="anything", retry=NO_RETRY) as client:
        yield client


def test_every_type_of_answer_is_parsed(client: sdk.TypeSafeClient) -> None:
    levels: list[Any] = ["Can wait", {"label": "This week"}, ["Today"]]
    questions = {
        "team": sdk.Choice(instructions="Who?", criteria={"billing": "Payments", "技術 🙂": {"is": ["nested", 1]}}),
        "urgency": sdk.Score(instructions="How urgent?", criteria=levels),
        "질문": sdk.Noul(criteria={"true": "It is advertising"}),
    }
    reply = client.system_one({"msg": "help", "nan": float("nan")}, questions)
    assert list(reply.answers) == list(questions)
    team, urgency = reply.choices["team"], reply.scores["urgency"]
    assert team.probabilities[team.choice] == max(team.probabilities.values())
    assert urgency.legend == dict(enumerate(levels))
    assert urgency.score == pytest.approx(sum(i * p for i, p in urgency.probabilities.items()), abs=1e-5)
    assert 0 <= reply.nouls["질문"].noul <= 1
    assert (reply.model, reply.usage.output_tokens) == ("hash-1", 0)
    assert reply.usage.input_tokens > 0
    assert reply.request_id.startswith("req_")


def test_the_list_of_models_is_parsed(client: sdk.TypeSafeClient) -> None:
    assert [model.name for model in client.models.list().models] == ["hash-1", "jev-latest"]


def test_bodies_that_the_sdk_compresses(hashed: Served) -> None:
    # From 1 KiB on the SDK compresses by itself where it finds zstd.
    state = "lorem ipsum " * 400
    answers = []
    for compression in ("zstd", False):
        with sdk.TypeSafeClient(base_url=hashed.url, api_key="k", retry=NO_RETRY, compression=compression) as client:
            answers.append(client.system_one(state, ASK).nouls["q"].noul)
            assert client.system_one({"photo": sdk.Image(picture())}, ASK).nouls["q"].noul > 0
    assert answers[0] == answers[1]


def test_pictures_come_as_parts_as_assets_and_as_images(hashed: Served, client: sdk.TypeSafeClient) -> None:
    red, blue = picture(), picture((0, 0, 250), format="JPEG")

    def by_alias(data: bytes) -> float:
        return client.system_one("Look at pic-1", ASK, assets={"pic-1": sdk.Image(data)}).nouls["q"].noul

    assert by_alias(red) != by_alias(blue)
    images = {"images": [text(red)]}
    assert by_alias(red) == client.system_one("Look at pic-1", ASK, extra_body=images).nouls["q"].noul
    image = sdk.Image(blue)
    in_text = {"q": sdk.Choice(instructions=f"What is in {image}?", criteria={"cat": None, "dog": None})}
    assert client.system_one("nothing", in_text, assets={str(image): image}).choices["q"].choice in ("cat", "dog")
    assert client.system_one([{"photo": sdk.Image(red)}, sdk.Image(blue)], ASK).usage.input_tokens > 20


Failing = Callable[[sdk.TypeSafeClient], object]
BAD: dict[str, tuple[type[sdk.TypeSafeAPIError], Failing]] = {
    "unknown type": (
        sdk.TypeSafeUnprocessableEntityError,
        lambda c: c.system_one("x", {"q": {"type": "boolean", "instructions": "?"}}),
    ),
    "levels as a map": (
        sdk.TypeSafeUnprocessableEntityError,
        lambda c: c.system_one("x", {"q": {"type": "score", "instructions": "?", "criteria": {"0": "a", "1": "b"}}}),
    ),
    "256 options": (
        sdk.TypeSafeUnprocessableEntityError,
        lambda c: c.system_one("x", {"q": sdk.Choice(instructions="?", criteria={f"o{i}": None for i in range(256)})}),
    ),
    "null state": (
        sdk.TypeSafeUnprocessableEntityError,
        lambda c: c.system_one("x", ASK, extra_body={"state": None}),
    ),
    "remote picture": (
        sdk.TypeSafeUnprocessableEntityError,
        lambda c: c.system_one("x", ASK, extra_body={"images": ["https://example.com/a.png"]}),
    ),
    "too long": (sdk.TypeSafeUnprocessableEntityError, lambda c: c.system_one("word " * 100_000, ASK)),
    "unknown model": (sdk.TypeSafeBadRequestError, lambda c: c.system_one("x", ASK, model="no-such-model")),
    "asset nobody refers to": (
        sdk.TypeSafeBadRequestError,
        lambda c: c.system_one("x", ASK, assets={"unused-ref": sdk.Image(picture())}),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_refusals_become_the_sdks_own_errors(client: sdk.TypeSafeClient, name: str) -> None:
    kind, ask = BAD[name]
    with pytest.raises(kind) as refused:
        ask(client)
    assert type(refused.value) is kind
    detail = refused.value.body["detail"]
    if kind is sdk.TypeSafeUnprocessableEntityError:
        assert detail[0]["loc"][0] == "body"
        assert detail[0]["msg"] in str(refused.value)
    else:
        assert detail["message"] in str(refused.value)


def test_keys_become_the_sdks_own_errors_whatever_is_sent(keyed: Served) -> None:
    with sdk.TypeSafeClient(base_url=keyed.url, api_key=KEY, retry=NO_RETRY) as right:
        assert right.system_one("x", ASK).nouls["q"].noul > 0
        assert right.models.list().models
    with sdk.TypeSafeClient(base_url=keyed.url, api_key="wrong", retry=NO_RETRY) as wrong:
        with pytest.raises(sdk.TypeSafeAuthenticationError, match="Cannot authenticate") as refused:
            wrong.models.list()
        assert refused.value.request_id.startswith("req_")
        # The refusal is read although the body was not: megabytes are taken off the wire first.
        big = {"photo": sdk.Image(picture(size=(1200, 1200), color=(1, 2, 3), format="BMP") + bytes(3 * 2**20))}
        with pytest.raises(sdk.TypeSafeAuthenticationError):
            wrong.system_one(big, ASK)
        with pytest.raises(sdk.TypeSafeAuthenticationError):
            wrong.system_one("long " * 2_000_000, ASK)


def test_sixteen_at_once_get_the_answers_that_one_gets(hashed: Served, client: sdk.TypeSafeClient) -> None:
    async def all_at_once() -> list[float]:
        async with sdk.AsyncTypeSafeClient(base_url=hashed.url, api_key="k", retry=NO_RETRY) as many:
            replies = await asyncio.gather(*(many.system_one(f"state {i}", ASK) for i in range(16)))
        return [reply.nouls["q"].noul for reply in replies]

    assert asyncio.run(all_at_once()) == [client.system_one(f"state {i}", ASK).nouls["q"].noul for i in range(16)]


# ---- JavaScript

JS = os.environ.get("TYPESAFE_SDK_JS", "")


@pytest.mark.skipif(not JS or shutil.which("node") is None, reason="TYPESAFE_SDK_JS names no folder with the SDK")
def test_the_javascript_sdk(hashed: Served) -> None:
    script = Path(__file__).with_name("sdk.mjs")
    done = subprocess.run(
        ["node", str(script), JS, hashed.url], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert [entry["name"] for entry in said["models"]] == ["hash-1", "jev-latest"]
    assert list(said["answers"]) == ["team", "severity", "질문"]
    # JavaScript puts keys that look like integers first; the order of options carries no meaning.
    assert list(said["answers"]["team"]["probabilities"]) == ["2", "10", "billing"]
    assert said["answers"]["severity"]["legend"] == {"0": "calm", "1": "annoyed", "2": "angry"}
    assert (said["model"], said["usage"]["output_tokens"]) == ("hash-1", 0)
    assert (said["unknownModel"]["name"], said["unknownModel"]["status"]) == ("BadRequestError", 400)
    assert (said["unknownType"]["name"], said["unknownType"]["status"]) == ("UnprocessableEntityError", 422)
    assert "boolean" in said["unknownType"]["message"]


# ---- OpenAI


@pytest.fixture
def decisions(hashed: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{hashed.url}/v1", api_key="anything", max_retries=0) as client:
        yield client


def test_the_openai_sdk(decisions: openai.OpenAI) -> None:
    photo = {"type": "input_image", "image_url": "data:image/png;base64," + text(picture())}
    reply = decisions.decisions.create(
        model="gpt-6-luna",
        input=[{"role": "user", "content": [{"type": "input_text", "text": "Refund me twice"}, photo]}],
        questions=[
            {"type": "predicate", "name": "refund", "instructions": "The customer wants money back."},
            {"type": "choice", "instructions": "?", "choices": [{"value": True}, {"value": "true"}, {"value": "b"}]},
            {"type": "score", "name": "anger", "instructions": [{"type": "input_text", "text": "How angry?"}],
             "levels": [{"label": "calm"}, {"label": "angry", "description": "shouts"}]},
        ],
    )  # fmt: skip
    predicate, choice, score = reply.answers
    assert (predicate.type, predicate.name) == ("predicate", "refund")
    assert 0 <= predicate.probability <= 1
    assert (choice.type, choice.name) == ("choice", None)
    assert [entry.value for entry in choice.probabilities] == [True, "true", "b"]
    assert choice.choice in (True, "true", "b")
    assert (score.type, [entry.label for entry in score.probabilities]) == ("score", ["calm", "angry"])
    assert score.score == pytest.approx(score.probabilities[1].probability, abs=2e-6)
    assert reply.usage.total_tokens == reply.usage.input_tokens > 0
    assert reply.usage.input_tokens_details.cached_tokens == 0


def test_openai_refusals_name_the_field(decisions: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        decisions.decisions.create(
            model="gpt-6-luna", input="x", questions=[{"type": "score", "instructions": "?", "levels": []}]
        )
    assert refused.value.param == "questions[0].levels"
    assert refused.value.code == "too_short"


def test_the_openai_sdk_sees_a_server_that_is_ending() -> None:
    with serving(HashScorer()) as served:
        served.engine.close()
        with (
            openai.OpenAI(base_url=f"{served.url}/v1", api_key="k", max_retries=0) as client,
            pytest.raises(openai.InternalServerError) as refused,
        ):
            client.decisions.create(
                model="gpt-6-luna", input="x", questions=[{"type": "predicate", "instructions": "?"}]
            )
    assert refused.value.status_code == 503
