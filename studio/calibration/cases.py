"""The labelled answers of one question, under one schema version, by one scorer: what every statistic starts from.

Contract
--------
`truth` is the index of the option that the label holds for true; -1 where it is only known that the leading option is
wrong. Answers that nobody could judge ("can't tell") are not in here; `cant_tell` counts them. Which event is looked at
is a *view*:

* `top`: was the leading option right? Said is its probability.
* `option:<id>`: is it this option? Said is the option's probability.
* `level:<k>`: is the level at least k (scores, k from 1)? Said is the sum over levels from k.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Index = NDArray[np.intp]


@dataclass(frozen=True)
class Event:
    """One yes-or-no matter: `p` (n,) said, `y` (n,) bool, `weights` (n,); `rows` (n,) are the cases it is about."""

    p: Array
    y: Mask
    weights: Array
    rows: Index

    @property
    def n(self) -> int:
        """How many labels."""
        return int(self.p.size)


@dataclass(frozen=True)
class Cases:
    """See the module's contract.

    `probabilities` (n, k) float64, in request order; `options` their ids; `truth` (n,) int; `weights` (n,) > 0;
    `audit` (n,) bool: drawn uniformly at random, so that a guarantee may rest on it.
    """

    type: str
    options: tuple[str, ...]
    probabilities: Array
    truth: Index
    weights: Array
    audit: Mask
    cant_tell: int = 0

    @property
    def n(self) -> int:
        """How many judged answers."""
        return int(self.truth.size)

    @cached_property
    def lead(self) -> Index:
        """Index of the leading option, (n,); on a tie the first in request order."""
        return np.argmax(self.probabilities, axis=1) if self.n else np.empty(0, np.intp)

    @cached_property
    def top(self) -> Array:
        """Probability of the leading option, (n,)."""
        return self.probabilities.max(axis=1) if self.n else np.empty(0)

    @cached_property
    def right(self) -> Mask:
        """Whether the leading option was right, (n,)."""
        return self.lead == self.truth

    @cached_property
    def known(self) -> Mask:
        """Whether the true option is known, (n,)."""
        return self.truth >= 0

    def only(self, mask: Mask) -> Cases:
        """Some of the cases."""
        return replace(
            self,
            probabilities=self.probabilities[mask],
            truth=self.truth[mask],
            weights=self.weights[mask],
            audit=self.audit[mask],
        )

    def comparable(self, probabilities: Array) -> Mask:
        """Of which cases it is still known whether the leading option is right when the probabilities are (n, k) these.

        Where only "the leading option is wrong" is known, that stays known of the option that led before.
        """
        return self.known | (np.argmax(probabilities, axis=1) == self.lead) if self.n else np.empty(0, bool)

    def with_probabilities(self, probabilities: Array) -> Cases:
        """The same labels on other probabilities (n, k), such as recalibrated ones; only those that are comparable."""
        return replace(self, probabilities=probabilities).only(self.comparable(probabilities))

    def views(self) -> list[str]:
        """The views of this question, `top` first."""
        if self.type == "score":
            return ["top", *(f"level:{k}" for k in range(1, len(self.options)))]
        if self.type == "noul":
            return ["top", "option:true"]
        return ["top", *(f"option:{option}" for option in self.options)]

    def event(self, view: str = "top") -> Event:
        """The event of a view. Raises ValueError for a view that this question does not have."""
        if view == "top":
            return Event(np.clip(self.top, 0, 1), self.right, self.weights, np.arange(self.n))
        kind, _, name = view.partition(":")
        if kind == "level" and self.type == "score" and name.isdecimal() and 1 <= int(name) < len(self.options):
            level = int(name)
            rows = np.flatnonzero(self.known)
            said = self.probabilities[rows, level:].sum(axis=1)
            return Event(np.clip(said, 0, 1), self.truth[rows] >= level, self.weights[rows], rows)
        if kind == "option" and name in self.options:
            index = self.options.index(name)
            # Of the leading option it is known that it is wrong, even where nobody knows what is right.
            rows = np.flatnonzero(self.known | (self.lead == index))
            return Event(
                np.clip(self.probabilities[rows, index], 0, 1), self.truth[rows] == index, self.weights[rows], rows
            )
        raise ValueError(f"view {view!r} is not one of {', '.join(self.views())}")
