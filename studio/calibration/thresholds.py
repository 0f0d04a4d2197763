"""The threshold desk: from which probability on may it act alone, below which is it refused, who is asked between.

Contract
--------
An answer whose leading probability is at least `act` is acted on, one under `refuse` is refused, a human is asked for
the rest. Shares and costs are weighted estimates. There are two ways to choose `act` for a budget (the share of acted
answers that may be wrong):

* `best_guess`: the lowest threshold whose observed error is within the budget. It was chosen for its error, so the
  truth is over the budget about every second time.
* `guarantee`: from strict to loose over a sequence that is fixed before any label is looked at, each threshold must
  pass an exact one-sided test (Clopper–Pearson, 95 %), and the first failure ends it. The chance that the chosen
  threshold's true error is over the budget is then at most 5 % (fixed-sequence testing; Angelopoulos et al. 2021,
  "Learn then Test"). It needs independent, equally weighted labels: audit labels only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from studio.calibration.intervals import upper_bound

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

CONFIDENCE = 0.95
FORGIVEN = 2
"""Wrong labels that the first test of the sequence must be able to forgive: else one slip at the top ends it."""
GRID: tuple[float, ...] = tuple(round(1 - k / 100, 2) for k in range(1, 100))
"""The sequence: whole percents, from strict to loose."""
PRIOR = 10
"""How many labels the guess weighs that a threshold errs half as often as it may, before any label is seen."""
MOST_WRONG = 5000
"""Wrong labels up to which is said how many labels it takes; beyond, the error is as good as the budget."""


@dataclass(frozen=True)
class Costs:
    """In money, each: one wrong act, one refusal of what was right, one case that a human looks at."""

    wrong_act: float
    wrong_refusal: float
    human: float


@dataclass(frozen=True)
class Zone:
    """One of three zones: `share` of all answers (weighted), `n` labels in it, `wrong` of them, weighted `error`."""

    share: float
    n: int
    wrong: int
    error: float


@dataclass(frozen=True)
class Zones:
    """What two thresholds do. `cost` per 1,000 answers, NaN without costs."""

    refuse: Zone
    ask: Zone
    act: Zone
    cost: float


@dataclass(frozen=True)
class Guess:
    """The plug-in threshold: `n` answers at or over it, `wrong` of them, weighted `error`."""

    act: float
    n: int
    wrong: int
    error: float


@dataclass(frozen=True)
class Guarantee:
    """What can be promised for a budget.

    `act` is None where no threshold passed. `n`, `wrong` and `bound` (the upper 95 % bound of the error) are those of
    `act`, or of the threshold that failed first. `passed` are the thresholds that hold, strict to loose. `missing` is
    about how many more audit labels it takes to pass somewhere if the error stays as seen; 0 where one passed, None
    where no number would do.
    """

    act: float | None
    n: int
    wrong: int
    bound: float
    passed: tuple[float, ...]
    missing: int | None


@dataclass(frozen=True)
class Coverage:
    """The risk–coverage curve: acting at or over `threshold` (m,), descending, covers `coverage` and errs at `risk`."""

    threshold: Array
    coverage: Array
    risk: Array


def zones(
    p: Array, right: Mask, weights: Array | None = None, *, act: float, refuse: float, costs: Costs | None = None
) -> Zones:
    """What the two thresholds do to answers like these.

    Parameters
    ----------
    p : (n,) probability of the leading option; right : (n,) whether it was right.

    Raises
    ------
    ValueError : `refuse` is over `act`.
    """
    if refuse > act:
        raise ValueError(f"refuse ({refuse:g}) must not be over act ({act:g})")
    weights = np.ones(p.size) if weights is None else weights
    acted, refused = p >= act, p < refuse
    asked = ~acted & ~refused
    total = float(weights.sum())
    cost = float("nan")
    if costs is not None and total:
        lost = weights[acted & ~right].sum() * costs.wrong_act + weights[refused & right].sum() * costs.wrong_refusal
        cost = float(1000 * (lost + weights[asked].sum() * costs.human) / total)
    low, middle, high = (_zone(mask, right, weights, total) for mask in (refused, asked, acted))
    return Zones(low, middle, high, cost)


def risk_coverage(p: Array, right: Mask, weights: Array | None = None) -> Coverage:
    """One point per distinct probability: ties are acted on together."""
    weights = np.ones(p.size) if weights is None else weights
    order = np.argsort(-p, kind="stable")
    mass = np.cumsum(weights[order])
    lost = np.cumsum(np.where(right[order], 0.0, weights[order]))
    ends = np.flatnonzero(np.append(np.diff(p[order]) != 0, True)) if p.size else np.empty(0, np.intp)
    return Coverage(p[order][ends], mass[ends] / mass[-1] if p.size else mass, lost[ends] / mass[ends])


def best_guess(p: Array, right: Mask, weights: Array | None = None, *, budget: float) -> Guess | None:
    """The lowest threshold whose observed error is within the budget; None where none is. Not a guarantee."""
    curve = risk_coverage(p, right, weights)
    within = np.flatnonzero(curve.risk <= budget)
    if not within.size:
        return None
    at = within[-1]
    acted = p >= curve.threshold[at]
    return Guess(float(curve.threshold[at]), int(acted.sum()), int(np.sum(acted & ~right)), float(curve.risk[at]))


def cheapest(p: Array, right: Mask, weights: Array | None = None, *, costs: Costs) -> tuple[float, float]:
    """The whole percents (refuse, act) that would have cost least on these labels: a best guess, not a guarantee.

    Of equals the one that asks a human more often. Raises ValueError for no labels.
    """
    if not p.size:
        raise ValueError("there are no labels to weigh costs on")
    weights = np.ones(p.size) if weights is None else weights
    ticks = np.round(np.arange(0, 102) / 100, 2)
    # Mass at or over each tick; an act threshold of 1.01 acts on nothing.
    cell = np.minimum(np.searchsorted(ticks, p, side="right") - 1, 100)
    right_mass = np.bincount(cell, weights=weights * right, minlength=102)
    all_mass = np.bincount(cell, weights=weights, minlength=102)
    over = np.cumsum((all_mass - right_mass)[::-1])[::-1]
    under = np.concatenate([[0.0], np.cumsum(right_mass)[:-1]])
    below = np.concatenate([[0.0], np.cumsum(all_mass)[:-1]])
    asked = below[None, :] - below[:, None]
    cost = under[:, None] * costs.wrong_refusal + over[None, :] * costs.wrong_act + asked * costs.human
    cost[np.tril_indices(102, -1)] = np.inf
    least = np.argwhere(cost <= cost.min() + 1e-12)
    refuse, act = max(least, key=lambda pair: (asked[pair[0], pair[1]], -pair[0]))
    return float(ticks[refuse]), float(ticks[act])


def guarantee(
    p: Array, right: Mask, *, budget: float, confidence: float = CONFIDENCE, grid: Sequence[float] = GRID
) -> Guarantee:
    """The loosest threshold whose error is under the budget with `confidence`; see the module's contract.

    Parameters
    ----------
    p, right : audit labels only, (n,) each.
    budget : the share of acted answers that may be wrong, over 0 and under 1.
    grid : the sequence, descending, fixed beforehand. It starts where there are enough labels that `FORGIVEN` wrong
        ones would still pass, which depends on `p` alone, not on what was right.

    Raises
    ------
    ValueError : the budget is no share.
    """
    if not 0 < budget < 1:
        raise ValueError(f"budget must be a share over 0 and under 1, not {budget:g}")
    thresholds = np.asarray(grid)
    order = np.sort(p)
    n = p.size - np.searchsorted(order, thresholds, side="left")
    wrong = np.sum(~right) - np.searchsorted(np.sort(p[~right]), thresholds, side="left")
    start = np.flatnonzero(n >= first_test(budget, confidence))
    if not start.size:
        missing = _missing(p, right, budget, confidence, grid)
        return Guarantee(None, int(p.size), int(np.sum(~right)), float("nan"), (), missing)
    bound = upper_bound(wrong, n, confidence=confidence)
    sequence = np.arange(start[0], thresholds.size)
    failed = sequence[bound[sequence] > budget]
    end = int(failed[0]) if failed.size else int(sequence[-1]) + 1
    if end == sequence[0]:
        missing = _missing(p, right, budget, confidence, grid)
        return Guarantee(None, int(n[end]), int(wrong[end]), float(bound[end]), (), missing)
    at = end - 1
    passed = tuple(float(t) for t in thresholds[sequence[0] : end])
    return Guarantee(float(thresholds[at]), int(n[at]), int(wrong[at]), float(bound[at]), passed, 0)


def first_test(budget: float, confidence: float = CONFIDENCE) -> int:
    """Labels from which on `FORGIVEN` wrong ones still pass: 124 for 5 in 100."""
    return int(labels_needed(budget, confidence)[FORGIVEN])


@lru_cache(maxsize=64)
def labels_needed(budget: float, confidence: float = CONFIDENCE) -> NDArray[np.int_]:
    """How many labels it takes to pass with 0, 1, 2, ... wrong ones.

    The bound is within the budget when a coin with that budget would have shown more wrong ones with `confidence`: when
    the wait for one more wrong label (negative binomial) is over by then.
    """
    wrong = np.arange(MOST_WRONG)
    return (wrong + 1 + stats.nbinom.ppf(confidence, wrong + 1, budget)).astype(int)


def _missing(p: Array, right: Mask, budget: float, confidence: float, grid: Sequence[float]) -> int | None:
    """About how many more audit labels until a threshold would pass, if the error over it stays about as seen (a few
    labels say little: they are drawn towards half the budget). None where the error is over the budget everywhere.
    """
    need = labels_needed(budget, confidence)
    if not p.size:
        # Nothing is known but what it takes at least.
        return int(need[FORGIVEN])
    thresholds = np.asarray(grid)
    n = p.size - np.searchsorted(np.sort(p), thresholds, side="left")
    wrong = np.sum(~right) - np.searchsorted(np.sort(p[~right]), thresholds, side="left")
    rate = (wrong + PRIOR * budget / 2) / (n + PRIOR)
    # The first number of wrong labels whose share of the labels it takes is at least the rate.
    allowed = np.maximum.accumulate(np.arange(MOST_WRONG) / need)
    at = np.maximum(np.searchsorted(allowed, rate, side="left"), FORGIVEN)
    possible = (n > 0) & (rate < budget) & (at < MOST_WRONG)
    if not possible.any():
        return None
    more = np.maximum(0, need[np.minimum(at, MOST_WRONG - 1)] - n) * p.size / np.maximum(n, 1)
    return max(1, int(np.ceil(more[possible].min())))


def _zone(mask: Mask, right: Mask, weights: Array, total: float) -> Zone:
    mass = float(weights[mask].sum())
    lost = float(weights[mask & ~right].sum())
    return Zone(
        share=mass / total if total else float("nan"),
        n=int(mask.sum()),
        wrong=int(np.sum(mask & ~right)),
        error=lost / mass if mass else float("nan"),
    )
