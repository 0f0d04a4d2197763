"""Drift: did what comes in, or how it is answered, change over time?

Contract
--------
Shares of options (or of bins of the leading probability) in a period are compared with those before by the
Jensen–Shannon distance (0 equal, 1 nothing in common; base 2) and a permutation test: how often would a random split of
the same answers differ as much? The audited accuracy says whether it matters; `expected` (the mean leading
probability) is free of labels, and only as good as the calibration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studio.calibration.compare import holm, p_text
from studio.calibration.intervals import wilson

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Mask = NDArray[np.bool_]

LEAST_ANSWERS = 30
"""A period with fewer answers is shown, not tested."""
LEVEL = 0.01
"""An alarm's level over all periods and both things that are tested: weekly looks add up."""
CONFIDENCE_BINS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


@dataclass(frozen=True)
class Period:
    """One period. `shares` (k,) of the options; `option_p` and `confidence_p` are None for the first period and where
    there are too few answers; adjusted over all periods (Holm). `right` of `audited` labels, `expected` accuracy."""

    start: float
    n: int
    shares: tuple[float, ...]
    distance: float
    option_p: float | None
    confidence_p: float | None
    expected: float
    audited: int
    right: int
    interval: tuple[float, float]
    alarm: str | None


def distance(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Jensen–Shannon distance (base 2) of two vectors of counts or shares; NaN where one is empty."""
    if a.sum() <= 0 or b.sum() <= 0:
        return float("nan")
    return float(_distances(a[None].astype(np.float64), b[None].astype(np.float64))[0])


def permutation(before: Index, after: Index, k: int, rng: np.random.Generator, *, draws: int = 999) -> float:
    """p-value of the distance between two sets of categories (0..k−1): the share of random splits at least as far.

    At least 1 / (draws + 1): the observed split is one of them. 1 where a side is empty.
    """
    if not before.size or not after.size:
        return 1.0
    table = np.stack([np.bincount(before, minlength=k), np.bincount(after, minlength=k)])
    seen = distance(table[0], table[1])
    total = table.sum(axis=0)
    # A random split without moving a single answer: the counts of one side are hypergeometric.
    after_counts = rng.multivariate_hypergeometric(total, after.size, size=draws, method="marginals")
    drawn = _distances((total - after_counts).astype(np.float64), after_counts.astype(np.float64))
    return float((1 + np.sum(drawn >= seen - 1e-12)) / (draws + 1))


def periods(
    times: Array,
    lead: Index,
    top: Array,
    options: Sequence[str],
    rng: np.random.Generator,
    *,
    seconds: float,
    audited: Mask,
    right: Mask,
) -> list[Period]:
    """All answers by period, oldest first; each period is compared with everything before it.

    Parameters
    ----------
    times : (n,) seconds since the epoch; lead : (n,) index of the leading option; top : (n,) its probability.
    seconds : the length of a period.
    audited : (n,) whether an audit label judged it; right : (n,) whether that was right (only read there).
    """
    if not times.size:
        return []
    order = np.argsort(times, kind="stable")
    number = np.floor((times[order] - np.floor(times.min() / seconds) * seconds) / seconds).astype(int)
    first = np.floor(times.min() / seconds) * seconds
    sure = np.searchsorted(CONFIDENCE_BINS, top[order], side="right") - 1
    lead, audited, right, top = lead[order], audited[order], right[order], top[order]
    k = len(options)
    drafts: list[Period] = []
    pasts: list[Array] = []
    raw: list[float] = []
    for period in np.unique(number):
        now, before = number == period, number < period
        past, shares = np.bincount(lead[before], minlength=k), np.bincount(lead[now], minlength=k)
        tested = min(int(now.sum()), int(before.sum())) >= LEAST_ANSWERS
        if tested:
            raw.append(permutation(lead[before], lead[now], k, rng))
            raw.append(permutation(sure[before], sure[now], len(CONFIDENCE_BINS), rng))
        judged = now & audited
        hits = int(np.sum(judged & right))
        pasts.append(past / max(1, past.sum()))
        drafts.append(
            Period(
                start=float(first + period * seconds),
                n=int(now.sum()),
                shares=tuple(float(s) for s in shares / shares.sum()),
                distance=distance(past, shares),
                option_p=1.0 if tested else None,
                confidence_p=1.0 if tested else None,
                expected=float(top[now].mean()),
                audited=int(judged.sum()),
                right=hits,
                interval=wilson(hits, int(judged.sum())),
                alarm=None,
            )
        )
    adjusted = iter(holm(raw))
    return [
        draft if draft.option_p is None else _tested(draft, past, options, next(adjusted), next(adjusted))
        for draft, past in zip(drafts, pasts, strict=True)
    ]


def _tested(draft: Period, past: Array, options: Sequence[str], option_p: float, confidence_p: float) -> Period:
    alarm = None
    if option_p <= LEVEL:
        change = np.asarray(draft.shares) - past
        i = int(np.argmax(np.abs(change)))
        verb = "rose" if change[i] > 0 else "fell"
        alarm = f"{options[i]} {verb} from {past[i]:.0%} to {draft.shares[i]:.0%} ({p_text(option_p)})"
    elif confidence_p <= LEVEL:
        alarm = f"the probabilities moved, the answers did not ({p_text(confidence_p)})"
    return replace(draft, option_p=option_p, confidence_p=confidence_p, alarm=alarm)


def _distances(a: Array, b: Array) -> Array:
    a = a / a.sum(axis=1, keepdims=True)
    b = b / b.sum(axis=1, keepdims=True)
    middle = (a + b) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        left = np.where(a > 0, a * np.log2(a / middle), 0.0).sum(axis=1)
        right = np.where(b > 0, b * np.log2(b / middle), 0.0).sum(axis=1)
    found: Array = np.sqrt(np.clip((left + right) / 2, 0.0, 1.0))
    return found
