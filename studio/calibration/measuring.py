"""All figures of a question with their intervals, or how many labels they miss.

Contract
--------
Intervals are percentiles over resamples of decisions, audit and queue apart; all figures come from the same resamples.
A figure that the labels cannot carry (`needs`) has the value NaN and says how many are missing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from studio.calibration import bins, needs
from studio.calibration.cases import Cases, Event
from studio.calibration.intervals import counts, percentiles
from studio.calibration.metrics import (
    NAN,
    Decomposition,
    Gaps,
    aurc,
    brier,
    by_group,
    decompose,
    kappa,
    kappa_of,
    log_score,
    mean,
    noise_floor,
    ranked_probability_score,
    rps_of,
    safe,
    surprises,
    table_of,
)
from studio.calibration.sampling import effective_n

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Index = NDArray[np.intp]

DRAWS = ((50_000, 100), (5_000, 400), (0, 1000))
"""Resamples from so many labels on: a resample costs more then, and the intervals are narrow."""
AURC_GROUPS = 500
"""Groups of answers that leave together, in resamples only."""


@dataclass(frozen=True)
class Figure:
    """A number with its 95 % interval (NaN where there is none), the labels behind it, and how many are missing."""

    value: float = NAN
    low: float = NAN
    high: float = NAN
    n: int = 0
    missing: int = 0


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


def measure(cases: Cases, view: str, rng: np.random.Generator, *, draws: int | None = None) -> Numbers:
    """All figures of a view; see `Numbers`. Raises ValueError for a view that the question does not have."""
    event, known = cases.event(view), cases.only(cases.known)
    effective = effective_n(event.weights)
    hit = event.y if view == "top" else event.y == (event.p >= 0.5)
    sums = _resample(cases, event, hit, rng, draws or _draws(cases.n))
    labelled = known.probabilities, known.truth, known.weights
    return Numbers(
        n=event.n,
        effective=effective,
        share=_figure("share", mean(hit.astype(np.float64), event.weights), sums.share, event.weights),
        brier=_figure("share", brier(event.p, event.y, event.weights), sums.brier, event.weights),
        parts=_parts(event, effective),
        error=_error(event, sums.squares),
        floor=_floor(event, effective, rng),
        log_score=_figure("share", log_score(*labelled), sums.log_score, known.weights),
        impossible=int(np.sum(known.probabilities[np.arange(known.n), known.truth] <= 0)),
        rps=_ordered(
            "share", ranked_probability_score(known.probabilities, known.truth, known.weights), sums.rps, known
        ),
        kappa=_ordered("error", kappa(known.lead, known.truth, len(known.options), known.weights), sums.kappa, known),
        aurc=_figure("error", aurc(cases.top, cases.right, cases.weights), sums.aurc, cases.weights),
    )


def _draws(n: int) -> int:
    return next(draws for least, draws in DRAWS if n >= least)


def _figure(need: needs.Needs, value: float, drawn: Array, weights: Array) -> Figure:
    few = needs.missing(need, effective_n(weights))
    if few:
        return Figure(n=weights.size, missing=few)
    # An infinite figure has no interval: nearly every resample is infinite as well.
    low, high = percentiles(drawn) if np.isfinite(value) else (NAN, NAN)
    return Figure(value, low, high, n=weights.size)


def _ordered(need: needs.Needs, value: float, drawn: Array, known: Cases) -> Figure:
    """A figure that only scores have."""
    return _figure(need, value, drawn, known.weights) if known.type == "score" else Figure()


def _parts(event: Event, effective: float) -> Decomposition:
    if needs.missing("error", effective):
        return Decomposition(NAN, NAN, NAN, NAN)
    return decompose(event.p, event.y, event.weights)


def _floor(event: Event, effective: float, rng: np.random.Generator) -> float:
    if needs.missing("error", effective):
        return NAN
    return noise_floor(event.p, event.weights, rng, draws=min(_draws(event.n), 500))


def _error(event: Event, drawn: Array) -> Figure:
    few = needs.missing("error", effective_n(event.weights))
    if few:
        return Figure(n=event.n, missing=few)
    gaps = Gaps(event.p, event.weights)
    squared, plain = float(gaps.debiased(event.y[None])[0]), float(gaps.squared(event.y[None])[0])
    # A resample adds the variance once more, so its debiased square is centred on the plain one.
    low, high = percentiles(drawn - (plain - squared))
    value, low, high = (float(np.sqrt(max(0.0, s))) for s in (squared, low, high))
    return Figure(value, low, high, n=event.n)


@dataclass
class _Sums:
    """Each figure in every resample of the decisions, (draws,) each; `squares` are squares of the calibration error."""

    share: Array
    brier: Array
    squares: Array
    log_score: Array
    rps: Array
    kappa: Array
    aurc: Array


def _resample(cases: Cases, event: Event, hit: Mask, rng: np.random.Generator, draws: int) -> _Sums:
    """All figures from the same resamples. Everything is a sum over cases, so that a portion of resamples costs a few
    products of matrices."""
    if not cases.n:
        return _Sums(*np.full((7, 1), NAN))
    gaps = Gaps(event.p, event.weights)
    order = event.rows[gaps.order]
    square, right = np.square(event.p - event.y)[gaps.order], hit[gaps.order]
    weighted = np.column_stack([event.weights[gaps.order] * right, event.weights[gaps.order] * square])
    known = np.flatnonzero(cases.known)
    whole = cases.only(cases.known)
    surprise = surprises(whole.probabilities, whole.truth)
    losses = [np.ones(known.size), np.where(np.isfinite(surprise), surprise, 0.0)]
    levels = len(cases.options) if cases.type == "score" else 0
    if levels:
        losses.append(rps_of(whole.probabilities, whole.truth))
    columns = np.column_stack(losses) * whole.weights[:, None]
    cell = whole.lead * levels + whole.truth
    surest = np.argsort(-cases.top, kind="stable")
    groups = _starts_of(-cases.top[surest])
    risky = np.column_stack([cases.weights, cases.weights * ~cases.right])[surest]
    found: list[list[Array]] = [[] for _ in range(7)]
    for times in counts(cases.n, draws, rng, cases.audit):
        mine = times[:, order]
        weight = mine @ event.weights[gaps.order]
        sums = (mine @ weighted) / safe(weight)[:, None]
        of_known = times[:, known] @ columns
        share = of_known / safe(of_known[:, :1])
        found[0].append(sums[:, 0])
        found[1].append(sums[:, 1])
        found[2].append(gaps.debiased_sorted(event.y[gaps.order], mine))
        found[3].append(share[:, 1])
        found[4].append(share[:, 2] if levels else np.full(weight.size, NAN))
        found[5].append(
            np.array([kappa_of(table_of(cell, row * whole.weights, levels)) for row in times[:, known]])
            if levels > 1 and known.size
            else np.full(weight.size, NAN)
        )
        found[6].append(_aurc_of_groups(by_group(times[:, surest], risky, groups)))
    return _Sums(*(np.concatenate(parts) for parts in found))


def _starts_of(ascending: Array) -> Index:
    """Where groups of answers start that leave together: at most `AURC_GROUPS`, no tie split."""
    group = np.searchsorted(bins.edges(ascending, bins=AURC_GROUPS, least=1), ascending, side="right")
    return np.flatnonzero(np.diff(group, prepend=-1)).astype(np.intp)


def _aurc_of_groups(sums: Array) -> Array:
    """AURC from weights and wrong weights (b, groups, 2), sure to unsure."""
    mass, lost = np.cumsum(sums[:, :, 0], axis=1), np.cumsum(sums[:, :, 1], axis=1)
    areas: Array = np.sum(sums[:, :, 0] * (lost / safe(mass)), axis=1) / mass[:, -1]
    return areas
