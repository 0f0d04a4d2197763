"""Error replies of the HTTP APIs, in the shapes that the official SDKs read.

Contract
--------
(a) an invalid request is 422 `{"detail": [{"loc": ["body", ...], "msg", "type"}]}`; (b) all else is
`{"detail": {"error_type", "message"}}`. Bad input is never a 5xx, and no reply echoes the state. Every reply of an API
route carries `x-typesafe-request-id`.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Awaitable, Callable, Mapping

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from model.engine import Busy, Closed, NotReady, Superseded
from model.questions import FieldError, InvalidRequest

log = logging.getLogger(__name__)

REQUEST_ID = "x-typesafe-request-id"
API_PREFIXES = ("/v1/", "/healthz", "/readyz")


class ApiError(Exception):
    """A refusal of shape (b)."""

    def __init__(self, status: int, kind: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        self.status, self.kind, self.message, self.headers = status, kind, message, headers
        super().__init__(message)


def detail(errors: list[FieldError]) -> list[dict[str, object]]:
    """Shape (a): `loc` starts with "body"."""
    return [{"loc": ["body", *e.loc], "msg": e.message, "type": e.code} for e in errors]


def refusal(status: int, kind: str, message: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """A reply of shape (b)."""
    content = {"detail": {"error_type": kind, "message": message}}
    return JSONResponse(content, status_code=status, headers=dict(headers or {}))


def install(app: FastAPI) -> None:
    """Adds the handlers and the request id to `app`."""

    @app.exception_handler(InvalidRequest)
    async def invalid(_: Request, error: InvalidRequest) -> Response:
        return JSONResponse({"detail": detail(error.errors)}, status_code=422)

    @app.exception_handler(RequestValidationError)
    async def unreadable(_: Request, error: RequestValidationError) -> Response:
        # FastAPI's own handler echoes the input; ours names the field only.
        fields = [{"loc": list(e["loc"]), "msg": e["msg"], "type": e["type"]} for e in error.errors()]
        return JSONResponse({"detail": fields}, status_code=422)

    @app.exception_handler(ApiError)
    async def refused(_: Request, error: ApiError) -> Response:
        return refusal(error.status, error.kind, error.message, error.headers)

    @app.exception_handler(NotReady)
    async def loading(_: Request, error: NotReady) -> Response:
        return refusal(529, "model_loading", str(error), {"Retry-After": "2"})

    @app.exception_handler(Busy)
    async def busy(_: Request, error: Busy) -> Response:
        return refusal(529, "overloaded", str(error), {"Retry-After": "1"})

    @app.exception_handler(Superseded)
    async def superseded(_: Request, error: Superseded) -> Response:
        return refusal(409, "superseded", str(error))

    @app.exception_handler(Closed)
    async def closed(_: Request, error: Closed) -> Response:
        return refusal(503, "closing", str(error), {"Retry-After": "5"})

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        kind = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "http_error")
        message = str(error.detail)
        if error.status_code == 404 and request.url.path.startswith("/v1/v1/"):
            message = "Not found: the base URL must not end in /v1."
        return refusal(error.status_code, kind, message, error.headers)

    @app.middleware("http")
    async def request_id(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        if not request.url.path.startswith(API_PREFIXES):
            return await call_next(request)
        ident = f"req_{uuid.uuid4().hex[:16]}"
        try:
            response = await call_next(request)
        except Exception:
            # The last resort of the API: a fault of ours is logged under the id that the caller sees.
            log.exception("request %s failed", ident)
            response = refusal(500, "internal_error", "Internal error; the log has it under this request id.")
        response.headers[REQUEST_ID] = ident
        return response
