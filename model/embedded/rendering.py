"""A state in readable words, and where each character of them stands in the state's rendered text.

Contract
--------
`readable_state(value)` is what the embedded model reads: text as it is; JSON as one `key path: value` line per leaf
(the encoder was never shown braces and quotes). `Readable.original(start, end)` translates a range of the readable
text into a range of `model.questions.render(value)`, which is the text that the protocol's ranges refer to; it never
covers a character of a value that was not in the range.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from model.embedded.pairs import words_of
from model.questions import Json, render


@dataclass(frozen=True)
class _Leaf:
    """A leaf: its line and its value in the readable text, its value in the rendered text."""

    line: int
    value: int
    end: int
    start: int
    text: str
    quoted: bool


@dataclass(frozen=True)
class Readable:
    """Readable text; `leaves` is empty where it is the rendered text itself."""

    text: str
    leaves: tuple[_Leaf, ...] = field(default=(), repr=False)

    def original(self, start: int, end: int) -> tuple[int, int] | None:
        """The range of the rendered text that [start, end) of the readable text shows; None where it shows no value."""
        end = min(end, len(self.text))
        if not self.leaves:
            return (start, end) if start < end else None
        touched = [leaf for leaf in self.leaves if leaf.value < end and leaf.end > start]
        if not touched:
            return None
        first, last = touched[0], touched[-1]
        return _offset(first, max(0, start - first.value)), _offset(last, min(len(last.text), end - last.value))


def _offset(leaf: _Leaf, characters: int) -> int:
    """Where the first `characters` of a leaf's value end, in the rendered text."""
    if not leaf.quoted:
        return leaf.start + characters
    return leaf.start + len(json.dumps(leaf.text[:characters], ensure_ascii=False)) - 1


def readable_state(value: Json) -> Readable:
    """The state in readable words."""
    if isinstance(value, str):
        return Readable(value)
    leaves: list[_Leaf] = []
    lines: list[str] = []
    length = 0
    # (value, words of its path, where it starts in the rendered text); depth first, in the rendered order.
    stack: list[tuple[Json, str, int]] = [(value, "", 0)]
    while stack:
        item, path, start = stack.pop()
        if isinstance(item, Mapping | list | tuple) and item:
            stack.extend(reversed(_children(item, path, start)))
            continue
        text = item if isinstance(item, str) else render(item)
        prefix = f"{path}: " if path else ""
        lines.append(prefix + text)
        at = length + len(prefix)
        leaves.append(_Leaf(length, at, at + len(text), start, text, isinstance(item, str)))
        length = at + len(text) + 1
    return Readable("\n".join(lines), tuple(leaves))


def _children(item: Json, path: str, start: int) -> list[tuple[Json, str, int]]:
    children = []
    at = start + 1
    if isinstance(item, Mapping):
        for key in sorted(item):
            at += len(json.dumps(key, ensure_ascii=False)) + 1
            children.append((item[key], f"{path} {words_of(key)}".strip(), at))
            at += _size(item[key]) + 1
    else:
        for number, inner in enumerate(item, 1):
            children.append((inner, f"{path} {number}".strip(), at))
            at += _size(inner) + 1
    return children


def _size(value: Json) -> int:
    """Length of a value inside rendered JSON, where strings stand in quotes."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True))
