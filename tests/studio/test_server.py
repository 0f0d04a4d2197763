"""The whole server: pages and APIs on one port, each refusing in its own words."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from fastapi import FastAPI

from model.engine import Engine
from studio.server import build
from studio.settings import Settings
from tests.api.hash_scorer import HashScorer
from tests.api.requests import body


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastAPI]:
    engine = Engine(lambda _: HashScorer())
    assert engine.wait_ready(30).phase == "ready"
    app = build(Settings(data=tmp_path_factory.mktemp("data")), engine=engine)
    yield app
    app.state.studio.close()


def client(app: FastAPI) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:7860")


@pytest.mark.anyio
async def test_pages_and_apis_share_a_port(app: FastAPI) -> None:
    async with client(app) as http:
        page = await http.get("/")
        assert (page.status_code, page.headers["content-type"].split(";")[0]) == (200, "text/html")
        assert "x-typesafe-request-id" not in page.headers
        answer = await http.post("/v1/systemone", json=body())
        assert (answer.status_code, answer.json()["model"]) == (200, "hash-1")
        assert answer.headers["x-typesafe-request-id"]
        assert (await http.get("/readyz")).status_code == 200


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/nope", 404),
        ("GET", "/v1/systemone", 405),
        ("POST", "/api/alpha/x", 404),
        ("PUT", "/v1/models", 405),
    ],
)
async def test_no_page_answers_under_an_api_path(app: FastAPI, method: str, path: str, status: int) -> None:
    async with client(app) as http:
        reply = await http.request(method, path)
        assert (reply.status_code, reply.headers["content-type"]) == (status, "application/json")
        assert set(reply.json()["detail"]) == {"error_type", "message"}


@pytest.mark.anyio
async def test_other_sites_and_other_hosts_are_refused_on_every_path(app: FastAPI) -> None:
    async with client(app) as http:
        for path in ("/v1/systemone", "/v1/feedback", "/gradio_api/call/x", "/gradio_api/upload"):
            assert (await http.post(path, headers={"origin": "http://evil.example"})).status_code == 403
        for path in ("/", "/v1/models", "/openapi.json"):
            assert (await http.get(path, headers={"host": "evil.example"})).status_code == 400


@pytest.mark.anyio
async def test_the_document_is_the_apis(app: FastAPI) -> None:
    async with client(app) as http:
        paths = (await http.get("/openapi.json")).json()["paths"]
    assert {"/v1/systemone", "/v1/models", "/v1/decisions", "/v1/feedback"} <= set(paths)
    assert "/v1/{rest}" not in paths
