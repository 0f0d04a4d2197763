"""Slices: where errors concentrate.

Contract
--------
A slice is a named mask over the labelled cases. Each is tested (Fisher, exact, two-sided) for an error rate other than
that of the rest; over all slices the false discovery rate is held at 5 % (Benjamini–Hochberg). Only slices with enough
labels on both sides are tested, and what is reported is a place to look, not a cause.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from studio.calibration.compare import benjamini_hochberg

Mask = NDArray[np.bool_]

LEAST = 15
"""Labels that a slice and its rest must have."""
LEVEL = 0.05
MOST_WORDS = 300
_WORD = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True)
class Slice:
    """`wrong` of `n` inside, `rest_wrong` of `rest` outside. `q` is the adjusted p-value."""

    name: str
    n: int
    wrong: int
    rest: int
    rest_wrong: int
    q: float


def find(masks: Mapping[str, Mask], wrong: Mask, *, level: float = LEVEL) -> list[Slice]:
    """The slices whose error rate differs from the rest's, the surest first.

    Parameters
    ----------
    masks : name to (n,) membership; wrong : (n,).
    """
    tested = []
    raw = []
    seen: set[bytes] = set()
    for name, mask in masks.items():
        n = int(mask.sum())
        key = np.packbits(mask).tobytes()
        # Two names for the same cases (a phrase's two words) are one test, under the first name.
        if min(n, mask.size - n) < LEAST or key in seen:
            continue
        seen.add(key)
        inside, outside = int(np.sum(mask & wrong)), int(np.sum(~mask & wrong))
        tested.append((name, n, inside, mask.size - n, outside))
        raw.append(float(stats.fisher_exact([[inside, n - inside], [outside, mask.size - n - outside]]).pvalue))
    found = [Slice(*part, q=q) for part, q in zip(tested, benjamini_hochberg(raw), strict=True) if q <= level]
    return sorted(found, key=lambda s: (s.q, s.name))


def word_masks(texts: Sequence[str]) -> dict[str, Mask]:
    """Slices by the words that the states hold: `“word” in the state`, the most frequent first."""
    words = [set(_WORD.findall(text.lower())) for text in texts]
    common = Counter(word for found in words for word in found)
    masks = {}
    for word, n in common.most_common(MOST_WORDS):
        if LEAST <= n <= len(texts) - LEAST:
            masks[f"“{word}” in the state"] = np.fromiter((word in found for found in words), bool, len(texts))
    return masks


def length_masks(lengths: Sequence[int]) -> dict[str, Mask]:
    """Slices by length: the shortest and the longest quarter."""
    sizes = np.asarray(lengths)
    if not sizes.size:
        return {}
    low, high = np.quantile(sizes, [0.25, 0.75])
    return {
        f"short states (up to {low:,.0f} characters)": sizes <= low,
        f"long states (from {high:,.0f} characters)": sizes >= high,
    }


def field_masks(states: Sequence[object]) -> dict[str, Mask]:
    """Slices by the fields of states that are objects: `field = value`, for values that repeat."""
    values = [dict(_fields(state)) if isinstance(state, Mapping) else {} for state in states]
    pairs = Counter(pair for found in values for pair in found.items())
    return {
        f"{name} = {value}": np.fromiter((found.get(name) == value for found in values), bool, len(values))
        for (name, value), n in pairs.most_common(MOST_WORDS)
        if n >= LEAST
    }


def _fields(state: Mapping[object, object]) -> Iterator[tuple[str, str]]:
    for name, value in state.items():
        if isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= 60):
            yield str(name), str(value)
