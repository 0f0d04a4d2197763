"""The sign-in page over HTTP: the cookie, where it leads, refusals, and what slows guessing down."""

from __future__ import annotations

from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from studio import attempts
from studio.api import errors
from studio.gate import Doors, Gate
from studio.sessions import Sessions
from studio.signin import MAX_FORM, WRONG, router
from studio.users import Users, add_user
from tests.studio.hashes import cheap_hashes

PASSWORD = "correct horse"
RIGHT = {"name": "Ada", "password": PASSWORD}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def _quick() -> Iterator[None]:
    with cheap_hashes():
        yield


@pytest.fixture
def app(tmp_path: Path) -> FastAPI:
    add_user(tmp_path / "users.json", "Ada", PASSWORD)
    users = Users.open(tmp_path / "users.json")
    sessions = Sessions(tmp_path, users)
    made = FastAPI()
    made.add_middleware(Gate, doors=Doors(None, sessions, pages_open=False), shapes={})
    errors.install(made, {})
    made.include_router(router(users, sessions))
    return made


def client(app: FastAPI, base: str = "http://127.0.0.1:7860") -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=base)


@pytest.mark.anyio
async def test_the_page_is_not_kept_not_framed_and_fetches_nothing(app: FastAPI) -> None:
    async with client(app) as http:
        page = await http.get("/sign-in", params={"next": '/label?a="><script>alert(1)</script>'})
    assert page.status_code == 200
    assert "<script>alert" not in page.text
    assert "$" not in page.text.split("</head>")[1]
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    nonce = policy.split("'nonce-")[1].split("'")[0]
    assert page.text.count("<script") == page.text.count(f'<script nonce="{nonce}"') == 1
    assert page.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(("base", "secure"), [("http://127.0.0.1:7860", False), ("https://studio.example", True)])
@pytest.mark.anyio
async def test_the_cookie(app: FastAPI, base: str, secure: bool) -> None:
    async with client(app, base) as http:
        reply = await http.post("/sign-in", data=RIGHT)
        (cookie,) = SimpleCookie(reply.headers["set-cookie"]).values()
        assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "lax", "/")
        assert bool(cookie["secure"]) is secure
        assert PASSWORD not in cookie.value
        assert (await http.get("/studio/me")).json() == {"name": "Ada"}


@pytest.mark.anyio
async def test_signing_out_ends_the_session_itself(app: FastAPI) -> None:
    async with client(app) as http:
        await http.post("/sign-in", data=RIGHT)
        kept = {"cookie": "; ".join(f"{key}={value}" for key, value in http.cookies.items())}
        reply = await http.post("/sign-out")
        assert (reply.status_code, reply.headers["location"]) == (303, "/sign-in")
        assert (await http.get("/studio/me")).status_code == 401
        # Whoever copied the cookie is out too.
        assert (await http.get("/studio/me", headers=kept)).status_code == 401
        assert (await http.post("/sign-out")).status_code == 303


@pytest.mark.parametrize(
    ("wanted", "leads"),
    [
        ("/label?schema=a&x=%20b", "/label?schema=a&x=%20b"),
        ("", "/"),
        ("https://evil.example/", "/"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("/\t/evil.example", "/"),
        ("/a\r\nset-cookie: x=y", "/"),
        ("javascript:alert(1)", "/"),
    ],
)
@pytest.mark.anyio
async def test_it_leads_on_inside_the_studio_only(app: FastAPI, wanted: str, leads: str) -> None:
    async with client(app) as http:
        reply = await http.post("/sign-in", data={**RIGHT, "next": wanted})
        assert (reply.status_code, reply.headers["location"]) == (303, leads)
        again = await http.get("/sign-in", params={"next": wanted})
        assert (again.status_code, again.headers["location"]) == (303, leads)


@pytest.mark.parametrize(
    "form",
    [
        {"name": "Ada", "password": "wrong"},
        {"name": "Nobody", "password": PASSWORD},
        {"name": "<b>&\"'"},
        {"password": PASSWORD},
    ],
)
@pytest.mark.anyio
async def test_wrong_names_and_wrong_passwords_read_the_same(
    app: FastAPI, form: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    async with client(app) as http:
        reply = await http.post("/sign-in", data=form)
        assert reply.status_code == 401
        assert WRONG in reply.text
        assert 'role="alert"' in reply.text
        assert "<b>" not in reply.text
        assert "set-cookie" not in reply.headers
    assert "failed" in caplog.text
    assert form.get("name", "?") not in caplog.text


@pytest.mark.anyio
async def test_guessing_is_slowed_and_the_right_password_waits_too(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(attempts.FREE, "both", 2)
    async with client(app) as http:
        for _ in range(2):
            assert (await http.post("/sign-in", data={"name": "Ada", "password": "guess"})).status_code == 401
        reply = await http.post("/sign-in", data=RIGHT)
        assert (reply.status_code, reply.headers["retry-after"]) == (429, "1")
        assert "Try again in 1 second." in reply.text
        assert (await http.post("/sign-in", data={"name": "Grace", "password": "guess"})).status_code == 401


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"x" * (MAX_FORM + 1), "application/x-www-form-urlencoded", 413),
        (b'{"name": "Ada"}', "application/json", 415),
        (b"name=%ff%00&password=" + b"&" * 5000, "application/x-www-form-urlencoded", 401),
        (b"", "", 415),
    ],
)
@pytest.mark.anyio
async def test_other_bodies(app: FastAPI, content: bytes, kind: str, status: int) -> None:
    async with client(app) as http:
        reply = await http.post("/sign-in", content=content, headers={"content-type": kind})
        assert reply.status_code == status
