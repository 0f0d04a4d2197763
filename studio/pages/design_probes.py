"""Long questions to the model on behalf of the page: started, watched, stopped, and never in the way of typing.

Contract
--------
`Probes.start` runs work in a thread of its own and returns the probe's id; `state` tells how far it is; `stop` ends it
after the requests that run. A tab has one probe: a newer one ends the older. A probe that nobody has asked about for
`FORGOTTEN` seconds ends too: its page is gone. Work is given an `Ask` (`model.asking`) that keeps so few requests in
the engine's queue at once that what is typed waits for about `PATIENCE` seconds at most.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from model.asking import Ask, through
from model.engine import Decision, Engine
from model.questions import Json
from model.scorer import Request
from studio.pages.design_ask import EXPECTED, FAILED, refused

log = logging.getLogger(__name__)

PATIENCE = 0.1
"""Seconds of model time that a probe may have in the queue (but one request always)."""
WIDEST = 8
FORGOTTEN = 20.0
REMEMBERED = 32

Work: TypeAlias = Callable[[Ask], dict[str, Any]]
"""Asks through what it is given, and returns plain JSON."""


class Stopped(Exception):
    """The probe was stopped."""


@dataclass
class _Probe:
    key: str
    about: int
    phase: Literal["waiting", "running", "done", "failed", "stopped"] = "waiting"
    done: int = 0
    result: dict[str, Any] | None = None
    error: Json = None
    seen: float = field(default_factory=time.monotonic)
    halt: threading.Event = field(default_factory=threading.Event)

    def go_on(self) -> None:
        """Raises Stopped when nobody wants the answer any more."""
        if self.halt.is_set() or time.monotonic() - self.seen > FORGOTTEN:
            raise Stopped


class Probes:
    """See the module's contract."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._pool = ThreadPoolExecutor(max_workers=2, thread_name_prefix="probe")
        self._lock = threading.Lock()
        self._probes: OrderedDict[str, _Probe] = OrderedDict()

    def start(self, key: str, work: Work, *, about: int) -> str:
        """Starts `work` for the tab `key`; `about` is how many requests it may take."""
        name, probe = str(uuid.uuid4()), _Probe(key, about)
        with self._lock:
            for other in self._probes.values():
                if other.key == key:
                    other.halt.set()
            self._probes[name] = probe
            while len(self._probes) > REMEMBERED:
                _, old = self._probes.popitem(last=False)
                old.halt.set()
        self._pool.submit(self._run, probe, work)
        return name

    def state(self, name: str) -> dict[str, Json] | None:
        """{phase, done, about, result, error} of a probe; None for one that is not known (any more)."""
        with self._lock:
            probe = self._probes.get(name)
            if probe is None:
                return None
            probe.seen = time.monotonic()
            about = max(probe.about, probe.done)
            return {
                "phase": probe.phase, "done": probe.done, "about": about, "result": probe.result, "error": probe.error,
            }  # fmt: skip

    def stop(self, name: str) -> None:
        """Ends a probe; does nothing to one that has ended."""
        with self._lock:
            if (probe := self._probes.get(name)) is not None:
                probe.halt.set()

    def _run(self, probe: _Probe, work: Work) -> None:
        try:
            probe.go_on()
            probe.phase = "running"
            result = work(self._through(probe))
        except Stopped:
            self._end(probe, "stopped")
        except EXPECTED as failure:
            self._end(probe, "failed", error=refused(failure))
        except Exception:
            # The page's last resort, as for every request of it.
            log.exception("a probe of the page failed")
            self._end(probe, "failed", error=FAILED)
        else:
            self._end(probe, "done", result=result)

    def _end(
        self, probe: _Probe, phase: Literal["done", "failed", "stopped"], result: Any = None, error: Json = None
    ) -> None:
        with self._lock:
            probe.result, probe.error, probe.phase = result, error, phase

    def _through(self, probe: _Probe) -> Ask:
        wide = 1

        def ask(requests: Sequence[Request]) -> list[Decision]:
            nonlocal wide
            done: list[Decision] = []
            while len(done) < len(requests):
                probe.go_on()
                chunk = requests[len(done) : len(done) + wide]
                done += through(self._engine, window=wide)(chunk)
                probe.done += len(chunk)
                wide = max(1, min(WIDEST, int(PATIENCE / max(done[-1].seconds, 1e-4))))
            return done

        return ask
