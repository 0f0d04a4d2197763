"""Asking many variants of one request, and knowing what the first answer was made from.

Contract
--------
A probe (`model.evidence`, `model.interference`) asks through an `Ask`: requests in, decisions out, in order. Two are
made here: `through` an engine (many requests, yet a page that is being typed into waits for a few of them at most) and
`directly` on a scorer that nobody else uses. `baseline` asks the unchanged request; every change is measured against
that decision. No torch.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import TypeAlias

from model.engine import Busy, Decision, Engine, decision_of
from model.questions import render
from model.scorer import Request, Scorer
from model.state import State

Ask: TypeAlias = Callable[[Sequence[Request]], list[Decision]]
"""One decision per request, in order. Raises what the scorer raises."""


def through(engine: Engine, *, window: int = 8, timeout: float | None = None) -> Ask:
    """An `Ask` on a running engine.

    Parameters
    ----------
    window : how many requests wait in the engine at once. The engine's own batch size is a good value: fewer starve
        the batch, more keep other people waiting.
    timeout : the most seconds to wait for one decision.

    Raises (when asked)
    -------------------
    Busy : others fill the queue and none of ours is in it. NotReady, Closed : as `Engine.submit`.
    """
    if window < 1:
        raise ValueError("window: must be at least 1")

    def ask(requests: Sequence[Request]) -> list[Decision]:
        done: list[Decision] = []
        waiting: deque[Future[Decision]] = deque()
        try:
            for request in requests:
                if len(waiting) >= window:
                    done.append(waiting.popleft().result(timeout))
                while True:
                    try:
                        waiting.append(engine.submit(request))
                        break
                    except Busy:
                        if not waiting:
                            raise
                        done.append(waiting.popleft().result(timeout))
            while waiting:
                done.append(waiting.popleft().result(timeout))
        finally:
            # After a failure nobody reads the rest; without one there is no rest.
            for future in waiting:
                future.cancel()
        return done

    return ask


def directly(scorer: Scorer) -> Ask:
    """An `Ask` on a scorer that only the caller's thread uses (scripts, benchmarks, tests)."""

    def ask(requests: Sequence[Request]) -> list[Decision]:
        started = time.perf_counter()
        readings = scorer.score(requests)
        seconds = (time.perf_counter() - started) / max(1, len(requests))
        return [
            decision_of(request, reading, scorer.info, seconds)
            for request, reading in zip(requests, readings, strict=True)
        ]

    return ask


def baseline(ask: Ask, request: Request) -> tuple[Request, Decision, int]:
    """The request as it was read, its decision, and how many requests that took.

    A state that was cut is replaced by the text that was read, and asked again: otherwise each removed sentence, or
    each question left out, would let unread text in, and its effect would be taken for the removal's.
    """
    (decision,) = ask([request])
    if decision.cut is None:
        return request, decision, 1
    read = State(render(request.state.value)[: decision.cut.start], request.state.pictures)
    request = replace(request, state=read)
    (decision,) = ask([request])
    return request, decision, 2


def room(request: Request, decision: Decision, tokens: int) -> bool:
    """Whether the request can grow by `tokens` and still be answered. A limit of 0 means that none is known."""
    limit = decision.tokens.limit
    return request.allow_cut or not limit or decision.tokens.needed + tokens <= limit
