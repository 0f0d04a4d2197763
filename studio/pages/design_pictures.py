"""The page's pictures: checked, kept by content hash, and shown as previews that we encoded.

Contract
--------
A picture enters once (`add`) and is known from then on by its token, the sha256 of its bytes; nothing that a browser
sends is ever a path. `pictures` gives decoded pictures for a decision; decoded ones are kept up to `BUDGET` pixels in
all, so that a keystroke does not decode a photo again. Safe to use from any thread.
"""

from __future__ import annotations

import io
import threading
from collections import OrderedDict
from collections.abc import Sequence
from urllib.parse import unquote

from anyio import to_thread
from fastapi import Request
from PIL import Image

from model.images import PAGE_CAPS, Picture, check_together, read_picture
from model.questions import FieldError, Json, StateError
from storage.database import Database
from storage.errors import NotFound
from storage.pictures import read_picture as read_kept
from storage.pictures import save_picture

BUDGET = 64_000_000
"""Pixels of decoded pictures that are kept (three bytes each)."""
PREVIEWS = 32
"""How many encoded previews are kept."""
PREVIEW_SIDE = 1600
NAME_LENGTH = 120
TOO_LARGE = f"The file is over {PAGE_CAPS.file_bytes // 2**20} MiB; send a smaller copy."


async def read_upload(request: Request) -> bytes | None:
    """The body's bytes; None when it is larger than any picture may be (the rest is not read)."""
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > PAGE_CAPS.file_bytes:
            return None
    return bytes(data)


class Gallery:
    """See the module's contract."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._decoded: OrderedDict[str, Picture] = OrderedDict()
        self._previews: OrderedDict[str, bytes] = OrderedDict()

    async def add(self, data: bytes, name: str) -> dict[str, Json]:
        """Checks and keeps a picture. Raises StateError with a plain sentence."""
        return await to_thread.run_sync(self.add_now, data, name)

    def add_now(self, data: bytes, name: str) -> dict[str, Json]:
        """As `add`, in this thread."""
        picture = read_picture(data, caps=PAGE_CAPS)
        kept = save_picture(
            self._database, data, format=picture.format.lower(), width=picture.width, height=picture.height
        )
        self._preview(picture)
        return {
            "token": kept.sha256,
            "name": unquote(name)[:NAME_LENGTH] or "picture",
            "width": picture.original[0] if not picture.notes else picture.width,
            "height": picture.original[1] if not picture.notes else picture.height,
            "notes": list(picture.notes),
        }

    def pictures(self, tokens: Sequence[str]) -> tuple[Picture, ...]:
        """Decoded pictures, in order. Raises StateError where one is not kept (any more)."""
        found = tuple(self._picture(token, i) for i, token in enumerate(tokens))
        check_together([p.size_bytes for p in found], caps=PAGE_CAPS)
        return found

    def ready(self, tokens: Sequence[str]) -> bool:
        """Whether `pictures` would answer at once."""
        with self._lock:
            return all(token in self._decoded for token in tokens)

    def preview(self, token: str) -> bytes | None:
        """A JPEG of at most `PREVIEW_SIDE` pixels a side; None when there is no such picture."""
        with self._lock:
            if (known := self._previews.get(token)) is not None:
                return known
        try:
            return self._preview(self._read(token, 0))
        except StateError:
            return None

    def _preview(self, picture: Picture) -> bytes:
        small = picture.image.copy()
        small.thumbnail((PREVIEW_SIDE, PREVIEW_SIDE), Image.Resampling.LANCZOS)
        out = io.BytesIO()
        small.save(out, "JPEG", quality=88)
        with self._lock:
            self._previews[picture.sha256] = out.getvalue()
            while len(self._previews) > PREVIEWS:
                self._previews.popitem(last=False)
        return out.getvalue()

    def _picture(self, token: str, position: int) -> Picture:
        with self._lock:
            if (known := self._decoded.get(token)) is not None:
                self._decoded.move_to_end(token)
                return known
        picture = self._read(token, position)
        with self._lock:
            self._decoded[token] = picture
            while len(self._decoded) > 1 and sum(p.width * p.height for p in self._decoded.values()) > BUDGET:
                self._decoded.popitem(last=False)
        return picture

    def _read(self, token: str, position: int) -> Picture:
        loc = ("images", position)
        try:
            data = read_kept(self._database, token)
        except NotFound:
            message = f"picture {position + 1} is not here any more; remove it and drop it again"
            raise StateError([FieldError(loc, message, "image_gone")]) from None
        return read_picture(data, caps=PAGE_CAPS, loc=loc)
