"""The Datasets page before there is a dataset: what could go in, what a recipe gives, and freezing it.

Contract
--------
Functions take and give plain JSON and never raise (`studio.pages.design_schemas.told`). `survey` answers at once with a
token; `surveyed` tells how far it is and what came out. `freeze_dataset` freezes exactly what was shown under a token,
however many labels came since.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field

from model.questions import Json, Questions
from storage.database import Database
from storage.datasets.changes import changes, same_recipe
from storage.datasets.gather import Aside, count_aside, labelled_schemas, parse_recipe, read_marks
from storage.datasets.versions import DatasetVersion, Survey, freeze, list_datasets, survey
from storage.errors import InvalidValue
from storage.schemas import find_version, get_schema
from storage.tables import SAMPLED_BY
from studio.pages.datasets_work import Told as Progress
from studio.pages.datasets_work import Work, Works
from studio.pages.design_schemas import Told, asked, told

UNNAMED = "dataset"
"""The name of a recipe while it is only looked at."""


class Wanted(BaseModel):
    """A recipe under construction, of one page. See `storage.datasets.gather.parse_recipe`."""

    page: UUID
    recipe: dict[str, Any]


class Token(BaseModel):
    """What `survey` gave."""

    token: str


class Frozen(Token):
    """A survey to be frozen."""

    id: UUID
    name: str = Field(min_length=1, max_length=200)
    licence: str = Field("", max_length=200)


def choose_functions(database: Database, works: Works) -> list[Told]:
    """The page's functions about what may become a dataset, each under its own name."""

    @told
    def labelled(_: Json) -> Json:
        return {
            "streams": list(SAMPLED_BY),
            "sets": [
                {
                    "sha256": found.sha256,
                    "rows": found.rows,
                    "streams": dict(found.streams),
                    "first": found.first and found.first.isoformat(),
                    "last": found.last and found.last.isoformat(),
                    "questions": asked(found.questions),
                    **named(database, found.questions),
                }
                for found in labelled_schemas(database)
            ],
        }

    @told
    def survey_recipe(payload: Json) -> Json:
        given = Wanted.model_validate(payload)
        recipe = replace(parse_recipe({**given.recipe, "name": UNNAMED}), marks=read_marks(database))
        text = json.dumps(recipe.json(), sort_keys=True)
        token = f"survey {given.page}/{hashlib.sha256(text.encode()).hexdigest()}"

        def look(progress: Progress) -> tuple[Survey, Aside]:
            found = survey(database, recipe, progress)
            return found, count_aside(database, found.recipe)

        return {"token": token, **_view(works.start(token, look))}

    @told
    def surveyed(payload: Json) -> Json:
        return _view(works.get(Token.model_validate(payload).token))

    @told
    def freeze_dataset(payload: Json) -> Json:
        given = Frozen.model_validate(payload)
        work = works.get(given.token)
        if not work.finished or work.result is None:
            raise InvalidValue("dataset", "it is still being counted; freeze it when that is done")
        found: Survey = work.result[0]
        if not found.rows.total():
            raise InvalidValue("dataset", "nothing goes in, so there is nothing to freeze")
        recipe = parse_recipe({**found.recipe.json(), "name": given.name.strip(), "licence": given.licence.strip()})
        before = newest(database, recipe.name)
        version = freeze(database, recipe, id=str(given.id), found=found)
        same = before is not None and before.id == version.id
        return {"dataset": version.id, "number": version.number, "same": same, "changes": _changes(before, version)}

    return [labelled, survey_recipe, surveyed, freeze_dataset]


def named(database: Database, questions: Questions) -> dict[str, Json]:
    """The schema version that asks these questions: `schema_id`, `schema` (its name) and `version`; None without."""
    found = find_version(database, questions)
    if found is None:
        return {"schema_id": None, "schema": None, "version": None}
    schema = get_schema(database, found.schema_id)
    return {"schema_id": schema.id, "schema": schema.name, "version": found.number}


def newest(database: Database, name: str) -> DatasetVersion | None:
    """The newest version of that name."""
    return max((v for v in list_datasets(database) if v.name == name), key=lambda v: v.number, default=None)


def _changes(before: DatasetVersion | None, version: DatasetVersion) -> list[str]:
    if before is None or before.id == version.id:
        return []
    return said_changes(before, version)


def said_changes(before: DatasetVersion, version: DatasetVersion) -> list[str]:
    """What a version changed against an earlier one, as sentences."""
    said = changes(*((v.sha256, v.recipe, v.summary) for v in (before, version)))
    if before.sha256 == version.sha256:
        return [*said, "the same rows on the same sides: the same hash"]
    if same_recipe(before.recipe, version.recipe):
        return ["the same recipe, but other labels or other rows since:", *said]
    return said


def _view(work: Work[tuple[Survey, Aside]]) -> dict[str, Json]:
    if not work.finished or work.error or work.result is None:
        return {"finished": work.finished, "error": work.error, "rows": work.rows, "survey": None}
    found, aside = work.result
    beside = {"unlabelled": aside.unlabelled, "outside": aside.outside}
    options: dict[str, dict[str, None]] = {}
    for questions in found.schemas:
        for key, question in questions.items():
            options.setdefault(key, {}).update(dict.fromkeys(option.id for option in question.options()))
    # JavaScript keeps no order of names that look like numbers.
    order = [[key, list(names)] for key, names in options.items()]
    told_of = {**found.json(), "sha256": found.sha256, "aside": beside, "order": order}
    return {"finished": True, "error": "", "rows": work.rows, "survey": told_of}
