"""Pictures of a request: Clef's `images` and System One's `assets`, as base64 or as parts of a multipart body.

Contract
--------
`images` are data URLs, `{"content_type", "base64"}` or bare base64; `assets` map a reference to a picture, in base64 or
as the name of a part. Each reference must stand in a text of the state or the questions, each part be claimed by one
asset. The declared type is ignored, the bytes decide. Addresses and paths are refused: the server fetches nothing and
reads no file for a caller. Media that no scorer here takes are refused, for an ignored picture is a wrong answer.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Sequence
from typing import Final

from model.images import API_CAPS, Picture, check_together, read_picture
from model.questions import FieldError, Json, Limits, Loc, StateError
from studio.api.bodies import Body
from studio.api.errors import ApiError

FOREIGN: Final = ("audio", "audios", "video", "videos", "image", "image_url", "input_image")
"""Fields that hold media in other APIs."""


def find_media(body: Body) -> list[tuple[Loc, bytes]]:
    """The files of a request's pictures, each with where it stands: `images`, then `assets`.

    Raises
    ------
    StateError : 422; not base64, an address, media that are not taken.
    ApiError : 400; a reference that stands nowhere, a part that is not claimed or claimed twice.
    """
    for name in FOREIGN:
        if body.json.get(name):
            raise _invalid((name,), "is not taken; this server reads text and pictures, in `images`", "media_type")
    return [*_images(body.json.get("images")), *_assets(body)]


def decode(blobs: Sequence[tuple[Loc, bytes]], limits: Limits) -> tuple[Picture, ...]:
    """Pictures of files, each with where it stands in the request. Raises StateError."""
    if len(blobs) > limits.images:
        message = f"{len(blobs)} pictures; at most {limits.images} are allowed"
        raise _invalid(blobs[limits.images][0], message, "too_long")
    check_together([len(blob) for _, blob in blobs], caps=API_CAPS)
    return tuple(read_picture(blob, caps=API_CAPS, loc=loc) for loc, blob in blobs)


def from_text(text: Json, loc: Loc) -> bytes:
    """The file in a data URL or in bare base64. Raises StateError."""
    if not isinstance(text, str):
        raise _invalid(loc, 'must be a data URL, {"content_type", "base64"} or base64 text', "image_type")
    head = text[:64].lstrip().lower()
    if head.startswith(("http:", "https:", "file:", "ftp:", "/", "./", "\\", "blob:")) and not _is_jpeg_text(text):
        raise _invalid(loc, "is an address; nothing is fetched here: send the picture itself as base64", "image_url")
    if head.startswith("data:"):
        declared, comma, text = text.partition(",")
        if not comma or not declared.lower().rstrip().endswith(";base64"):
            raise _invalid(loc, "must be a base64 data URL: data:image/png;base64,…", "image_type")
    if len(text) > API_CAPS.file_bytes * 3 // 2:
        message = f"has more than {API_CAPS.file_bytes // 2**20} MiB; send a smaller copy"
        raise _invalid(loc, message, "image_bytes")
    try:
        # Wrapped lines are base64 as mail and the command line write it; any other foreign character is an error.
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        raise _invalid(loc, "is not valid base64", "image_base64") from None


def _is_jpeg_text(text: str) -> bool:
    """Base64 of a JPEG begins like a path, with a slash."""
    return text.startswith("/9j/")


def _images(raw: Json) -> list[tuple[Loc, bytes]]:
    if raw is None:
        return []
    if not isinstance(raw, list):
        raise _invalid(("images",), "must be a list", "list_type")
    return [
        (("images", i), from_text(item.get("base64") if isinstance(item, dict) else item, ("images", i)))
        for i, item in enumerate(raw)
    ]


def _assets(body: Body) -> list[tuple[Loc, bytes]]:
    raw = body.json.get("assets")
    if raw is None:
        raw = {}
    if not isinstance(raw, dict):
        raise _invalid(("assets",), "must be an object that maps references to pictures", "dict_type")
    claimed: set[str] = set()
    blobs: list[tuple[Loc, bytes]] = [
        (("assets", ref), _asset(item, ("assets", ref), body, claimed)) for ref, item in raw.items()
    ]
    if body.parts.keys() - claimed:
        message = (
            f"{len(body.parts.keys() - claimed)} of the parts belong to no asset; name each in one asset's `part`."
        )
        raise ApiError(400, "asset_part_unclaimed", message)
    if raw:
        texts = list(_texts([body.json.get("state"), *_said(body.json.get("questions"))]))
        for number, ref in enumerate(raw, 1):
            if not ref or not any(ref in text for text in texts):
                message = (
                    f"Asset {number} is referred to nowhere; put its reference into a text of the state or question."
                )
                raise ApiError(400, "asset_unreferenced", message)
    return blobs


def _asset(item: Json, loc: Loc, body: Body, claimed: set[str]) -> bytes:
    if not isinstance(item, dict):
        raise _invalid(loc, "must be an object", "dict_type")
    if item.get("type") != "image":
        raise _invalid((*loc, "type"), "must be `image`", "literal_error")
    part = item.get("part")
    if part is None:
        if "data_base64" not in item:
            raise _invalid((*loc, "data_base64"), "is required where there is no `part`", "missing")
        return from_text(item["data_base64"], (*loc, "data_base64"))
    if not isinstance(part, str) or part not in body.parts:
        raise _invalid((*loc, "part"), "names no part of this body", "asset_part")
    if part in claimed:
        raise ApiError(400, "asset_part_shared", "One part is claimed by two assets; send it once for each.")
    claimed.add(part)
    return body.parts[part]


def _said(questions: Json) -> Iterator[Json]:
    """What the questions say, without their ids and types. They have been validated."""
    for question in questions.values():
        yield from (question.get("instructions"), question.get("criteria"))


def _texts(value: Json) -> Iterator[str]:
    """All texts in a JSON value, without the keys. Walks without recursion."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)


def _invalid(loc: Loc, message: str, code: str) -> StateError:
    return StateError([FieldError(loc, message, code)])
