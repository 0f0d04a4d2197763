"""Intervals: of shares in closed form, of everything else by resampling decisions.

Contract
--------
Of one question every decision gives one answer, so resampling rows is resampling decisions. `strata` are resampled
apart, so that each keeps its number of labels.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[np.float64]

CHUNK = 2_000_000
"""Numbers of one portion of resampled counts: 16 MB."""


def wilson(right: float, n: float, *, confidence: float = 0.95) -> tuple[float, float]:
    """Two-sided interval of a share (Wilson 1927); NaN for n = 0. `right` and `n` may be effective numbers."""
    if n <= 0:
        return float("nan"), float("nan")
    z = float(stats.norm.ppf((1 + confidence) / 2))
    share = right / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * float(np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)))
    # At the ends the formula is exact only up to rounding.
    return (0.0 if right <= 0 else max(0.0, middle - half)), (1.0 if right >= n else min(1.0, middle + half))


def upper_bound(wrong: NDArray[np.int_], n: NDArray[np.int_], *, confidence: float = 0.95) -> Array:
    """One-sided upper bound of an error rate (Clopper & Pearson 1934), 1 where all are wrong or there are none."""
    wrong, n = np.asarray(wrong), np.asarray(n)
    bound = stats.beta.ppf(confidence, wrong + 1.0, np.maximum(n - wrong, 1))
    return np.where(wrong >= n, 1.0, bound)


def counts(
    n: int, draws: int, rng: np.random.Generator, strata: NDArray[np.bool_] | NDArray[np.int_] | None = None
) -> Iterator[Array]:
    """How often each of n decisions is in each resample: portions (b, n), `draws` rows in all."""
    groups = [np.arange(n)] if strata is None else [np.flatnonzero(strata == s) for s in np.unique(strata)]
    rows = max(1, CHUNK // max(n, 1))
    for start in range(0, draws, rows):
        portion = np.zeros((min(rows, draws - start), n))
        for row in portion:
            for group in groups:
                row[group] += np.bincount(rng.integers(0, group.size, group.size), minlength=group.size)
        yield portion


def percentiles(values: Array, *, confidence: float = 0.95) -> tuple[float, float]:
    """The central range that holds `confidence` of the resampled values; NaN where none is finite."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return float("nan"), float("nan")
    tail = (1 - confidence) / 2
    low, high = np.quantile(finite, [tail, 1 - tail])
    return float(low), float(high)
