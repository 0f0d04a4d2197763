"""Which answers people are shown, with which probability, and what may be concluded from what they said.

Contract
--------
Pure: arrays in, numbers out (float64; a queue holds n answers to one question by one scorer).

Two streams draw from the same answers, independently of each other:

* *queue*: each answer has one permanent random number u, uniform on (0, 1), and a target inclusion x in (0, 1] that
  grows with the model's doubt. Answers are served in the order of u / x. Stopping anywhere leaves the inclusion
  probability min(1, t x), with t the next unserved u / x (sequential Poisson, or priority, sampling; Ohlsson 1998,
  Duffield, Lund and Thorup 2007).
* *audit*: each answer has another permanent random number v; answers are served in the order of v. Its inclusion
  probability is min(1, s), with s the next unserved v.

An answer is in the sample when either stream reached it, so its inclusion is the union 1 - (1 - a)(1 - b). Answers that
arrive later were in reach of later servings only: `frontier` gives each how far t (or s) came since it arrived.

Answers that a person chose (volunteered, found by search, accepted in bulk) have no inclusion probability and never
enter here. What was skipped, expired with its lease, or was left out as a near-duplicate is in the sample without an
outcome (non-response).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Measure: TypeAlias = Literal["margin", "entropy", "cost"]

MEASURES: tuple[Measure, ...] = ("margin", "entropy", "cost")
FLOOR = 0.05
"""Target inclusion of an answer without any doubt, against 1 for the greatest: nothing is out of the queue's reach."""
CLIP = 20.0
"""No answer weighs more than this many times the mean."""


def doubt(probabilities: npt.ArrayLike, *, measure: Measure, ordered: bool = False) -> Floats:
    """How much the model doubts each answer, from 0 (sure) to 1.

    Parameters
    ----------
    probabilities : (n, k), rows sum to 1; k is the number of options.
    measure : "margin", 1 - (p1 - p2) of the two most probable options; "entropy", -Σ p log p / log k; "cost", the
        expected cost of acting on the most probable option: its distance to the truth on a scale (`ordered`), else
        whether it is wrong, as a share of the worst that is possible.
    ordered : whether the options are levels of a score, in order.

    Returns
    -------
    (n,); all 0 where there is one option only.
    """
    p = np.asarray(probabilities, dtype=np.float64)
    if p.ndim != 2:
        raise ValueError(f"probabilities: must be one row for each answer, not an array of {p.ndim} dimensions")
    n, k = p.shape
    if k < 2 or n == 0:
        return np.zeros(n)
    if measure == "margin":
        top = -np.partition(-p, 1, axis=1)[:, :2]
        return np.clip(1 - (top[:, 0] - top[:, 1]), 0, 1)
    if measure == "entropy":
        logs = np.log(p, out=np.zeros_like(p), where=p > 0)
        return np.clip(-(p * logs).sum(axis=1) / math.log(k), 0, 1)
    if measure != "cost":
        raise ValueError(f"measure: {measure!r} is not known; use one of {', '.join(MEASURES)}")
    if not ordered:
        return np.clip((1 - p.max(axis=1)) / (1 - 1 / k), 0, 1)
    distance = np.abs(np.arange(k)[None, :] - p.argmax(axis=1)[:, None])
    return np.clip((p * distance).sum(axis=1) / (k - 1), 0, 1)


def target(doubts: npt.ArrayLike, *, floor: float = FLOOR) -> Floats:
    """Target inclusion x of each answer, in [floor, 1]."""
    d = np.asarray(doubts, dtype=np.float64)
    return floor + (1 - floor) * np.clip(d, 0, 1)


def frontier(
    steps: npt.ArrayLike,
    served: npt.ArrayLike,
    following: npt.ArrayLike,
    since: npt.ArrayLike,
    reached: npt.ArrayLike,
) -> Floats:
    """How far a stream came since each answer arrived, as the other answers decided it; 0 where it did not move since.

    Of a stream that served m answers, answer i is one if its u / x lies under the m-th smallest of the *others*. That
    is the next unserved u / x for an answer that was served, and the last served one for an answer that was not. With
    one number for both, a union over streams would be too large.

    Parameters
    ----------
    steps : (m,), numbers of the stream's servings, not falling.
    served : (m,), the u / x (or v) that was served in each.
    following : (m,), the next unserved one after each; infinity when nothing was left.
    since : (n,), the number of the last serving before the answer arrived.
    reached : (n,), whether the stream served the answer.
    """
    number = np.asarray(steps, dtype=np.int64)
    after = np.searchsorted(number, np.asarray(since, dtype=np.int64), side="right")
    last, coming = (_furthest(values)[after] for values in (served, following))
    return np.where(np.asarray(reached, dtype=bool), coming, last)


