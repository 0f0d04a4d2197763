"""Who may enter: without credentials every route of the running app is closed, but for a written list."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from model.engine import Engine
from storage.decisions import get_decision
from storage.labels import current_labels
from studio.gate import Doors, Gate
from studio.person import labeller, signed_in
from studio.server import build
from studio.settings import Settings
from studio.users import add_user, remove_user
from tests.api.hash_scorer import HashScorer
from tests.api.requests import body
from tests.studio.hashes import cheap_hashes

KEY = "a-key-for-tests"
PASSWORD = "correct horse"
BEARER = {"authorization": f"Bearer {KEY}"}
ALLOWED = {
    ("GET", "/health"), ("GET", "/healthz"), ("GET", "/readyz"),
    ("GET", "/sign-in"), ("POST", "/sign-in"), ("POST", "/sign-out"),
}  # fmt: skip
"""All that strangers may reach."""
CLOSED = {
    ("GET", "/"), ("GET", "/config"), ("GET", "/openapi.json"), ("GET", "/v1/models"), ("POST", "/v1/systemone"),
    ("POST", "/v1/feedback"), ("POST", "/gradio_api/component_server"), ("POST", "/gradio_api/upload"),
    ("GET", "/gradio_api/file={path_or_url:path}"), ("POST", "/gradio_api/queue/join"),
    ("POST", "/studio/pictures"), ("GET", "/studio/me"),
}  # fmt: skip
"""Some of what the app must have: if the search for routes finds less, it is broken."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def made(folder: Path, **settings: Any) -> FastAPI:
    engine = Engine(lambda _: HashScorer())
    assert engine.wait_ready(30).phase == "ready"
    return build(Settings(data=folder / "data", **settings), engine=engine)


@pytest.fixture(scope="module", autouse=True)
def _quick() -> Iterator[None]:
    with cheap_hashes():
        yield


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("people") / "users.json"
    add_user(path, "Ada", PASSWORD)
    return path


@pytest.fixture(scope="module")
def app(people: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastAPI]:
    """With a key and with people."""
    app = made(tmp_path_factory.mktemp("both"), users=people, api_key=KEY)
    yield app
    app.state.studio.close()


