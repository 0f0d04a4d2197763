"""All HTTP APIs of the studio, put on one app.

Contract
--------
`add` is the only thing that the server needs of this room. Call it before anything is mounted at "/": what is not
found under an API's path is then refused in that API's words, not in a page's.
"""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, FastAPI, Request, Security
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from starlette.routing import Match

from model.engine import Engine
from model.questions import Limits
from storage.database import Database
from studio.api import cloudflare, errors, feedback, health, openai, systemone
from studio.api.desk import Desk
from studio.api.errors import ApiError
from studio.api.recorder import Recorder
from studio.api.request_ids import RequestIds

SHAPES = {cloudflare.PREFIX: cloudflare.shape, openai.PATH: openai.shape}
BEARER = Security(HTTPBearer(auto_error=False, description="the studio's API key"))
"""For the document alone: the gate has looked already."""
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")


def add(
    app: FastAPI, *, engine: Engine, limits: Limits, database: Database, record: bool = False, guarded: bool = False
) -> None:
    """Adds routes, error replies and request ids to `app`.

    Parameters
    ----------
    record : keep every decision in `database`, not only those of schemas that record.
    guarded : a gate (`studio.gate`) stands before them; then the document says so, and probes tell strangers little.
    """
    desk = Desk(engine, limits, Recorder(database, every=record))
    routers = [
        systemone.router(desk),
        openai.router(desk),
        cloudflare.router(desk),
        feedback.router(database),
    ]
    errors.install(app, SHAPES)
    for router in routers:
        app.include_router(router, dependencies=[BEARER] if guarded else [])
    app.include_router(health.router(engine, terse=guarded))

    async def nothing(request: Request) -> None:
        raise _unserved(request, routers)

    for start in ("/v1", "/client/v4", "/api/alpha"):
        app.add_api_route(start + "/{rest:path}", nothing, methods=list(METHODS), include_in_schema=False)
    app.add_middleware(RequestIds, shapes=SHAPES)


def _unserved(request: Request, routers: Sequence[APIRouter]) -> ApiError:
    """No API route answered: either there is none at this path, or not with this method."""
    allowed = {
        method
        for router in routers
        for route in router.routes
        if isinstance(route, APIRoute) and route.matches(request.scope)[0] is Match.PARTIAL
        for method in route.methods or ()
    }
    if allowed:
        names = ", ".join(sorted(allowed))
        return ApiError(405, "method_not_allowed", f"This path takes {names}.", {"Allow": names})
    message = "No such API path."
    if request.url.path.startswith("/v1/v1/"):
        message += " The base URL must not end in /v1."
    return ApiError(404, "not_found", message)
