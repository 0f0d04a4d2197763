"""Whether the decisions that code makes with a schema are kept: what the page shows of it, and its switch.

Contract
--------
`recording` tells, `record` switches; both take and give plain JSON and never raise. Kept is what asks exactly the
questions of one of the schema's versions (`studio.api.recorder`), so a schema without a version has nothing to switch.
"""

from __future__ import annotations

from model.questions import Json
from storage.database import Database
from storage.errors import NotFound
from storage.schemas import get_schema, record_schema
from studio.pages.design_schemas import Named, Told, told


class Switched(Named):
    """Whether to keep from now on. What was kept stays either way."""

    recording: bool


def recording_functions(database: Database, *, every: bool) -> list[Told]:
    """The page's functions, each under its own name. `every`: the studio keeps all decisions anyway (`--record`)."""

    @told
    def recording(payload: Json) -> Json:
        key = str(Named.model_validate(payload).schema_id)
        try:
            schema = get_schema(database, key)
        except NotFound:
            # Nobody has written on it yet, so it is not kept.
            return {"recording": False, "latest": None, "every": every}
        return {"recording": schema.recording, "latest": schema.latest, "every": every}

    @told
    def record(payload: Json) -> Json:
        given = Switched.model_validate(payload)
        return {"recording": record_schema(database, str(given.schema_id), recording=given.recording).recording}

    return [recording, record]
