"""What the policies in force say to a decision: act, ask or refuse.

Contract
--------
A policy counts for exactly the questions and the scorer that it was saved for, and sees the unrounded probability. A
question without one is not in the map: nothing allows a machine to act alone on it. Where the policies cannot be read,
none is, and the log says why: a caller that acts only on `act` is safe then too.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from model.engine import Decision
from model.questions import schema_hash
from storage.database import Database, DatabaseError
from storage.policies import Outcome, policy_in_force

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Ruling:
    """What a policy says to one answer, and its thresholds on the leading option's probability (None: never)."""

    outcome: Outcome
    act: float | None
    refuse: float | None


def rulings(database: Database, decision: Decision) -> Mapping[str, Ruling]:
    """By question id, in request order; see the module's contract."""
    try:
        found = policy_in_force(database, questions=schema_hash(decision.questions), scorer=decision.scorer.fingerprint)
    except DatabaseError as error:
        log.error("the policies could not be read: %s", error)
        return {}
    said = {}
    for question, answer in decision.answers.items():
        outcome = found.outcome(question, answer)
        if outcome is not None:
            policy = found.policies[question]
            said[question] = Ruling(outcome, policy.act, policy.refuse)
    return said
