"""How good the answers are, as single numbers: shares, scores, calibration error, and what chance alone would give.

Contract
--------
Every figure is one function of plain arrays with optional weights; `studio.calibration.measuring` adds intervals and
the number of labels that it takes. No figure is clipped to look better: a true option that was given probability 0
makes the log score infinite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from studio.calibration import bins
from studio.calibration.reliability import fit

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Index = NDArray[np.intp]

BINS = 10
BIN_LABELS = 10
NAN = float("nan")


@dataclass(frozen=True)
class Decomposition:
    """Brier = miscalibration − discrimination + uncertainty (CORP)."""

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float


def mean(values: Array, weights: Array | None = None) -> float:
    """Weighted mean; NaN for none."""
    return float(np.average(values, weights=weights)) if values.size else NAN


def brier(p: Array, y: Mask, weights: Array | None = None) -> float:
    """Mean of (p − y)² (Brier 1950); 0 is perfect. NaN for no labels."""
    return mean(np.square(p - y), weights)


def decompose(p: Array, y: Mask, weights: Array | None = None) -> Decomposition:
    """Brier's parts by the isotonic fit (Dimitriadis, Gneiting & Jordan 2021). NaN for no labels."""
    if not p.size:
        return Decomposition(NAN, NAN, NAN, NAN)
    score = brier(p, y, weights)
    curve = fit(p, y, weights)
    recalibrated = brier(curve.fitted[np.searchsorted(curve.x, p)], y, weights)
    base = np.full(p.size, mean(y.astype(np.float64), weights))
    uncertainty = brier(base, y, weights)
    return Decomposition(score, score - recalibrated, uncertainty - recalibrated, uncertainty)


def log_score(probabilities: Array, truth: Index, weights: Array | None = None) -> float:
    """Mean of −ln p of the true option; 0 is perfect, infinite where a true option had probability 0."""
    return mean(surprises(probabilities, truth), weights)


def ranked_probability_score(probabilities: Array, truth: Index, weights: Array | None = None) -> float:
    """Mean of Σₖ (P(level ≤ k) − [truth ≤ k])² over the levels (Epstein 1969); 0 is perfect."""
    return mean(rps_of(probabilities, truth), weights)


def kappa(given: Index, truth: Index, levels: int, weights: Array | None = None) -> float:
    """Cohen's κ with quadratic weights; NaN where both always say the same one level, or for no labels."""
    if not truth.size or levels < 2:
        return NAN
    return kappa_of(table_of(given * levels + truth, weights, levels))


def aurc(p: Array, right: Mask, weights: Array | None = None) -> float:
    """Area under the risk–coverage curve: the error rate among the surest, averaged over all coverages. 0 is perfect.

    Ties leave together: an answer's risk is that of acting on all answers that are at least as sure.
    """
    if not p.size:
        return NAN
    weights = np.ones(p.size) if weights is None else weights
    order = np.argsort(-p, kind="stable")
    return float(_aurc(weights[order][None], ~right[order], _tie_ends(p[order]))[0])


def calibration_error(p: Array, y: Mask, weights: Array | None = None) -> float:
    """Debiased calibration error: the root mean square of (said − was) over equal-mass bins that split no tie.

    Within a bin the square of the gap is too large by the variance of the share, which is subtracted (Kumar, Liang &
    Ma 2019); what is left under zero in all is zero. NaN for no labels.
    """
    if not p.size:
        return NAN
    return float(np.sqrt(max(0.0, Gaps(p, weights).debiased(y[None])[0])))


def plain_ece(p: Array, y: Mask, weights: Array | None = None) -> float:
    """The usual expected calibration error, mean |said − was| over the bins: for comparison with other tools only.

    A perfectly calibrated scorer has .08 at n = 100. NaN for no labels.
    """
    return float(Gaps(p, weights).plain(y[None])[0]) if p.size else NAN


def noise_floor(
    p: Array, weights: Array | None, rng: np.random.Generator, *, draws: int = 500, quantile: float = 0.95
) -> float:
    """What `calibration_error` stays under in 95 of 100 cases when everything said is true (y ~ Bernoulli(p))."""
    found = floors(p, weights, rng, draws=draws)
    return float(np.sqrt(max(0.0, np.quantile(found, quantile)))) if p.size else NAN


