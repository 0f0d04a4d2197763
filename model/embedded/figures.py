"""Small figures: area under the ROC curve, accuracy, calibration error, each with its standard error.

Contract
--------
Pure numpy. Probabilities come in as rows that sum to 1, answers as indices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def auc(scores: Sequence[float], truth: Sequence[bool]) -> float:
    """P(score of a true row > score of a false row), ties half; NaN where one side is empty."""
    s, t = np.asarray(scores, float), np.asarray(truth, bool)
    if t.all() or not t.any():
        return math.nan
    above = s[t][:, None] - s[~t][None, :]
    return float(((above > 0) + 0.5 * (above == 0)).mean())


def auc_error(value: float, positives: int, negatives: int) -> float:
    """Standard error of an AUC (Hanley and McNeil 1982)."""
    q1, q2 = value / (2 - value), 2 * value * value / (1 + value)
    spread = value * (1 - value) + (positives - 1) * (q1 - value**2) + (negatives - 1) * (q2 - value**2)
    return math.sqrt(max(spread, 0.0) / (positives * negatives))


def share_error(value: float, n: int) -> float:
    """Standard error of a share of n rows."""
    return math.sqrt(value * (1 - value) / n)


def calibration_error(probabilities: Sequence[Sequence[float]], answers: Sequence[int], *, bins: int = 10) -> float:
    """ECE of the leading option, equal-width bins. Biased upward at small n."""
    p = [np.asarray(row, float) for row in probabilities]
    lead = np.array([row.max() for row in p])
    right = np.array([int(row.argmax()) == answer for row, answer in zip(p, answers, strict=True)], float)
    where = np.minimum((lead * bins).astype(int), bins - 1)
    gaps = [abs(lead[where == b].sum() - right[where == b].sum()) for b in range(bins)]
    return float(sum(gaps) / len(lead))


def mean_absolute(levels: NDArray[np.float64], answers: Sequence[int]) -> tuple[float, float]:
    """Mean |level - answer|, and its standard error."""
    off = np.abs(levels - np.asarray(answers, float))
    return float(off.mean()), float(off.std(ddof=1) / math.sqrt(len(off)))