def _furthest(values: npt.ArrayLike) -> Floats:
    """(m + 1,), the greatest of each value and those after it; 0 after the last."""
    v = np.asarray(values, dtype=np.float64)
    return np.append(np.maximum.accumulate(v[::-1])[::-1], 0.0)


def inclusion(x: npt.ArrayLike, reached: npt.ArrayLike, *, before: npt.ArrayLike = 0.0) -> Floats:
    """min(1, t x), for `reached` = t of each answer.

    Parameters
    ----------
    before : the inclusion that was reached under an earlier target, where x was changed; the greater one counts.
    """
    size, t = np.asarray(x, dtype=np.float64), np.asarray(reached, dtype=np.float64)
    return np.minimum(1.0, np.maximum(np.asarray(before, dtype=np.float64), size * t))


def union(queue: npt.ArrayLike, audit: npt.ArrayLike) -> Floats:
    """The probability that at least one of two independent streams reached each answer."""
    a, b = np.asarray(queue, dtype=np.float64), np.asarray(audit, dtype=np.float64)
    return 1 - (1 - a) * (1 - b)


def weights(inclusions: npt.ArrayLike, *, clip: float = CLIP) -> Floats:
    """1 / π, none above `clip` times their mean (Hájek weights: only their ratios count), with mean 1.

    Raises
    ------
    ValueError : an inclusion is not in (0, 1]: that answer was never in reach, and cannot have been sampled.
    """
    pi = np.asarray(inclusions, dtype=np.float64)
    if pi.size == 0:
        return pi
    if not ((pi > 0) & (pi <= 1)).all():
        raise ValueError("inclusions: must be over 0 and at most 1; leave out what was not sampled")
    w = 1 / pi
    w = np.minimum(w, clip * w.mean())
    return w / w.mean()


def effective_n(w: npt.ArrayLike) -> float:
    """How many equally weighted answers know as much: (Σ w)² / Σ w² (Kish)."""
    values = np.asarray(w, dtype=np.float64)
    return float(values.sum() ** 2 / (values**2).sum()) if values.size else 0.0


@dataclass(frozen=True)
class Estimate:
    """A weighted share and its interval. NaN throughout where there is nothing to estimate from.

    `n` counts the answers, `effective_n` what they are worth after weighting.
    """

    value: float
    low: float
    high: float
    n: int
    effective_n: float


def share(y: npt.ArrayLike, w: npt.ArrayLike | None = None, *, level: float = 0.95) -> Estimate:
    """The weighted share of y, and its interval at `level`.

    Parameters
    ----------
    y : (n,), outcomes in [0, 1] (1 right, 0 wrong, between where people differ).
    w : (n,), as `weights` gives them; None for equal ones.

    Notes
    -----
    The variance is that of the ratio Σ w y / Σ w, linearised; the interval is Wilson's with as many answers as have
    that variance, so that it stays within [0, 1] and does not vanish where everything was right.
    """
    outcome = np.asarray(y, dtype=np.float64)
    weight = np.ones_like(outcome) if w is None else np.asarray(w, dtype=np.float64)
    n = outcome.size
    if n == 0 or weight.sum() <= 0:
        return Estimate(math.nan, math.nan, math.nan, 0, 0.0)
    mean = float((weight * outcome).sum() / weight.sum())
    kish = effective_n(weight)
    variance = float((weight**2 * (outcome - mean) ** 2).sum() / weight.sum() ** 2) * n / max(1, n - 1)
    worth = mean * (1 - mean) / variance if variance > 0 and 0 < mean < 1 else kish
    z = NormalDist().inv_cdf(0.5 + level / 2)
    centre = (mean + z * z / (2 * worth)) / (1 + z * z / worth)
    half = z / (1 + z * z / worth) * math.sqrt(mean * (1 - mean) / worth + z * z / (4 * worth**2))
    return Estimate(mean, max(0.0, centre - half), min(1.0, centre + half), n, kish)
