"""Request bodies: from what arrives on the wire to checked JSON and the files beside it.

Contract
--------
`receive` takes the bytes off the wire, up to `MAX_BODY`; `parse` undoes the content encoding and reads JSON, alone or
as the `request` part of a multipart body. `parse` is slow work without `await`: call it in a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from fastapi import Request
from starlette.requests import ClientDisconnect

from model.questions import FieldError, InvalidRequest, Json
from studio.api.encodings import decode
from studio.api.errors import ApiError, ClientGone, too_large
from studio.api.multipart import parse_parts
from studio.api.strict_json import parse_object

MAX_BODY = 16 * 2**20
"""Most bytes of a body, on the wire and decompressed."""
DRAINED = 4 * MAX_BODY
"""Bytes of an oversized body that are read and thrown away, so that the client gets to read the refusal."""
PATIENCE = 60.0
"""Seconds in which a body must have arrived."""


@dataclass(frozen=True)
class Body:
    """A JSON object, and the other parts of a multipart body by name."""

    json: dict[str, Json]
    parts: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Wire:
    """A body as it arrived."""

    data: bytes
    content_type: str = "application/json"
    encoding: str = ""


async def receive(request: Request) -> Wire:
    """The body off the wire. Raises ApiError (408, 413) or ClientGone."""
    try:
        async with asyncio.timeout(PATIENCE):
            data = await _receive(request)
    except TimeoutError:
        message = f"The body did not arrive within {PATIENCE:.0f} seconds."
        raise ApiError(408, "body_timeout", message, {"Connection": "close"}) from None
    except ClientDisconnect:
        raise ClientGone from None
    headers = request.headers
    return Wire(data, headers.get("content-type", "application/json"), headers.get("content-encoding", ""))


async def _receive(request: Request) -> bytes:
    data, seen = bytearray(), 0
    async for chunk in request.stream():
        seen += len(chunk)
        if seen <= MAX_BODY:
            data += chunk
        elif seen > DRAINED:
            break
    if seen > MAX_BODY:
        raise too_large(MAX_BODY)
    return bytes(data)


def parse(wire: Wire) -> Body:
    """The checked body. Raises ApiError (400, 413, 415) or InvalidRequest (422)."""
    kind = wire.content_type.split(";", 1)[0].strip().lower()
    multipart = kind == "multipart/form-data"
    if not multipart and kind not in ("", "application/json", "text/json") and not kind.endswith("+json"):
        message = "This Content-Type is not supported; send application/json or multipart/form-data."
        raise ApiError(415, "unsupported_media_type", message)
    data = decode(wire.data, wire.encoding, cap=MAX_BODY)
    if not multipart:
        return Body(parse_object(data))
    parts = parse_parts(data, wire.content_type)
    if "request" not in parts:
        raise InvalidRequest([FieldError(("request",), "this part is required: it holds the JSON", "missing")])
    body = parse_object(parts.pop("request"))
    return Body(body, parts)
