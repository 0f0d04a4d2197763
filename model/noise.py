"""How far an answer moves when nothing that matters has changed.

Contract
--------
`repeats` lists what to ask: the same request again, and the request with changes that keep its meaning (white space
around the state). `measure` turns how far those moved the answer into a floor, in percentage points. A change at or
below the floor is not evidence of anything. No torch.

The floor is the largest of
* the largest shift that was seen;
* three standard deviations, each estimated robustly as 1.4826 · median |shift| (the scaled median absolute deviation
  about zero, the centre that is known), of the re-runs and of the harmless changes apart: a scorer that repeats itself
  exactly must not hide that a space moves it;
* `LEAST`, below which no page shows a difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from model.answers import Answer
from model.asking import room
from model.engine import Decision
from model.questions import render
from model.scorer import Request
from model.state import State

LEAST = 0.1
"""Percentage points."""

AGAIN = "asked again"
HARMLESS = (
    ("a line break at the end", "", "\n"),
    ("a space at the end", "", " "),
    ("a line break in front", "\n", ""),
    ("two line breaks at the end", "", "\n\n"),
)
"""Changes that keep the meaning: what it is, what stands before the state's text, what behind it."""
_GROWTH = 4
"""Tokens that a harmless change may add."""


@dataclass(frozen=True)
class Shift:
    """What one change without meaning did: `points` (absolute, percentage points), and whether the answer flipped."""

    what: str
    points: float
    flips: bool


@dataclass(frozen=True)
class Noise:
    """`floor` in percentage points, and the shifts that it was computed from."""

    floor: float
    shifts: tuple[Shift, ...]

    @property
    def flips(self) -> bool:
        """The answer flips although nothing that matters changed: it is too close to call."""
        return any(shift.flips for shift in self.shifts)


def repeats(request: Request, decision: Decision, *, runs: int) -> list[tuple[str, Request]]:
    """What to ask to learn the noise: `runs` re-runs, and the harmless changes where the request has room for them.

    A JSON state becomes its rendered text (`model.questions.render`), which is what a scorer reads of it.
    """
    asked = [(AGAIN, request)] * runs
    if not room(request, decision, _GROWTH):
        return asked
    text = render(request.state.value)
    for what, before, after in HARMLESS:
        asked.append((what, replace(request, state=State(before + text + after, request.state.pictures))))
    return asked


def measure(shifts: Sequence[Shift]) -> Noise:
    """The floor of these shifts, as the module says."""
    seen = [shift.points for shift in shifts]
    same = [shift.points for shift in shifts if shift.what == AGAIN]
    harmless = [shift.points for shift in shifts if shift.what != AGAIN]
    spread = max((3 * 1.4826 * median(group) for group in (same, harmless) if group), default=0.0)
    return Noise(max([LEAST, spread, *seen]), tuple(shifts))


def distance(before: Answer, after: Answer) -> float:
    """max |Δp| over the options, in percentage points. Both answers have the same options in the same order."""
    return 100 * max(abs(p - q) for p, q in zip(before.probabilities, after.probabilities, strict=True))
