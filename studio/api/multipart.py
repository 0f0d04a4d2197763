"""multipart/form-data, as the official SDK sends pictures: a `request` part with JSON, and one part per picture.

Contract
--------
`parse_parts` gives each part's bytes by its name. Nothing is written to disk, no header but the name is believed.
"""

from __future__ import annotations

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header

from studio.api.errors import ApiError

MAX_PARTS = 64


class _Parts:
    """Collects what the parser calls back."""

    def __init__(self) -> None:
        self.by_name: dict[str, bytes] = {}
        self.ended = False
        self._headers: dict[bytes, bytes] = {}
        self._field, self._value, self._data = bytearray(), bytearray(), bytearray()

    def on_part_begin(self) -> None:
        self._headers = {}
        self._data = bytearray()

    def on_header_begin(self) -> None:
        self._field, self._value = bytearray(), bytearray()

    def on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def on_header_end(self) -> None:
        self._headers[bytes(self._field).lower()] = bytes(self._value)

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        self._data += data[start:end]

    def on_part_end(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        name = options.get(b"name", b"").decode("utf-8", "replace")
        if not name:
            raise _invalid("has a part without a name")
        if name in self.by_name:
            raise _invalid("has two parts of the same name")
        if len(self.by_name) >= MAX_PARTS:
            raise _invalid(f"has more than {MAX_PARTS} parts")
        self.by_name[name] = bytes(self._data)

    def on_end(self) -> None:
        self.ended = True


def parse_parts(data: bytes, content_type: str) -> dict[str, bytes]:
    """The parts of `data` by name, in order.

    Raises
    ------
    ApiError : 400; no boundary, damaged, ends early, a part without a name, two of one name.
    """
    _, options = parse_options_header(content_type)
    boundary = options.get(b"boundary", b"")
    if not 1 <= len(boundary) <= 200:
        raise _invalid("names no boundary in its Content-Type")
    parts = _Parts()
    names = ("part_begin", "header_begin", "header_field", "header_value", "header_end", "part_data", "part_end", "end")
    try:
        parser = MultipartParser(boundary, {f"on_{name}": getattr(parts, f"on_{name}") for name in names})  # type: ignore[arg-type]
        parser.write(data)
        parser.finalize()
    except MultipartParseError:
        raise _invalid("is damaged") from None
    if not parts.ended:
        raise _invalid("ends early")
    return parts.by_name


def _invalid(what: str) -> ApiError:
    return ApiError(400, "multipart_invalid", f"The multipart body {what}.")