def floors(p: Array, weights: Array | None, rng: np.random.Generator, *, draws: int, plain: bool = False) -> Array:
    """The square of the debiased error (or the plain one) of calibrated scorers that say `p`, (draws,)."""
    gaps = Gaps(p, weights)
    size = max(1, 4_000_000 // max(p.size, 1))
    said = p.astype(np.float32)
    found = []
    for start in range(0, draws, size):
        drawn = rng.random((min(size, draws - start), p.size), dtype=np.float32) < said
        found.append(gaps.plain(drawn) if plain else gaps.debiased(drawn))
    return np.concatenate(found) if found else np.empty(0)


class Gaps:
    """Said against was, per bin, for many outcomes (b, n) or many resamples (b, n) at once.

    `order` sorts the labels by what was said; the bins are consecutive then.
    """

    def __init__(self, p: Array, weights: Array | None) -> None:
        self.order = np.argsort(p, kind="stable")
        group = bins.equal_mass(p[self.order], bins=BINS, least=BIN_LABELS)
        self._starts = np.flatnonzero(np.diff(group, prepend=-1))
        self._p = p[self.order]
        self._w = np.ones(p.size) if weights is None else weights[self.order]

    def plain(self, y: Mask) -> Array:
        """Mean absolute gap, (b,)."""
        mass, gap, _ = self._outcomes(y)
        return np.sum(mass * np.abs(gap), axis=1)

    def squared(self, y: Mask) -> Array:
        """Mean square gap with its bias, (b,)."""
        mass, gap, _ = self._outcomes(y)
        return np.sum(mass * gap**2, axis=1)

    def debiased(self, y: Mask) -> Array:
        """Mean square gap without its bias, (b,); may be negative."""
        mass, gap, variance = self._outcomes(y)
        return np.sum(mass * (gap**2 - variance), axis=1)

    def debiased_sorted(self, y: Mask, times: Array) -> Array:
        """The same of one outcome (n,) in resamples: `times` (b, n), how often each label is there; both in `order`."""
        w = self._w
        columns = np.column_stack([w, w * y, w * self._p, w * w, w * w * y, np.ones(w.size)])
        sums = by_group(times, columns, self._starts.astype(np.intp))
        mass, gap, variance = _gaps(*np.moveaxis(sums, 2, 0))
        return np.sum(mass * (gap**2 - variance), axis=1)

    def _outcomes(self, y: Mask) -> tuple[Array, Array, Array]:
        y, w = y[:, self.order], self._w
        fixed = [self._sum(values[None]) for values in (w, w * self._p, w * w, np.ones(w.size))]
        hits, squared_hits = self._sum(np.where(y, w, 0.0)), self._sum(np.where(y, w * w, 0.0))
        return _gaps(fixed[0], hits, fixed[1], fixed[2], squared_hits, fixed[3])

    def _sum(self, values: Array) -> Array:
        sums: Array = np.add.reduceat(values, self._starts, axis=1)
        return sums


def _gaps(
    weight: Array, hits: Array, said: Array, squares: Array, squared_hits: Array, n: Array
) -> tuple[Array, Array, Array]:
    """Per bin: its share of the weight, the gap (was − said), and the variance of the share that was.

    From sums over the bin's labels: w, w·y, w·p, w², w²·y, and their number.
    """
    positive = safe(weight)
    share = hits / positive
    # Var(Σwy / Σw) from the sample's own spread; n − 1, for the share was estimated from the same labels.
    spread = (1 - share) ** 2 * squared_hits + share**2 * (squares - squared_hits)
    variance = spread / positive**2 * n / np.maximum(n - 1, 1)
    return weight / weight.sum(axis=1, keepdims=True), share - said / positive, variance


def by_group(times: Array, columns: Array, starts: Index) -> Array:
    """Sums of columns (n, c) over consecutive groups of cases in every resample (b, n): (b, groups, c)."""
    ends = np.append(starts[1:], times.shape[1])
    return np.stack([times[:, a:b] @ columns[a:b] for a, b in zip(starts, ends, strict=True)], axis=1)


def safe(values: Array) -> Array:
    """The values, 1 in place of 0, to divide by."""
    return np.where(values > 0, values, 1.0)


def surprises(probabilities: Array, truth: Index) -> Array:
    """−ln p of each true option, (n,)."""
    with np.errstate(divide="ignore"):
        return -np.log(probabilities[np.arange(truth.size), truth])


def rps_of(probabilities: Array, truth: Index) -> Array:
    """The ranked probability score of each answer, (n,)."""
    under = np.cumsum(probabilities, axis=1)
    steps = np.arange(probabilities.shape[1])[None] >= truth[:, None]
    return np.square(under - steps).sum(axis=1)


def table_of(cell: Index, weights: Array | None, levels: int) -> Array:
    """The confusion matrix (given, true) of cells given · levels + true."""
    flat = np.bincount(cell, weights=weights, minlength=levels * levels)
    return flat.reshape(levels, levels).astype(np.float64)


def kappa_of(table: Array) -> float:
    """κ with quadratic weights, of a confusion matrix."""
    levels = table.shape[0]
    distance = np.square(np.subtract.outer(np.arange(levels), np.arange(levels)))
    total = table.sum()
    by_chance = np.sum(distance * np.outer(table.sum(axis=1), table.sum(axis=0))) / total
    return float(1 - np.sum(distance * table) / by_chance) if by_chance > 0 else NAN


def _tie_ends(p: Array) -> Index:
    """For descending probabilities: the last index of each one's tie, (n,)."""
    last = np.flatnonzero(np.append(np.diff(p) != 0, True))
    return last[np.searchsorted(last, np.arange(p.size))]


def _aurc(weights: Array, wrong: Mask, ends: Index) -> Array:
    """AURC for many weightings (b, n) of answers that are sorted from sure to unsure."""
    mass = np.cumsum(weights, axis=1)
    lost = np.cumsum(np.where(wrong, weights, 0.0), axis=1)
    risk = lost / np.where(mass > 0, mass, 1.0)
    areas: Array = np.sum(weights * risk[:, ends], axis=1) / mass[:, -1]
    return areas
