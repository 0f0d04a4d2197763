"""A scorer without a model: logits are hashes of what was asked, so the wire can be tested exactly and at once."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence

from model.questions import CLEF_LIMITS, Limits, Question, Questions, render
from model.scorer import Reading, Request, ScorerInfo
from model.state import Cut, State, Tokens, TooLong

LIMIT = 20_000


class HashScorer:
    """One token per four characters. An answer depends on the state, its pictures' pixels and its own question."""

    def __init__(self, *, sees_pictures: bool = True, reads_words: bool = False, limits: Limits = CLEF_LIMITS) -> None:
        fingerprint = hashlib.sha256(b"hash-1").hexdigest()
        self.info = ScorerInfo("hash-1", "clef", fingerprint, "neutral", LIMIT, sees_pictures, reads_words)
        self.limits = limits
        self.open = threading.Event()
        self.open.set()
        self.entered = threading.Semaphore(0)
        self.asked: list[Request] = []

    def count(self, state: State, questions: Questions) -> Tokens:
        text = len(render(state.value)) // 4
        schema = sum(len(_text(question)) // 4 + 1 for question in questions.values())
        pictures = 10 * len(state.pictures)
        return Tokens(text, pictures, schema, 5, LIMIT, max(0, min(text, LIMIT - pictures - schema - 5)))

    def score(self, requests: Sequence[Request]) -> list[Reading]:
        self.entered.release()
        assert self.open.wait(30)
        self.asked += requests
        return [self._read(request) for request in requests]

    def _read(self, request: Request) -> Reading:
        tokens = self.count(request.state, request.questions)
        cut = None
        if tokens.needed > LIMIT:
            if not request.allow_cut or tokens.needed - tokens.state > LIMIT:
                raise TooLong(tokens)
            cut = Cut(tokens.state - tokens.read, 4 * tokens.read)
        seen = [hashlib.sha256(p.image.tobytes()).hexdigest() for p in request.state.pictures]
        state = render([request.state.value, seen])
        logits = {
            key: [_number(state, _text(question), option.id) for option in question.options()]
            for key, question in request.questions.items()
        }
        words = tuple(f"{p.width} by {p.height}" for p in request.state.pictures) if self.info.reads_words else ()
        return Reading(logits, tokens, cut, words)


def _text(question: Question) -> str:
    return (
        f"{question.type} {question.instructions!r} {question.criteria!r}"
        if question.type != "choice"
        else (f"choice {question.instructions!r} {sorted(question.criteria.items(), key=lambda item: item[0])!r}")
    )


def _number(*parts: str) -> float:
    digest = hashlib.sha256("\0".join(parts).encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**32 * 4 - 2
