"""Load: a bounded queue, room for who stays when others hang up, and answers that do not depend on company."""

from __future__ import annotations

import asyncio
import http.client
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from model.clef import open_clef
from studio.api import desk
from tests.api.conftest import WAIT, Served, serving
from tests.api.hash_scorer import HashScorer
from tests.api.requests import THREE, body, picture, text

RELEASE = Path(__file__).parents[1] / "golden" / "tiny_release"


def until(true: Callable[[], bool]) -> None:
    """Returns once `true()` holds; fails after `WAIT` seconds."""
    end = time.monotonic() + WAIT
    while not true():
        assert time.monotonic() < end
        threading.Event().wait(0.002)


def post(served: Served, state: Any) -> httpx.Response:
    return served.client.post("/v1/systemone", json=body(state))


def test_a_full_queue_refuses_at_once_and_serves_again(gated: tuple[Served, HashScorer]) -> None:
    served, scorer = gated
    scorer.open.clear()
    with ThreadPoolExecutor(80) as pool:
        running = pool.submit(post, served, "running")
        assert scorer.entered.acquire(timeout=WAIT)
        waiting = [pool.submit(post, served, f"waiting {i}") for i in range(64)]
        until(lambda: served.engine.waiting == 64)
        refused = post(served, "one too many")
        assert (refused.status_code, refused.json()["detail"]["error_type"]) == (529, "overloaded")
        assert refused.headers["retry-after"] == "1"
        scorer.open.set()
        assert {call.result().status_code for call in [running, *waiting]} == {200}
    assert post(served, "again").status_code == 200


def test_requests_of_clients_that_hung_up_are_not_run(gated: tuple[Served, HashScorer]) -> None:
    served, scorer = gated
    scorer.open.clear()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(post, served, "first")
        assert scorer.entered.acquire(timeout=WAIT)
        host, port = served.url.removeprefix("http://").split(":")
        gone = []
        for i in range(16):
            connection = http.client.HTTPConnection(host, int(port), timeout=WAIT)
            payload = httpx.Request("POST", served.url, json=body(f"gone {i}")).content
            connection.request("POST", "/v1/systemone", payload, {"content-type": "application/json"})
            gone.append(connection)
        until(lambda: served.engine.waiting == 16)
        stayed = pool.submit(post, served, "stayed")
        until(lambda: served.engine.waiting == 17)
        for connection in gone:
            assert connection.sock is not None
            connection.sock.shutdown(socket.SHUT_RDWR)
            connection.close()
        until(lambda: served.engine.waiting == 1)
        scorer.open.set()
        assert first.result().status_code == stayed.result().status_code == 200
    assert [request.state.value for request in scorer.asked] == ["first", "stayed"]


def test_pictures_that_wait_are_bounded(gated: tuple[Served, HashScorer], monkeypatch: pytest.MonkeyPatch) -> None:
    served, scorer = gated
    monkeypatch.setattr(desk, "MAX_PIXELS", 3 * 64 * 48)
    scorer.open.clear()
    fields = body(images=[text(picture())] * 2)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(served.client.post, "/v1/systemone", json=fields)
        assert scorer.entered.acquire(timeout=WAIT)
        refused = served.client.post("/v1/systemone", json=fields)
        assert (refused.status_code, refused.json()["detail"]["error_type"]) == (529, "overloaded")
        assert served.client.get("/healthz").status_code == 200
        scorer.open.set()
        assert first.result().status_code == 200
    assert served.client.post("/v1/systemone", json=fields).status_code == 200


def test_bodies_in_progress_are_bounded(hashed: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk, "MAX_IN_PROGRESS", 0)
    assert post(hashed, "x").status_code == 529


def test_a_bad_request_in_a_batch_fails_alone(gated: tuple[Served, HashScorer]) -> None:
    served, scorer = gated
    scorer.open.clear()
    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(post, served, "first")
        assert scorer.entered.acquire(timeout=WAIT)
        states = ["a", "word " * 50_000, "b", "c"]
        batch = [pool.submit(post, served, state) for state in states]
        until(lambda: served.engine.waiting == len(states))
        scorer.open.set()
        assert [call.result().status_code for call in batch] == [200, 422, 200, 200]
        assert first.result().status_code == 200


def test_answers_of_the_tiny_release_do_not_depend_on_who_else_asks() -> None:
    asked = [body("word " * (3 * i), THREE) for i in range(8)]
    asked += [body(f"picture {i}", images=[text(picture())]) for i in (1, 2)]

    async def together(url: str) -> list[Any]:
        async with httpx.AsyncClient(base_url=url, timeout=120, trust_env=False) as client:
            replies = await asyncio.gather(*(client.post("/v1/systemone", json=fields) for fields in asked))
        return [reply.json()["answers"] for reply in replies]

    with serving(open_clef(RELEASE, device="cpu")) as served:
        alone = [served.client.post("/v1/systemone", json=fields, timeout=120).json()["answers"] for fields in asked]
        many = asyncio.run(together(served.url))
    for one, other in zip(alone, many, strict=True):
        assert one.keys() == other.keys()
        for key in one:
            assert _numbers(one[key]) == pytest.approx(_numbers(other[key]), abs=1e-4)


def _numbers(answer: dict[str, Any]) -> list[float]:
    return [answer["noul"]] if answer["type"] == "noul" else list(answer["probabilities"].values())
