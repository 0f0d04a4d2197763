"""The Runs page before a run: what a file holds, what its columns mean, what a run of it would be, and its start.

Contract
--------
Functions take and give plain JSON and never raise (`studio.pages.design_schemas.told`). Files are in `Uploads`, by the
id that the page gave them; the file that is run is the one that lies there. `start_run` under an id that is known
already is the run that is there.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from model.questions import Json
from storage.errors import InvalidValue, NotFound
from storage.jobs import Job
from storage.schemas import SchemaVersion, get_version, list_schemas, list_versions
from storage.tabular import Table, TableRow
from studio.pages.design_schemas import Told, told
from studio.runs.mapping import RowMapping, guess, parse_mapping
from studio.runs.run import RunSpec, start
from studio.runs.uploads import Uploads
from studio.runs.weigh import Weighing, Weighings
from studio.studio import Studio

PREVIEW = 20
CELL = 160
COLUMNS = 200
"""More columns than that are not shown to be mapped one by one."""
PROBLEMS = "problems.csv"


class Upload(BaseModel):
    """A file that is here; the schema version is None where there is none yet."""

    upload: UUID
    schema_id: UUID | None = None
    version: int | None = None


class Mapped(BaseModel):
    """A file under a schema version and a mapping."""

    upload: UUID
    schema_id: UUID
    version: int
    mapping: dict[str, Any]


class Start(Mapped):
    """A run to be started. `limit`: only so many rows of the file; None: all."""

    id: UUID
    limit: int | None = Field(None, ge=1)
    repeats: Literal["reuse", "judge"] = "reuse"
    allow_cut: bool = False


def new_functions(studio: Studio, uploads: Uploads, weighings: Weighings) -> list[Told]:
    """The page's functions about a run that is not one yet, each under its own name."""
    database, engine = studio.database, studio.engine

    @told
    def choices(_: Json) -> Json:
        schemas = [
            {
                "id": schema.id,
                "name": schema.name,
                "versions": sorted((v.number for v in list_versions(database, schema.id)), reverse=True),
            }
            for schema in list_schemas(database)
        ]
        status = engine.status
        scorer = status.scorer
        return {
            "schemas": [schema for schema in schemas if schema["versions"]],
            "drafts": sum(not schema["versions"] for schema in schemas),
            "model": {
                "phase": status.phase,
                "message": status.message,
                "name": None if scorer is None else scorer.name,
                "fingerprint": None if scorer is None else scorer.fingerprint,
                "pictures": scorer is not None and (scorer.sees_pictures or scorer.reads_words),
            },
        }

    @told
    def look(payload: Json) -> Json:
        given = Upload.model_validate(payload)
        key = str(given.upload)
        table = _table(uploads, key)
        reply: dict[str, Json] = {
            "title": uploads.title(key),
            "kind": table.kind,
            "encoding": table.encoding,
            "notes": list(table.notes),
            "columns": list(table.columns),
            "rows": _preview(table),
            "mapping": None,
            "questions": [],
        }
        if given.schema_id is not None:
            questions = get_version(database, str(given.schema_id), given.version).questions
            reply["mapping"] = guess(table, questions).json()
            reply["questions"] = [{"id": key, "type": question.type} for key, question in questions.items()]
        return reply

    @told
    def weigh(payload: Json) -> Json:
        return _weighing(Mapped.model_validate(payload)).view()

    @told
    def start_run(payload: Json) -> Json:
        given = Start.model_validate(payload)
        version, mapping, table = _mapped(given)
        scorer = engine.status.scorer
        if scorer is None:
            raise InvalidValue("model", f"{engine.status.message}; a run can be started once it is there")
        seen = _weighing(given).view()
        if not seen["finished"]:
            raise InvalidValue("file", "it is still being looked through; start when that is done")
        if seen["error"]:
            raise InvalidValue("file", seen["error"])
        spec = RunSpec(
            file=table.path.relative_to(database.folder).as_posix(),
            name=uploads.title(str(given.upload)),
            questions=version.sha256,
            scorer=scorer.fingerprint,
            mapping=mapping,
            schema_id=version.schema_id,
            version=version.number,
            limit=given.limit if given.limit is not None and given.limit < seen["rows"] else None,
            repeats=given.repeats,
            allow_cut=given.allow_cut,
            rows=seen["rows"],
        )
        job: Job = start(database, spec, id=str(given.id))
        studio.worker.wake()
        return {"run": job.id}

    def _mapped(given: Mapped) -> tuple[SchemaVersion, RowMapping, Table]:
        table = _table(uploads, str(given.upload))
        version = get_version(database, str(given.schema_id), given.version)
        return version, parse_mapping(given.mapping, table.columns, version.questions), table

    def _weighing(given: Mapped) -> Weighing:
        # A page asks again and again: the file is opened once, for its encoding is tried on all of it.
        scorer = engine.status.scorer
        of = [str(given.schema_id), given.version, given.mapping, scorer and scorer.fingerprint]
        key = f"{given.upload}/{hashlib.sha256(json.dumps(of, sort_keys=True).encode()).hexdigest()}"
        if (known := weighings.find(key)) is not None:
            return known
        version, mapping, table = _mapped(given)
        problems = uploads.folder(str(given.upload)) / PROBLEMS
        made = Weighing(table, mapping, version.questions, engine, problems=problems)
        weighings.put(key, made)
        return made

    return [choices, look, weigh, start_run]


def _table(uploads: Uploads, key: str) -> Table:
    table = uploads.table(key)
    if not table.columns:
        raise InvalidValue("file", f"the file {uploads.title(key)} has no columns: it holds no row that can be read")
    if len(table.columns) > COLUMNS:
        raise InvalidValue("file", f"the file has {len(table.columns):,} columns; at most {COLUMNS} can be mapped here")
    return table


def _preview(table: Table) -> list[Json]:
    rows: list[Json] = []
    for row, _ in zip(table.rows(), range(PREVIEW), strict=False):
        if isinstance(row, TableRow):
            rows.append({"line": row.line, "cells": [_cell(row.cells.get(name)) for name in table.columns]})
        else:
            rows.append({"line": row.line, "problem": row.message})
    return rows


def _cell(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, bytes):
        return f"picture, {len(value) / 1000:,.0f} kB"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=lambda _: "picture")
    return text if len(text) <= CELL else f"{text[:CELL]}…"


def problems_path(uploads: Uploads, key: str) -> Path:
    """The file of an upload's rows that cannot be judged. Raises NotFound."""
    path = uploads.folder(key) / PROBLEMS
    if not path.is_file():
        raise NotFound("upload", "this file was not looked through yet")
    return path
