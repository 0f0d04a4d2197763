"""Request bodies: bytes in, checked JSON and pictures out.

Contract
--------
A body is UTF-8 JSON without repeated keys, NaN or bottomless nesting, within `MAX_BODY` bytes. Pictures come as data
URLs, as `{"content_type", "base64"}` or as bare base64; the declared type is ignored, the bytes decide. URLs and paths
are refused: the server fetches nothing and reads no file for a caller.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

from fastapi import Request
from model.images import API_CAPS, Picture, check_together, read_picture

from model.questions import FieldError, InvalidRequest, Json, Limits, Loc, StateError
from studio.api.errors import ApiError

MAX_BODY = 16 * 2**20


async def read_json(request: Request) -> dict[str, Json]:
    """The body as a JSON object. Raises InvalidRequest (422) or ApiError (413, 415)."""
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        raise ApiError(
            415, "unsupported_encoding", f"Content-Encoding {encoding[:40]} is not supported; send plain JSON."
        )
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > MAX_BODY:
            raise ApiError(413, "body_too_large", f"The body is over {MAX_BODY // 2**20} MiB.")
    return parse_json(bytes(data))


def parse_json(data: bytes) -> dict[str, Json]:
    """A JSON object, strictly. Raises InvalidRequest."""
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_pairs, parse_constant=_constant)
    except UnicodeDecodeError:
        raise _invalid((), "is not UTF-8", "json_invalid") from None
    except json.JSONDecodeError as error:
        raise _invalid((error.pos,), f"is not JSON: {error.msg}", "json_invalid") from None
    except RecursionError:
        raise _invalid((), "is nested too deeply", "too_deep") from None
    except _Refused as error:
        raise _invalid((), str(error), "json_invalid") from None
    except ValueError:
        # Python refuses integers of more than 4,300 digits.
        raise _invalid((), "holds a number with too many digits", "json_invalid") from None
    if not isinstance(value, dict):
        raise _invalid((), "must be a JSON object", "dict_type")
    return value


class _Refused(Exception):
    """JSON that Python would accept and we do not."""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _Refused(f"has the key {twice[:80]!r} twice in one object; only one could be read")
    return out


def _constant(name: str) -> None:
    raise _Refused(f"holds {name}, which is not JSON")


def _invalid(loc: Loc, message: str, code: str) -> InvalidRequest:
    return InvalidRequest([FieldError(loc, message, code)])


def read_pictures(raw: Json, limits: Limits) -> tuple[Picture, ...]:
    """Decoded pictures of the `images` field. Raises StateError with `loc` ("images", i)."""
    if raw is None:
        return ()
    if not isinstance(raw, list):
        raise StateError([FieldError(("images",), "must be a list", "list_type")])
    if len(raw) > limits.images:
        message = f"has {len(raw)} pictures; at most {limits.images} are allowed"
        raise StateError([FieldError(("images",), message, "too_long")])
    blobs = [_blob(item, ("images", i)) for i, item in enumerate(raw)]
    check_together([len(blob) for blob in blobs], caps=API_CAPS)
    return tuple(read_picture(blob, caps=API_CAPS, loc=("images", i)) for i, blob in enumerate(blobs))


def _blob(item: Json, loc: Loc) -> bytes:
    text = item.get("base64") if isinstance(item, dict) else item
    if not isinstance(text, str):
        message = 'must be a data URL, {"content_type", "base64"} or base64 text'
        raise StateError([FieldError(loc, message, "image_type")])
    if text.startswith(("http:", "https:", "file:", "/", "ftp:")):
        message = "is an address; the studio fetches nothing: send the picture itself as base64"
        raise StateError([FieldError(loc, message, "image_url")])
    if text.startswith("data:"):
        head, _, text = text.partition(",")
        if not head.endswith(";base64"):
            raise StateError([FieldError(loc, "must be a base64 data URL", "image_type")])
    if len(text) > API_CAPS.file_bytes * 4 // 3 + 8:
        message = f"is over {API_CAPS.file_bytes // 2**20} MiB; shrink it first"
        raise StateError([FieldError(loc, message, "image_too_large")])
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise StateError([FieldError(loc, "is not valid base64", "image_base64")]) from None
