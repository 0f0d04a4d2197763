"""The engine: one worker thread owns the model; everything that wants a decision asks here.

Contract
--------
* `Engine(load)` loads in its own thread at once; `status` says how far it is. Nobody else runs the scorer.
* `submit` puts a request into a bounded queue (`Busy` when full, `NotReady` while loading) and returns a future.
* `key` marks requests of which only the newest matters (a page that is being typed into): a queued request with the
  same key is dropped (its future raises `Superseded`). A request that is already running is never interrupted.
* A future that its owner cancelled while it waited is not run, and gives its place in the queue free.
* Requests that wait are read together, up to `batch` at a time. If one of a batch fails, each is asked alone, so that
  a bad request spoils no other.
* Other work on the scorer (`run`, such as `look`) waits in the same queue under the same rules, and runs alone.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar

from model.answers import Answer, answers_from_logits
from model.looked import Looked, look
from model.questions import InvalidRequest, Questions
from model.scorer import Reading, Request, Scorer, ScorerInfo
from model.state import Cut, State, Tokens

log = logging.getLogger(__name__)

Progress: TypeAlias = Callable[[str, float | None], None]
"""Called with a plain sentence and, where it is known, the share done (0..1)."""
T = TypeVar("T")


class NotReady(RuntimeError):
    """The scorer is still loading, or failed to load; the message says which."""


class Busy(RuntimeError):
    """The queue is full: try again soon."""


class Superseded(RuntimeError):
    """A newer request with the same key took this one's place."""


class Closed(RuntimeError):
    """The engine was closed."""


@dataclass(frozen=True)
class EngineStatus:
    """`progress` is the share loaded (0..1) where it is known; `message` is for a person."""

    phase: Literal["loading", "ready", "failed", "closed"]
    message: str
    progress: float | None = None
    scorer: ScorerInfo | None = None


@dataclass(frozen=True)
class Decision:
    """One state judged under one set of questions by one scorer. Probabilities inside are unrounded."""

    state: State
    questions: Questions
    scorer: ScorerInfo
    answers: Mapping[str, Answer]
    tokens: Tokens
    seconds: float
    """Model time of this request, in seconds; of a batch, the batch's time divided by its size."""
    cut: Cut | None = None
    words: tuple[str, ...] = ()
    looked: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    reused: int = 0
    """Tokens of `tokens.total` that had been read before, so that this request did not pay for them."""


@dataclass
class _Job:
    """A request to decide, or other work."""

    wanted: Request | Callable[[Scorer], Any]
    key: str | None
    future: Future[Any]