def client(app: Any, **more: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:7860", **more)


@asynccontextmanager
async def signed(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A client of Ada's."""
    async with client(app) as http:
        reply = await http.post("/sign-in", data={"name": "Ada", "password": PASSWORD})
        assert reply.status_code == 303
        yield http


def routes(found: Sequence[Any], start: str = "") -> Iterator[tuple[str, str]]:
    """Method and path of every route, those of mounted apps and included routers too."""
    for route in found:
        if (inner := getattr(route, "original_router", None)) is not None:
            yield from routes(inner.routes, start + route.include_context.prefix)
        elif getattr(route, "routes", None):
            yield from routes(route.routes, start + route.path)
        else:
            for method in route.methods or ():
                yield method, start + route.path


def address(path: str) -> str:
    """An address of the route's."""
    return re.sub(r"\{[^}]*\}", "x", path)


@pytest.mark.anyio
async def test_every_route_is_closed_to_strangers_but_for_the_list(app: FastAPI) -> None:
    found = set(routes(app.routes))
    assert found >= CLOSED | ALLOWED
    assert len(found) > 100
    open_to_all = set()
    async with client(app) as http:
        for method, path in sorted(found):
            for headers in ({}, {"authorization": "Bearer wrong-key"}, {"cookie": "clef_studio_00000000=x.y"}):
                reply = await http.request(method, address(path), headers=headers)
                if reply.status_code != 401:
                    open_to_all.add((method, path))
                elif method != "HEAD":
                    assert set(reply.json()) & {"detail", "error", "errors"}
            page = await http.request(method, address(path), headers={"accept": "text/html,*/*"})
            if (method, path) in ALLOWED:
                continue
            if page.status_code == 303:
                assert method in ("GET", "HEAD")
                assert page.headers["location"].startswith("/sign-in?next=/")
                assert not path.startswith(("/v1/", "/openapi"))
            else:
                assert page.status_code == 401
    assert open_to_all == ALLOWED


@pytest.mark.anyio
async def test_no_route_answers_other_sites_or_under_other_names(app: FastAPI) -> None:
    async with signed(app) as http:
        for method, path in sorted(set(routes(app.routes))):
            at = address(path)
            for headers in ({"origin": "http://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}):
                reply = await http.request(method, at, headers=headers)
                assert reply.status_code == 403, (method, path, headers)
                assert "access-control-allow-origin" not in reply.headers
            assert (await http.request(method, at, headers={"host": "evil.example"})).status_code == 400


@pytest.mark.anyio
async def test_the_key_opens_the_apis_and_nothing_else(app: FastAPI) -> None:
    async with client(app, headers=BEARER) as http:
        assert (await http.get("/v1/models")).status_code == 200
        assert (await http.post("/v1/systemone", json=body())).status_code == 200
        document = (await http.get("/openapi.json")).json()
        assert document["components"]["securitySchemes"]
        assert document["paths"]["/v1/systemone"]["post"]["security"]
        assert (await http.get("/v1/nope")).status_code == 404
        for path in ("/", "/config", "/studio/examples", "/gradio_api/info"):
            assert (await http.get(path)).status_code == 401


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "Must supply an API key!"),
        ({"authorization": ""}, "Must supply an API key!"),
        ({"authorization": "Bearer"}, "Must supply an API key!"),
        ({"authorization": f"Basic {KEY}"}, "Must supply an API key!"),
        ({"x-api-key": KEY}, "Must supply an API key!"),
        ({"authorization": f"Bearer {KEY}x"}, "Cannot authenticate with the server."),
        ({"authorization": f"Bearer {KEY[:-1]}"}, "Cannot authenticate with the server."),
        ({"authorization": "Bearer schlüssel".encode()}, "Cannot authenticate with the server."),
        ({"authorization": b"Bearer \xff\xfe"}, "Cannot authenticate with the server."),
        ({"authorization": f"bearer {KEY}"}, None),
        ({"authorization": f"BEARER  {KEY}"}, None),
    ],
)
@pytest.mark.anyio
async def test_keys(app: FastAPI, given: dict[str, Any], message: str | None) -> None:
    async with client(app) as http:
        reply = await http.get("/v1/models", headers=given)
        if message is None:
            assert reply.status_code == 200
            return
        assert reply.status_code == 401
        assert reply.json() == {"detail": {"error_type": "authentication_error", "message": message}}
        assert reply.headers["www-authenticate"] == "Bearer"
        assert reply.headers["x-typesafe-request-id"]
        assert KEY not in reply.text


@pytest.mark.anyio
async def test_two_keys_in_one_request_are_none(app: FastAPI) -> None:
    async with client(app) as http:
        headers = [("authorization", f"Bearer {KEY}"), ("authorization", "Bearer other")]
        assert (await http.get("/v1/models", headers=headers)).status_code == 401


@pytest.mark.anyio
async def test_each_api_refuses_in_its_own_shape(app: FastAPI) -> None:
    async with client(app) as http:
        workers = await http.post("/client/v4/accounts/a/ai/run/@cf/cloudflare/clef", json=body())
        assert (workers.status_code, workers.json()["success"]) == (401, False)
        assert workers.json()["errors"][0]["code"] == 10000
        arrays = await http.post("/v1/decisions", json={})
        assert (arrays.status_code, arrays.json()["error"]["code"]) == (401, "authentication_error")


@pytest.mark.anyio
async def test_probes_tell_strangers_a_phase_only(app: FastAPI) -> None:
    async with client(app) as http:
        for path in ("/health", "/healthz", "/readyz"):
            assert (await http.get(path)).json() == {"status": "ok"}


@pytest.mark.anyio
async def test_a_session_opens_pages_and_apis_and_names_the_labeller(app: FastAPI) -> None:
    async with signed(app) as http:
        assert (await http.get("/", headers={"accept": "text/html"})).status_code == 200
        assert (await http.get("/studio/me")).json() == {"name": "Ada"}
        assert (await http.get("/v1/models")).status_code == 200
        assert signed_in() is None


@pytest.mark.anyio
async def test_labels_from_code_carry_the_name_of_who_signed_in(people: Path, tmp_path: Path) -> None:
    app = made(tmp_path, users=people, api_key=KEY, record=True)
    database = app.state.studio.database
    async with signed(app) as http:
        ident = (await http.post("/v1/systemone", json=body())).json()["x_decision_id"]
        fields = {"decision_id": ident, "question": "q", "true_answer": True}
        other = await http.post("/v1/feedback", json=fields | {"labeller": "Grace"})
        assert (other.status_code, other.json()["detail"][0]["loc"]) == (422, ["body", "labeller"])
        assert (await http.post("/v1/feedback", json=fields)).status_code == 200
        assert [label.labeller for label in current_labels(database, ident)] == ["Ada"]
        assert get_decision(database, ident).source == "api"
    async with client(app, headers=BEARER) as http:
        # A program speaks for somebody, or for itself.
        assert (await http.post("/v1/feedback", json=fields | {"labeller": "ticket system"})).status_code == 200
    assert sorted(label.labeller for label in current_labels(database, ident)) == ["Ada", "ticket system"]
    app.state.studio.close()


@pytest.mark.anyio
async def test_a_key_alone_leaves_the_pages_of_this_machine_open(tmp_path: Path) -> None:
    app = made(tmp_path, api_key=KEY)
    async with client(app) as http:
        assert (await http.get("/")).status_code == 200
        assert (await http.get("/sign-in")).status_code == 404
        for path in ("/v1/models", "/openapi.json", "/v1/nope", "/client/v4/x", "/api/alpha/x"):
            assert (await http.get(path)).status_code == 401
    app.state.studio.close()


@pytest.mark.anyio
async def test_people_alone_close_the_apis_to_programs(people: Path, tmp_path: Path) -> None:
    app = made(tmp_path, users=people)
    async with client(app, headers=BEARER) as http:
        reply = await http.get("/v1/models")
        assert (reply.status_code, "without --api-key" in reply.json()["detail"]["message"]) == (401, True)
    async with signed(app) as http:
        assert (await http.get("/v1/models")).status_code == 200
    app.state.studio.close()


@pytest.mark.anyio
async def test_apis_alone_serve_no_page(tmp_path: Path) -> None:
    app = made(tmp_path, api_only=True, api_key=KEY)
    found = {pair for pair in routes(app.routes) if pair[1].startswith(("/gradio", "/studio", "/sign"))}
    assert found == set()
    async with client(app) as http:
        for path in ("/", "/gradio_api/info", "/studio/examples", "/v1/models", "/openapi.json", "/anything"):
            assert (await http.get(path)).status_code == 401
        assert (await http.get("/readyz")).status_code == 200
        assert (await http.get("/v1/models", headers=BEARER)).status_code == 200
    app.state.studio.close()


@pytest.mark.anyio
async def test_who_is_removed_is_out_at_once(tmp_path: Path) -> None:
    users = tmp_path / "users.json"
    for name in ("Ada", "Grace"):
        add_user(users, name, PASSWORD)
    app = made(tmp_path, users=users)
    async with signed(app) as http:
        assert (await http.get("/studio/me")).json() == {"name": "Ada"}
        remove_user(users, "Ada")
        assert (await http.get("/studio/me")).status_code == 401
        users.write_text("damaged")
        assert (await http.post("/sign-in", data={"name": "Grace", "password": PASSWORD})).status_code == 401
    app.state.studio.close()


@pytest.mark.anyio
async def test_web_sockets_are_closed_too() -> None:
    async def never(scope: Any, receive: Any, send: Any) -> None:
        raise AssertionError("reached")

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    gate = Gate(never, doors=Doors(KEY, None, pages_open=False), shapes={})
    scope = {"type": "websocket", "path": "/gradio_api/queue/join", "headers": [], "query_string": b""}
    await gate(scope, receive, send)
    assert sent == [{"type": "websocket.close", "code": 1008}]


@pytest.mark.parametrize("path", ["/studio/sign-in", "/sign-in"])
@pytest.mark.anyio
async def test_behind_a_prefix(people: Path, tmp_path: Path, path: str) -> None:
    """A proxy may leave its prefix on the path or take it off."""
    app = made(tmp_path, users=people, root_path="/studio")
    start = path.removesuffix("/sign-in")
    async with client(app) as http:
        assert (await http.get(path)).status_code == 200
        gone = await http.get(f"{start}/label?a=1", headers={"accept": "text/html"})
        assert gone.headers["location"] == "/studio/sign-in?next=/studio/label%3Fa%3D1"
        assert (await http.get(f"{start}/v1/models")).status_code == 401
        reply = await http.post(path, data={"name": "Ada", "password": PASSWORD, "next": "/studio/label?a=1"})
        assert (reply.status_code, reply.headers["location"]) == (303, "/studio/label?a=1")
        assert "Path=/studio/" in reply.headers["set-cookie"]
    app.state.studio.close()


def test_without_sign_in_labels_are_this_machines() -> None:
    assert labeller() == "local"
