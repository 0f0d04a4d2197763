"""A name for every request, so that a caller's complaint finds its line in the log.

Contract
--------
ASGI middleware, outside of everything else: each reply of an API path carries `x-typesafe-request-id`, refusals of the
guard included. A fault of ours becomes a 500 without a traceback, logged under that id. It never touches a body, so
streams and hang-ups pass through.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from studio.api.errors import Refusal, Shape, explain, reply, shape_of

log = logging.getLogger(__name__)

HEADER = "x-typesafe-request-id"
PATHS = ("/v1/", "/client/v4/", "/api/alpha/", "/health", "/readyz", "/openapi.json")
"""Beginnings of the paths that belong to the APIs."""


class RequestIds:
    """See the module's contract."""

    def __init__(self, app: ASGIApp, *, shapes: Mapping[str, Shape]) -> None:
        self.app = app
        self.shapes = shapes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(PATHS):
            await self.app(scope, receive, send)
            return
        ident = f"req_{uuid.uuid4().hex[:16]}"
        started = False

        async def named(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message = {**message, "headers": [*message["headers"], (HEADER.encode(), ident.encode())]}
            await send(message)

        try:
            await self.app(scope, receive, named)
        except Exception as error:
            # The last resort of the APIs. Starlette's own handler has answered already, or nobody has.
            log.exception("request %s failed", ident)
            if not started:
                refusal: Refusal = explain(error)
                await reply(refusal, shape_of(scope["path"], self.shapes))(scope, receive, named)
