"""Two scorers or schema versions on the same labelled cases: what one fixes, what it breaks, and whether it is chance.

Contract
--------
Cases are paired: element i of every array is the same labelled decision. Tests are exact or by resampling pairs; over
several questions p-values are adjusted (Holm), so that asking about ten questions does not find one by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from studio.calibration.intervals import counts, percentiles

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Comparison:
    """Of `n` paired cases, B is right on `fixes` where A was wrong, and wrong on `breaks` where A was right.

    `p_value`: McNemar, exact. `brier`: B's mean Brier score minus A's (negative: B is better) with its 95 % `interval`
    by resampling pairs, NaN for no cases.
    """

    n: int
    fixes: int
    breaks: int
    p_value: float
    brier: float
    interval: tuple[float, float]


def compare(
    right_a: Mask,
    right_b: Mask,
    loss_a: Array,
    loss_b: Array,
    rng: np.random.Generator,
    *,
    weights: Array | None = None,
    draws: int = 2000,
) -> Comparison:
    """Compares A with B.

    Parameters
    ----------
    right_a, right_b : (n,) whether the leading option was right.
    loss_a, loss_b : (n,) each case's Brier score.
    weights : (n,) for the difference of Brier scores; the test counts cases as they are.
    """
    n = right_a.size
    fixes, breaks = int(np.sum(~right_a & right_b)), int(np.sum(right_a & ~right_b))
    if n == 0:
        nan = float("nan")
        return Comparison(0, 0, 0, 1.0, nan, (nan, nan))
    weights = np.ones(n) if weights is None else weights
    difference = loss_b - loss_a
    drawn = [(c * weights) @ difference / (c @ weights) for c in counts(n, draws, rng)]
    middle = float(np.average(difference, weights=weights))
    return Comparison(n, fixes, breaks, mcnemar(fixes, breaks), middle, percentiles(np.concatenate(drawn)))


def mcnemar(fixes: int, breaks: int) -> float:
    """Two-sided exact p-value (McNemar 1947): were fixes and breaks equally likely? 1 where nothing changed."""
    changed = fixes + breaks
    return 1.0 if changed == 0 else float(stats.binomtest(fixes, changed, 0.5).pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values (Holm 1979), in the order given: the chance of one false alarm in all stays at the level."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = [1.0] * len(p_values)
    least = 0.0
    for rank, i in enumerate(order):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = least
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values (Benjamini & Hochberg 1995), in the order given: of what is reported, 5 % may be chance."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i], reverse=True)
    adjusted = [1.0] * len(p_values)
    least = 1.0
    for rank, i in enumerate(order):
        least = min(least, p_values[i] * len(p_values) / (len(p_values) - rank))
        adjusted[i] = least
    return adjusted


def in_words(found: Comparison, p_value: float | None = None) -> str:
    """One sentence: "Fixes 12, breaks 3 of 640 (p = .03): unlikely to be chance." `p_value`: the adjusted one."""
    if found.n == 0:
        return "No labelled case was judged by both."
    if found.fixes + found.breaks == 0:
        return f"No answer of {found.n:,} changed between right and wrong."
    p = found.p_value if p_value is None else p_value
    text = f"Fixes {found.fixes:,}, breaks {found.breaks:,} of {found.n:,} ({p_text(p)})"
    if p >= 0.05:
        return f"{text}: may be chance."
    better = found.fixes > found.breaks
    return f"{text}: {'better' if better else 'worse'}, and unlikely to be chance."


def p_text(p: float) -> str:
    """ "p = .03", "p = .4", "p < .001"."""
    if p < 0.001:
        return "p < .001"
    digits = 3 if p < 0.01 else 2
    text = f"{p:.{digits}f}".rstrip("0") if p < 0.995 else "1"
    return f"p = {text.removeprefix('0') if text.startswith('0.') else text}"
