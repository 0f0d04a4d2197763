"""How a job asks the engine for many decisions: a few ahead, so that people wait little, in portions that fit.

Contract
--------
* `Ahead` keeps at most `AHEAD` of a job's requests in the engine. Each is settled, in order, when its turn comes; the
  last ones by `rest`. Where others fill the queue, it waits, and hears meanwhile whether the job is to stop.
* `Pace` says how large the next portion is: what is done of it is lost when the studio ends, and a person's wish is
  heard between two.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, wait

from model.engine import Busy, Decision, Engine
from model.scorer import Request
from studio.jobs import Watch

AHEAD = 8
"""Requests of a job that wait in the engine: what a person who types waits for at most."""
PORTION = 64
"""Requests per transaction at most: what a power cut costs."""
QUICK, SLOW = 1.0, 2.5
"""Seconds: portions that take less grow, those that take more shrink, so that a wish is heard soon on any machine."""


class Ahead:
    """See the module's contract."""

    def __init__(self, engine: Engine, watch: Watch) -> None:
        self._engine, self._watch = engine, watch
        self._waiting: deque[tuple[Future[Decision], Callable[[Future[Decision]], None]]] = deque()

    def ask(self, request: Request, settle: Callable[[Future[Decision]], None]) -> None:
        """Asks, after the oldest was settled where too many wait. Raises what `Watch.check` and `settle` raise."""
        if len(self._waiting) >= AHEAD:
            self._settle()
        while True:
            try:
                self._waiting.append((self._engine.submit(request), settle))
                return
            except Busy:
                # Others fill the queue: our own oldest one makes room, or a moment passes.
                if self._waiting:
                    wait([self._waiting[0][0]], timeout=0.2)
                else:
                    time.sleep(0.05)
                self._watch.check()

    def rest(self) -> None:
        """Settles all that still wait."""
        while self._waiting:
            self._settle()

    def _settle(self) -> None:
        future, settle = self._waiting.popleft()
        settle(future)


class Pace:
    """The size of portions, at first `AHEAD`, at most `most`."""

    def __init__(self, most: int = PORTION) -> None:
        self._most = most
        self.size = min(most, AHEAD)

    def took(self, seconds: float) -> None:
        """A portion took so long."""
        if seconds < QUICK:
            self.size = min(self._most, 2 * self.size)
        elif seconds > SLOW:
            self.size = max(1, self.size // 2)
