"""Content encodings of a request body: zstd, gzip and deflate, never larger than allowed.

Contract
--------
`decode` undoes one `Content-Encoding`. The output never grows past `cap` by more than one step, whatever the input
claims. Exactly one complete frame is accepted: a frame that ends early, or bytes behind it, are refused.
"""

from __future__ import annotations

import zlib
from typing import Protocol

import zstandard

from studio.api.errors import ApiError, too_large

ACCEPTED = ("identity", "gzip", "deflate", "zstd")
_STEP = 1024
"""Input bytes per step. The densest zstd block makes 128 KiB of four bytes: one step makes at most 32 MiB."""
_WINDOW = 2**27
"""Most memory that a zstd frame may ask for, in bytes; the official SDK's frames ask for far less."""


class _Inflater(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


def decode(data: bytes, encoding: str, *, cap: int) -> bytes:
    """The plain bytes of `data`.

    Parameters
    ----------
    encoding : the value of the `Content-Encoding` header.
    cap : most plain bytes.

    Raises
    ------
    ApiError : 415 for an encoding that is not known, 400 for a damaged frame, 413 for more than `cap`.
    """
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return data
    inflater = _inflater(name)
    out = bytearray()
    view = memoryview(data)
    try:
        for start in range(0, len(data), _STEP):
            out += inflater.decompress(bytes(view[start : start + _STEP]))
            if len(out) > cap:
                raise too_large(cap)
            if inflater.eof:
                rest = len(data) - start - _STEP
                if inflater.unused_data or rest > 0:
                    raise _damaged(name, "has bytes behind its end")
                return bytes(out)
    except (zlib.error, zstandard.ZstdError):
        raise _damaged(name, "is damaged") from None
    raise _damaged(name, "ends early")


def _inflater(name: str) -> _Inflater:
    if name == "zstd":
        frame: _Inflater = zstandard.ZstdDecompressor(max_window_size=_WINDOW).decompressobj()
        return frame
    if name in ("gzip", "x-gzip"):
        return zlib.decompressobj(16 + zlib.MAX_WBITS)
    if name == "deflate":
        return zlib.decompressobj()
    known = ", ".join(ACCEPTED)
    raise ApiError(415, "unsupported_encoding", f"This Content-Encoding is not supported; use one of {known}.")


def _damaged(name: str, what: str) -> ApiError:
    return ApiError(400, "encoding_invalid", f"The {name} body {what}; send one complete frame.")
