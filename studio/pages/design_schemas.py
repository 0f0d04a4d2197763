"""The page's schemas: which there are, their drafts, and the versions that were published of them.

Contract
--------
Functions take and give plain JSON and never raise; `{"error": {"kind", "message"}}` is for a person. Questions leave as
the page sends them, a list of `{id, type, instructions?, criteria? | options?}` with `options` as [name, description]
pairs, for an object of JavaScript keeps no order. Drafts are saved by `design_keep`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field, ValidationError

from model.questions import Choice, InvalidRequest, Json, Limits, Questions, parse_questions, questions_json
from storage.database import Database, DatabaseError
from storage.errors import NotFound, StorageError
from storage.schemas import (
    NAME_LENGTH,
    NOTE_LENGTH,
    Schema,
    SchemaVersion,
    archive_schema,
    create_schema,
    get_draft,
    get_schema,
    list_schemas,
    list_versions,
)
from storage.schemas import publish as publish_version
from studio.pages.design_ask import AskedQuestion, refused
from studio.pages.design_keep import NO_NAME, sentence

Told = Callable[[Json], Json]


class Listed(BaseModel):
    """Which schemas to list."""

    archived: bool = False


class Named(BaseModel):
    """One schema."""

    schema_id: UUID


class Archived(Named):
    """A schema to be taken out of the list, or back into it."""

    archived: bool = True


class Published(Named):
    """What to publish. `name` and `document` are for a schema whose first draft is not saved yet."""

    name: str
    document: Json
    note: str = Field("", max_length=NOTE_LENGTH)
    questions: list[AskedQuestion]


def schema_functions(database: Database, limits: Limits) -> list[Told]:
    """The page's functions about schemas, each under its own name."""

    @told
    def schemas(payload: Json) -> Json:
        given = Listed.model_validate(payload)
        return {"schemas": [_schema(s) for s in list_schemas(database, archived=given.archived)]}

    @told
    def open_schema(payload: Json) -> Json:
        key = str(Named.model_validate(payload).schema_id)
        draft, schema = get_draft(database, key), get_schema(database, key)
        return {"schema": _schema(schema), "revision": draft.revision, "document": draft.document}

    @told
    def archive(payload: Json) -> Json:
        given = Archived.model_validate(payload)
        return {"schema": _schema(archive_schema(database, str(given.schema_id), archived=given.archived))}

    @told
    def versions(payload: Json) -> Json:
        key = str(Named.model_validate(payload).schema_id)
        try:
            return {"versions": [_version(v) for v in list_versions(database, key)]}
        except NotFound:
            # Nobody has written on it yet, so it is not kept, and has no versions.
            return {"versions": []}

    @told
    def publish(payload: Json) -> Json:
        given = Published.model_validate(payload)
        questions = parse_questions({q.id: q.wire() for q in given.questions}, limits=limits)
        key, name = str(given.schema_id), given.name.strip()[:NAME_LENGTH] or NO_NAME
        create_schema(database, name=name, document=given.document, schema_id=key)
        return {"version": _version(publish_version(database, key, questions, note=given.note))}

    return [schemas, open_schema, archive, versions, publish]


def told(function: Told) -> Told:
    """`function` with what goes wrong as a reply."""

    @wraps(function)
    def answer(payload: Json) -> Json:
        try:
            return function(payload)
        except NotFound as error:
            return {"error": {"kind": "not_found", "message": sentence(error)}}
        except (StorageError, DatabaseError) as error:
            return {"error": {"kind": "refused", "message": sentence(error)}}
        except (InvalidRequest, ValidationError) as failure:
            return {"error": refused(failure)}

    return answer


def asked(questions: Questions) -> list[dict[str, Any]]:
    """Questions in the page's form."""
    plain = questions_json(questions)
    listed = []
    for key, question in questions.items():
        body = {"id": key, **plain[key]}
        if isinstance(question, Choice):
            del body["criteria"]
            body["options"] = [[name, about] for name, about in question.criteria.items()]
        listed.append(body)
    return listed


def _schema(schema: Schema) -> dict[str, Any]:
    return {
        "id": schema.id,
        "name": schema.name,
        "description": schema.description,
        "archived": schema.archived,
        "saved": schema.saved.isoformat(),
        "latest": schema.latest,
    }


def _version(version: SchemaVersion) -> dict[str, Any]:
    return {
        "number": version.number,
        "sha256": version.sha256,
        "note": version.note,
        "created": version.created.isoformat(),
        "questions": asked(version.questions),
    }
