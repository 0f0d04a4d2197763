"""The badge of a question: whether its probabilities can be trusted, in two words and a count.

Contract
--------
Under 50 labels nothing is said but how many are missing. A curve that leaves the band is real at any number; inside the
band it is *provisional* up to 200 labels and *calibrated* from there. The same words everywhere in the studio.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from studio.calibration import needs
from studio.calibration.reliability import Verdict

Kind: TypeAlias = Literal["none", "provisional", "calibrated", "too_much", "too_little"]

WORDS: dict[Kind, str] = {
    "none": "not calibrated yet",
    "provisional": "provisional",
    "calibrated": "calibrated",
    "too_much": "promises too much",
    "too_little": "promises too little",
}


@dataclass(frozen=True)
class Badge:
    """`kind`, its `words`, the labels behind it, and how many are `missing` before anything can be said."""

    kind: Kind
    words: str
    n: int
    missing: int


def badge(n: int, effective: float, verdict: Verdict | None) -> Badge:
    """The badge of a question with `n` labels (`effective` by weight) whose top curve has this `verdict`.

    `verdict` may be None only where there are too few labels to have one.
    """
    missing = needs.missing("error", effective)
    kind: Kind
    if missing or verdict is None:
        kind = "none"
    elif verdict == "too_sure":
        kind = "too_much"
    elif verdict == "not_sure_enough":
        kind = "too_little"
    else:
        kind = "provisional" if needs.missing("calibrated", effective) else "calibrated"
    return Badge(kind, WORDS[kind], n, missing)
