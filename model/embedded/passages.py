"""A long state in passages, and which of them a question is read against.

Contract
--------
`split` cuts tokens into passages of at most `PASSAGE_TOKENS`, at the end of a line or sentence where one is near.
`choose` picks, for one question, the first passage and those nearest to the question, as many as fit the excerpt, in
the order of the text. So a pair costs the same for any length of state, and what was read is known by position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from model.embedded.pairs import EXCERPT_TOKENS

PASSAGE_TOKENS = 68
_LEAST = 40


@dataclass(frozen=True)
class Passage:
    """Token ids, and the range of characters that they cover."""

    ids: tuple[int, ...]
    start: int
    end: int


def split(ids: Sequence[int], offsets: Sequence[tuple[int, int]], text: str) -> list[Passage]:
    """Passages of a tokenised text, in order; together they hold every token."""
    passages, at = [], 0
    while at < len(ids):
        stop = min(len(ids), at + PASSAGE_TOKENS)
        if stop < len(ids):
            stop = _break(offsets, text, at + _LEAST, stop)
        passages.append(Passage(tuple(ids[at:stop]), offsets[at][0], offsets[stop - 1][1]))
        at = stop
    return passages


def _break(offsets: Sequence[tuple[int, int]], text: str, least: int, most: int) -> int:
    """The last place in (least, most] after the end of a line, else of a sentence, else `most`."""
    sentence = 0
    for stop in range(most, least, -1):
        between = text[offsets[stop - 1][1] : offsets[stop][0]]
        if "\n" in between:
            return stop
        if not sentence and text[offsets[stop - 1][1] - 1] in ".!?" and between:
            sentence = stop
    return sentence or most


def choose(passages: Sequence[Passage], nearness: Tensor) -> list[int]:
    """Indices of the passages that one question is read against, ascending; `nearness` (passages,)."""
    if sum(len(p.ids) for p in passages) <= EXCERPT_TOKENS:
        return list(range(len(passages)))
    chosen, room = [0], EXCERPT_TOKENS - len(passages[0].ids)
    for index in nearness.argsort(descending=True, stable=True).tolist():
        if index and len(passages[index].ids) <= room:
            chosen.append(index)
            room -= len(passages[index].ids)
    return sorted(chosen)
