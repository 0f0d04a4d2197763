"""Bins of probabilities that never split a tie.

Contract
--------
Bins are half-open ranges [edge, next edge); equal probabilities are always in one bin. Without labels there are none.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.intp]


def equal_mass(p: Array, *, bins: int, least: int) -> Index:
    """The bin of each label, 0-based: about equally many labels each, at least `least`, at most `bins` bins.

    Parameters
    ----------
    p : (n,) probabilities, in any order.

    Returns
    -------
    (n,) integers; fewer bins where ties or `least` leave no choice, one bin where there are fewer labels than `least`.
    """
    return np.searchsorted(edges(p, bins=bins, least=least), p, side="right").astype(np.intp)


def edges(p: Array, *, bins: int, least: int) -> Array:
    """The inner edges of `equal_mass`, ascending: an edge is the least probability of the bin above it."""
    n = p.size
    wanted = min(bins, n // least) if least else bins
    if wanted < 2:
        return np.empty(0)
    ordered = np.sort(p)
    found: list[float] = []
    start = 0
    for number in range(1, wanted):
        at = round(number * n / wanted)
        if at - start < least:
            continue
        value = ordered[at]
        # A tie is not split: the edge goes before it or behind it, whichever leaves the sizes closer to the wish.
        before, behind = np.searchsorted(ordered, value, "left"), np.searchsorted(ordered, value, "right")
        for cut in sorted((int(before), int(behind)), key=lambda c: abs(c - at)):
            if cut - start >= least and n - cut >= least:
                found.append(float(ordered[cut]))
                start = cut
                break
    return np.asarray(found)


def readable(cuts: Array, p: Array, *, least: int) -> Array:
    """The edges rounded to whole percents (or as few decimals more as it takes to keep `least` labels in each bin)."""
    for digits in (2, 3, 4):
        rounded = np.unique(np.round(cuts, digits))
        if rounded.size == cuts.size:
            sizes = np.bincount(np.searchsorted(rounded, p, side="right"), minlength=rounded.size + 1)
            if sizes.min(initial=least) >= least:
                return rounded
    return cuts
