"""Where characters of a rendered state stand in the text that a person typed.

Contract
--------
A scorer reads JSON compact and with sorted keys (`model.questions.render`), a person types it as it comes. `Places`
leads from characters of the one to the other, by the path of the key or value; text is its own rendering. Positions
that come out count UTF-16 units, as a browser does.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from itertools import accumulate
from typing import TypeAlias

from model.parts import Path
from model.questions import Json, render

Span: TypeAlias = tuple[int, int]

_BLANKS = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()
_SIGNS = " \t\n\r:,{}[]"
"""What stands between the keys and values of a JSON text."""


class Places:
    """See the module's contract. `typed` is valid JSON where `value` is no text."""

    def __init__(self, typed: str, value: Json) -> None:
        self._units = units(typed)
        self._typed = typed
        self._text = None if isinstance(value, str) else render(value)
        if self._text is not None:
            there = scan(typed)
            both = sorted((span, there[name]) for name, span in scan(self._text).items())
            self._rendered = [a for a, _ in both]
            self._here = [b for _, b in both]

    def of(self, start: int, end: int) -> list[Span]:
        """Where characters `start` to `end` of the rendered state stand, in its order.

        Of keys and values that are written otherwise there (an escape, another number), the whole.
        """
        return self._out([(start, end)] if self._text is None else self._within(start, end))

    def _within(self, start: int, end: int) -> list[Span]:
        assert self._text is not None
        found = []
        i = max(0, bisect_right(self._rendered, (start, len(self._text))) - 1)
        for (a, b), (c, d) in zip(self._rendered[i:], self._here[i:], strict=True):
            if a >= end:
                break
            low, high = max(a, start), min(b, end)
            if low >= high:
                continue
            same = self._text[a:b] == self._typed[c:d]
            found.append((c + low - a, c + high - a) if same else (c, d))
        return found

    def after(self, start: int) -> list[Span]:
        """Where everything from character `start` on stands, in the order of the typed text, in few spans."""
        if self._text is None:
            return self.of(start, len(self._typed))
        at = sorted(self._within(start, len(self._text)))
        found: list[Span] = []
        for low, high in at:
            if found and not self._typed[found[-1][1] : low].strip(_SIGNS):
                found[-1] = found[-1][0], high
            else:
                found.append((low, high))
        return self._out(found)

    def _out(self, spans: list[Span]) -> list[Span]:
        at = self._units
        return spans if at is None else [(at[a], at[min(b, len(at) - 1)]) for a, b in spans]


def units(text: str) -> list[int] | None:
    """UTF-16 units before each character, and in all; None where a character is one unit throughout."""
    if not text or max(text) <= "\uffff":
        return None
    return [0, *accumulate(1 + (c > "\uffff") for c in text)]


def scan(text: str) -> dict[tuple[Path, bool], Span]:
    """Every key (True) and every value without members (False) of a JSON text, by its path."""
    found: dict[tuple[Path, bool], Span] = {}
    _scan(text, _solid(text, 0), (), found)
    return found


def _scan(text: str, at: int, path: Path, found: dict[tuple[Path, bool], Span]) -> int:
    opened = text[at]
    inside = _solid(text, at + 1)
    if opened not in "{[" or text[inside] in "}]":
        _, end = _DECODER.raw_decode(text, at)
        found[path, False] = at, end
        return end
    at, number = inside, 0
    while True:
        if opened == "{":
            key, end = _DECODER.raw_decode(text, at)
            found[(*path, key), True] = at, end
            at = _solid(text, _solid(text, end) + 1)
            inner: Path = (*path, key)
        else:
            inner = (*path, number)
            number += 1
        at = _solid(text, _scan(text, at, inner, found))
        if text[at] in "}]":
            return at + 1
        at = _solid(text, at + 1)


def _solid(text: str, at: int) -> int:
    """The next character that is no blank."""
    match = _BLANKS.match(text, at)
    assert match is not None
    return match.end()
