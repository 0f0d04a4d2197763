"""From what the page sends to a decision, and from a decision to what the page paints.

Contract
--------
`Asker.ask` validates a payload once, asks the engine under the tab's key (the newest request of a tab wins) and replies
with plain JSON. It never raises. Decisions are remembered for a while under the run's uuid, so that a label can be laid
on exactly the answer that a person saw; `Asker.decided` gives one back, or decides again.

payload  {seq, key, run, questions, state, plain, pictures, allow_cut}; questions in order, each {id, type,
         instructions?, criteria? | options?}: `options` are [name, description] pairs, for an object keeps no order
reply    {seq, run, fingerprint, asked, answers, tokens, reused, ms, cut, words}
         or {seq, error: {kind, message, errors?, tokens?, can_cut?, cut?}}
         reused: how many of the tokens had been read before, so that this run did not pay for them; null from a scorer
         that does not tell
         cut: {tokens, spans}: what is not read, or would not be; spans of the state as it was typed
         asked: the hash of the questions, under which badges (`studio.pages.design_badges`) are asked for
         answers: each with `policy`, {outcome, act, refuse} or null (`studio.policy`)
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from uuid import UUID

from anyio import to_thread
from pydantic import BaseModel, Field, ValidationError

from model.answers import Answer
from model.engine import Busy, Closed, Decision, Engine, NotReady, Superseded
from model.images import Picture
from model.questions import (
    FieldError,
    InvalidRequest,
    Json,
    Limits,
    QuestionsError,
    StateError,
    parse_questions,
    render,
    schema_hash,
)
from model.scorer import Request
from model.state import Cut, TooLong, parse_state
from storage.database import Database
from studio.api.strict_json import parse_object
from studio.pages.design_pictures import Gallery
from studio.pages.design_places import Places
from studio.policy import Ruling, rulings

log = logging.getLogger(__name__)

REMEMBERED = 64
"""How many recent decisions can be labelled without deciding again."""


class AskedQuestion(BaseModel):
    """One question as the page sends it."""

    id: str
    type: str
    instructions: Json = None
    criteria: Json = None
    options: list[tuple[str, Json]] | None = None

    def wire(self) -> dict[str, Json]:
        """The question as the wire has it. Raises QuestionsError for a name that is there twice."""
        body: dict[str, Json] = {"type": self.type}
        if self.instructions is not None:
            body["instructions"] = self.instructions
        if self.options is not None:
            body["criteria"] = dict(self.options)
            if len(body["criteria"]) != len(self.options):
                message = "has an option twice; each name can be used once"
                raise QuestionsError([FieldError(("questions", self.id, "criteria"), message, "duplicate")])
        elif self.criteria is not None:
            body["criteria"] = self.criteria
        return body


class Ask(BaseModel):
    """A request of the page."""

    seq: int = 0
    key: str = Field(max_length=64)
    run: UUID
    questions: list[AskedQuestion]
    state: str
    plain: bool = False
    pictures: list[str] = Field(max_length=64)
    allow_cut: bool = False


class Gone(Exception):
    """The answer cannot be given again as it was; the message says why."""


EXPECTED = (InvalidRequest, ValidationError, NotReady, Busy, Superseded, Closed, Gone)
"""What `refused` has words for."""
FAILED: dict[str, Json] = {
    "kind": "failed",
    "message": "The model failed on this request; the log says why. The draft is kept.",
}
_KINDS = {NotReady: "loading", Busy: "busy", Superseded: "superseded"}


class Asker:
    """See the module's contract."""

    def __init__(self, engine: Engine, limits: Limits, gallery: Gallery, database: Database) -> None:
        self.engine = engine
        self._database = database
        self._limits = limits
        self._gallery = gallery
        self._lock = threading.Lock()
        self._recent: OrderedDict[str, Decision] = OrderedDict()

    async def ask(self, payload: Json) -> Json:
        """The reply to a payload."""
        seq = payload.get("seq", 0) if isinstance(payload, dict) else 0
        try:
            ask = Ask.model_validate(payload)
            request = await self.request(ask)
            decision = await asyncio.wrap_future(self.engine.submit(request, key=ask.key))
        except EXPECTED as failure:
            error = refused(failure)
            if isinstance(failure, TooLong) and failure.cut is not None:
                state = read_state(ask.state, ask.plain)
                error["cut"] = await to_thread.run_sync(_cut, ask, state, failure.cut)
            return {"seq": seq, "error": error}
        except Exception:
            # The page's last resort: what the scorer raises is logged, and the person is told what is not lost.
            log.exception("a request of the page failed")
            return {"seq": seq, "error": FAILED}
        self._remember(str(ask.run), decision)
        said = await to_thread.run_sync(rulings, self._database, decision)
        return {"seq": seq, **_reply(ask, decision, said)}

    async def decided(self, ask: Ask, fingerprint: str) -> Decision:
        """The decision of a run that was painted. Raises Gone, or what the engine raises."""
        with self._lock:
            known = self._recent.get(str(ask.run))
        if known is not None:
            return known
        if self.engine.scorer.info.fingerprint != fingerprint:
            raise Gone("Another model answers now than the one that you saw; look at its answer first.")
        # The studio was started again since: the same scorer reads the same input to the same answer.
        return await asyncio.wrap_future(self.engine.submit(await self.request(ask)))

    async def request(self, ask: Ask) -> Request:
        """The request of a payload. Raises InvalidRequest."""
        ids = [q.id for q in ask.questions]
        if twice := sorted({i for i in ids if ids.count(i) > 1}):
            raise QuestionsError([FieldError(("questions", i), "this id is there twice", "duplicate") for i in twice])
        questions = parse_questions({q.id: q.wire() for q in ask.questions}, limits=self._limits)
        state = parse_state(read_state(ask.state, ask.plain), await self._pictures(ask.pictures), limits=self._limits)
        return Request(state, questions, allow_cut=ask.allow_cut)

    async def _pictures(self, tokens: list[str]) -> tuple[Picture, ...]:
        if self._gallery.ready(tokens):
            return self._gallery.pictures(tokens)
        return await to_thread.run_sync(self._gallery.pictures, tokens)

    def _remember(self, run: str, decision: Decision) -> None:
        with self._lock:
            self._recent[run] = decision
            while len(self._recent) > REMEMBERED:
                self._recent.popitem(last=False)


