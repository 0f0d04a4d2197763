"""Failed sign-ins: after some, the next one has to wait, longer each time.

Contract
--------
Counted three ways: for a name from an address, for an address, for a name. Each has its own number of free attempts;
every further one doubles the wait, from one second to `LONGEST`. An attempt counts as failed until it succeeds, so that
many at once gain nothing. Failures are forgotten after `MEMORY`; a name is never locked for longer than `LONGEST`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

FREE: Final = {"both": 5, "address": 20, "name": 100}
"""Attempts before the first wait."""
LONGEST: Final = 60.0
MEMORY: Final = 900.0
"""Seconds."""
MOST: Final = 10_000
"""Counts that are held; the oldest go first."""


@dataclass
class _Count:
    failed: int
    last: float


class Attempts:
    """See the module's contract. Belongs to one event loop; `now` is a clock in seconds."""

    def __init__(self, *, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._counts: dict[tuple[str, str, str], _Count] = {}

    def wait(self, name: str, address: str) -> float:
        """Seconds until the next attempt is taken; 0 for now."""
        now = self._now()
        waits = [0.0]
        for key in _keys(name, address):
            count = self._counts.get(key)
            if count is None or now - count.last > MEMORY:
                continue
            over = count.failed - FREE[key[0]]
            if over >= 0:
                waits.append(count.last + min(LONGEST, 2.0 ** min(over, 30)) - now)
        return max(waits)

    def begun(self, name: str, address: str) -> None:
        """An attempt begins: it counts as failed until `succeeded`."""
        now = self._now()
        for key in _keys(name, address):
            count = self._counts.pop(key, None)
            if count is None or now - count.last > MEMORY:
                count = _Count(0, now)
            # Last in the order: the first is the oldest.
            self._counts[key] = _Count(count.failed + 1, now)
        while len(self._counts) > MOST:
            del self._counts[next(iter(self._counts))]

    def succeeded(self, name: str, address: str) -> None:
        """The attempt was right. The address keeps its other failures: one's own account is no way round them."""
        both, from_address, for_name = _keys(name, address)
        for key in (both, for_name):
            self._counts.pop(key, None)
        if (count := self._counts.get(from_address)) is not None:
            count.failed -= 1


def _keys(name: str, address: str) -> tuple[tuple[str, str, str], ...]:
    name = name.casefold()
    return ("both", name, address), ("address", "", address), ("name", name, "")
