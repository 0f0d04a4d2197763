"""The evidence that labels give about one question's answers: outcomes, weights, and what is missing.

Contract
--------
`gather` reads one queue's sample and weighs it. What is in it was chosen by the studio, by known odds; labels that
people volunteered are not. Figures are never pooled over schema versions or scorers: a queue is one question of one set
of questions by one scorer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from storage.database import Database
from storage.queue import Queue
from storage.samples import Item, Sample, read_sample
from studio.calibration import sampling

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Judged answers of a queue, one row each (n rows, k options).

    Attributes
    ----------
    decisions : uuids.
    probabilities : (n, k), in the order of `options`.
    truth : (n,) int, index of the option that is held for true; -1 where only "wrong" is known.
    soft : (n, k), the share of people for each option (rows of zeros where only "wrong" is known).
    right : (n,), the share of people who held the model's top option for true.
    inclusion : (n,), the probability that the answer was chosen at all.
    weights : (n,), Hájek weights with mean 1.
    audit : (n,) bool, chosen uniformly at random: the rows that a guarantee may rest on, unweighted.
    blind : (n,) bool, whoever labelled it did not see the model's answer.
    by_hand : (n,) bool, the state was kept on the Design page: somebody picked it.
    cant_tell : answers that were shown and that nobody could judge.
    shown : answers that the streams reached; `population` all there are.
    """

    type: str
    options: tuple[str, ...]
    decisions: tuple[str, ...]
    probabilities: Floats
    truth: npt.NDArray[np.int64]
    soft: Floats
    right: Floats
    inclusion: Floats
    weights: Floats
    audit: npt.NDArray[np.bool_]
    blind: npt.NDArray[np.bool_]
    by_hand: npt.NDArray[np.bool_]
    cant_tell: int
    shown: int
    population: int

    @property
    def n(self) -> int:
        """How many judged answers."""
        return len(self.decisions)


def gather(database: Database, queue: Queue, *, sources: Sequence[str] | None = None) -> Evidence:
    """The evidence in a queue.

    Parameters
    ----------
    sources : count only decisions from these ("api", "run", "import", "page"); None counts all.
    """
    sample = read_sample(database, queue.serial)
    items = [item for item in sample.items if sources is None or item.source in sources]
    pi = _inclusions(sample, items)
    judged = [(item, p, outcome) for item, p in zip(items, pi, strict=True) if (outcome := _outcome(item)) is not None]
    cant = sum(1 for item in items if item.said and _outcome(item) is None)
    k = len(sample.options)
    soft = np.array([o.soft(sample.options) for _, _, o in judged], dtype=np.float64).reshape(len(judged), k)
    kept = np.array([p for _, p, _ in judged], dtype=np.float64)
    return Evidence(
        type=sample.type,
        options=sample.options,
        decisions=tuple(item.decision for item, _, _ in judged),
        probabilities=np.array([i.probabilities for i, _, _ in judged], dtype=np.float64).reshape(len(judged), k),
        truth=np.array([o.truth(sample.options) for _, _, o in judged], dtype=np.int64),
        soft=soft,
        right=np.array([o.share(item.top) for item, _, o in judged], dtype=np.float64),
        inclusion=kept,
        weights=sampling.weights(kept),
        audit=np.array([item.by_audit for item, _, _ in judged], dtype=bool),
        blind=np.array([all(s.blind for s in item.said) for item, _, _ in judged], dtype=bool),
        by_hand=np.array([item.source == "page" for item, _, _ in judged], dtype=bool),
        cant_tell=cant,
        shown=len(items),
        population=sample.population,
    )


@dataclass(frozen=True)
class _Outcome:
    """How many people hold each option for true; `wrong` of them only know that the model's top is not."""

    counts: Counter[str]
    wrong: int = 0

    @property
    def people(self) -> int:
        return sum(self.counts.values()) + self.wrong

    def soft(self, options: Sequence[str]) -> list[float]:
        return [self.counts[option] / self.people for option in options]

    def share(self, top: str) -> float:
        return self.counts[top] / self.people

    def truth(self, options: Sequence[str]) -> int:
        """The option that most people hold for true, the first in order on a tie; -1 where none was named."""
        if not self.counts:
            return -1
        return max(range(len(options)), key=lambda i: self.counts[options[i]])


def _outcome(item: Item) -> _Outcome | None:
    """What is held for true of an item; None where nobody could say (or was asked). A verdict ends the matter."""
    if item.settled:
        (option,) = item.settled
        return None if option is None else _Outcome(Counter([option]))
    named = Counter(said.true_option for said in item.said if said.true_option is not None)
    wrong = sum(1 for said in item.said if said.true_option is None and said.verdict == "wrong")
    return _Outcome(named, wrong) if named or wrong else None


def _inclusions(sample: Sample, items: Sequence[Item]) -> Floats:
    """(n,), the union over queue and audit, as far as both have come."""
    since = [item.since for item in items]
    queue, audit = (
        sampling.frontier(s.number, s.served, s.following, since, reached)
        for s, reached in (
            (sample.queue, [item.by_queue for item in items]),
            (sample.audit, [item.by_audit for item in items]),
        )
    )
    by_queue = sampling.inclusion([item.x for item in items], queue, before=[item.before for item in items])
    return sampling.union(by_queue, sampling.inclusion(np.ones(len(items)), audit))
