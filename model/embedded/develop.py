"""Held-back tasks: what the recipe is developed on, so that the evaluation sets stay unseen.

Contract
--------
Groups, none of them trained on: `unseen` (whole nouls of the corpus), `new` (held-back messages and phrasings of
trained nouls), `open` (held-back texts with questions of their own), `choice` (two choices of the corpus, intents of
the public sets), `score` (three scales), `level` (trained scales on held-back messages). `measure` gives one figure per
group and the `criterion` that stops training; `fit_scales` fits the priors' weights and one temperature per question
type, `fit_many` what a choice of many options needs.
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

from model.embedded.corpus import Family, Message, OpenText
from model.embedded.figures import auc
from model.embedded.gist import Gist
from model.embedded.losses import with_false
from model.embedded.pairs import TYPES, PairModel
from model.embedded.prepared import Prepared, Texts, prepare, sheet_logits
from model.embedded.public import DEVELOPMENT, IntentSet
from model.embedded.tasks import (
    FIRST,
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
    """One held-back example after the pairs were read: pair logits and priors per option, and the answer."""

    task: str
    group: str
    kind: str
    logits: Tensor
    priors: Tensor
    answer: int

    def full(self, scales: Scales) -> Tensor:
        """Logits over all options (noul: true, false), float32."""
        pair, prior = scales.of(self.kind)
        mixed = pair * self.logits + prior * self.priors
        return with_false(mixed) if self.kind == "noul" else mixed


TASKS = ("unseen", "new", "open", "choice", "score", "level")


def develop_tasks(
    families: Sequence[Family], intents: Sequence[IntentSet], open_texts: Sequence[OpenText], seed: int
) -> dict[str, list[Example]]:
    """The held-back examples by task (`TASKS`)."""
    rng = random.Random(seed)
    tasks: dict[str, list[Example]] = {name: [] for name in TASKS}
    for asked in open_texts[::HELD_BACK_MESSAGES]:
        for ask, true in asked.asks:
            tasks["open"].append(Example(Noul(instructions=ask), asked.text, 0 if true else 1, "open"))
    for family in families:
        for concept, body in family.nouls.items():
            held = concept in HELD_BACK_NOULS
            rows = [m for i, m in enumerate(family.messages) if held or i % HELD_BACK_MESSAGES == 0]
            most = 20 if held or concept in FIRST else 3
            yes = [m for m in rows if concept in m.yes][-most:]
            # The last are the focus messages: near pairs, as hard as what the model is measured on.
            no = [m for m in rows if concept in m.no][-2 * most :]
            no = rng.sample(no, k=min(len(no), most if held else 2 * len(yes)))
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
        for name in family.scores:
            if name in HELD_BACK_SCORES:
                continue
            for variant, message in _rows(family, "scores", name, rng, every=HELD_BACK_MESSAGES):
                score = Score(instructions=variant["instructions"], criteria=variant["criteria"])
                tasks["level"].append(Example(score, message.text, message.scores[name], name))
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
    family: Family, part: str, name: str, rng: random.Random, *, most: int = 24, every: int = 1
) -> list[tuple[dict[str, Any], Message]]:
    """Up to `most` of every `every`-th message that answers a choice or score, evenly over its answers, with a variant
    each."""
    variants = getattr(family, part).get(name)
    if variants is None:
        return []
    messages = [m for m in family.messages[::every] if name in getattr(m, part)]
    by_answer: dict[object, list[Message]] = {}
    for message in messages:
        by_answer.setdefault(getattr(message, part)[name], []).append(message)
    each = max(1, most // len(by_answer))
    chosen = [m for rows in by_answer.values() for m in rng.sample(rows, k=min(each, len(rows)))]
    return [(rng.choice(variants), message) for message in chosen]


class Development:
    """Reads the held-back tasks with a model."""

    def __init__(
        self, tasks: dict[str, list[Example]], texts: Texts, *, gist: Gist | None = None, length: int = 160
    ) -> None:
        # By state, so that questions about one message share its reading.
        self._tasks = {name: sorted(rows, key=lambda e: e.state) for name, rows in tasks.items()}
        self._prepared = {name: prepare(rows, texts, length=length, gist=gist) for name, rows in self._tasks.items()}

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


CRITERION = {"unseen": 0.25, "open": 0.2, "first": 0.25, "choice": 0.15, "score": 0.05, "level": 0.1}
"""What stops training: questions that were never trained weigh most."""


def measure(readings: Sequence[Reading], scales: Scales | None = None) -> dict[str, float]:
    """AUC of unseen nouls and of trained ones on new messages, accuracy of choices, skill of scores.

    Skill is 1 - MAE / MAE of always the middle.
    """
    scales = scales or Scales()
    figures = {"unseen": _mean_auc(readings, "unseen", scales), "new": _mean_auc(readings, "new", scales)}
    figures["first"] = _mean_auc([r for r in readings if r.group in FIRST], "new", scales)
    figures["open"] = _mean_auc(readings, "open", scales)
    choices = [r for r in readings if r.task == "choice"]
    figures["choice"] = float(np.mean([int(r.full(scales).argmax()) == r.answer for r in choices]))
    figures["score"] = _skill([r for r in readings if r.task == "score"], scales)
    figures["level"] = _skill([r for r in readings if r.task == "level"], scales)
    figures["criterion"] = sum(weight * figures[name] for name, weight in CRITERION.items())
    return figures


def _reading(task: str, example: Example, row: Prepared, logits: Tensor) -> Reading:
    return Reading(task, example.group, TYPES[row.column], logits, row.priors, row.answer)


def _mean_auc(readings: Sequence[Reading], task: str, scales: Scales) -> float:
    groups: dict[str, list[Reading]] = {}
    for reading in readings:
        if reading.task == task:
            groups.setdefault(reading.group, []).append(reading)
    values = [auc([float(r.full(scales)[0]) for r in rows], [r.answer == 0 for r in rows]) for rows in groups.values()]
    return float(np.nanmean(values)) if values else math.nan


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

    weights = [0.0, 0.15, 0.3, 0.45, 0.6, 0.8, 1.0]
    noul = min(
        ((a, w) for a in grid for w in weights),
        key=lambda x: loss("noul", Scales(noul_pair=x[0], noul_prior=x[1])),
    )
    choice = min(
        ((a, w) for a in grid for w in priors),
        key=lambda x: loss("choice", Scales(choice_pair=x[0], choice_prior=x[1])),
    )
    score = min(
        ((a, w) for a in grid for w in weights),
        key=lambda x: loss("score", Scales(score_pair=x[0], score_prior=x[1])),
    )
    return Scales(*noul, *choice, *score)


def many_questions(intents: Sequence[IntentSet], *, rows: int, seed: int) -> list[tuple[Choice, str, int]]:
    """Choices among all intents of a set, test messages, and the right answer's index in request order."""
    rng = random.Random(seed)
    out = []
    for intent_set in intents:
        names = sorted(intent_set.test)
        question = Choice(instructions=intent_set.question["instructions"], criteria=dict.fromkeys(names))
        order = list(question.option_ids())
        for name in rng.choices(names, k=rows):
            out.append((question, rng.choice(intent_set.test[name]), order.index(name)))
    return out


def fit_many(logits: Sequence[Tensor], answers: Sequence[int], doublings: Sequence[float]) -> float:
    """`Scales.choice_many` that minimises the negative log-likelihood; `doublings` of the shortlist per question."""
    rows = list(zip(logits, answers, doublings, strict=True))
    grid = [-0.1 + 0.02 * i for i in range(60)]
    return min(grid, key=lambda m: -sum(float((z * (1 + m * d)).log_softmax(0)[a]) for z, a, d in rows))