class Engine:
    """See the module's contract.

    Parameters
    ----------
    load : opens the scorer; called once, in the worker thread, with a `Progress` to report to.
    capacity : how many requests may wait.
    batch : how many waiting requests are read together at most.

    `finish`, where it is set, makes of every decision the one that is given out (recalibration); it must be quick.
    """

    def __init__(self, load: Callable[[Progress], Scorer], *, capacity: int = 64, batch: int = 8) -> None:
        self._load = load
        self._capacity = capacity
        self._batch = batch
        self.finish: Callable[[Decision], Decision] | None = None
        self._jobs: deque[_Job] = deque()
        self._wake = threading.Condition()
        self._status = EngineStatus("loading", "The model is loading")
        self._scorer: Scorer | None = None
        # A daemon: a load or a forward pass that hangs must not keep the process from ending.
        self._thread = threading.Thread(target=self._work, name="clef-engine", daemon=True)
        self._thread.start()

    @property
    def status(self) -> EngineStatus:
        """How far the engine is."""
        return self._status

    @property
    def scorer(self) -> Scorer:
        """The loaded scorer, for `count`, `info` and `limits` only. Raises NotReady."""
        if self._scorer is None:
            raise NotReady(self._status.message)
        return self._scorer

    @property
    def waiting(self) -> int:
        """How many requests wait that somebody still wants."""
        with self._wake:
            return sum(not job.future.cancelled() for job in self._jobs)

    def wait_ready(self, timeout: float | None = None) -> EngineStatus:
        """Blocks until loading ended one way or the other, or until `timeout` seconds passed."""
        with self._wake:
            self._wake.wait_for(lambda: self._status.phase != "loading", timeout)
            return self._status

    def submit(self, request: Request, *, key: str | None = None) -> Future[Decision]:
        """A future of the decision. Raises NotReady, Busy or Closed at once; see the contract for `key`."""
        return self._put(request, key)

    def run(self, work: Callable[[Scorer], T], *, key: str | None = None) -> Future[T]:
        """A future of what `work` returns, run by the worker on the scorer. Raises as `submit`."""
        return self._put(work, key)

    def look(self, request: Request, question: str, option: str, *, key: str | None = None) -> Future[Looked | None]:
        """A future of where the option looked (`model.looked.look`). Raises as `submit`."""
        return self.run(lambda scorer: look(scorer, request, question, option), key=key)

    def _put(self, wanted: Request | Callable[[Scorer], Any], key: str | None) -> Future[Any]:
        future: Future[Any] = Future()
        dropped: list[_Job] = []
        with self._wake:
            if self._status.phase == "closed":
                raise Closed("the engine is closed")
            if self._status.phase != "ready":
                raise NotReady(self._status.message)
            if key is not None:
                dropped = [job for job in self._jobs if job.key == key]
                self._jobs = deque(job for job in self._jobs if job.key != key)
            if len(self._jobs) >= self._capacity:
                # Those that nobody wants any more make room.
                self._jobs = deque(job for job in self._jobs if not job.future.cancelled())
            if len(self._jobs) >= self._capacity:
                self._jobs.extend(dropped)
                raise Busy(f"{self._capacity} requests are waiting already; try again soon")
            self._jobs.append(_Job(wanted, key, future))
            self._wake.notify_all()
        for job in dropped:
            _fail(job.future, Superseded("a newer request took its place"))
        return future

    def decide(self, request: Request, *, key: str | None = None, timeout: float | None = None) -> Decision:
        """`submit` and wait. For `await`, use `asyncio.wrap_future(engine.submit(...))`."""
        return self.submit(request, key=key).result(timeout)

    def close(self) -> None:
        """Ends the worker after the request that runs; waiting requests fail with Closed. Never blocks for long."""
        with self._wake:
            self._status = EngineStatus("closed", "The engine is closed")
            waiting, self._jobs = list(self._jobs), deque()
            self._wake.notify_all()
        for job in waiting:
            _fail(job.future, Closed("the engine was closed"))

    def _set(self, status: EngineStatus) -> None:
        with self._wake:
            if self._status.phase != "closed":
                self._status = status
            self._wake.notify_all()

    def _work(self) -> None:
        try:
            scorer = self._load(lambda text, share: self._set(EngineStatus("loading", text, share)))
        except Exception as failure:
            log.exception("the scorer could not be opened")
            self._set(EngineStatus("failed", str(failure) or type(failure).__name__))
            return
        self._scorer = scorer
        self._set(EngineStatus("ready", f"{scorer.info.name} is ready", 1.0, scorer.info))
        while (jobs := self._next()) is not None:
            self._run(scorer, jobs)

    def _next(self) -> list[_Job] | None:
        """The next batch, marked as running; None when closed."""
        with self._wake:
            self._wake.wait_for(lambda: self._jobs or self._status.phase == "closed")
            if self._status.phase == "closed":
                return None
            taken = [self._jobs.popleft()]
            if isinstance(taken[0].wanted, Request):
                while self._jobs and len(taken) < self._batch and isinstance(self._jobs[0].wanted, Request):
                    taken.append(self._jobs.popleft())
        return [job for job in taken if job.future.set_running_or_notify_cancel()]

    def _run(self, scorer: Scorer, jobs: list[_Job]) -> None:
        if not jobs:
            return
        if not isinstance(jobs[0].wanted, Request):
            _work_on(scorer, jobs[0].wanted, jobs[0].future)
            return
        requests = [job.wanted for job in jobs if isinstance(job.wanted, Request)]
        started = time.perf_counter()
        try:
            readings = scorer.score(requests)
        except Exception as failure:
            # The edge of the worker: the failure belongs to the caller, and the next request must still be served.
            if len(jobs) == 1:
                if not isinstance(failure, InvalidRequest):
                    log.exception("a request failed in the scorer")
                _fail(jobs[0].future, failure)
                return
            for job in jobs:
                self._run(scorer, [job])
            return
        seconds = (time.perf_counter() - started) / len(jobs)
        for job, request, reading in zip(jobs, requests, readings, strict=True):
            try:
                decision = decision_of(request, reading, scorer.info, seconds)
                if self.finish is not None:
                    decision = self.finish(decision)
            except ArithmeticError as failure:
                log.exception("the scorer returned numbers that are not finite")
                _fail(job.future, failure)
            else:
                job.future.set_result(decision)


def _work_on(scorer: Scorer, work: Callable[[Scorer], Any], future: Future[Any]) -> None:
    try:
        result = work(scorer)
    except Exception as failure:
        # As for requests: the failure belongs to the caller.
        if not isinstance(failure, InvalidRequest):
            log.exception("work on the scorer failed")
        _fail(future, failure)
    else:
        future.set_result(result)


def decision_of(request: Request, reading: Reading, scorer: ScorerInfo, seconds: float) -> Decision:
    """The decision that a scorer's reading amounts to. Raises NotFinite for logits that are no numbers."""
    return Decision(
        state=request.state,
        questions=request.questions,
        scorer=scorer,
        answers=answers_from_logits(request.questions, reading.logits),
        tokens=reading.tokens,
        seconds=seconds,
        cut=reading.cut,
        words=reading.words,
        looked=reading.looked,
        reused=reading.reused,
    )


def _fail(future: Future[Any], failure: BaseException) -> None:
    # The owner may have cancelled it between our check and now; then there is nobody to tell.
    try:
        future.set_exception(failure)
    except InvalidStateError:
        log.debug("a dropped request was already cancelled")
