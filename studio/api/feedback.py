"""Labels from code: `POST /v1/feedback` says what was true of a recorded decision.

Contract
--------
`{"decision_id", "question", "true_answer" | "verdict", "note"?, "labeller"?, "key"?}`. `true_answer` is an option's
name, a level's number, or true / false; `verdict` is right, wrong or cant_tell. `key` (or the `Idempotency-Key` header)
is any text of the caller's: the same label under the same key is kept once, another one is refused with 409. Whoever
signed in is the labeller. A label is acknowledged when it is on the disk. Nothing is overwritten: a newer label of the
same labeller supersedes.
"""

from __future__ import annotations

import uuid
from typing import Any, Final

import anyio
from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from model.questions import FieldError, InvalidRequest, Json
from storage.database import Database, DatabaseError
from storage.decisions import get_decision
from storage.errors import Conflict, InvalidValue, NotFound
from storage.labels import Label, Verdict, add_label
from studio.api import wire_schema
from studio.api.bodies import parse, receive
from studio.api.errors import ApiError
from studio.person import signed_in

LABELLER: Final = "api"
KEYS: Final = uuid.UUID("6e0f4bd2-6c0a-4b43-9a5c-0a3f5a7a5e1d")
"""Namespace of the label ids that are made of callers' keys."""
_OUTSIDE = {"true_option": "true_answer", "decision": "decision_id", "id": "key"}
"""Fields of storage, and what the wire calls them."""


def router(database: Database) -> APIRouter:
    """The route, on `database`."""
    routes = APIRouter(tags=["Feedback"])

    @routes.post("/v1/feedback", **wire_schema.feedback)
    async def feedback(request: Request) -> Response:
        """Keeps a label on one answer of a recorded decision."""
        wire = await receive(request)
        header = request.headers.get("idempotency-key")
        return JSONResponse(await anyio.to_thread.run_sync(lambda: _keep(database, parse(wire).json, header)))

    return routes


def _keep(database: Database, fields: dict[str, Json], header: str | None) -> dict[str, Any]:
    errors = [FieldError((n,), "is required", "missing") for n in ("decision_id", "question") if n not in fields]
    if "true_answer" not in fields and "verdict" not in fields:
        errors.append(FieldError(("true_answer",), "is required where there is no `verdict`", "missing"))
    texts = ("decision_id", "question", "verdict", "note", "labeller", "key")
    for name in texts:
        if name in fields and not _is_text(fields[name]):
            errors.append(FieldError((name,), "must be text", "string_type"))
    person = signed_in()
    if person is not None and fields.get("labeller", person) != person:
        errors.append(FieldError(("labeller",), "is not who signed in; leave it out", "labeller"))
    if errors:
        raise InvalidRequest(errors)
    key = fields.get("key", header)
    try:
        return _said(_label(database, fields, str(uuid.uuid4() if key is None else uuid.uuid5(KEYS, key))))
    except NotFound as error:
        if error.field == "question":
            raise _invalid("question", "this decision has no such question", "not_found") from None
        raise ApiError(404, "not_found", "There is no such decision; was it recorded (--record)?") from None
    except Conflict:
        raise ApiError(409, "conflict", "Another label was already sent under this key; use a new one.") from None
    except InvalidValue as error:
        raise _invalid(_OUTSIDE.get(error.field, error.field), error.message, "value_error") from None
    except DatabaseError as error:
        raise ApiError(503, "not_written", f"The label was not kept: {error}", {"Retry-After": "5"}) from None


def _label(database: Database, fields: dict[str, Json], label_id: str) -> Label:
    decision = get_decision(database, fields["decision_id"])
    question = fields["question"]
    if question not in decision.answers:
        raise NotFound("question", "there is no such question")
    given = fields.get("true_answer")
    option = None if given is None else _option(given)
    verdict: Verdict = fields.get("verdict") or ("right" if option == decision.answers[question].top else "wrong")
    return add_label(
        database,
        id=label_id,
        decision=decision.id,
        question=question,
        verdict=verdict,
        true_option=option,
        note=fields.get("note", ""),
        labeller=signed_in() or fields.get("labeller", LABELLER),
        source="volunteered",
    )


def _option(given: Json) -> str:
    """The option's id: true and false for a noul, a level's number for a score, else a name."""
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, int) and abs(given) < 1000:
        return str(given)
    if _is_text(given):
        return str(given)
    raise _invalid("true_answer", "must be an option's name, a level's number, or true or false", "answer_type")


def _said(label: Label) -> dict[str, Any]:
    return {
        "label_id": label.id,
        "decision_id": label.decision,
        "question": label.question,
        "verdict": label.verdict,
        "true_answer": label.true_option,
        "supersedes": label.supersedes,
    }


def _is_text(value: Json) -> bool:
    return isinstance(value, str) and not any("\ud800" <= c <= "\udfff" for c in value)


def _invalid(name: str, message: str, code: str) -> InvalidRequest:
    return InvalidRequest([FieldError((name,), message, code)])
