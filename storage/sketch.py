"""Near-duplicates: a sketch of what a state says, so that people are not asked the same thing twice.

Contract
--------
Pure. `sketch` is a SimHash (Charikar 2002) of words and pairs of words, digits aside: 64 bits, as a signed integer for
the database. States that say almost the same differ in few bits; `near` is at most `DISTANCE` of them.
"""

from __future__ import annotations

import hashlib
import re
from itertools import pairwise

from model.questions import Json, render

DISTANCE = 3
"""Bits. Two texts of a hundred words that differ in one or two of them; short texts must be the same but for digits."""
LENGTH = 20_000
"""Characters that are looked at."""
_WORD = re.compile(r"\w+")
_DIGITS = re.compile(r"\d+")


def sketch(state: Json) -> int:
    """The sketch of a state's text."""
    words = _WORD.findall(_DIGITS.sub("0", render(state)[:LENGTH].casefold()))
    counts = [0] * 64
    for feature in {*words, *(f"{a} {b}" for a, b in pairwise(words))}:
        bits = int.from_bytes(hashlib.blake2b(feature.encode(), digest_size=8).digest(), "big")
        for i in range(64):
            counts[i] += 1 if bits >> i & 1 else -1
    value = sum(1 << i for i, count in enumerate(counts) if count > 0)
    return value - (1 << 64) if value >> 63 else value


def near(one: int, other: int) -> bool:
    """Whether two sketches are those of near-duplicates."""
    return ((one ^ other) & (1 << 64) - 1).bit_count() <= DISTANCE
