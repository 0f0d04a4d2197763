"""Reliability: how often it was so, against what was said.

Contract
--------
* The curve is CORP (Dimitriadis, Gneiting & Jordan 2021): the isotonic least-squares fit of y on p, pooling adjacent
  violators; no bins to choose. Ties count as one point with their weighted mean.
* The band lies around the *diagonal*: what the same fit gives when everything said is true (y ~ Bernoulli(p)). It is
  simultaneous: of calibrated scorers, 95 % stay inside it *everywhere*, so a curve that leaves it anywhere is a real
  fault at the level of 5 %. (A band that holds 95 % at each point for itself is left somewhere by a third of them.)
* The table's rows are readable bins with the same promise: of calibrated scorers, 95 % have no row off its word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from studio.calibration import bins
from studio.calibration.cases import Event
from studio.calibration.intervals import wilson
from studio.calibration.sampling import effective_n

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Verdict: TypeAlias = Literal["in_band", "too_sure", "not_sure_enough"]

POINTS = 200
"""Points that the band is drawn at. More would only cost time: the fit has far fewer steps."""
ROWS = 8
ROW_LABELS = 20
"""The table has at most so many rows, of at least so many labels."""
MANY = 20_000
"""From so many labels on, half as many simulations do: each costs more, and the band is narrow anyway."""
_CHUNK = 4_000_000
_FLOOR = 0.25


@dataclass(frozen=True)
class Step:
    """A flat piece of the curve: for answers from `low` to `high` (both said), the fit is `fitted`."""

    low: float
    high: float
    fitted: float
    n: int


@dataclass(frozen=True)
class Curve:
    """The isotonic fit: `x` (m,) distinct probabilities, ascending; `fitted` (m,); `labels` (m,) how many at each."""

    x: Array
    fitted: Array
    labels: Index

    def at(self, p: Array) -> Array:
        """The fit for any probabilities: linear between the points, flat beyond them. NaN for an empty curve."""
        return np.interp(p, self.x, self.fitted) if self.x.size else np.full(np.shape(p), np.nan)

    def steps(self) -> list[Step]:
        """The flat pieces, from left to right."""
        if not self.x.size:
            return []
        starts = np.flatnonzero(np.diff(self.fitted, prepend=np.nan) != 0)
        ends = np.append(starts[1:], self.x.size)
        return [
            Step(float(self.x[a]), float(self.x[b - 1]), float(self.fitted[a]), int(self.labels[a:b].sum()))
            for a, b in zip(starts, ends, strict=True)
        ]


@dataclass(frozen=True)
class Band:
    """What chance allows around the diagonal: `low` and `high` (m,) at `x` (m,)."""

    x: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class Row:
    """A row of the table: answers from `low` to under `high` said `said` on average and were so at `rate`.

    `n` and `right` are plain counts; `rate` is weighted, `interval` its 95 % (Wilson, on the effective number).
    `verdict` is None where there are too few labels to say.
    """

    low: float
    high: float
    said: float
    rate: float
    interval: tuple[float, float]
    n: int
    right: int
    verdict: Verdict | None


@dataclass(frozen=True)
class Reliability:
    """The curve, the band, the table, and what they say together."""

    curve: Curve
    band: Band
    rows: tuple[Row, ...]
    verdict: Verdict
    outside: tuple[tuple[float, float], ...]
    """Ranges of what was said over which the curve is outside the band."""


def fit(p: Array, y: NDArray[np.bool_], weights: Array | None = None) -> Curve:
    """The CORP curve of an event. Empty for no labels."""
    if not p.size:
        return Curve(np.empty(0), np.empty(0), np.empty(0, np.intp))
    weights = np.ones(p.size) if weights is None else weights
    order = np.argsort(p, kind="stable")
    p, weights = p[order], weights[order]
    starts = np.flatnonzero(np.diff(p, prepend=-1.0) > 0)
    mass = np.add.reduceat(weights, starts)
    share = np.add.reduceat(weights * y[order], starts) / mass
    labels = np.diff(starts, append=p.size).astype(np.intp)
    return Curve(p[starts], _monotone(share, mass), labels)


def examine(
    event: Event, rng: np.random.Generator, *, draws: int | None = None, confidence: float = 0.95
) -> Reliability:
    """The whole picture of an event; see the module's contract.

    Parameters
    ----------
    draws : how often a calibrated scorer is simulated; None chooses.
    """
    curve = fit(event.p, event.y, event.weights)
    if not event.n:
        return Reliability(curve, Band(np.empty(0), np.empty(0), np.empty(0)), (), "in_band", ())
    draws = draws or (999 if event.n < MANY else 499)
    order = np.argsort(event.p, kind="stable")
    p, weights, y = event.p[order], event.weights[order], event.y[order]
    points = _starts(p, np.searchsorted(bins.edges(p, bins=POINTS, least=1), p, side="right"))
    cuts = _cuts(p)
    rows = _starts(p, np.searchsorted(cuts, p, side="right"))
    mass, row_mass = np.add.reduceat(weights, points), np.add.reduceat(weights, rows)
    x = np.add.reduceat(weights * p, points) / mass
    # Rounding must not let a mean leave the order of its points.
    x = np.maximum.accumulate(x)

    fits = np.empty((draws, points.size))
    rates = np.empty((draws, rows.size))
    size = max(1, _CHUNK // p.size)
    said = p.astype(np.float32)
    for start in range(0, draws, size):
        stop = min(start + size, draws)
        drawn = np.where(rng.random((stop - start, p.size), dtype=np.float32) < said, weights, 0.0)
        rates[start:stop] = np.add.reduceat(drawn, rows, axis=1) / row_mass
        for at, share in enumerate(np.add.reduceat(drawn, points, axis=1) / mass, start):
            fits[at] = _monotone(share, mass)
    low, high = envelope(fits, confidence)
    # What is compared with the band is the fit on the band's own points.
    seen = _monotone(np.add.reduceat(weights * y, points) / mass, mass)
    off = np.where(seen < low - 1e-9, -1, np.where(seen > high + 1e-9, 1, 0))
    verdict: Verdict = "in_band"
    if off.any():
        verdict = "too_sure" if np.sum(mass * np.abs(off) * (seen - x)) < 0 else "not_sure_enough"
    return Reliability(
        curve,
        Band(x, np.minimum(low, x), np.maximum(high, x)),
        tuple(_table(p, y, weights, rows, cuts, envelope(rates, confidence))),
        verdict,
        tuple(_ranges(x, off)),
    )


def envelope(draws: Array, confidence: float) -> tuple[Array, Array]:
    """A band that `confidence` of curves like these stay within everywhere.

    Parameters
    ----------
    draws : (b, m), b curves of shares at m points.

    Returns
    -------
    low, high : (m,) each: the directional quantile envelope (Myllymäki et al. 2017), on the scale of asin √share, on
    which the spread of a share hardly depends on the share: the distance from the mean is measured, at each point and
    to each side, in units of the 95 % range there, and the bound is a quantile of each curve's greatest distance.
    """
    angles = np.arcsin(np.sqrt(draws))
    middle = angles.mean(axis=0)
    least, most = np.quantile(angles, [0.025, 0.975], axis=0)
    down, up = middle - least, most - middle
    # Where nearly every curve is 0 or 1 the range is no measure: one that is not would be infinitely far off.
    floor = max(_FLOOR * float(np.median(np.concatenate([down, up]))), 1e-9)
    down, up = np.maximum(down, floor), np.maximum(up, floor)
    distance = np.maximum((angles - middle) / up, (middle - angles) / down).max(axis=1)
    count = distance.size
    bound = np.sort(distance)[min(int(np.ceil(confidence * (count + 1))), count) - 1]
    return _share(middle - bound * down), _share(middle + bound * up)


def _share(angle: Array) -> Array:
    shares: Array = np.sin(np.clip(angle, 0.0, np.pi / 2)) ** 2
    return shares


def _monotone(share: Array, mass: Array) -> Array:
    fitted: Array = isotonic_regression(share, weights=mass).x
    # Means of 0s and 1s; the pooled ones may stray by a rounding.
    return np.clip(fitted, 0.0, 1.0)


def _starts(p: Array, group: NDArray[np.intp]) -> Index:
    """Where each group of ascending probabilities starts."""
    return np.flatnonzero(np.diff(group, prepend=-1)).astype(np.intp)


def _cuts(p: Array) -> Array:
    cuts = bins.edges(p, bins=ROWS, least=ROW_LABELS)
    return bins.readable(cuts, p, least=ROW_LABELS) if cuts.size else cuts


def _table(
    p: Array, y: NDArray[np.bool_], weights: Array, starts: Index, cuts: Array, allowed: tuple[Array, Array]
) -> list[Row]:
    found = []
    for i, (a, b) in enumerate(zip(starts, np.append(starts[1:], p.size), strict=True)):
        w, hits = weights[a:b], y[a:b]
        rate = float(np.average(hits, weights=w))
        size = effective_n(w)
        verdict: Verdict | None = None
        if b - a >= ROW_LABELS:
            verdict = "too_sure" if rate < allowed[0][i] - 1e-9 else "in_band"
            verdict = "not_sure_enough" if rate > allowed[1][i] + 1e-9 else verdict
        found.append(
            Row(
                low=float(cuts[i - 1]) if i else float(p[0]),
                high=float(cuts[i]) if i < cuts.size else float(p[-1]),
                said=float(np.average(p[a:b], weights=w)),
                rate=rate,
                interval=wilson(rate * size, size),
                n=int(b - a),
                right=int(hits.sum()),
                verdict=verdict,
            )
        )
    return found


def _ranges(x: Array, off: NDArray[np.int_]) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for i in np.flatnonzero(off):
        if found and i and off[i - 1]:
            found[-1] = (found[-1][0], float(x[i]))
        else:
            found.append((float(x[i]), float(x[i])))
    return found
