"""Who is measured: our scorer, the untuned cosine of the same backbone, and sparrow-decider.

Contract
--------
Each is a `model.embedded.measuring.Asker`. The cosine baseline is what §4 of the specification measured: softmax of
20 · cosine(option's text, state), untuned; for a noul the cosine of the question itself, squashed. sparrow-decider is
imported only when it is opened.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from tokenizers import Tokenizer

from model.answers import answers_from_logits, softmax
from model.embedded.encoder import Encoder
from model.embedded.pairs import pair_texts, token_ids, unit_vectors
from model.embedded.rendering import readable_state
from model.questions import Choice, Noul, Questions, Score, questions_json
from model.scorer import Request, Scorer
from model.state import State

SHARPNESS = 20.0


class ScorerAsker:
    """Any scorer of the studio."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer

    def ask(self, state: Any, questions: Questions) -> dict[str, list[float]]:
        """Probabilities per question id, in request order."""
        reading = self._scorer.score([Request(State(state), questions)])[0]
        answers = answers_from_logits(questions, reading.logits)
        return {key: list(answer.probabilities) for key, answer in answers.items()}


class CosineAsker:
    """The untuned backbone: option against state."""

    def __init__(self, untuned: Encoder, tokenizer: Tokenizer) -> None:
        self._untuned, self._tokenizer = untuned, tokenizer
        self._kept: dict[str, torch.Tensor] = {}

    def _vectors(self, texts: list[str]) -> torch.Tensor:
        new = sorted({text for text in texts if text not in self._kept})
        if new:
            ids = [found[:250] for found in token_ids(self._tokenizer, new)]
            self._kept.update(zip(new, unit_vectors(self._untuned, ids), strict=True))
        return torch.stack([self._kept[text] for text in texts])

    def ask(self, state: Any, questions: Questions) -> dict[str, list[float]]:
        """Probabilities per question id, in request order."""
        text = readable_state(state).text
        return {key: self._one(text, question) for key, question in questions.items()}

    def _one(self, state: str, question: Noul | Choice | Score) -> list[float]:
        vectors = self._vectors([t.prior for t in pair_texts(question)] + [state])
        cosines = (vectors[:-1] @ vectors[-1]).tolist()
        if isinstance(question, Noul):
            p = 1 / (1 + math.exp(-SHARPNESS * (cosines[0] - 0.25)))
            return [p, 1 - p]
        by_id = dict(zip([o.id for o in question.options()], softmax([SHARPNESS * c for c in cosines]), strict=True))
        return [by_id[i] for i in question.option_ids()]


class SparrowAsker:
    """sparrow-decider's default model."""

    def __init__(self) -> None:
        from sparrow_decider import Decider

        self._decider = Decider.load()

    def ask(self, state: Any, questions: Questions) -> dict[str, list[float]]:
        """Probabilities per question id, in request order."""
        answers = self._decider.ask(readable_state(state).text, questions_json(questions))
        return {key: _listed(answers[key], question) for key, question in questions.items()}


def _listed(answer: Any, question: Noul | Choice | Score) -> list[float]:
    if isinstance(question, Noul):
        return [float(answer["noul"]), 1 - float(answer["noul"])]
    return [float(answer["probabilities"][i]) for i in question.option_ids()]
