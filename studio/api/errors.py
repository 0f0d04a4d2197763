"""Error replies of the HTTP APIs, in the shapes that each API's clients read.

Contract
--------
Every exception that a request may cause becomes one `Refusal` (`explain`), and a `Refusal` becomes the reply of the API
that was asked: System One's two shapes here, the other APIs' in their own modules (`install` takes them by path).
(a) an invalid request is 422 `{"detail": [{"loc": ["body", ...], "msg", "type"}]}`; (b) all else is
`{"detail": {"error_type", "message"}}`. Bad input is never a 5xx. No reply echoes a value of the state.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from model.engine import Busy, Closed, NotReady, Superseded
from model.questions import FieldError, InvalidRequest

log = logging.getLogger(__name__)

MAX_FIELDS = 32
"""Most fields that one refusal lists: a body can be wrong in a million places."""
MAX_TEXT = 500
"""Most characters of one text in a refusal: ids and names of the caller's may be as long as the body."""


class ApiError(Exception):
    """A refusal of shape (b)."""

    def __init__(self, status: int, kind: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        self.status, self.kind, self.message, self.headers = status, kind, message, headers
        super().__init__(message)


class ClientGone(Exception):
    """The client hung up; nobody reads the reply."""


@dataclass(frozen=True)
class Refusal:
    """Why a request was not answered. `fields` are what is wrong with it (shape (a)), else empty."""

    status: int
    kind: str
    message: str
    fields: tuple[FieldError, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)


Shape: TypeAlias = Callable[[Refusal], tuple[int, Any]]
"""From a refusal to the status and JSON body of one API."""


def too_large(cap: int) -> ApiError:
    """The body has more than `cap` bytes, as sent or decompressed."""
    return ApiError(413, "body_too_large", f"The body has more than {cap / 2**20:g} MiB; send less at once.")


def explain(error: Exception) -> Refusal:
    """Why `error` refuses the request. An error that is not the caller's doing is a 500 that says nothing."""
    match error:
        case InvalidRequest():
            return Refusal(422, "invalid_request", _short(str(error)), tuple(error.errors[:MAX_FIELDS]))
        case ApiError():
            return Refusal(error.status, error.kind, error.message, headers=error.headers or {})
        case NotReady():
            return Refusal(529, "model_loading", str(error), headers={"Retry-After": "2"})
        case Busy():
            return Refusal(529, "overloaded", str(error), headers={"Retry-After": "1"})
        case Superseded():
            return Refusal(409, "superseded", str(error))
        case Closed():
            return Refusal(503, "closing", str(error), headers={"Retry-After": "5"})
        case ClientGone():
            return Refusal(499, "client_gone", "The client hung up.")
        case HTTPException():
            kind = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "http_error")
            return Refusal(error.status_code, kind, _short(str(error.detail)), headers=error.headers or {})
    return Refusal(500, "internal_error", "Internal error; the log has it under this request id.")


HANDLED = (InvalidRequest, ApiError, NotReady, Busy, Superseded, Closed, ClientGone, HTTPException)


def typesafe(refusal: Refusal) -> tuple[int, Any]:
    """System One's shapes (a) and (b)."""
    return refusal.status, {
        "detail": detail(refusal.fields) if refusal.fields else {"error_type": refusal.kind, "message": refusal.message}
    }


def detail(errors: Sequence[FieldError]) -> list[dict[str, object]]:
    """Shape (a): `loc` starts with "body"."""
    return [{"loc": ["body", *map(_part, e.loc)], "msg": _short(e.message), "type": e.code} for e in errors]


def _part(part: str | int) -> str | int:
    return _short(part) if isinstance(part, str) else part


def _short(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"


class SafeJSON(JSONResponse):
    """JSON in ASCII: a caller's half surrogate pair in a `loc` cannot break the reply that complains about it."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def reply(refusal: Refusal, shape: Shape = typesafe) -> Response:
    """The HTTP reply."""
    status, content = shape(refusal)
    return SafeJSON(content, status_code=status, headers=dict(refusal.headers))


def shape_of(path: str, shapes: Mapping[str, Shape]) -> Shape:
    """The shape of the API that `path` belongs to; `shapes` by the beginning of the path."""
    return next((shape for start, shape in shapes.items() if path.startswith(start)), typesafe)


def install(app: FastAPI, shapes: Mapping[str, Shape]) -> None:
    """Adds the handlers to `app`."""

    async def refuse(request: Request, error: Exception) -> Response:
        return reply(explain(error), shape_of(request.url.path, shapes))

    async def unreadable(_: Request, error: Exception) -> Response:
        # FastAPI's own handler echoes the input; ours names the field only.
        assert isinstance(error, RequestValidationError)
        fields = [{"loc": list(e["loc"]), "msg": e["msg"], "type": e["type"]} for e in error.errors()[:MAX_FIELDS]]
        return SafeJSON({"detail": fields}, status_code=422)

    for kind in HANDLED:
        app.add_exception_handler(kind, refuse)
    app.add_exception_handler(RequestValidationError, unreadable)
