"""The desk between HTTP and the engine: one way in for every API route.

Contract
--------
`Desk.decide` takes a body off the wire, reads it in a thread (the event loop stays free for others), asks the engine
and waits. What is waiting is bounded three times: requests in progress and pixels here, the queue in the engine; beyond
that it is `Busy` at once. When the client hangs up, its place in the queue is given free.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from fastapi import Request

from model.engine import Busy, Decision, Engine
from model.questions import FieldError, Limits, StateError
from model.scorer import Request as Asked
from storage.policies import Outcome
from studio.api.bodies import Body, Wire, parse, receive
from studio.api.errors import ClientGone
from studio.api.recorder import Recorder
from studio.policy import rulings

MAX_IN_PROGRESS = 128
"""Requests whose body is being received, read, or waits for the engine."""
MAX_PIXELS = 256_000_000
"""Pixels of all pictures that wait: 768 MB as RGB. One request alone may hold 64 million."""
READERS = 2
"""Bodies that are decoded at the same time."""


@dataclass(frozen=True)
class Asking:
    """What a body asks: the engine's request, and the files of its pictures, in order."""

    request: Asked
    files: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class Decided:
    """A decision, the id under which it was recorded, and what policies say to its answers."""

    decision: Decision
    id: str | None = None
    policy: Mapping[str, Outcome] = field(default_factory=dict)


class Desk:
    """See the module's contract. `recorder`: keeps the decisions that are to be kept."""

    def __init__(self, engine: Engine, limits: Limits, recorder: Recorder) -> None:
        self.engine = engine
        self.limits = limits
        self.recorder = recorder
        self._in_progress = 0
        self._pixels = 0
        self._readers = anyio.CapacityLimiter(READERS)

    async def decide(self, http: Request, read: Callable[[Body], Asking]) -> Decided:
        """The decision that `http` asks for.

        Parameters
        ----------
        read : makes the engine's request of the body; runs in a thread.

        Raises
        ------
        What `studio.api.errors.explain` knows: InvalidRequest, ApiError, NotReady, Busy, Closed, ClientGone.
        """
        with self._place():
            asking = await self._read(await receive(http), read)
            asked = asking.request
            info = self.engine.scorer.info
            if asked.state.pictures and not (info.sees_pictures or info.reads_words):
                message = "this model reads text only; for pictures load a Clef release (--model)"
                raise StateError([FieldError(("images",), message, "media_type")])
            with self._pictures(asked):
                decision = await self._answer(http, asked)
            return await anyio.to_thread.run_sync(self._finish, decision, asking.files)

    async def _read(self, wire: Wire, read: Callable[[Body], Asking]) -> Asking:
        return await anyio.to_thread.run_sync(lambda: read(parse(wire)), limiter=self._readers)

    def _finish(self, decision: Decision, files: tuple[bytes, ...]) -> Decided:
        """What the database adds to a decision."""
        said = {key: ruling.outcome for key, ruling in rulings(self.recorder.database, decision).items()}
        return Decided(decision, self.recorder.keep(decision, files), said)

    async def _answer(self, http: Request, asked: Asked) -> Decision:
        answer = asyncio.wrap_future(self.engine.submit(asked))
        gone = asyncio.ensure_future(_hung_up(http))
        try:
            tasks: list[asyncio.Future[Any]] = [answer, gone]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                raise ClientGone
            return answer.result()
        finally:
            # Cancelling what still waits takes it out of the engine's queue; what runs is left to run.
            answer.cancel()
            gone.cancel()

    @contextmanager
    def _place(self) -> Iterator[None]:
        if self._in_progress >= MAX_IN_PROGRESS:
            raise Busy(f"{MAX_IN_PROGRESS} requests are in progress already; try again soon")
        self._in_progress += 1
        try:
            yield
        finally:
            self._in_progress -= 1

    @contextmanager
    def _pictures(self, asked: Asked) -> Iterator[None]:
        pixels = sum(picture.width * picture.height for picture in asked.state.pictures)
        if self._pixels and self._pixels + pixels > MAX_PIXELS:
            raise Busy("too many large pictures are waiting already; try again soon")
        self._pixels += pixels
        try:
            yield
        finally:
            self._pixels -= pixels


async def _hung_up(http: Request) -> None:
    """Returns when the client has gone. The body must have been received."""
    while (await http.receive())["type"] != "http.disconnect":
        pass
