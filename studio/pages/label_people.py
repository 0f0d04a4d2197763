"""The Label page's people: how far they agree, where they differ, and whether a shown answer sways them.

Contract
--------
Functions take and give plain JSON and never raise (see `studio.pages.label`). A number that is not known is null.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from uuid import UUID

from pydantic import BaseModel, Field

from model.questions import Json
from storage.cases import Case, read_cases
from storage.database import Database
from storage.labels import LABELLER_LENGTH, NOTE_LENGTH
from storage.queue import Queue, open_queue
from storage.verdicts import Opinions, conflicts, opinions, settle
from studio import person
from studio.calibration import agreement as agree
from studio.evidence import gather
from studio.pages.design_schemas import Told, told
from studio.pages.label_desk import Where

PAGE = 20
"""Conflicts in one portion."""


class Settled(BaseModel):
    """What stands of an answer on which people differ; `true_option` None: nobody can tell."""

    id: UUID
    decision: UUID
    where: Where
    true_option: str | None
    labeller: str = Field(min_length=1, max_length=LABELLER_LENGTH)
    note: str = Field("", max_length=NOTE_LENGTH)


def people_functions(database: Database) -> list[Told]:
    """The page's functions about people, each under its own name."""

    @told
    def agreement(payload: Json) -> Json:
        queue = _open(database, payload)
        evidence = gather(database, queue)
        said = opinions(database, queue.serial)
        # Can't tell is an opinion of its own beside the options; on a scale it has no place and is left out.
        options = list(evidence.options)
        ordered = queue.type == "score"
        places: dict[str | None, int] = {option: i for i, option in enumerate(options)}
        if not ordered:
            places[None] = len(options)
        rated = [{o.labeller: places[o.option] for o in one.said if o.option in places} for one in said]
        people, ratings = agree.ratings_of(rated)
        found = agree.agreement(ratings, k=max(2, len(places)), ordered=ordered)
        swayed = agree.anchoring(evidence.right, evidence.weights, evidence.blind)
        open_ones = [one for one in said if one.differ and not one.settled]
        return {
            "agreement": {**_plain(asdict(found)), "names": list(people), "ordered": ordered},
            "anchoring": _plain(asdict(swayed)),
            "conflicts": [_conflict(one, case) for one, case in _with_cases(database, queue, open_ones[:PAGE])],
            "more": max(0, len(open_ones) - PAGE),
        }

    @told
    def settled(payload: Json) -> Json:
        given = Settled.model_validate(payload)
        verdict = settle(
            database,
            id=str(given.id),
            decision=str(given.decision),
            question=given.where.question,
            true_option=given.true_option,
            labeller=person.signed_in() or given.labeller,
            note=given.note,
        )
        return {
            "settled": verdict.id,
            "left": len(conflicts(database, _open(database, given.where.model_dump()).serial)),
        }

    return [agreement, settled]


def _open(database: Database, payload: Json) -> Queue:
    where = Where.model_validate(payload)
    return open_queue(database, questions=where.questions, scorer=where.scorer, question=where.question)


def _with_cases(database: Database, queue: Queue, found: list[Opinions]) -> list[tuple[Opinions, Case]]:
    cases = read_cases(database, [one.decision for one in found], queue.question)
    return [(one, cases[one.decision]) for one in found if one.decision in cases]


def _conflict(one: Opinions, case: Case) -> dict[str, Json]:
    return {
        "decision": one.decision,
        "state": case.state,
        "pictures": [{"token": t, "width": w, "height": h} for t, w, h in case.pictures],
        "created": case.created.isoformat(),
        "source": case.source,
        "tokens": case.tokens,
        "read": case.read,
        "said": [{"labeller": o.labeller, "option": o.option, "note": o.note, "blind": o.blind} for o in one.said],
        "top": case.top,
    }


def _plain(value: Json) -> Json:
    """`value` with null for numbers that are not known: JSON has no NaN."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
