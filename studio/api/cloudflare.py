"""Workers AI's path and envelope round the same body, for clients that were written for Cloudflare's REST API.

Contract
--------
`POST /client/v4/accounts/{account}/ai/run/@cf/cloudflare/{clef|clef-flash}`. A reply is `{"result": {...}, "success":
true, "errors": [], "messages": []}`, where `model` is the name in the path and `confidence` Cloudflare's own formula; a
refusal has `result` null and one of Cloudflare's error codes. The account is not looked at.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from studio.api import wire_schema
from studio.api.bodies import Body
from studio.api.desk import Asking, Desk
from studio.api.errors import ApiError, Refusal
from studio.api.systemone import read, timing, write

PREFIX = "/client/v4/"
MODELS = ("clef", "clef-flash")

_CODES = {400: 5006, 401: 10000, 403: 10000, 404: 7000, 405: 7000, 413: 5021, 429: 3040}
_OTHER_CODE = 5012
_UNREADABLE = 6003
_MISSHAPEN = ("missing", "union_tag_not_found", "union_tag_invalid", "dict_type")


def router(desk: Desk) -> APIRouter:
    """The routes, on `desk`."""
    routes = APIRouter(tags=["Workers AI"])
    for name in MODELS:
        path = f"{PREFIX}accounts/{{account}}/ai/run/@cf/cloudflare/{name}"
        routes.post(path, name=name, **wire_schema.enveloped)(_route(desk, name))
    return routes


def _route(desk: Desk, name: str) -> Callable[[Request, str], Awaitable[Response]]:
    def asked(body: Body) -> Asking:
        said = body.json.get("model", name)
        if isinstance(said, str):
            if said.strip().rsplit("/", 1)[-1] != name:
                raise ApiError(400, "api_usage_error", f"The body's model is not the path's: {name}.")
            said = name
        return read(Body({**body.json, "model": said}, body.parts), desk.engine.scorer.info, desk.limits)

    async def run(request: Request, account: str) -> Response:
        """The same as /v1/systemone, in Cloudflare's envelope."""
        decided = await desk.decide(request, asked)
        result = {**write(decided, confidence="workers-ai"), "model": name}
        reply = {"result": result, "success": True, "errors": [], "messages": []}
        return JSONResponse(reply, headers=timing(decided))

    return run


def shape(refusal: Refusal) -> tuple[int, Any]:
    """Cloudflare's envelope of a refusal."""
    status, code = refusal.status, _CODES.get(refusal.status, _OTHER_CODE)
    if refusal.fields:
        kind = refusal.fields[0].code
        if kind == "json_invalid":
            status, code = 400, _UNREADABLE
        elif kind in _MISSHAPEN:
            status, code = 400, _CODES[400]
        elif kind == "too_long" and refusal.fields[0].loc == ("state",):
            status, code = 413, _CODES[413]
    errors = [{"code": code, "message": refusal.message}]
    return status, {"result": None, "success": False, "errors": errors, "messages": []}
