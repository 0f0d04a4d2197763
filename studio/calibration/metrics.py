"""How good the answers are: shares, scores, calibration error, and what chance alone would give.

Contract
--------
Every figure is one function of plain arrays with optional weights; `measure` computes all that a question needs, with
95 % intervals by resampling decisions. A figure that the labels cannot carry (`needs`) has the value NaN and says how
many labels are missing. No figure is clipped to look better: a true option that was given probability 0 makes the log
score infinite, and it says so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from studio.calibration import bins, needs
from studio.calibration.cases import Cases, Event
from studio.calibration.intervals import counts, percentiles
from studio.calibration.reliability import fit
from studio.calibration.sampling import effective_n

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Index = NDArray[np.intp]

BINS = 10
BIN_LABELS = 10
DRAWS = 1000
MANY = 20_000
"""From so many labels on, fewer resamples do (an interval's end then moves by a hundredth of its width)."""
NAN = float("nan")


@dataclass(frozen=True)
class Figure:
    """A number with its 95 % interval (NaN where there is none), the labels behind it, and how many are missing."""

    value: float = NAN
    low: float = NAN
    high: float = NAN
    n: int = 0
    missing: int = 0


@dataclass(frozen=True)
class Decomposition:
    """Brier = miscalibration − discrimination + uncertainty (CORP)."""

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float


@dataclass(frozen=True)
class Numbers:
    """All figures of one view of a question.

    `accuracy`: of the event's leading side for views of one option, else of the leading option. `brier`, `parts`,
    `error` (debiased calibration error) and `floor` (its 95th percentile for a calibrated scorer at this n) are of the
    event; `log_score`, `rps`, `kappa` and `aurc` of the whole answer. Without labels that know the true option, and for
    questions that are no score, the figures that need them are NaN with n = 0.
    """

    n: int
    effective: float
    share: Figure
    brier: Figure
    parts: Decomposition
    error: Figure
    floor: float
    log_score: Figure
    impossible: int
    """True options that were given probability 0, each of which makes the log score infinite."""
    rps: Figure
    kappa: Figure
    aurc: Figure


def mean(values: Array, weights: Array | None = None) -> float:
    """Weighted mean; NaN for none."""
    return float(np.average(values, weights=weights)) if values.size else NAN


def brier(p: Array, y: Mask, weights: Array | None = None) -> float:
    """Mean of (p − y)² (Brier 1950); 0 is perfect. NaN for no labels."""
    return mean(np.square(p - y), weights)


def brier_whole(probabilities: Array, truth: Index, weights: Array | None = None) -> float:
    """Mean of Σⱼ (pⱼ − [j is true])² over all options, 0 to 2. NaN for no labels."""
    if not truth.size:
        return NAN
    of_truth = probabilities[np.arange(truth.size), truth]
    return mean(np.square(probabilities).sum(axis=1) - 2 * of_truth + 1, weights)


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
    return mean(_surprise(probabilities, truth), weights)


def ranked_probability_score(probabilities: Array, truth: Index, weights: Array | None = None) -> float:
    """Mean of Σₖ (P(level ≤ k) − [truth ≤ k])² over the levels (Epstein 1969); 0 is perfect."""
    return mean(_rps(probabilities, truth), weights)


def kappa(given: Index, truth: Index, levels: int, weights: Array | None = None) -> float:
    """Cohen's κ with quadratic weights; NaN where both always say the same one level, or for no labels."""
    if not truth.size or levels < 2:
        return NAN
    return _kappa(_table(given * levels + truth, weights, levels))


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
    return float(np.sqrt(max(0.0, _Gaps(p, weights).debiased(y[None])[0])))


def plain_ece(p: Array, y: Mask, weights: Array | None = None) -> float:
    """The usual expected calibration error, mean |said − was| over the bins: for comparison with other tools only.

    A perfectly calibrated scorer has .08 at n = 100. NaN for no labels.
    """
    return float(_Gaps(p, weights).plain(y[None])[0]) if p.size else NAN


def noise_floor(
    p: Array, weights: Array | None, rng: np.random.Generator, *, draws: int = 500, quantile: float = 0.95
) -> float:
    """What `calibration_error` stays under in 95 of 100 cases when everything said is true (y ~ Bernoulli(p))."""
    found = floors(p, weights, rng, draws=draws)
    return float(np.sqrt(max(0.0, np.quantile(found, quantile)))) if p.size else NAN


def floors(p: Array, weights: Array | None, rng: np.random.Generator, *, draws: int, plain: bool = False) -> Array:
    """The square of the debiased error (or the plain one) of calibrated scorers that say `p`, (draws,)."""
    gaps = _Gaps(p, weights)
    size = max(1, 4_000_000 // max(p.size, 1))
    said = p.astype(np.float32)
    found = []
    for start in range(0, draws, size):
        drawn = rng.random((min(size, draws - start), p.size), dtype=np.float32) < said
        found.append(gaps.plain(drawn) if plain else gaps.debiased(drawn))
    return np.concatenate(found) if found else np.empty(0)


def measure(cases: Cases, view: str, rng: np.random.Generator, *, draws: int | None = None) -> Numbers:
    """All figures of a view; see `Numbers`. Raises ValueError for a view that the question does not have."""
    event = cases.event(view)
    draws = draws or (DRAWS if event.n < MANY else DRAWS // 4)
    effective = effective_n(event.weights)
    hit = event.y if view == "top" else event.y == (event.p >= 0.5)
    strata = cases.audit[event.rows]
    share, score = _means(np.stack([hit, np.square(event.p - event.y)]), event.weights, strata, rng, draws)
    few = needs.missing("error", effective)
    known = cases.only(cases.known)
    log, rps = _whole(known, rng, draws)
    parts = decompose(event.p, event.y, event.weights) if not few else Decomposition(NAN, NAN, NAN, NAN)
    return Numbers(
        n=event.n,
        effective=effective,
        share=share,
        brier=score,
        parts=parts,
        error=_error(event, strata, rng, draws) if not few else Figure(n=event.n, missing=few),
        floor=noise_floor(event.p, event.weights, rng, draws=min(draws, 500)) if not few else NAN,
        log_score=log,
        impossible=int(np.sum(known.probabilities[np.arange(known.n), known.truth] <= 0)),
        rps=rps,
        kappa=_kappa_figure(known, rng, draws),
        aurc=_aurc_figure(cases, rng, draws),
    )


def _means(values: Array, weights: Array, strata: Mask, rng: np.random.Generator, draws: int) -> list[Figure]:
    """A figure per row of `values` (c, n): the weighted mean over n labels."""
    n = weights.size
    few = needs.missing("share", effective_n(weights))
    if few or not n:
        return [Figure(n=n, missing=few) for _ in values]
    drawn = np.concatenate(
        [(c * weights) @ values.T / (c @ weights)[:, None] for c in counts(n, draws, rng, strata)], axis=0
    )
    spans = [percentiles(column) for column in drawn.T]
    return [Figure(mean(row, weights), *span, n=n) for row, span in zip(values, spans, strict=True)]


def _whole(known: Cases, rng: np.random.Generator, draws: int) -> tuple[Figure, Figure]:
    """Log score and, for a score, RPS."""
    surprise = _surprise(known.probabilities, known.truth)
    few = needs.missing("share", effective_n(known.weights))
    finite = bool(np.isfinite(surprise).all())
    rows = [surprise] if finite else []
    if known.type == "score":
        rows.append(_rps(known.probabilities, known.truth))
    figures = _means(np.stack(rows), known.weights, known.audit, rng, draws) if rows else []
    infinite = Figure(n=known.n, missing=few) if few else Figure(float("inf"), n=known.n)
    log = figures.pop(0) if finite else infinite
    return log, figures.pop(0) if figures else Figure()


def _error(event: Event, strata: Mask, rng: np.random.Generator, draws: int) -> Figure:
    gaps = _Gaps(event.p, event.weights)
    squared, plain = float(gaps.debiased(event.y[None])[0]), float(gaps.squared(event.y[None])[0])
    # A resample adds the variance once more, so its debiased square is centred on the plain one.
    drawn = [gaps.debiased(event.y[None], portion) for portion in counts(event.n, draws, rng, strata)]
    low, high = percentiles(np.concatenate(drawn) - (plain - squared))
    value, low, high = (float(np.sqrt(max(0.0, s))) for s in (squared, low, high))
    return Figure(value, low, high, n=event.n)


def _kappa_figure(known: Cases, rng: np.random.Generator, draws: int) -> Figure:
    levels = len(known.options)
    if known.type != "score" or levels < 2:
        return Figure()
    few = needs.missing("error", effective_n(known.weights))
    if few:
        return Figure(n=known.n, missing=few)
    cell = known.lead * levels + known.truth
    drawn = [
        _kappa(_table(cell, row * known.weights, levels))
        for portion in counts(known.n, draws, rng, known.audit)
        for row in portion
    ]
    value = kappa(known.lead, known.truth, levels, known.weights)
    return Figure(value, *percentiles(np.asarray(drawn)), n=known.n)


def _aurc_figure(cases: Cases, rng: np.random.Generator, draws: int) -> Figure:
    few = needs.missing("error", effective_n(cases.weights))
    if few:
        return Figure(n=cases.n, missing=few)
    order = np.argsort(-cases.top, kind="stable")
    ends, wrong = _tie_ends(cases.top[order]), ~cases.right[order]
    weights, strata = cases.weights[order], cases.audit[order]
    value = float(_aurc(weights[None], wrong, ends)[0])
    drawn = [_aurc(portion * weights, wrong, ends) for portion in counts(cases.n, draws, rng, strata)]
    return Figure(value, *percentiles(np.concatenate(drawn)), n=cases.n)


class _Gaps:
    """Said against was, per bin, for many outcomes (b, n) or many resamples (b, n) at once."""

    def __init__(self, p: Array, weights: Array | None) -> None:
        order = np.argsort(p, kind="stable")
        group = bins.equal_mass(p[order], bins=BINS, least=BIN_LABELS)
        self._order = order
        self._starts = np.flatnonzero(np.diff(group, prepend=-1))
        self._p = p[order]
        self._w = np.ones(p.size) if weights is None else weights[order]
        self._n = np.diff(self._starts, append=p.size).astype(np.float64)

    def plain(self, y: Mask) -> Array:
        """Mean absolute gap, (b,)."""
        mass, gap, _ = self._parts(y, None)
        return np.sum(mass * np.abs(gap), axis=1)

    def squared(self, y: Mask) -> Array:
        """Mean square gap with its bias, (b,)."""
        mass, gap, _ = self._parts(y, None)
        return np.sum(mass * gap**2, axis=1)

    def debiased(self, y: Mask, times: Array | None = None) -> Array:
        """Mean square gap without its bias, (b,); may be negative. `times`: how often each label is in a resample."""
        mass, gap, variance = self._parts(y, times)
        return np.sum(mass * (gap**2 - variance), axis=1)

    def _parts(self, y: Mask, times: Array | None) -> tuple[Array, Array, Array]:
        w = self._w[None] if times is None else times[:, self._order] * self._w
        y = y[:, self._order]
        weight = self._sum(w)
        safe = np.where(weight > 0, weight, 1.0)
        share = self._sum(np.where(y, w, 0.0)) / safe
        said = self._sum(w * self._p) / safe
        # Var(Σwy / Σw) from the sample's own spread; n − 1, for the share was estimated from the same labels.
        own = w * self._w
        squares, hits = self._sum(own), self._sum(np.where(y, own, 0.0))
        spread = (1 - share) ** 2 * hits + share**2 * (squares - hits)
        number = self._n if times is None else self._sum(times[:, self._order])
        variance = spread / safe**2 * number / np.maximum(number - 1, 1)
        return weight / weight.sum(axis=1, keepdims=True), share - said, variance

    def _sum(self, values: Array) -> Array:
        sums: Array = np.add.reduceat(values, self._starts, axis=1)
        return sums


def _surprise(probabilities: Array, truth: Index) -> Array:
    with np.errstate(divide="ignore"):
        return -np.log(probabilities[np.arange(truth.size), truth])


def _rps(probabilities: Array, truth: Index) -> Array:
    under = np.cumsum(probabilities, axis=1)
    steps = np.arange(probabilities.shape[1])[None] >= truth[:, None]
    return np.square(under - steps).sum(axis=1)


def _table(cell: Index, weights: Array | None, levels: int) -> Array:
    flat = np.bincount(cell, weights=weights, minlength=levels * levels)
    return flat.reshape(levels, levels).astype(np.float64)


def _kappa(table: Array) -> float:
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
