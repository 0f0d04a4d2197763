"""From logits to answers: unrounded probabilities, confidence by named formula, expected level.

Contract
--------
The one place that turns logits into probabilities. An `Answer` holds one question's distribution in *request order*,
unrounded (float64). Rounding happens at the wire. No torch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from model.questions import Json, Questions, QuestionType, Score


class NotFinite(ArithmeticError):
    """A scorer returned a logit that is not a finite number: the model or its weights are broken."""


@dataclass(frozen=True)
class Answer:
    """One question's distribution over its options, in request order; `probabilities` sum to 1."""

    type: QuestionType
    options: tuple[str, ...]
    probabilities: tuple[float, ...]
    legend: tuple[Json, ...] = ()
    """The levels of a score, unchanged; empty for noul and choice."""

    @property
    def lead(self) -> int:
        """Index of the most probable option; on a tie the first in request order."""
        return max(range(len(self.options)), key=lambda i: self.probabilities[i])

    @property
    def top(self) -> str:
        """Id of the most probable option."""
        return self.options[self.lead]

    @property
    def expected_level(self) -> float | None:
        """Σ i·pᵢ of a score (0-based); None for the other types."""
        if self.type != "score":
            return None
        return sum(i * p for i, p in enumerate(self.probabilities))

    def confidence(self, strategy: str = "typesafe") -> float:
        """Confidence in [0, 1] by a named formula (`CONFIDENCE`); never the same thing as a probability."""
        try:
            formula = CONFIDENCE[strategy]
        except KeyError:
            raise ValueError(f"confidence {strategy!r} is not known; use one of {', '.join(CONFIDENCE)}") from None
        return min(1.0, max(0.0, formula(self)))


def answers_from_logits(questions: Questions, logits: Mapping[str, Sequence[float]]) -> dict[str, Answer]:
    """Answers in the order of `questions`.

    Parameters
    ----------
    logits : per question id, one float per option, in *model order* (`question.options()`).

    Raises
    ------
    NotFinite : a logit is NaN or infinite.
    ValueError : the logits do not fit the question.
    """
    answers = {}
    for key, question in questions.items():
        ids = [option.id for option in question.options()]
        row = logits[key]
        if len(row) != len(ids):
            raise ValueError(f"{key}: {len(row)} logits for {len(ids)} options")
        by_id = dict(zip(ids, softmax(row), strict=True))
        order = question.option_ids()
        legend = tuple(question.criteria) if isinstance(question, Score) else ()
        answers[key] = Answer(question.type, tuple(order), tuple(by_id[i] for i in order), legend)
    return answers


def softmax(logits: Sequence[float]) -> list[float]:
    """exp(z - max z) / Σ, in float64. Raises NotFinite."""
    if not all(math.isfinite(z) for z in logits):
        raise NotFinite("the model returned a logit that is not a finite number")
    peak = max(logits)
    weights = [math.exp(z - peak) for z in logits]
    total = math.fsum(weights)
    return [w / total for w in weights]


def _top(answer: Answer) -> float:
    return answer.probabilities[answer.lead]


def _typesafe(answer: Answer) -> float:
    p, n = answer.probabilities, len(answer.probabilities)
    if n == 1:
        return 1.0
    if answer.type != "score":
        return (max(p) - 1 / n) / (1 - 1 / n)
    k = answer.lead
    uniform = sum(abs(i - (n - 1) / 2) for i in range(n)) / n
    return 1 - sum(q * abs(i - k) for i, q in enumerate(p)) / uniform


def _workers_ai(answer: Answer) -> float:
    p, n = answer.probabilities, len(answer.probabilities)
    return 1.0 if n == 1 else (sum(q * q for q in p) - 1 / n) / (1 - 1 / n)


CONFIDENCE: Mapping[str, Callable[[Answer], float]] = {
    "typesafe": _typesafe,
    "workers-ai": _workers_ai,
    "top": _top,
}
"""Named formulas, on unrounded probabilities p of n options.

typesafe    choice (max p - 1/n) / (1 - 1/n); score 1 - Σ pᵢ|i - top| / mean|i - (n-1)/2|  (TypeSafe, SGLang, llama.cpp)
workers-ai  (Σ p² - 1/n) / (1 - 1/n)  (Cloudflare's hosted Clef)
top         max p  (the released code of Clef)
"""
