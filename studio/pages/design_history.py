"""The page's history: runs that a person kept or labelled, to look at, compare and bring back.

Contract
--------
Reads only; runs are kept by `design_keep`. Functions take and give plain JSON and never raise; `{"error": ...}` is for
a person. A run carries its questions in the page's form (see `design_schemas`), its state as the text that the page's
box holds, and its pictures by their tokens, so that it can be shown and asked again as it was.
"""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from model.questions import Json
from storage.database import Database
from storage.decisions import StoredDecision, get_decision
from storage.labels import Label, current_labels
from storage.pictures import get_picture
from storage.summaries import DecisionSummary, list_decisions
from studio.pages.design_schemas import Told, asked, told

PAGE = 30
"""Runs in one portion of the list."""


class Listed(BaseModel):
    """Which runs to list: of one schema or of all, older than `before`."""

    schema_id: UUID | None = None
    before: int | None = None


class Chosen(BaseModel):
    """One run."""

    run: UUID


def history_functions(database: Database) -> list[Told]:
    """The page's functions about runs, each under its own name."""

    @told
    def runs(payload: Json) -> Json:
        given = Listed.model_validate(payload)
        schema_id = None if given.schema_id is None else str(given.schema_id)
        # One more than is shown tells whether there are older ones.
        found = list_decisions(database, show="history", schema_id=schema_id, limit=PAGE + 1, before=given.before)
        return {"runs": [_summary(run) for run in found[:PAGE]], "more": len(found) > PAGE}

    @told
    def one_run(payload: Json) -> Json:
        key = str(Chosen.model_validate(payload).run)
        return {"run": _run(database, get_decision(database, key), current_labels(database, key))}

    return [runs, one_run]


def _summary(run: DecisionSummary) -> dict[str, Any]:
    return {
        "serial": run.serial,
        "id": run.id,
        "created": run.created.isoformat(),
        "preview": run.preview,
        "kept": run.kept,
        "schema_id": run.schema_id,
        "version": run.version,
        "scorer": run.scorer,
        "fingerprint": run.fingerprint,
        "pictures": run.pictures,
        "labels": run.labels,
        "answers": [
            {"id": a.question, "type": a.type, "top": a.top, "probability": a.probability} for a in run.answers
        ],
    }


def _run(database: Database, run: StoredDecision, labels: list[Label]) -> dict[str, Any]:
    text = run.state if isinstance(run.state, str) else json.dumps(run.state, ensure_ascii=False, indent=2)
    return {
        "id": run.id,
        "created": run.created.isoformat() if run.created else None,
        "schema_id": run.schema_id,
        "version": run.version,
        "scorer": run.scorer.name,
        "fingerprint": run.scorer.fingerprint,
        "questions": asked(run.questions),
        "state": text,
        "json": not isinstance(run.state, str),
        "pictures": [_picture(database, token, i) for i, token in enumerate(run.pictures, 1)],
        "answers": [
            {
                "id": key,
                "type": answer.type,
                "options": list(answer.options),
                "probabilities": list(answer.probabilities),
                "legend": list(answer.legend),
            }
            for key, answer in run.answers.items()
        ],
        "labels": {label.question: {"verdict": label.verdict, "truth": label.true_option} for label in labels},
    }


def _picture(database: Database, token: str, number: int) -> dict[str, Any]:
    known = get_picture(database, token)
    return {"token": token, "name": f"picture {number}", "width": known.width, "height": known.height, "notes": []}
