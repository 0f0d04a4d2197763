"""The Label page's search: decisions by their words and labels, bulk actions, one case, and what is kept of states.

Contract
--------
Functions take and give plain JSON and never raise (see `studio.pages.label`). Whatever is labelled from here was chosen
by a person: single labels are `volunteered`, those of a bulk action `bulk`, and neither ever measures. `router` gives
one case as a file.
"""

from __future__ import annotations

import json
from typing import Literal
from uuid import UUID

from fastapi import APIRouter
from fastapi.responses import Response
from pydantic import BaseModel, Field

from model.questions import Json
from storage.cases import Case, read_cases
from storage.database import Database
from storage.errors import NotFound
from storage.labels import LABELLER_LENGTH, NOTE_LENGTH, Label, add_label, history
from storage.privacy import erase, export_case, get_privacy, redact, set_privacy, sweep
from storage.search import MOST, Filter, accept, find
from studio import person
from studio.api.errors import ApiError
from studio.pages.design_schemas import Told, told
from studio.pages.label_desk import Where

PAGE = 50


class Search(BaseModel):
    """What to find, older than `before`."""

    where: Where
    text: str = Field("", max_length=1000)
    option: str | None = None
    low: float | None = Field(None, ge=0, le=1)
    high: float | None = Field(None, ge=0, le=1)
    stream: Literal["volunteered", "queue", "audit", "bulk", "import"] | None = None
    labeller: str | None = Field(None, max_length=LABELLER_LENGTH)
    differs: Literal["model", "people"] | None = None
    labelled: bool | None = None
    before: int | None = None


class Chosen(BaseModel):
    """One decision, and the question that is looked at."""

    decision: UUID
    where: Where


class Volunteered(Chosen):
    """A label on a decision that somebody found; `choice` None: can't tell."""

    id: UUID
    choice: str | None
    labeller: str = Field(min_length=1, max_length=LABELLER_LENGTH)
    note: str = Field("", max_length=NOTE_LENGTH)


class Bulk(BaseModel):
    """A label on many decisions at once; `choice` None accepts the model's answer of each."""

    id: UUID
    decisions: list[UUID] = Field(min_length=1, max_length=MOST)
    where: Where
    choice: str | None
    labeller: str = Field(min_length=1, max_length=LABELLER_LENGTH)


class Erased(BaseModel):
    """A decision to be emptied or deleted."""

    decision: UUID
    labeller: str = Field(min_length=1, max_length=LABELLER_LENGTH)


class Privacy(BaseModel):
    """What is kept of a schema's states. `change`: whether to change it, or only to ask."""

    schema_id: UUID
    change: bool = False
    states: bool = True
    retention: int | None = None


def find_functions(database: Database) -> list[Told]:
    """The page's functions about finding, each under its own name."""

    @told
    def search(payload: Json) -> Json:
        given = Search.model_validate(payload)
        names = ("text", "option", "low", "high", "stream", "labeller", "differs", "labelled")
        found = find(
            database,
            questions=given.where.questions,
            scorer=given.where.scorer,
            question=given.where.question,
            wanted=Filter(**{name: getattr(given, name) for name in names}),
            limit=PAGE + 1,
            before=given.before,
        )
        return {
            "found": [
                {
                    "serial": row.serial,
                    "id": row.id,
                    "created": row.created.isoformat(),
                    "preview": row.preview,
                    "redacted": row.redacted,
                    "top": row.top,
                    "probability": row.probability,
                    "labels": [
                        {"labeller": who, "verdict": verdict, "option": option, "source": source}
                        for who, verdict, option, source in row.labels
                    ],
                }
                for row in found[:PAGE]
            ],
            "more": len(found) > PAGE,
        }

    @told
    def case(payload: Json) -> Json:
        given = Chosen.model_validate(payload)
        found = read_cases(database, [str(given.decision)], given.where.question)
        if not found:
            raise NotFound("decision", "this decision is gone")
        (one,) = found.values()
        past = history(database, one.id, given.where.question)
        return {"case": _case(one), "history": [_label(label) for label in past]}

    @told
    def volunteer(payload: Json) -> Json:
        given = Volunteered.model_validate(payload)
        found = read_cases(database, [str(given.decision)], given.where.question)
        if not found:
            raise NotFound("decision", "this decision is gone")
        (one,) = found.values()
        right = given.choice == one.top
        label = add_label(
            database,
            id=str(given.id),
            decision=one.id,
            question=given.where.question,
            verdict="cant_tell" if given.choice is None else "right" if right else "wrong",
            true_option=given.choice,
            labeller=person.signed_in() or given.labeller,
            source="volunteered",
            note=given.note,
        )
        return {"label": _label(label)}

    @told
    def bulk(payload: Json) -> Json:
        given = Bulk.model_validate(payload)
        count = accept(
            database,
            id=str(given.id),
            decisions=[str(key) for key in given.decisions],
            question=given.where.question,
            choice=given.choice,
            labeller=person.signed_in() or given.labeller,
        )
        return {"labelled": count}

    @told
    def empty_case(payload: Json) -> Json:
        given = Erased.model_validate(payload)
        redact(database, str(given.decision))
        return {"emptied": str(given.decision)}

    @told
    def delete_case(payload: Json) -> Json:
        given = Erased.model_validate(payload)
        erase(database, str(given.decision), by=person.signed_in() or given.labeller)
        return {"deleted": str(given.decision)}

    @told
    def privacy(payload: Json) -> Json:
        given = Privacy.model_validate(payload)
        key = str(given.schema_id)
        emptied = 0
        if given.change:
            set_privacy(database, key, states=given.states, retention=given.retention)
            emptied = sweep(database)
        states, retention = get_privacy(database, key)
        return {"states": states, "retention": retention, "emptied": emptied}

    return [search, case, volunteer, bulk, empty_case, delete_case, privacy]


def router(database: Database) -> APIRouter:
    """The page's route."""
    routes = APIRouter(prefix="/studio/cases")

    @routes.get("/{decision}.json")
    def one(decision: str) -> Response:
        try:
            case = export_case(database, decision)
        except NotFound:
            raise ApiError(404, "not_found", "There is no such case.") from None
        headers = {
            "Content-Disposition": f'attachment; filename="case-{case["decision"]["id"][:8]}.json"',
            "Cache-Control": "no-store",
        }
        text = json.dumps(case, ensure_ascii=False, indent=2)
        return Response(text, media_type="application/json", headers=headers)

    return routes


def _case(case: Case) -> dict[str, Json]:
    return {
        "id": case.id,
        "created": case.created.isoformat(),
        "source": case.source,
        "state": case.state,
        "redacted": case.redacted,
        "pictures": [{"token": t, "width": w, "height": h} for t, w, h in case.pictures],
        "options": list(case.options),
        "probabilities": list(case.probabilities),
        "top": case.top,
    }


def _label(label: Label) -> dict[str, Json]:
    return {
        "id": label.id,
        "labeller": label.labeller,
        "verdict": label.verdict,
        "option": label.true_option,
        "source": label.source,
        "blind": label.blind,
        "note": label.note,
        "created": label.created.isoformat(),
    }