def read_state(text: str, plain: bool = False) -> Json:
    """A state as it was typed: JSON where it is an object or a list (unless `plain`), else the text itself.

    Raises
    ------
    StateError : JSON that cannot be read without losing something (a key twice, a number with too many digits).
    """
    if plain or text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return text
    try:
        return parse_object(b'{"state":' + text.encode() + b"}")["state"]
    except InvalidRequest as error:
        # `loc` points into our wrapping object, which starts with "state" itself.
        raise StateError([FieldError(e.loc or ("state",), e.message, e.code) for e in error.errors]) from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def refused(failure: Exception) -> dict[str, Json]:
    """What went wrong (one of `EXPECTED`), for the page."""
    if isinstance(failure, ValidationError):
        log.warning("the page sent what it should not: %s", failure.errors(include_input=False, include_url=False)[:3])
        return {"kind": "failed", "message": "The page and the studio do not fit together. Reload the page."}
    if not isinstance(failure, InvalidRequest):
        kind = next((kind for cause, kind in _KINDS.items() if isinstance(failure, cause)), "failed")
        return {"kind": kind, "message": str(failure)}
    errors = [{"loc": list(e.loc), "message": e.message} for e in failure.errors]
    error: dict[str, Json] = {"kind": "invalid", "message": str(failure), "errors": errors}
    if isinstance(failure, TooLong):
        can_cut = failure.errors[0].loc == ("state",)
        error |= {
            "kind": "too_long",
            "tokens": asdict(failure.tokens),
            "at_least": failure.at_least,
            "can_cut": can_cut,
        }
    return error


def _cut(ask: Ask, state: Json, cut: Cut) -> dict[str, Json]:
    """What is not read: `tokens`, and where it stands in the text as it was typed (`studio.pages.design_places`)."""
    return {"tokens": cut.tokens, "spans": [list(span) for span in Places(ask.state, state).after(cut.start)]}


def _reply(ask: Ask, decision: Decision, said: Mapping[str, Ruling]) -> dict[str, Any]:
    length = len(render(decision.state.value)) if decision.looked else 0
    return {
        "run": str(ask.run),
        "fingerprint": decision.scorer.fingerprint,
        "asked": schema_hash(decision.questions),
        "answers": [
            _answer(answer, _read(decision.looked.get(key, ()), length), said.get(key))
            for key, answer in decision.answers.items()
        ],
        "tokens": asdict(decision.tokens),
        "reused": decision.reused if decision.scorer.kind == "clef" or decision.reused else None,
        "ms": round(1000 * decision.seconds, 2),
        "cut": None if decision.cut is None else _cut(ask, decision.state.value, decision.cut),
        "words": list(decision.words),
    }


def _answer(answer: Answer, read: list[int] | None, ruling: Ruling | None) -> dict[str, Any]:
    return {
        "type": answer.type,
        "options": list(answer.options),
        "probabilities": list(answer.probabilities),
        "legend": list(answer.legend),
        "confidence": answer.confidence("typesafe"),
        "read": read,
        "policy": None if ruling is None else asdict(ruling),
    }


def _read(ranges: tuple[tuple[int, int], ...], length: int) -> list[int] | None:
    """[characters read, characters in all] where only a part was read; else None."""
    if not ranges:
        return None
    covered, end = 0, 0
    for start, stop in sorted(ranges):
        covered += max(0, stop - max(start, end))
        end = max(end, stop)
    return [covered, length] if covered < length else None
