"""The guard: other sites and unknown host names are refused, programs and own pages pass."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from studio.security import OriginGuard, hosts_allowed


async def _ok(_: Request) -> PlainTextResponse:
    return PlainTextResponse("ok")


def _client(host: str = "127.0.0.1", more: tuple[str, ...] = ()) -> httpx.AsyncClient:
    inner = Starlette(routes=[Route("/", _ok, methods=["GET", "POST", "OPTIONS"])])
    guarded = OriginGuard(inner, allowed=hosts_allowed(host, more))
    return httpx.AsyncClient(transport=httpx.ASGITransport(guarded), base_url="http://127.0.0.1:7860")


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("GET", {}, 200),
        ("POST", {}, 200),
        ("POST", {"origin": "http://127.0.0.1:7860"}, 200),
        ("POST", {"origin": "http://evil.example"}, 403),
        ("POST", {"origin": "http://127.0.0.1:9999"}, 403),
        ("POST", {"origin": "null"}, 403),
        ("POST", {"sec-fetch-site": "cross-site"}, 403),
        ("GET", {"origin": "http://evil.example"}, 403),
        ("GET", {"origin": "http://127.0.0.1:7860"}, 200),
        ("OPTIONS", {"origin": "http://evil.example", "access-control-request-method": "POST"}, 403),
        ("GET", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}, 403),
        ("GET", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, 200),
        ("POST", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, 403),
        ("GET", {"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}, 200),
        ("GET", {"host": "evil.example"}, 400),
        ("GET", {"host": "localhost:7860"}, 200),
        ("GET", {"host": "[::1]:7860"}, 200),
        ("GET", {"host": "127.0.0.1:7860@evil.example"}, 400),
        ("GET", {"host": "192.168.1.20"}, 400),
    ],
)
@pytest.mark.anyio
async def test_table(method: str, headers: dict[str, str], status: int) -> None:
    async with _client() as client:
        assert (await client.request(method, "/", headers=headers)).status_code == status


@pytest.mark.parametrize(
    ("host", "more", "asked", "status"),
    [
        ("0.0.0.0", (), "192.168.1.20:7860", 200),
        ("0.0.0.0", (), "studio.lan", 400),
        ("0.0.0.0", ("studio.lan",), "studio.lan", 200),
        ("127.0.0.1", ("*",), "anything.example", 200),
        ("192.168.1.20", (), "192.168.1.20:7860", 200),
    ],
)
@pytest.mark.anyio
async def test_hosts(host: str, more: tuple[str, ...], asked: str, status: int) -> None:
    async with _client(host, more) as client:
        assert (await client.get("/", headers={"host": asked})).status_code == status


@pytest.mark.parametrize(
    ("headers", "reached"),
    [
        ({"host": "127.0.0.1:7860"}, True),
        ({"host": "127.0.0.1:7860", "origin": "http://127.0.0.1:7860"}, True),
        ({"host": "127.0.0.1:7860", "origin": "http://evil.example"}, False),
        ({"host": "evil.example"}, False),
    ],
)
@pytest.mark.anyio
async def test_web_sockets(headers: dict[str, str], reached: bool) -> None:
    came: list[str] = []

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        came.append(scope["type"])

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        came.append(message["type"])

    scope = {"type": "websocket", "path": "/", "headers": [(k.encode(), v.encode()) for k, v in headers.items()]}
    await OriginGuard(inner, allowed=hosts_allowed("127.0.0.1", ()))(scope, receive, send)
    assert came == (["websocket"] if reached else ["websocket.close"])


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
