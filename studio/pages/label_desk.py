"""The Label page's desk: where there is something to label, the next items, and what people did with them.

Contract
--------
Functions take and give plain JSON and never raise (see `studio.pages.label`). `sync` first does what the page sends,
then hands out what it shall hold: one round trip a time, and sent again, nothing happens twice. Queues are filled on
the way: at most a portion in the call itself, the rest behind it.
"""

from __future__ import annotations

import json
import threading
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, Field

from model.questions import Choice, Json, Noul, Question, render
from storage.cases import Case, Place, list_places, questions_of, read_cases
from storage.database import Database
from storage.errors import StorageError
from storage.labels import LABELLER_LENGTH, NOTE_LENGTH
from storage.leases import Act, Done, Lease, Status, perform, status, take
from storage.queue import Measure, Queue, open_queue, set_queue
from studio import person
from studio.labelling import fill, order_by
from studio.pages.design_keep import sentence
from studio.pages.design_schemas import Told, told

AHEAD = (10, 60)
"""Fewest and most items that a page holds: a tenth of what waits, so that a small queue is not held by one page."""


class Where(BaseModel):
    """A queue: a set of questions (sha256), a scorer (fingerprint), and a question."""

    questions: str = Field(max_length=64)
    scorer: str = Field(max_length=64)
    question: str = Field(max_length=10_000)


class GivenAct(BaseModel):
    """What a person did with an item."""

    id: UUID
    kind: Literal["label", "skip", "undo"]
    lease: UUID
    choice: str | None = None
    note: str = Field("", max_length=NOTE_LENGTH)
    seconds: float | None = Field(None, ge=0, allow_inf_nan=False)
    hidden: bool = False


class Sync(BaseModel):
    """What the page did since, and where it labels (None: it only sends). `known` are leases whose items it has."""

    labeller: str = Field(min_length=1, max_length=LABELLER_LENGTH)
    tab: UUID
    where: Where | None = None
    acts: list[GivenAct] = Field(default_factory=list, max_length=200)
    known: list[str] = Field(default_factory=list, max_length=200)
    want: int = Field(10, ge=0, le=AHEAD[1])


class Settings(BaseModel):
    """How a queue chooses; None leaves a setting as it is."""

    where: Where
    audit_share: float | None = Field(None, ge=0, le=1)
    overlap: float | None = Field(None, ge=0, le=1)
    blind_queue: float | None = Field(None, ge=0, le=1)
    blind_audit: float | None = Field(None, ge=0, le=1)
    apart: bool | None = None
    measure: Measure | None = None


def desk_functions(database: Database) -> list[Told]:
    """The page's functions about items, each under its own name."""
    filler = _Filler(database)

    @told
    def places(_: Json) -> Json:
        return {"places": [_place(place) for place in list_places(database)]}

    @told
    def sync(payload: Json) -> Json:
        given = Sync.model_validate(payload)
        who = person.signed_in() or given.labeller
        acts = [Act(**{**act.model_dump(), "id": str(act.id), "lease": str(act.lease)}) for act in given.acts]
        done = perform(database, acts, labeller=who) if acts else []
        reply: dict[str, Json] = {"done": [_done(d) for d in done]}
        if given.where is not None:
            try:
                reply.update(_hand_out(database, filler, given, given.where, who))
            except StorageError as error:
                # What was done is kept all the same, and the page must hear of it.
                reply["lost"] = sentence(error)
        return reply

    @told
    def set_desk(payload: Json) -> Json:
        given = Settings.model_validate(payload)
        queue = _open(database, given.where)
        shares = {
            name: value
            for name in ("audit_share", "overlap", "blind_queue", "blind_audit")
            if (value := getattr(given, name)) is not None
        }
        queue = set_queue(database, queue.serial, apart=given.apart, **shares)
        if given.measure is not None and given.measure != queue.measure:
            order_by(database, queue, given.measure)
            queue = _open(database, given.where)
        return {"settings": _settings(queue)}

    @told
    def question(payload: Json) -> Json:
        where = Where.model_validate(payload)
        asked = questions_of(database, where.questions)
        queue = _open(database, where)
        return {"question": _question(queue.question, asked[queue.question]), "settings": _settings(queue)}

    return [places, sync, set_desk, question]


