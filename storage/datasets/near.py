"""Near-duplicates: which states say almost the same, by MinHash (Broder 1997). For splits, and to count repeats.

Contract
--------
* Pure numpy, with a fixed seed: the same texts give the same answer on every machine.
* A state's signature is `HASHES` minima over its runs of `RUN` bytes, case and blanks aside; the share of equal minima
  estimates the Jaccard similarity J of two states, with a standard error of sqrt(J (1 - J) / HASHES), at most 0.044.
* Candidates share one of `BANDS` bands of `WIDTH` minima: at J = 0.8 a pair is missed with probability 0.002. Of rows
  that share a band, at most `ROUNDS` different ones are compared with all others: a band that so many different states
  share tells nothing, and time stays linear in the rows.
* Memory: 512 bytes per state, and nothing per pair.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from model.questions import Json, render

HASHES = 128
BANDS = 21
WIDTH = 6
ROUNDS = 64
RUN = 5
LENGTH = 60_000
"""Characters that are looked at."""
SIMILAR = 0.8
"""From this similarity on two states count as near-duplicates."""

Signatures = NDArray[np.uint32]
_rng = np.random.default_rng(20261130)
_FACTORS = _rng.integers(1, 2**63, HASHES, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_SHIFTS = _rng.integers(0, 2**63, HASHES, dtype=np.uint64)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def signature(state: Json) -> Signatures:
    """The signature of one state: `HASHES` numbers."""
    text = " ".join(render(state)[:LENGTH].casefold().split())
    data = np.frombuffer(text.encode(errors="replace").ljust(RUN, b"\0"), dtype=np.uint8).astype(np.uint64)
    runs = np.zeros(len(data) - RUN + 1, dtype=np.uint64)
    for place in range(RUN):
        runs = (runs << np.uint64(8)) | data[place : len(data) - RUN + 1 + place]
    runs = np.unique(runs)
    # Mixed first (splitmix64's end), for the multiplications below spread only what differs in high bits.
    runs = (runs ^ (runs >> np.uint64(30))) * _MIX[0]
    runs = (runs ^ (runs >> np.uint64(27))) * _MIX[1]
    minima = np.full(HASHES, np.iinfo(np.uint64).max, dtype=np.uint64)
    for start in range(0, len(runs), 4096):
        hashed = runs[start : start + 4096, None] * _FACTORS + _SHIFTS
        minima = np.minimum(minima, hashed.min(axis=0))
    return (minima >> np.uint64(32)).astype(np.uint32)


def signatures(states: Iterable[Json]) -> Signatures:
    """The signatures of many states, one row each."""
    rows = [signature(state) for state in states]
    return np.stack(rows) if rows else np.zeros((0, HASHES), dtype=np.uint32)


def similarity(one: Signatures, other: Signatures) -> float:
    """The estimated Jaccard similarity of two states."""
    return float((one == other).mean())


class Sets:
    """Disjoint sets of numbers 0..n-1 that are joined step by step (union by the smaller number)."""

    def __init__(self, n: int) -> None:
        self._parent = list(range(n))

    def find(self, item: int) -> int:
        """The smallest number of the item's set."""
        while self._parent[item] != item:
            self._parent[item] = self._parent[self._parent[item]]
            item = self._parent[item]
        return item

    def join(self, one: int, other: int) -> None:
        """Makes one set of two."""
        a, b = self.find(one), self.find(other)
        if a != b:
            self._parent[max(a, b)] = min(a, b)


def join_near(sets: Sets, rows: Signatures, *, similar: float = SIMILAR) -> None:
    """Joins, in `sets`, all rows that are near-duplicates of one another (transitively)."""
    for band in range(BANDS):
        part = np.ascontiguousarray(rows[:, band * WIDTH : (band + 1) * WIDTH])
        keys = part.view(np.dtype((np.void, part.dtype.itemsize * WIDTH))).ravel()
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        starts = (
            np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1]))) if len(rows) else np.zeros(0, int)
        )
        ends = np.append(starts[1:], len(rows))
        for start, end in zip(starts[ends - starts > 1], ends[ends - starts > 1], strict=True):
            _join_group(sets, rows, order[start:end], similar)


def _join_group(sets: Sets, rows: Signatures, group: NDArray[np.intp], similar: float) -> None:
    """Joins what is similar among rows that share a band: each round takes those similar to the first that is left."""
    left = group
    for _ in range(ROUNDS):
        if len(left) < 2:
            return
        first, rest = left[0], left[1:]
        near = (rows[rest] == rows[first]).mean(axis=1) >= similar
        for index in rest[near]:
            sets.join(int(first), int(index))
        left = rest[~near]
