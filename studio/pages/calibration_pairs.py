"""The same labelled cases under two scorers or two schema versions, paired.

Contract
--------
A case is the same where its state and pictures are. What is true comes from the sampled labels of either side, the
first one's first; an option counts for the other side where it has one of that id. Cases of which the true option is
not known, or does not exist on a side, are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from storage.answered import distributions, keys_of
from storage.cases import questions_of
from studio.pages.calibration_data import Place, Shelf


class Two(Protocol):
    """Two places without a question."""

    questions: str
    scorer: str
    other_questions: str
    other_scorer: str


@dataclass(frozen=True)
class Pairs:
    """n pairs: A is the first place, B the other. `loss_*` is each case's Brier score, `said_*` option and probability.

    `weights` are those of the label (Hájek), where it came from A, else 1.
    """

    decisions_a: tuple[str, ...]
    truths: tuple[str, ...]
    right_a: NDArray[np.bool_]
    right_b: NDArray[np.bool_]
    loss_a: NDArray[np.float64]
    loss_b: NDArray[np.float64]
    said_a: tuple[tuple[str, float], ...]
    said_b: tuple[tuple[str, float], ...]
    weights: NDArray[np.float64]

    @property
    def n(self) -> int:
        """How many pairs."""
        return len(self.truths)


def shared_questions(shelf: Shelf, given: Two) -> list[str]:
    """Ids of questions of the same type that both places ask, in the first one's order."""
    ours, theirs = (questions_of(shelf.database, sha) for sha in (given.questions, given.other_questions))
    return [key for key, q in ours.items() if key in theirs and theirs[key].type == q.type]


def pair_cases(shelf: Shelf, given: Two, question: str) -> Pairs:
    """The paired cases of one question. Raises NotFound for questions or a question that are not kept."""
    a = shelf.load(Place(given.questions, given.scorer, question))
    b = shelf.load(Place(given.other_questions, given.other_scorer, question))
    back_a = keys_of(shelf.database, questions=given.questions, scorer=given.scorer)
    back_b = keys_of(shelf.database, questions=given.other_questions, scorer=given.other_scorer)
    # Of a case that was asked several times, the newest answer.
    keys_a, keys_b = ({key: decision for decision, key in back.items()} for back in (back_a, back_b))
    truth: dict[object, tuple[str, float]] = {}
    for loaded, back in ((b, back_b), (a, back_a)):
        cases = loaded.sampled
        for row in np.flatnonzero(cases.known):
            key = back.get(loaded.ids[row])
            if key is not None:
                weight = float(cases.weights[row]) if loaded is a else 1.0
                truth[key] = (cases.options[int(cases.truth[row])], weight)
    both = [key for key in keys_a if key in truth and key in keys_b]
    said_a = distributions(shelf.database, [keys_a[key] for key in both], question)
    said_b = distributions(shelf.database, [keys_b[key] for key in both], question)
    rows = []
    for key in both:
        option, weight = truth[key]
        one, other = said_a.get(keys_a[key]), said_b.get(keys_b[key])
        if one is None or other is None or option not in one[0] or option not in other[0]:
            continue
        losses = _loss(*one, option), _loss(*other, option)
        rows.append((keys_a[key], option, weight, _lead(*one), _lead(*other), *losses))
    return Pairs(
        decisions_a=tuple(r[0] for r in rows),
        truths=tuple(r[1] for r in rows),
        right_a=np.array([r[3][0] == r[1] for r in rows], dtype=bool),
        right_b=np.array([r[4][0] == r[1] for r in rows], dtype=bool),
        loss_a=np.array([r[5] for r in rows], dtype=np.float64),
        loss_b=np.array([r[6] for r in rows], dtype=np.float64),
        said_a=tuple(r[3] for r in rows),
        said_b=tuple(r[4] for r in rows),
        weights=np.array([r[2] for r in rows], dtype=np.float64),
    )


def _lead(options: tuple[str, ...], probabilities: tuple[float, ...]) -> tuple[str, float]:
    at = int(np.argmax(probabilities))
    return options[at], probabilities[at]


def _loss(options: tuple[str, ...], probabilities: tuple[float, ...], truth: str) -> float:
    """Σ (p − [it is true])² over the options."""
    return float(sum((p - (o == truth)) ** 2 for o, p in zip(options, probabilities, strict=True)))
