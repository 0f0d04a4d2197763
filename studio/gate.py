"""The gate: who may enter. One ASGI middleware before every route, those that Gradio makes included.

Contract
--------
* Closed is the rule: what is not in `OPEN` needs a credential, whatever route there is or will be.
* An API path takes the key (`Authorization: Bearer`, compared in constant time) or a session, as far as the studio has
  either. Without, or with a wrong one, it is 401 in that API's own shape.
* Everything else takes a session. Without one, a browser that asks for a page is sent to the sign-in (303), and all
  else is 401. Where nobody signs in (a key alone, on this machine only), pages stay open.
* The name of who signed in holds inside the request (`studio.person`).
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from studio.api.errors import Refusal, Shape, reply, shape_of
from studio.person import acting_as
from studio.security import OriginGuard, hosts_allowed
from studio.sessions import Sessions
from studio.settings import Settings

SIGN_IN: Final = "/sign-in"
SIGN_OUT: Final = "/sign-out"
OPEN: Final[Mapping[str, tuple[str, ...]]] = {
    "/health": ("GET",),
    "/healthz": ("GET",),
    "/readyz": ("GET",),
    SIGN_IN: ("GET", "POST"),
    SIGN_OUT: ("POST",),
}
"""The allow-list, path to methods: probes, which say no more than a phase then, and the sign-in itself."""
API: Final = ("/v1/", "/client/v4/", "/api/alpha/", "/openapi.json")
"""Beginnings of the paths that programs use."""
DRAINED: Final = 32 * 2**20
"""Bytes of a refused request's body that are read and thrown away, so that the client gets to read the refusal."""
PATIENCE: Final = 10.0
"""Seconds for that."""
NO_KEY: Final = "Must supply an API key!"
WRONG_KEY: Final = "Cannot authenticate with the server."
NO_SESSION: Final = "Sign in first."
KEYLESS: Final = "This studio takes no API key, for it was started without --api-key. Sign in first."


@dataclass(frozen=True)
class Doors:
    """What the gate asks for. `pages_open`: pages need no session, for there is no sign-in."""

    key: str | None = None
    sessions: Sessions | None = None
    pages_open: bool = True

    @property
    def any(self) -> bool:
        """Whether there is anything to ask for."""
        return self.key is not None or self.sessions is not None


def guards(settings: Settings, doors: Doors, shapes: Mapping[str, Shape]) -> list[Middleware]:
    """What stands before every route of an app, the outermost first. `shapes`: as of `Gate`."""
    origin = Middleware(OriginGuard, allowed=hosts_allowed(settings.host, settings.allowed_hosts))
    return [origin, Middleware(Gate, doors=doors, shapes=shapes)] if doors.any else [origin]


class Gate:
    """See the module's contract. `shapes`: the refusals of the APIs, by the beginning of the path."""

    def __init__(self, app: ASGIApp, *, doors: Doors, shapes: Mapping[str, Shape]) -> None:
        self.app = app
        self.doors = doors
        self.shapes = shapes
        self._key = None if doors.key is None else _digest(doors.key.encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        path = route_path(scope)
        if scope.get("method") in OPEN.get(path, ()):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        name = self._person(headers)
        if name is not None:
            with acting_as(name):
                await self.app(scope, receive, send)
            return
        api = path.startswith(API)
        if self._holds_key(headers) if api else self.doors.pages_open:
            await self.app(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if api:
            response = reply(self._no_entry(headers), shape_of(path, self.shapes))
        elif self.doors.sessions is not None and _wants_page(scope, headers):
            response = RedirectResponse(_sign_in(scope, path), 303, headers={"Cache-Control": "no-store"})
        else:
            response = reply(Refusal(401, "sign_in_required", NO_SESSION, headers={"Cache-Control": "no-store"}))
        await _drain(receive)
        await response(scope, receive, send)

    def _person(self, headers: Headers) -> str | None:
        """The name in the request's session; None without one that holds."""
        sessions = self.doors.sessions
        if sessions is None:
            return None
        cookie = cookie_parser(headers.get("cookie", "")).get(sessions.cookie)
        return None if cookie is None else sessions.who(cookie)

    def _holds_key(self, headers: Headers) -> bool:
        if self._key is None:
            return False
        given = _bearer(headers)
        return given is not None and hmac.compare_digest(_digest(given), self._key)

    def _no_entry(self, headers: Headers) -> Refusal:
        message = KEYLESS if self._key is None else NO_KEY if _bearer(headers) is None else WRONG_KEY
        return Refusal(401, "authentication_error", message, headers={"WWW-Authenticate": "Bearer"})


def route_path(scope: Scope) -> str:
    """The path as the routes see it: without the prefix of a proxy that left it on."""
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    if root and (path == root or path.startswith(f"{root}/")):
        return path[len(root) :]
    return path


def _bearer(headers: Headers) -> bytes | None:
    """The key that was sent, as the bytes on the wire; None without one, or with two."""
    given = headers.getlist("authorization")
    if len(given) != 1:
        return None
    scheme, _, key = given[0].partition(" ")
    return key.strip().encode("latin-1") if scheme.lower() == "bearer" and key.strip() else None


def _digest(key: bytes) -> bytes:
    """Of one length for every key, so that the comparison does not tell a key's length either."""
    return hashlib.sha256(key).digest()


def _wants_page(scope: Scope, headers: Headers) -> bool:
    return scope["method"] in ("GET", "HEAD") and "text/html" in headers.get("accept", "")


def _sign_in(scope: Scope, path: str) -> str:
    root = scope.get("root_path", "").rstrip("/")
    query = scope["query_string"].decode("latin-1")
    wanted = f"{root}{quote(path)}{'?' if query else ''}{query}"
    return f"{root}{SIGN_IN}?next={quote(wanted, safe='/')}"


async def _drain(receive: Receive) -> None:
    seen = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while seen <= DRAINED:
                message = await receive()
                seen += len(message.get("body", b""))
                if message["type"] == "http.disconnect" or not message.get("more_body", False):
                    return
