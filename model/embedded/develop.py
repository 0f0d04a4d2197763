"""Held-back tasks: what the recipe is developed on, so that the evaluation sets stay unseen.

Contract
--------
Four groups, none of them trained on: `unseen` (whole nouls of the corpus), `new` (held-back messages and phrasings of
trained nouls), `choice` (two choices of the corpus, intents of the public sets), `score` (three scales). `measure`
gives one figure per group and the `criterion` that stops training; `fit_scales` fits the prior's weight and one
temperature per question type.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model.embedded.corpus import Family, Message
from model.embedded.figures import auc
from model.embedded.pairs import TYPES, PairModel
from model.embedded.prepared import Prepared, Texts, prepare, sheet_logits
from model.embedded.public import DEVELOPMENT, IntentSet
from model.embedded.tasks import (
    HELD_BACK_CHOICES,
    HELD_BACK_MESSAGES,
    HELD_BACK_NOULS,
    HELD_BACK_PHRASINGS,
    HELD_BACK_SCORES,
    Example,
)
from model.embedded.weights import Scales
from model.questions import Choice, Noul, Score


@dataclass(frozen=True)
class Reading:
    """One held-back example after the pairs were read: pair logits and cosines per option, and the answer."""

    task: str
    group: str
    kind: str
    logits: Tensor
    cosines: Tensor
    answer: int

    def full(self, scales: Scales) -> Tensor:
        """Logits over all options (noul: true, false), float32."""
        pair, prior = scales.of(self.kind)
        mixed = pair * self.logits + prior * self.cosines
        return torch.cat([mixed, torch.zeros(1)]) if self.kind == "noul" else mixed


def develop_tasks(families: Sequence[Family], intents: Sequence[IntentSet], seed: int) -> dict[str, list[Example]]:
    """The held-back examples by task: "unseen", "new", "choice", "score"."""
    rng = random.Random(seed)
    tasks: dict[str, list[Example]] = {"unseen": [], "new": [], "choice": [], "score": []}
    for family in families:
        for concept, body in family.nouls.items():
            held = concept in HELD_BACK_NOULS
            rows = [m for i, m in enumerate(family.messages) if held or i % HELD_BACK_MESSAGES == 0]
            yes = [m for m in rows if concept in m.yes][: 20 if held else 3]
            no = [m for m in rows if concept not in m.yes and concept not in m.unsure]
            no = rng.sample(no, k=min(len(no), 20 if held else 2 * len(yes)))
            for message in yes + no:
                phrasing = len(body["phrasings"]) - 1 - rng.randrange(HELD_BACK_PHRASINGS)
                question = Noul(instructions=body["phrasings"][phrasing])
                answer = 0 if concept in message.yes else 1
                tasks["unseen" if held else "new"].append(Example(question, message.text, answer, concept))
        for name in HELD_BACK_CHOICES:
            for variant, message in _rows(family, "choices", name, rng):
                choice = Choice(instructions=variant["instructions"], criteria=variant["criteria"])
                answer = sorted(variant["criteria"]).index(message.choices[name])
                tasks["choice"].append(Example(choice, message.text, answer, name))
        for name in HELD_BACK_SCORES:
            for variant, message in _rows(family, "scores", name, rng):
                score = Score(instructions=variant["instructions"], criteria=variant["criteria"])
                tasks["score"].append(Example(score, message.text, message.scores[name], name))
    for intent_set in intents:
        names = DEVELOPMENT[intent_set.name]
        for name in names:
            kept = {name, *rng.sample([n for n in names if n != name], k=5)}
            criteria = dict.fromkeys(sorted(kept))
            choice = Choice(instructions=intent_set.question["instructions"], criteria=criteria)
            for text in rng.sample(intent_set.test[name], k=2):
                answer = sorted(criteria).index(name)
                tasks["choice"].append(Example(choice, text, answer, intent_set.name))
    return tasks


def _rows(
    family: Family, part: str, name: str, rng: random.Random, most: int = 24
) -> list[tuple[dict[str, Any], Message]]:
    """Up to `most` messages with an answer to a choice or score, evenly over its answers, each with a variant."""
    variants = getattr(family, part).get(name)
    if variants is None:
        return []
    messages = [m for m in family.messages if name in getattr(m, part)]
    by_answer: dict[object, list[Message]] = {}
    for message in messages:
        by_answer.setdefault(getattr(message, part)[name], []).append(message)
    each = max(1, most // len(by_answer))
    chosen = [m for rows in by_answer.values() for m in rng.sample(rows, k=min(each, len(rows)))]
    return [(rng.choice(variants), message) for message in chosen]


class Development:
    """Reads the held-back tasks with a model."""

    def __init__(self, tasks: dict[str, list[Example]], texts: Texts, *, length: int = 160) -> None:
        # By state, so that questions about one message share its reading.
        self._tasks = {name: sorted(rows, key=lambda e: e.state) for name, rows in tasks.items()}
        self._prepared = {name: prepare(rows, texts, length=length) for name, rows in self._tasks.items()}

    @torch.inference_mode()
    def readings(self, model: PairModel) -> list[Reading]:
        """Every held-back example, read."""
        out = []
        for name, prepared in self._prepared.items():
            questions = [q for sheet in prepared for q in sheet.questions]
            logits = sheet_logits(model, prepared)
            for example, row, z in zip(self._tasks[name], questions, logits, strict=True):
                out.append(_reading(name, example, row, z))
        return out


def measure(readings: Sequence[Reading], scales: Scales | None = None) -> dict[str, float]:
    """AUC of unseen nouls and of trained ones on new messages, accuracy of choices, skill of scores.

    Skill is 1 - MAE / MAE of always the middle. The criterion weighs unseen nouls most.
    """
    scales = scales or Scales()
    figures = {"unseen": _mean_auc(readings, "unseen"), "new": _mean_auc(readings, "new")}
    choices = [r for r in readings if r.task == "choice"]
    figures["choice"] = float(np.mean([int(r.full(scales).argmax()) == r.answer for r in choices]))
    figures["score"] = _skill([r for r in readings if r.task == "score"], scales)
    figures["criterion"] = (
        0.4 * figures["unseen"] + 0.25 * figures["new"] + 0.2 * figures["choice"] + 0.15 * figures["score"]
    )
    return figures


def _reading(task: str, example: Example, row: Prepared, logits: Tensor) -> Reading:
    return Reading(task, example.group, TYPES[row.column], logits, row.cosines, row.answer)


def _mean_auc(readings: Sequence[Reading], task: str) -> float:
    groups: dict[str, list[Reading]] = {}
    for reading in readings:
        if reading.task == task:
            groups.setdefault(reading.group, []).append(reading)
    values = [auc([float(r.logits[0]) for r in rows], [r.answer == 0 for r in rows]) for rows in groups.values()]
    return float(np.nanmean(values))


def _skill(readings: Sequence[Reading], scales: Scales) -> float:
    ours, middle = [], []
    for r in readings:
        p = r.full(scales).softmax(0)
        ours.append(abs(float((p * torch.arange(len(p))).sum()) - r.answer))
        middle.append(abs((len(p) - 1) / 2 - r.answer))
    return 1 - float(np.mean(ours)) / float(np.mean(middle))


def fit_scales(readings: Sequence[Reading]) -> Scales:
    """The scales that minimise the negative log-likelihood of the held-back tasks, by grid (deterministic).

    `new` nouls and `unseen` ones count alike: the studio's user asks both kinds.
    """
    grid = [0.25 * 1.25**i for i in range(12)]
    priors = [0.0, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 15.0, 20.0]

    def loss(kind: str, scales: Scales) -> float:
        groups: dict[str, list[float]] = {}
        for r in readings:
            if r.kind == kind:
                nll = -float(r.full(scales).log_softmax(0)[r.answer])
                groups.setdefault(r.task, []).append(nll)
        return float(np.mean([np.mean(rows) for rows in groups.values()])) if groups else math.inf

    noul = min(grid, key=lambda a: loss("noul", Scales(noul_pair=a)))
    choice = min(
        ((a, w) for a in grid for w in priors),
        key=lambda x: loss("choice", Scales(choice_pair=x[0], choice_prior=x[1])),
    )
    score = min(
        ((a, w) for a in grid for w in priors[:6]),
        key=lambda x: loss("score", Scales(score_pair=x[0], score_prior=x[1])),
    )
    return Scales(noul, choice[0], choice[1], score[0], score[1])
