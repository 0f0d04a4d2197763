"""How far people agree with each other, and with a model whose answer they saw or did not see.

Contract
--------
Pure. A rating is the index of an option, `NONE` where a person gave none. On a scale (`ordered`), a disagreement counts
by its distance. What cannot be told (nobody overlaps, or everybody always said the same) is NaN, never 0 or 1. Every
figure comes with the number of answers that it rests on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from studio.calibration.sampling import Estimate, share

Ratings = npt.NDArray[np.int64]
NONE = -1
DRAWS = 500
"""Bootstrap draws of answers, for an interval."""


@dataclass(frozen=True)
class Figure:
    """A coefficient and its 95 % interval (percentiles of a bootstrap over answers); `n` answers. NaN: not known."""

    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Agreement:
    """How far people agree on `n` answers that at least two of them judged.

    `observed` is the share of pairs of people who said the same; `kappa` for two people, `alpha` for more.
    """

    n: int
    people: int
    observed: float
    kappa: Figure | None
    alpha: Figure | None


def cohen(a: npt.ArrayLike, b: npt.ArrayLike, *, k: int, ordered: bool = False) -> float:
    """Cohen's κ of two people (Cohen 1960); on a scale with quadratic weights (Cohen 1968).

    Parameters
    ----------
    a, b : (n,), the options of each, in [0, k).
    """
    x, y = np.asarray(a, dtype=np.int64), np.asarray(b, dtype=np.int64)
    if x.size == 0:
        return math.nan
    table = np.zeros((k, k))
    np.add.at(table, (x, y), 1)
    table /= x.size
    expected = np.outer(table.sum(axis=1), table.sum(axis=0))
    levels = np.arange(k)
    cost = (levels[:, None] - levels[None, :]) ** 2 if ordered else 1 - np.eye(k)
    by_chance = float((cost * expected).sum())
    return math.nan if by_chance == 0 else 1 - float((cost * table).sum()) / by_chance


def krippendorff(ratings: npt.ArrayLike, *, k: int, ordered: bool = False) -> float:
    """Krippendorff's α (Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability").

    Parameters
    ----------
    ratings : (n, people), options in [0, k) or `NONE`. Answers that fewer than two people judged do not count.
    ordered : use the ordinal difference; else any two options differ alike.
    """
    given = np.asarray(ratings, dtype=np.int64)
    counts = np.stack([(given == option).sum(axis=1) for option in range(k)], axis=1).astype(np.float64)
    people = counts.sum(axis=1)
    counts, people = counts[people >= 2], people[people >= 2]
    if people.size == 0:
        return math.nan
    # Coincidences: pairs of values within an answer, each pair worth 1 / (people - 1).
    together = np.einsum("nc,nd,n->cd", counts, counts, 1 / (people - 1))
    together -= np.diag((counts / (people - 1)[:, None]).sum(axis=0))
    totals = together.sum(axis=1)
    all_of_them = totals.sum()
    cost = _ordinal(totals) if ordered else 1 - np.eye(k)
    by_chance = float((cost * np.outer(totals, totals)).sum())
    if by_chance == 0:
        return math.nan
    return 1 - float((all_of_them - 1) * (cost * together).sum()) / by_chance


def _ordinal(totals: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """δ²(c, d) = (Σ over c..d of n_g - (n_c + n_d) / 2)²."""
    upto = np.concatenate([[0.0], np.cumsum(totals)])
    c, d = np.meshgrid(np.arange(totals.size), np.arange(totals.size), indexing="ij")
    low, high = np.minimum(c, d), np.maximum(c, d)
    return (upto[high + 1] - upto[low] - (totals[c] + totals[d]) / 2) ** 2 * (c != d)


def agreement(ratings: npt.ArrayLike, *, k: int, ordered: bool = False, seed: int = 0) -> Agreement:
    """How far people agree.

    Parameters
    ----------
    ratings : (n, people), options in [0, k) or `NONE`.
    """
    given = np.asarray(ratings, dtype=np.int64)
    given = given[(given != NONE).sum(axis=1) >= 2] if given.size else given.reshape(0, 0)
    n = given.shape[0]
    people = int((given != NONE).any(axis=0).sum()) if n else 0
    pairs = [(row[i], row[j]) for row in given for i, j in combinations(np.flatnonzero(row != NONE), 2)]
    observed = float(np.mean([x == y for x, y in pairs])) if pairs else math.nan
    kappa = alpha = None
    if people == 2:
        two = given[:, (given != NONE).any(axis=0)]
        kappa = _with_interval(two, lambda rows: cohen(rows[:, 0], rows[:, 1], k=k, ordered=ordered), seed)
    elif people > 2:
        alpha = _with_interval(given, lambda rows: krippendorff(rows, k=k, ordered=ordered), seed)
    return Agreement(n=n, people=people, observed=observed, kappa=kappa, alpha=alpha)


def _with_interval(rows: Ratings, figure: Callable[[Ratings], float], seed: int) -> Figure:
    value, n = figure(rows), rows.shape[0]
    if math.isnan(value) or n < 2:
        return Figure(value, math.nan, math.nan, n)
    rng = np.random.default_rng(seed)
    drawn = np.array([figure(rows[rng.integers(0, n, n)]) for _ in range(DRAWS)])
    drawn = drawn[~np.isnan(drawn)]
    if drawn.size < DRAWS / 2:
        return Figure(value, math.nan, math.nan, n)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Figure(value, float(low), float(high), n)


def soft_labels(ratings: npt.ArrayLike, *, k: int) -> npt.NDArray[np.float64]:
    """(n, k), the share of people for each option; a row of zeros where nobody named one."""
    given = np.asarray(ratings, dtype=np.int64)
    counts = np.stack([(given == option).sum(axis=1) for option in range(k)], axis=1).astype(np.float64)
    total = counts.sum(axis=1, keepdims=True)
    return np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)


@dataclass(frozen=True)
class Anchoring:
    """How often people agreed with the model: where they did not see its answer, and where they did.

    `difference` is shown - blind with its 95 % interval: well over 0, the shown answer sways people.
    """

    blind: Estimate
    shown: Estimate
    difference: tuple[float, float, float]


def anchoring(right: npt.ArrayLike, weights: npt.ArrayLike, blind: npt.ArrayLike) -> Anchoring:
    """The anchoring report.

    Parameters
    ----------
    right : (n,), whether the person agreed with the model, in [0, 1].
    weights : (n,), as `sampling.weights`: blind answers are mostly the audit's, and shown ones the queue's, which are
        harder; only weighted do both speak of the same answers.
    blind : (n,) bool.
    """
    y, w = np.asarray(right, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    hidden = np.asarray(blind, dtype=bool)
    without, seen = share(y[hidden], w[hidden]), share(y[~hidden], w[~hidden])
    if without.n == 0 or seen.n == 0:
        return Anchoring(without, seen, (math.nan, math.nan, math.nan))
    # Two independent intervals into one of the difference (Newcombe 1998, method 10).
    gap = seen.value - without.value
    low = gap - math.hypot(seen.value - seen.low, without.high - without.value)
    high = gap + math.hypot(seen.high - seen.value, without.value - without.low)
    return Anchoring(without, seen, (gap, low, high))


def ratings_of(said: Sequence[dict[str, int]]) -> tuple[tuple[str, ...], Ratings]:
    """People in order of their names, and (n, people) ratings, of what each person said of each answer."""
    people = tuple(sorted({person for answer in said for person in answer}))
    rows = [[answer.get(person, NONE) for person in people] for answer in said]
    return people, np.array(rows, dtype=np.int64).reshape(len(said), len(people))
