"""The guard at the door: only this server's own pages may change anything.

Contract
--------
Gradio's server functions accept cross-site text/plain posts without a preflight, and any Host header. `OriginGuard`
refuses (403) every request of which the browser says that another site's page makes it, but for following a link, and
(400) every request under a host name that is not allowed, which defeats DNS rebinding. Programs send no Origin and
pass. It stands before every route, Gradio's too, which would let other sites read by its own CORS headers.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

LINKED = frozenset({"GET", "HEAD"})
LOOPBACK = ("localhost", "127.0.0.1", "::1")


def hosts_allowed(host: str, more: Iterable[str]) -> frozenset[str]:
    """Host names under which the studio may be reached: loopback, the address it listens on, and `more`."""
    names = {*LOOPBACK, *more}
    if host in ("", "0.0.0.0", "::"):
        # Listening everywhere is an explicit wish to be reached by address; names still have to be listed.
        names.add("<any address>")
    else:
        names.add(host)
    return frozenset(name.lower() for name in names)


class OriginGuard:
    """ASGI middleware; see the module's contract."""

    def __init__(self, app: ASGIApp, *, allowed: frozenset[str]) -> None:
        self.app = app
        self.allowed = allowed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in scope["headers"]}
        host = headers.get("host", "")
        host_ok = self._host_ok(host)
        if scope["type"] == "websocket" and not (host_ok and _own(headers, host)):
            await send({"type": "websocket.close", "code": 1008})
        elif not host_ok:
            await _refuse(send, 400, "host_not_allowed", "This host name is not allowed; see --allowed-hosts.")
        elif not (_own(headers, host) or _follows_link(scope, headers)):
            await _refuse(send, 403, "cross_site", "Requests from other sites are refused.")
        else:
            await self.app(scope, receive, send)

    def _host_ok(self, host: str) -> bool:
        name = (urlsplit(f"//{host}").hostname or "").lower() if _plain(host) else ""
        if not name:
            return False
        if "*" in self.allowed or name in self.allowed:
            return True
        return "<any address>" in self.allowed and _is_address(name)


def _own(headers: dict[str, str], host: str) -> bool:
    if headers.get("sec-fetch-site") == "cross-site":
        return False
    origin = headers.get("origin")
    if origin is None:
        return True
    return urlsplit(origin).netloc.lower() == host.lower()


def _follows_link(scope: Scope, headers: dict[str, str]) -> bool:
    """A link on another site leads here: the browser opens a page, and the other site gets to read nothing."""
    return scope["method"] in LINKED and "origin" not in headers and headers.get("sec-fetch-mode") == "navigate"


def _plain(host: str) -> bool:
    return bool(host) and not any(c in host for c in "/?#@\\ ")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


async def _refuse(send: Send, status: int, kind: str, message: str) -> None:
    body = json.dumps({"detail": {"error_type": kind, "message": message}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
