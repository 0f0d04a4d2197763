"""The canary: golden decisions judged again when a model has loaded. Is it the model that the labels came from?

Contract
--------
* Golden are decisions of the loaded scorer (its fingerprint) that a person labelled, newest first, at most `GOLDEN`,
  whose states are still there. A fingerprint is over all that should decide a number; what it cannot know, such as a
  damaged weight in memory, another library or a driver, shows here alone.
* Nothing is kept: the result is in memory, till the next start. It is asked one by one, so that nobody waits for long.
* Calibrators are left out on both sides: what the model itself says is compared.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa
from sqlmodel import col

from model.engine import Busy, Closed, Decision, Engine, decision_of
from model.images import PAGE_CAPS, read_picture
from model.questions import InvalidRequest
from model.scorer import Request, Scorer, ScorerInfo
from model.state import State, parse_state
from storage.database import Database, DatabaseError
from storage.decisions import StoredDecision
from storage.labels import standing
from storage.replays import read_original
from storage.tables import DecisionRow, LabelRow, ScorerRow

log = logging.getLogger(__name__)

GOLDEN = 16
EXACT = 1e-3
"""Of a probability, in float32: another order of sums moves logits by some 1e-5; a hundred times that is no noise."""
ROUGH = 2e-2
"""In half precision: bfloat16 holds three digits, so that another batch may move a logit by 0.05, and a probability by
a quarter of that."""


@dataclass(frozen=True)
class Watched:
    """What the canary found.

    "done" is also what could not be looked at, such as where no model loads: nothing more comes.
    `asked` golden decisions were judged again: `changed` of them differ by more than `tolerance` in a probability,
    `flipped` of them lead with another option; `largest` is the largest difference. `others` counts labelled decisions
    of scorers of the same name and other fingerprints. None of them says anything before `phase` is "done".
    """

    phase: Literal["waiting", "done"] = "waiting"
    scorer: str = ""
    asked: int = 0
    changed: int = 0
    flipped: int = 0
    largest: float = 0.0
    tolerance: float = EXACT
    others: int = 0

    @property
    def alarm(self) -> str:
        """What is wrong, for a person; "" where nothing is."""
        if not self.changed:
            return ""
        more = f", {self.flipped} of them to another answer" if self.flipped else ""
        return (
            f"This is not the model your labels came from: {self.changed} of {self.asked} golden answers changed{more} "
            f"(by up to {self.largest:.2g}; {self.tolerance:g} is allowed). Do not rely on these figures or policies "
            "before you know why: a damaged file, another library version, or other hardware."
        )

    @property
    def note(self) -> str:
        """What is good to know, for a person; "" where nothing is."""
        if self.phase != "done" or self.asked or not self.others:
            return ""
        return (
            f"{self.others:,} labelled answers came from another checkpoint named {self.scorer}, or other settings of "
            "it. The loaded one has no labels: its figures start anew."
        )


class Canary:
    """See the module's contract. `look` is started once; `found` may be read from any thread."""

    def __init__(self, database: Database, engine: Engine) -> None:
        self._database = database
        self._engine = engine
        self.found = Watched()
        self._thread = threading.Thread(target=self._work, name="clef-canary", daemon=True)

    def start(self) -> None:
        """Begins as soon as the model has loaded; once."""
        self._thread.start()

    def wait(self, seconds: float) -> Watched:
        """What was found, once it was; what is known after `seconds` otherwise."""
        self._thread.join(seconds)
        return self.found

    def _work(self) -> None:
        scorer = self._engine.wait_ready().scorer
        if scorer is None:
            self.found = Watched("done")
            return
        try:
            self.found = look(self._database, self._engine, scorer)
        except (Closed, DatabaseError) as error:
            # The studio ends, or its database cannot be read: others say so.
            log.info("golden decisions were not asked again: %s", error)
            self.found = Watched("done", scorer.name)
            return
        if self.found.alarm:
            log.warning(self.found.alarm)


def look(database: Database, engine: Engine, scorer: ScorerInfo) -> Watched:
    """Judges the golden decisions of the loaded scorer again. Raises Closed."""
    tolerance = EXACT if scorer.dtype == "float32" else ROUGH
    asked = changed = flipped = 0
    largest = 0.0
    for key in _golden(database, scorer.fingerprint):
        original = read_original(database, key)
        again = None if original is None else _ask(engine, *original)
        if original is None or again is None:
            continue
        asked += 1
        apart, moved = _apart(original[0], again)
        largest = max(largest, apart)
        changed += apart > tolerance
        flipped += moved and apart > tolerance
    others = 0 if asked else _labelled_by_others(database, scorer)
    return Watched("done", scorer.name, asked, changed, flipped, largest, tolerance, others)


def _ask(engine: Engine, original: StoredDecision, pictures: tuple[bytes, ...]) -> Decision | None:
    """What the model says now; None where it does not take the request any more (other limits)."""
    try:
        seen = tuple(read_picture(data, caps=PAGE_CAPS) for data in pictures)
        state: State = parse_state(original.state, seen, limits=engine.scorer.limits)
    except InvalidRequest:
        return None
    request = Request(state, original.questions, allow_cut=original.cut is not None)

    def ask(scorer: Scorer) -> Decision:
        (reading,) = scorer.score([request])
        return decision_of(request, reading, scorer.info, 0.0)

    while True:
        try:
            return engine.run(ask).result()
        except Busy:
            # People come first.
            time.sleep(0.5)
        except InvalidRequest:
            return None


def _apart(original: StoredDecision, again: Decision) -> tuple[float, bool]:
    """The largest difference of a probability, and whether another option leads anywhere."""
    apart, moved = 0.0, False
    for key, before in original.answers.items():
        now = again.answers[key]
        apart = max(apart, *(abs(p - q) for p, q in zip(before.probabilities, now.probabilities, strict=True)))
        moved = moved or before.top != now.top
    return apart, moved


def _golden(database: Database, fingerprint: str) -> list[str]:
    labelled = sa.select(col(LabelRow.decision)).where(*standing())
    query = (
        sa.select(col(DecisionRow.id))
        .where(
            col(DecisionRow.scorer) == fingerprint,
            col(DecisionRow.redacted).is_(None),
            col(DecisionRow.serial).in_(labelled),
        )
        .order_by(col(DecisionRow.serial).desc())
        .limit(GOLDEN)
    )
    with database.read_session() as session:
        return list(session.execute(query).scalars())


def _labelled_by_others(database: Database, scorer: ScorerInfo) -> int:
    query = (
        sa.select(sa.func.count(sa.distinct(col(LabelRow.decision))))
        .join(DecisionRow, col(DecisionRow.serial) == col(LabelRow.decision))
        .join(ScorerRow, col(ScorerRow.fingerprint) == col(DecisionRow.scorer))
        .where(*standing(), col(ScorerRow.name) == scorer.name, col(ScorerRow.fingerprint) != scorer.fingerprint)
    )
    with database.read_session() as session:
        return int(session.execute(query).scalar_one())
