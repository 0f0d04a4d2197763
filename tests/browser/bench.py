"""A studio inside this process, with a scorer of ours: for states of the page that a real model passes too quickly."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import uvicorn

from model.engine import Engine, Progress
from model.questions import CLEF_LIMITS, Limits, Questions, render
from model.scorer import Reading, Request, Scorer, ScorerInfo
from model.state import Cut, State, Tokens, TooLong
from studio.server import build
from studio.settings import Settings


class WordCounter:
    """Follows `model.scorer.Scorer`: a token is a word, and the last option always leads.

    `looks_at`: how many characters of the state it claims to read; `says`: words that it claims to find in pictures.
    """

    limits: Limits = CLEF_LIMITS

    def __init__(self, max_tokens: int = 200, looks_at: int | None = None, says: str = "") -> None:
        self.looks_at, self.says = looks_at, says
        self.info = ScorerInfo(
            name="word counter",
            kind="embedded",
            fingerprint="0" * 64,
            question_ids="neutral",
            max_tokens=max_tokens,
            sees_pictures=False,
            notice="small demo model; load Clef for real work",
        )

    def count(self, state: State, questions: Questions) -> Tokens:
        """Words of the state, ten a question."""
        words = len(render(state.value).split())
        return Tokens(words, 0, 10 * len(questions), 0, self.info.max_tokens, words)

    def score(self, requests: Sequence[Request]) -> list[Reading]:
        """See the class."""
        return [self._read(request) for request in requests]

    def _read(self, request: Request) -> Reading:
        tokens = self.count(request.state, request.questions)
        text = render(request.state.value)
        cut = None
        if (over := tokens.needed - tokens.limit) > 0:
            kept = " ".join(text.split(" ")[:-over])
            cut = Cut(tokens=over, start=len(kept))
            if not request.allow_cut:
                raise TooLong(tokens, cut)
            tokens = Tokens(tokens.state, 0, tokens.questions, 0, tokens.limit, tokens.state - over)
        return Reading(
            logits={key: [float(i) for i, _ in enumerate(q.options())] for key, q in request.questions.items()},
            tokens=tokens,
            cut=cut,
            words=tuple(self.says for _ in request.state.pictures),
            looked=dict.fromkeys(request.questions, ((0, self.looks_at),)) if self.looks_at else {},
        )


@cache
def _port() -> int:
    """One free port for all studios of this process: at the same address, the browser has their scripts already."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def serving(data: Path, load: Callable[[Progress], Scorer]) -> Iterator[str]:
    """The address of a studio whose engine opens its scorer by `load`. One at a time."""
    app = build(Settings(data=data, port=0), engine=Engine(load))
    # Pages that are still open are not waited for.
    config = uvicorn.Config(app, port=_port(), log_level="error", timeout_graceful_shutdown=0)
    server = uvicorn.Server(config)
    started = threading.Event()
    startup = server.startup

    async def start_up(sockets: list | None = None) -> None:  # type: ignore[type-arg]
        await startup(sockets)
        started.set()

    server.startup = start_up  # type: ignore[method-assign]
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    assert started.wait(60), "the server did not start"
    try:
        yield f"http://127.0.0.1:{_port()}"
    finally:
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive(), "the server did not end"
