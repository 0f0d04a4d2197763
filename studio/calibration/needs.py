"""How many labels a figure needs before it may be shown.

Contract
--------
`missing(figure, n)` is 0 where `n` labels are enough, else how many more it takes. For weighted labels, `n` is the
effective number (`sampling.effective_n`): what an equally weighted sample of the same precision would hold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, TypeAlias

Needs: TypeAlias = Literal["share", "curve", "error", "calibrated", "temperature", "platt", "isotonic"]

LEAST: Mapping[Needs, int] = {
    # Means (right answers, Brier, log score): below it an interval spans half the scale.
    "share": 20,
    # Below it only points are drawn.
    "curve": 20,
    # Calibration error and everything else that looks at differences within the probabilities.
    "error": 50,
    # Below it every verdict is provisional.
    "calibrated": 200,
    "temperature": 50,
    "platt": 200,
    # A free monotone curve follows the noise of fewer.
    "isotonic": 1000,
}


def missing(figure: Needs, n: float) -> int:
    """How many labels are missing for `figure`, 0 where `n` are enough."""
    return max(0, LEAST[figure] - math.floor(n + 1e-9))
