"""What stands between the queues in storage and the statistics: it fills queues, and orders them by doubt.

Contract
--------
`fill` puts decisions that arrived since into a queue, a bounded number at a time; `order_by` changes the measure of
doubt. Both are idempotent and may run in any thread, at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from storage.database import Database
from storage.queue import Measure, Queue, arrivals, enrol, items_of, remeasure
from studio.calibration.sampling import doubt, target

PORTION = 1_000
"""Decisions that one call of `fill` looks at: a few hundredths of a second."""


def fill(database: Database, queue: Queue, *, portion: int = PORTION) -> bool:
    """Takes in what arrived, at most `portion` decisions; returns whether there is more."""
    found = arrivals(database, queue.serial, limit=portion)
    if found.decisions:
        enrol(database, found, _targets(found.probabilities, measure=queue.measure, ordered=found.ordered))
    return found.more


def order_by(database: Database, queue: Queue, measure: Measure) -> None:
    """Orders a queue by another measure of doubt; what was shown keeps its odds. Raises NotFound, InvalidValue."""
    ordered, probabilities = items_of(database, queue.serial)
    targets = _targets(list(probabilities.values()), measure=measure, ordered=ordered) if probabilities else []
    remeasure(database, queue.serial, measure, dict(zip(probabilities, targets, strict=True)))


def _targets(probabilities: Sequence[Sequence[float]], *, measure: Measure, ordered: bool) -> list[float]:
    return [float(x) for x in target(doubt(probabilities, measure=measure, ordered=ordered))]
