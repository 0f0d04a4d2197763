"""The Calibration page's functions that review: where there are labels, what they say, and the cases behind a point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, Field

from model.questions import Json, render
from storage.cases import Case, list_places, questions_of, read_cases
from studio.calibration.cases import Cases
from studio.pages.calibration_data import Labels, Loaded, Place, Shelf
from studio.pages.calibration_figures import badge_json, figures, question_badge
from studio.pages.design_schemas import Told, told

PORTION = 50
"""Cases in one portion of a list."""
PREVIEW = 300
"""Characters of a state in a list."""

Hash = Annotated[str, Field(max_length=64)]
Name = Annotated[str, Field(max_length=10_000)]


class Asked(BaseModel):
    """A set of questions (sha256) and a scorer (fingerprint)."""

    questions: Hash
    scorer: Hash


class Where(Asked):
    """One question of it."""

    question: Name

    @property
    def place(self) -> Place:
        """Where the labels are."""
        return Place(self.questions, self.scorer, self.question)


class Viewed(Where):
    """One view of it, on one selection of labels."""

    view: Name = "top"
    labels: Labels = "sampled"


class Range(Viewed):
    """The cases of which was said `low` to under `high` (`last`: `high` itself too), from the `start`-th on."""

    low: float
    high: float
    last: bool = False
    start: int = Field(0, ge=0)


def review_functions(shelf: Shelf) -> list[Told]:
    """The functions, each under its own name."""

    @told
    def places(_: Json) -> Json:
        return {
            "places": [
                {
                    "questions": p.questions,
                    "scorer": p.scorer,
                    "scorer_name": p.scorer_name,
                    "schema_id": p.schema_id,
                    "schema": p.schema,
                    "version": p.version,
                    "decisions": p.decisions,
                }
                for p in list_places(shelf.database)
            ]
        }

    @told
    def questions(payload: Json) -> Json:
        given = Asked.model_validate(payload)
        asked = questions_of(shelf.database, given.questions)
        return {
            "questions": [
                {"id": key, "type": question.type, "wording": render(question.instructions or "")}
                for key, question in asked.items()
            ]
        }

    @told
    def badge(payload: Json) -> Json:
        place = Where.model_validate(payload).place
        loaded = shelf.load(place)
        return {"badge": badge_json(question_badge(shelf, loaded), loaded)}

    @told
    def review(payload: Json) -> Json:
        given = Viewed.model_validate(payload)
        loaded = shelf.load(given.place)
        view = given.view if given.view in loaded.sampled.views() else "top"
        return figures(shelf, loaded, view, given.labels)

    @told
    def cases(payload: Json) -> Json:
        given = Range.model_validate(payload)
        return case_list(shelf, shelf.load(given.place), given)

    return [places, questions, badge, review, cases]


def case_list(shelf: Shelf, loaded: Loaded, given: Range) -> Json:
    """The decisions behind a point: the wrong ones first, then the surest."""
    cases, ids = loaded.select(given.labels)
    event = cases.event(given.view if given.view in cases.views() else "top")
    inside = (event.p >= given.low) & ((event.p <= given.high) if given.last else (event.p < given.high))
    rows = event.rows[inside]
    order = np.lexsort((-event.p[inside], event.y[inside]))
    chosen = rows[order][given.start : given.start + PORTION]
    kept = read_cases(shelf.database, [ids[i] for i in chosen], given.question)
    listed = [case_json(kept[ids[i]], cases, int(i)) for i in chosen if ids[i] in kept]
    return {"n": int(rows.size), "start": given.start, "portion": PORTION, "cases": listed}


def case_states(shelf: Shelf, decisions: Sequence[str], question: str) -> dict[str, str]:
    """The beginnings of the states of these decisions."""
    return {key: render(case.state)[:PREVIEW] for key, case in read_cases(shelf.database, decisions, question).items()}


def case_json(case: Case, cases: Cases, row: int) -> dict[str, Any]:
    """A decision as a list shows it."""
    truth = int(cases.truth[row])
    return {
        "id": case.id,
        "created": case.created.isoformat(),
        "state": "" if case.redacted else render(case.state)[:PREVIEW],
        "redacted": case.redacted,
        "pictures": len(case.pictures),
        "said": cases.options[int(cases.lead[row])],
        "probability": float(cases.top[row]),
        "truth": cases.options[truth] if truth >= 0 else None,
        "right": bool(cases.right[row]),
        "audit": bool(cases.audit[row]),
    }
