"""The scripts of all rooms, under one address that changes with them: so that one room's may import another's.

Contract
--------
`/studio/scripts/<version>/<room>/<file>`. A script under today's version never changes; one under another version is
the same file, not kept by the browser.
"""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from studio import rooms
from studio.api.errors import ApiError

FOREVER = {"Cache-Control": "private, max-age=31536000, immutable"}


def router() -> APIRouter:
    """The route."""
    routes = APIRouter(prefix="/studio/scripts")
    known = rooms.scripts()

    @routes.get("/{version}/{name:path}")
    def script(version: str, name: str) -> Response:
        if name not in known:
            raise ApiError(404, "not_found", "There is no such script.")
        headers = FOREVER if version == rooms.version() else {"Cache-Control": "no-store"}
        return Response(known[name], media_type="text/javascript", headers=headers)

    return routes
