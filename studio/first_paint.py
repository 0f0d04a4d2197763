"""The first paint: what stands in the head of a page before Gradio has started.

Contract
--------
Gradio adds what it is given for the head only when its own scripts run, well after the first paint. What
must not wait goes into the HTML itself here: light or dark, and the colour behind everything. Only the HTML that
answers a GET of a room's page is touched. The room's scripts are not fetched from here: they would compete with
Gradio's own for the first paint.
"""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from studio import look, rooms
from studio.gate import route_path

END_OF_HEAD = b"</head>"


class FirstPaint:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.head = head().encode()
        self.paths = {f"/{rooms.path(room)}" for room in rooms.ROOMS}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or route_path(scope) not in self.paths:
            await self.app(scope, receive, send)
            return
        started: Message | None = None
        body = b""

        async def filling(message: Message) -> None:
            nonlocal started, body
            if message["type"] == "http.response.start" and _is_page(Headers(raw=message["headers"])):
                started = message
            elif started is not None and message["type"] == "http.response.body":
                body += message.get("body", b"")
                if not message.get("more_body"):
                    page = body.replace(END_OF_HEAD, self.head + END_OF_HEAD, 1)
                    MutableHeaders(raw=started["headers"])["content-length"] = str(len(page))
                    await send(started)
                    await send({"type": "http.response.body", "body": page})
            else:
                await send(message)

        await self.app(scope, receive, filling)


def _is_page(headers: Headers) -> bool:
    return headers.get("content-type", "").startswith("text/html") and "content-encoding" not in headers


def head() -> str:
    """What is put at the end of a page's head."""
    ground = look.sheet("tokens") + "html,body{background:var(--ground)}"
    return f"<script>{look.THEME_SCRIPT}</script><style>{ground}</style>"