def _hand_out(database: Database, filler: _Filler, given: Sync, where: Where, who: str) -> dict[str, Json]:
    queue = _open(database, where)
    filler.fill(queue)
    held = take(database, queue.serial, labeller=who, tab=str(given.tab), want=given.want)
    known = set(given.known)
    fresh = [lease for lease in held if lease.id not in known]
    cases = read_cases(database, [lease.decision for lease in fresh], queue.question)
    return {
        "held": [lease.id for lease in held],
        "items": [_item(lease, cases[lease.decision]) for lease in fresh if lease.decision in cases],
        "status": _status(status(database, queue.serial, labeller=who)),
        "settings": _settings(queue),
    }


class _Filler:
    """Fills queues: a portion at once, what is left in a thread behind it, one for each queue."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._running: set[int] = set()

    def fill(self, queue: Queue) -> None:
        if not fill(self._database, queue):
            return
        with self._lock:
            if queue.serial in self._running:
                return
            self._running.add(queue.serial)
        threading.Thread(target=self._rest, args=(queue,), name=f"fill-{queue.serial}", daemon=True).start()

    def _rest(self, queue: Queue) -> None:
        try:
            while fill(self._database, queue):
                pass
        finally:
            with self._lock:
                self._running.discard(queue.serial)


def _open(database: Database, where: Where) -> Queue:
    return open_queue(database, questions=where.questions, scorer=where.scorer, question=where.question)


def _place(place: Place) -> dict[str, Json]:
    return {
        "questions": place.questions,
        "scorer": place.scorer,
        "scorer_name": place.scorer_name,
        "schema_id": place.schema_id,
        "schema": place.schema,
        "version": place.version,
        "decisions": place.decisions,
        "asked": [{"id": key, "type": question.type} for key, question in place.asked.items()],
    }


def _question(key: str, question: Question) -> dict[str, Json]:
    """What is asked, and the options as [id, name, description] in request order."""
    if isinstance(question, Noul):
        about = question.criteria or {}
        options = [["true", "Yes", _text(about.get("true"))], ["false", "No", _text(about.get("false"))]]
    elif isinstance(question, Choice):
        options = [[name, name, _text(about)] for name, about in question.criteria.items()]
    else:
        options = [[str(i), _text(level) or f"Level {i}", None] for i, level in enumerate(question.criteria)]
    return {"id": key, "type": question.type, "wording": _text(question.instructions) or "", "options": options}


def _text(value: Json) -> str | None:
    return None if value is None or value == "" else render(value)


def _item(lease: Lease, case: Case) -> dict[str, Json]:
    text = case.state if isinstance(case.state, str) else json.dumps(case.state, ensure_ascii=False, indent=2)
    item: dict[str, Json] = {
        "lease": lease.id,
        "decision": lease.decision,
        "stream": lease.stream,
        "blind": lease.blind,
        "second": lease.second,
        "inclusion": lease.inclusion,
        "drawn": lease.drawn,
        "created": case.created.isoformat(),
        "source": case.source,
        "state": case.state,
        "text": text,
        "words": list(case.words),
        "pictures": [{"token": t, "width": w, "height": h} for t, w, h in case.pictures],
        "tokens": case.tokens,
        "read": case.read,
        "options": list(case.options),
    }
    if not lease.blind:
        item["probabilities"] = list(case.probabilities)
        item["top"] = case.top
    return item


def _done(done: Done) -> dict[str, Json]:
    if done.error is not None:
        return {"id": done.id, "error": sentence(done.error)}
    return {"id": done.id, "verdict": done.verdict, "top": done.top}


def _status(now: Status) -> dict[str, Json]:
    return {
        "waiting": now.waiting,
        "labelled": now.labelled,
        "by_audit": now.by_audit,
        "ahead": min(AHEAD[1], max(AHEAD[0], now.waiting // 10)),
    }


def _settings(queue: Queue) -> dict[str, Json]:
    names = ("measure", "audit_share", "overlap", "blind_queue", "blind_audit", "apart")
    return {name: getattr(queue, name) for name in names}
