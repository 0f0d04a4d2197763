"""What labels buy: how far the next audit labels bring down the bound on errors above a threshold.

Contract
--------
Pure but for reading the evidence. Only audit labels count: the bound (Clopper and Pearson 1934, one-sided, 95 %) needs
labels that were drawn uniformly at random and weigh alike. "Next" assumes that errors and the share of answers above
the threshold stay as they are.
"""

from __future__ import annotations

import math

import numpy as np
from pydantic import BaseModel, Field

from model.questions import Json
from storage.database import Database
from storage.queue import open_queue
from studio.calibration.intervals import upper_bound
from studio.evidence import Evidence, gather
from studio.pages.design_schemas import Told, told
from studio.pages.label_desk import Where

NEXT = 20
"""Audit labels that the meter looks ahead."""
HARDLY = 0.002
"""A bound that falls by less is not worth the work any more."""


class Asked(BaseModel):
    """Where, and above which top probability."""

    where: Where
    threshold: float = Field(0.9, ge=0, le=1)


def worth_functions(database: Database) -> list[Told]:
    """The page's function about worth."""

    @told
    def worth(payload: Json) -> Json:
        given = Asked.model_validate(payload)
        where = given.where
        queue = open_queue(database, questions=where.questions, scorer=where.scorer, question=where.question)
        return meter(gather(database, queue), threshold=given.threshold)

    return [worth]


def meter(evidence: Evidence, *, threshold: float) -> dict[str, Json]:
    """The meter's numbers.

    Returns
    -------
    n : audit labels in all; above : those at or over the threshold; wrong : errors among these (an answer on which
    people differ counts by its share).
    now : the bound; then : the bound after `next` more audit labels; both null while nothing is above the threshold.
    hardly : whether that would no longer matter.
    """
    audit = evidence.audit
    top = evidence.probabilities.max(axis=1, initial=0.0)[audit]
    over = top >= threshold
    n, above = int(audit.sum()), int(over.sum())
    # Whole errors, rounded up: the bound is of counts, and must not gain from a doubt.
    wrong = math.ceil(float((1 - evidence.right[audit][over]).sum()) - 1e-9)
    found: dict[str, Json] = {
        "n": n, "above": above, "wrong": wrong, "threshold": threshold, "next": NEXT, "now": None, "then": None,
        "hardly": False,
    }  # fmt: skip
    if above == 0:
        return found
    now = _bound(wrong, above)
    more = round(NEXT * above / n)
    # So many errors more as the share so far would bring: none are wished away.
    then = _bound(wrong + round(more * wrong / above), above + more)
    found.update(now=now, then=then, hardly=now - then < HARDLY)
    return found


def _bound(wrong: int, n: int) -> float:
    return float(upper_bound(np.array([wrong]), np.array([n]))[0])
