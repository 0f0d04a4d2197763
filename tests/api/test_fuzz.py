"""Property-based fuzz: whatever arrives, the reply is JSON of a known shape and never a 5xx.

Runs inside the process (no sockets), so that thousands of bodies take seconds. Prints how many were sent.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import resource
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model.engine import Engine
from storage.database import Database
from tests.api.conftest import WAIT, app_of
from tests.api.hash_scorer import HashScorer
from tests.api.requests import THREE, body, picture, text
from tests.api.test_bodies import BOUNDARY, FORM, FORM_TYPE, multipart

EXAMPLES = int(os.environ.get("CLEF_STUDIO_FUZZ", "300"))
"""Of each of the four kinds, so that CI's two cores take seconds; 750 and more for a longer search."""
PATHS = {
    "/v1/systemone": ("detail",),
    "/api/alpha/decisions": ("detail",),
    "/v1/decisions": ("error",),
    "/v1/feedback": ("detail",),
    "/client/v4/accounts/a/ai/run/@cf/cloudflare/clef": ("result", "success", "errors", "messages"),
}
SENT: Counter[int] = Counter()


class Door:
    """The app, asked one request after another on one event loop."""

    def __init__(self, folder: Path) -> None:
        self.database = Database.open(folder)
        self.engine = Engine(lambda _: HashScorer())
        assert self.engine.wait_ready(WAIT).phase == "ready"
        self._loop = asyncio.new_event_loop()
        transport = httpx.ASGITransport(app_of(self.engine, self.database))
        self._client = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")

    def post(self, path: str, data: bytes, headers: dict[str, str]) -> httpx.Response:
        call = self._client.post(path, content=data, headers=headers)
        reply = self._loop.run_until_complete(asyncio.wait_for(call, WAIT))
        SENT[reply.status_code] += 1
        return reply

    def close(self) -> None:
        self._loop.run_until_complete(self._client.aclose())
        self._loop.close()
        self.engine.close()
        self.database.close()


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    door = Door(tmp_path_factory.mktemp("fuzz"))
    yield door
    door.close()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"\nfuzz: {sum(SENT.values())} bodies, statuses {dict(sorted(SENT.items()))}, memory grew by {grown:.0f} MiB")
    assert grown < 500


def check(path: str, reply: httpx.Response) -> None:
    assert reply.status_code < 500, reply.text
    assert reply.headers["content-type"] == "application/json"
    assert reply.headers["x-typesafe-request-id"]
    content = json.loads(reply.content, parse_constant=lambda name: pytest.fail(f"{name} on the wire"))
    if reply.status_code != 200:
        assert tuple(content) == PATHS[path]
        assert len(reply.content) < 100_000


hardly = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
)
paths = st.sampled_from(list(PATHS))
any_text = st.text(st.characters(), max_size=12)  # half surrogate pairs included
leaf = st.none() | st.booleans() | st.integers() | st.floats() | any_text
json_values = st.recursive(
    leaf, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4), max_leaves=12
)
types = st.sampled_from(["noul", "choice", "score", "predicate", "box", "boolean", "", None, 3])
criteria = json_values | st.dictionaries(any_text, json_values, max_size=4) | st.lists(json_values, max_size=12)
questions = st.fixed_dictionaries(
    {"type": types},
    optional={
        "instructions": json_values,
        "criteria": criteria,
        "name": json_values,
        "choices": criteria,
        "levels": criteria,
    },
)
pictures = json_values | st.sampled_from(
    [
        text(picture()),
        "data:image/png;base64," + text(picture()),
        "https://a/b.png",
        text(b"GIF89a" + bytes(9)),
        "data:,",
    ]
)
assets = st.dictionaries(
    any_text,
    st.fixed_dictionaries(
        {}, optional={"type": st.sampled_from(["image", "x"]), "data_base64": pictures, "part": any_text}
    ),
    max_size=2,
)
bodies = st.fixed_dictionaries(
    {},
    optional={
        "model": st.sampled_from(["jev-latest", "clef", "gpt-6-luna", "x"]) | json_values,
        "state": json_values,
        "input": json_values,
        "questions": st.dictionaries(any_text, questions | json_values, max_size=3)
        | st.lists(questions, max_size=3)
        | json_values,
        "images": st.lists(pictures, max_size=5) | json_values,
        "assets": assets | json_values,
        "x_truncate": json_values,
        "audio": json_values,
        "decision_id": json_values,
        "question": json_values,
        "verdict": json_values,
        "true_answer": json_values,
    },
)


@hardly
@given(paths, bodies)
def test_objects_that_look_like_requests(door: Door, path: str, fields: Any) -> None:
    reply = door.post(path, json.dumps(fields).encode(), {"content-type": "application/json"})
    check(path, reply)


@hardly
@given(paths, st.data())
def test_good_requests_with_one_thing_changed(door: Door, path: str, data: st.DataObject) -> None:
    fields = body({"a": ["b"]}, json.loads(json.dumps(THREE)), input="x", images=[text(picture())])
    at: Any = fields
    while True:
        key = data.draw(st.sampled_from(list(at) if isinstance(at, dict) else list(range(len(at)))))
        if isinstance(at[key], dict | list) and at[key] and data.draw(st.booleans()):
            at = at[key]
            continue
        if data.draw(st.booleans()):
            at[key] = data.draw(json_values)
        else:
            del at[key]
        break
    check(path, door.post(path, json.dumps(fields).encode(), {"content-type": "application/json"}))


GOOD = json.dumps(body(questions=THREE)).encode()
WIRE = [
    (GOOD, "application/json", ""),
    (zstandard.compress(GOOD), "application/json", "zstd"),
    (gzip.compress(GOOD), "application/json", "gzip"),
    (FORM, FORM_TYPE, ""),
    (zstandard.compress(FORM), FORM_TYPE, "zstd"),
    (multipart([("request", GOOD), ("a", b""), ("b", b"\r\n--")]), FORM_TYPE, ""),
]


@hardly
@given(paths, st.sampled_from(WIRE), st.data())
def test_damaged_bytes(door: Door, path: str, wire: tuple[bytes, str, str], data: st.DataObject) -> None:
    content = bytearray(wire[0])
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, max(0, len(content) - 1)))
        action = data.draw(st.sampled_from(["cut", "change", "insert", "repeat"]))
        if action == "cut":
            del content[place:]
        elif action == "change" and content:
            content[place] = data.draw(st.integers(0, 255))
        elif action == "insert":
            content[place:place] = data.draw(st.binary(max_size=6))
        else:
            content += content[place : place + 64]
    check(path, door.post(path, bytes(content), {"content-type": wire[1], "content-encoding": wire[2]}))


@hardly
@given(
    paths, st.binary(max_size=64), st.sampled_from(["application/json", FORM_TYPE, "text/x", "", BOUNDARY]), any_text
)
def test_noise(door: Door, path: str, content: bytes, kind: str, encoding: str) -> None:
    plain = encoding.encode("ascii", "ignore").decode().strip("\r\n\0 ")
    headers = {"content-type": kind, "content-encoding": "".join(c for c in plain if c.isprintable())}
    check(path, door.post(path, content, headers))
