"""Calibrators at work: what is on changes the answers of the one scorer and questions that it was fitted on.

Contract
--------
`Calibrations.finish` is given to the engine (`Engine.finish`): every decision goes through it, wherever it was asked
for. A decision that a calibrator changed was made by another scorer (checkpoint + calibrator): its fingerprint is that
of both, so that its figures are never pooled with the base's, and no label of it calibrates the base. What is on is
kept in memory and read again by `refresh`.
"""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import replace
from typing import Any

import numpy as np

from model.answers import Answer
from model.engine import Decision
from model.questions import schema_hash
from model.scorer import ScorerInfo
from storage.calibrators import KeptCalibrator, active_calibrators
from storage.database import Database
from studio.calibration.recalibrate import Calibrator


class Calibrations:
    """See the module's contract. May be used from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._on: dict[str, dict[str, list[KeptCalibrator]]] = {}
        self.refresh()

    def refresh(self) -> None:
        """Reads again what is on."""
        on: dict[str, dict[str, list[KeptCalibrator]]] = {}
        for kept in active_calibrators(self._database):
            on.setdefault(kept.scorer, {}).setdefault(kept.questions, []).append(kept)
        with self._lock:
            self._on = on

    def answering(self, scorer: ScorerInfo, questions: str) -> ScorerInfo:
        """Who answers these questions (sha256) when `scorer` is loaded: itself, or with the calibrators that are on."""
        with self._lock:
            kept = self._on.get(scorer.fingerprint, {}).get(questions)
        return recalibrated_scorer(scorer, kept) if kept else scorer

    def finish(self, decision: Decision) -> Decision:
        """The decision with the answers that calibrators give; the same object where none is on for it."""
        with self._lock:
            of_scorer = self._on.get(decision.scorer.fingerprint)
        # Hashing the questions is only worth it where something might be on.
        kept = of_scorer.get(schema_hash(decision.questions)) if of_scorer else None
        if not kept:
            return decision
        answers = dict(decision.answers)
        for one in kept:
            answers[one.question] = recalibrated(answers[one.question], Calibrator.parse(dict(one.document)))
        return replace(decision, answers=answers, scorer=recalibrated_scorer(decision.scorer, kept))


def recalibrated(answer: Answer, calibrator: Calibrator) -> Answer:
    """The answer with recalibrated probabilities."""
    (row,) = calibrator.apply(np.asarray([answer.probabilities], dtype=np.float64))
    return replace(answer, probabilities=tuple(float(p) for p in row))


def recalibrated_scorer(base: ScorerInfo, kept: list[KeptCalibrator]) -> ScorerInfo:
    """Who answers then: the base with its calibrators, under a fingerprint of its own."""
    documents: dict[str, Any] = {one.question: dict(one.document) for one in kept}
    text = json.dumps({"base": base.fingerprint, "calibrators": documents}, sort_keys=True)
    return replace(
        base,
        name=f"{base.name}, recalibrated",
        fingerprint=hashlib.sha256(text.encode()).hexdigest(),
        details={**base.details, "base": base.fingerprint, "calibrators": documents},
    )
