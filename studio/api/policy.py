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
from typing import TypeAlias

from model.engine import Decision
from model.questions import schema_hash
from storage.database import Database, DatabaseError
from storage.policies import Outcome, policy_in_force

log = logging.getLogger(__name__)

Outcomes: TypeAlias = Mapping[str, Outcome]
"""By question id, in request order."""


def outcomes(database: Database, decision: Decision) -> Outcomes:
    """See the module's contract."""
    try:
        found = policy_in_force(database, questions=schema_hash(decision.questions), scorer=decision.scorer.fingerprint)
    except DatabaseError as error:
        log.error("the policies could not be read: %s", error)
        return {}
    said = {question: found.outcome(question, answer) for question, answer in decision.answers.items()}
    return {question: outcome for question, outcome in said.items() if outcome is not None}
