"""Schemas: drafts that people write, immutable versions that they publish, and example states.

Contract
--------
* A draft's `document` is whatever JSON the editor needs, valid questions or not. What is published is questions that
  `model.questions.parse_questions` accepted.
* Every save names the revision that it was made from. If somebody else saved meanwhile, `DraftConflict` carries
  their draft, and nothing is overwritten. Saving the same content again is no change.
* Versions count from 1 and never change. Publishing what the latest version already says returns that version.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

import sqlalchemy as sa
from sqlmodel import Session, col, delete, select

from model.questions import Json, Limits, Questions, canonical_json, parse_questions, schema_hash
from storage.database import Database
from storage.errors import Conflict, InvalidValue, NotFound, checked_id, checked_json, checked_text, plain_id
from storage.pictures import require_pictures
from storage.tables import DraftRow, ExamplePictureRow, ExampleRow, QuestionSetRow, SchemaRow, SchemaVersionRow, now

NAME_LENGTH = 200
NOTE_LENGTH = 10_000
EMPTY: Json = {}

ANY_SIZE = Limits(questions=10**9, options=10**9, levels=10**9, images=10**9, id_length=10**9)
"""What was kept is read whatever today's limits are."""


@dataclass(frozen=True, kw_only=True)
class Example:
    """A named state to try a schema on; `pictures` are sha256 hashes, in order."""

    name: str
    state: Json
    pictures: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What somebody is writing. `revision` is what the next save must name."""

    schema_id: str
    revision: int
    document: Json
    examples: tuple[Example, ...]
    saved: datetime


class DraftConflict(Conflict):
    """The draft changed since it was read; `current` is what is kept."""

    def __init__(self, current: Draft) -> None:
        self.current = current
        super().__init__(
            "base_revision",
            f"this draft was changed elsewhere (now revision {current.revision}); compare both, then save again",
        )


@dataclass(frozen=True, kw_only=True)
class SchemaVersion:
    """A published schema. Immutable; `sha256` is `model.questions.schema_hash` of its questions."""

    schema_id: str
    number: int
    sha256: str
    questions: Questions
    note: str
    created: datetime


@dataclass(frozen=True, kw_only=True)
class Schema:
    """A named set of questions, as a list shows it.

    `latest` is its newest version's number, if it has one. `recording`: the decisions that the APIs make under one of
    its versions are kept, with their states.
    """

    id: str
    name: str
    description: str
    archived: bool
    created: datetime
    revision: int
    saved: datetime
    latest: int | None
    recording: bool


def create_schema(
    database: Database,
    *,
    name: str,
    description: str = "",
    document: Json = EMPTY,
    examples: Sequence[Example] = (),
    schema_id: str | None = None,
) -> Schema:
    """A new schema whose draft is at revision 1. With a `schema_id` that exists already: that schema, unchanged.

    Raises
    ------
    InvalidValue : `name`, `description`, `document`, `examples` or `schema_id`.
    """
    key = str(uuid4()) if schema_id is None else checked_id(schema_id, "schema_id")
    row = SchemaRow(id=key, name=_name(name), description=_note(description, "description"))
    draft = DraftRow(schema_id=key, revision=1, document=checked_json(document, "document"))
    checked = _checked_examples(examples)
    with database.write_session() as session:
        if session.get(SchemaRow, key) is None:
            session.add(row)
            session.flush()
            session.add(draft)
            _write_examples(session, key, checked)
            session.flush()
        return _schema(session, key)


def list_schemas(database: Database, *, archived: bool = False) -> list[Schema]:
    """The schemas in use (or the archived ones), last saved first."""
    with database.read_session() as session:
        query = _schemas().where(col(SchemaRow.archived) == archived).order_by(col(DraftRow.saved).desc())
        return [_view(*row) for row in session.execute(query)]


def get_schema(database: Database, schema_id: str) -> Schema:
    """Raises NotFound."""
    with database.read_session() as session:
        return _schema(session, _row(session, schema_id).id)


def rename_schema(
    database: Database, schema_id: str, *, name: str | None = None, description: str | None = None
) -> Schema:
    """Changes what is given. Raises NotFound, InvalidValue."""
    with database.write_session() as session:
        row = _row(session, schema_id)
        row.name = row.name if name is None else _name(name)
        row.description = row.description if description is None else _note(description, "description")
        session.flush()
        return _schema(session, row.id)


def archive_schema(database: Database, schema_id: str, *, archived: bool = True) -> Schema:
    """Takes a schema out of the list, or back into it. Nothing is deleted. Raises NotFound."""
    with database.write_session() as session:
        row = _row(session, schema_id)
        row.archived = archived
        session.flush()
        return _schema(session, row.id)


def record_schema(database: Database, schema_id: str, *, recording: bool = True) -> Schema:
    """Turns the keeping of API decisions on or off. What was kept stays. Raises NotFound."""
    with database.write_session() as session:
        row = _row(session, schema_id)
        row.recording = recording
        session.flush()
        return _schema(session, row.id)


def duplicate_schema(database: Database, schema_id: str, *, name: str, copy_id: str | None = None) -> Schema:
    """A new schema with the draft and examples of another, no versions, and no recording.

    Raises NotFound, InvalidValue.
    """
    draft = get_draft(database, schema_id)
    description = get_schema(database, schema_id).description
    return create_schema(
        database,
        name=name,
        description=description,
        document=draft.document,
        examples=draft.examples,
        schema_id=copy_id,
    )


def get_draft(database: Database, schema_id: str) -> Draft:
    """Raises NotFound."""
    with database.read_session() as session:
        return _draft(session, schema_id)


def save_draft(
    database: Database,
    schema_id: str,
    *,
    document: Json,
    base_revision: int,
    examples: Sequence[Example] | None = None,
) -> int:
    """Keeps a draft; returns its revision. `examples` replace the kept ones; None leaves them as they are.

    Raises
    ------
    NotFound : `schema_id`.
    DraftConflict : the kept draft has another revision and says something else.
    InvalidValue : `document` or `examples`.
    """
    checked_json(document, "document")
    given = None if examples is None else _checked_examples(examples)
    with database.write_session() as session:
        current = _draft(session, schema_id)
        key = current.schema_id
        new_examples = given is not None and _text(given) != _text(current.examples)
        # A save whose reply was lost is sent again, under the old revision: what is kept already is no conflict.
        if not new_examples and _text(document) == _text(current.document):
            return current.revision
        if current.revision != base_revision:
            raise DraftConflict(current)
        row = session.get_one(DraftRow, key)
        row.document, row.revision, row.saved = document, current.revision + 1, now()
        if given is not None and new_examples:
            _write_examples(session, key, given)
        return row.revision


def publish(database: Database, schema_id: str, questions: Questions, *, note: str = "") -> SchemaVersion:
    """A new immutable version; the latest one if that has the same questions (its note then stays as it is).

    Raises
    ------
    NotFound : `schema_id`.
    InvalidValue : `note`.
    """
    note = _note(note, "note")
    with database.write_session() as session:
        key = _row(session, schema_id).id
        latest = _latest(session, key)
        if latest is not None and latest.sha256 == schema_hash(questions):
            return _version(session, latest)
        number = 1 if latest is None else latest.number + 1
        row = SchemaVersionRow(schema_id=key, number=number, sha256=keep_questions(session, questions), note=note)
        session.add(row)
        session.flush()
        return _version(session, row)


def list_versions(database: Database, schema_id: str) -> list[SchemaVersion]:
    """All versions, newest first. Raises NotFound."""
    with database.read_session() as session:
        query = select(SchemaVersionRow).where(SchemaVersionRow.schema_id == _row(session, schema_id).id)
        return [_version(session, row) for row in session.exec(query.order_by(col(SchemaVersionRow.number).desc()))]


def get_version(database: Database, schema_id: str, number: int | None = None) -> SchemaVersion:
    """One version; the latest without a `number`. Raises NotFound."""
    with database.read_session() as session:
        key = _row(session, schema_id).id
        row = _latest(session, key) if number is None else session.get(SchemaVersionRow, (key, number))
        if row is None:
            raise NotFound("version", f"schema {key} has no version {number or 'yet'}; publish it first")
        return _version(session, row)


def find_version(database: Database, questions: Questions, *, recording: bool = False) -> SchemaVersion | None:
    """The version that asks exactly these questions; the newest if several schemas do, None if none does.

    With `recording`, only versions of schemas that record and are in use: archiving one ends its recording.
    """
    with database.read_session() as session:
        query = select(SchemaVersionRow).where(SchemaVersionRow.sha256 == schema_hash(questions))
        if recording:
            query = query.join(SchemaRow).where(col(SchemaRow.recording), ~col(SchemaRow.archived))
        row = session.exec(query.order_by(col(SchemaVersionRow.created).desc()).limit(1)).first()
        return None if row is None else _version(session, row)


def keep_questions(session: Session, questions: Questions) -> str:
    """Writes a set of questions once; returns its sha256."""
    key = schema_hash(questions)
    if session.get(QuestionSetRow, key) is None:
        session.add(QuestionSetRow(sha256=key, document=canonical_json(questions)))
        session.flush()
    return key


def read_questions(session: Session, sha256: str) -> Questions:
    """The questions kept under `sha256`."""
    return parse_questions(json.loads(session.get_one(QuestionSetRow, sha256).document), limits=ANY_SIZE)


def _name(name: str) -> str:
    return checked_text(name, "name", limit=NAME_LENGTH, blank=False)


def _note(text: str, field: str) -> str:
    return checked_text(text, field, limit=NOTE_LENGTH)


def _text(value: Json | tuple[Example, ...]) -> str:
    """Compared as text, for the order of keys is part of what a draft or a state says."""
    return json.dumps([asdict(e) for e in value] if isinstance(value, tuple) else value)


def _row(session: Session, schema_id: str) -> SchemaRow:
    row = session.get(SchemaRow, plain_id(schema_id))
    if row is None:
        raise NotFound("schema_id", f"there is no schema {schema_id!r}; it may live in another data folder")
    return row


def _schemas() -> sa.Select[Any]:
    newest = (
        sa.select(col(SchemaVersionRow.schema_id), sa.func.max(SchemaVersionRow.number).label("number"))
        .group_by(col(SchemaVersionRow.schema_id))
        .subquery()
    )
    return (
        sa.select(SchemaRow, col(DraftRow.revision), col(DraftRow.saved), newest.c.number)
        .join(DraftRow, col(DraftRow.schema_id) == col(SchemaRow.id))
        .outerjoin(newest, newest.c.schema_id == col(SchemaRow.id))
    )


def _schema(session: Session, key: str) -> Schema:
    return _view(*session.execute(_schemas().where(col(SchemaRow.id) == key)).one())


def _view(row: SchemaRow, revision: int, saved: datetime, latest: int | None) -> Schema:
    return Schema(
        id=row.id,
        name=row.name,
        description=row.description,
        archived=row.archived,
        created=row.created,
        revision=revision,
        saved=saved,
        latest=latest,
        recording=row.recording,
    )


def _latest(session: Session, schema_id: str) -> SchemaVersionRow | None:
    query = select(SchemaVersionRow).where(SchemaVersionRow.schema_id == schema_id)
    return session.exec(query.order_by(col(SchemaVersionRow.number).desc()).limit(1)).first()


def _version(session: Session, row: SchemaVersionRow) -> SchemaVersion:
    return SchemaVersion(
        schema_id=row.schema_id,
        number=row.number,
        sha256=row.sha256,
        questions=read_questions(session, row.sha256),
        note=row.note,
        created=row.created,
    )


def _draft(session: Session, schema_id: str) -> Draft:
    row = session.get_one(DraftRow, _row(session, schema_id).id)
    return Draft(
        schema_id=row.schema_id,
        revision=row.revision,
        document=row.document,
        examples=_read_examples(session, row.schema_id),
        saved=row.saved,
    )


def _read_examples(session: Session, schema_id: str) -> tuple[Example, ...]:
    rows = session.exec(
        select(ExampleRow).where(ExampleRow.schema_id == schema_id).order_by(col(ExampleRow.position))
    ).all()
    pictures: dict[int, list[str]] = {}
    query = select(ExamplePictureRow).where(col(ExamplePictureRow.example).in_([row.serial for row in rows]))
    for picture in session.exec(query.order_by(col(ExamplePictureRow.position))):
        pictures.setdefault(picture.example, []).append(picture.sha256)
    return tuple(
        Example(name=row.name, state=row.state, pictures=tuple(pictures.get(row.serial or 0, ()))) for row in rows
    )


def _checked_examples(examples: Sequence[Example]) -> tuple[Example, ...]:
    checked = []
    for position, example in enumerate(examples):
        field = f"examples.{position}"
        if not isinstance(example.state, str | dict | list):
            raise InvalidValue(f"{field}.state", "must be text, an object or a list")
        name = checked_text(example.name, f"{field}.name", limit=NAME_LENGTH)
        state = checked_json(example.state, f"{field}.state")
        checked.append(Example(name=name, state=state, pictures=tuple(example.pictures)))
    return tuple(checked)


def _write_examples(session: Session, schema_id: str, examples: Sequence[Example]) -> None:
    """Replaces all examples of a schema."""
    session.exec(delete(ExampleRow).where(col(ExampleRow.schema_id) == schema_id))
    for position, example in enumerate(examples):
        row = ExampleRow(schema_id=schema_id, position=position, name=example.name, state=example.state)
        session.add(row)
        session.flush()
        assert row.serial is not None
        require_pictures(session, example.pictures, f"examples.{position}.pictures")
        for index, sha256 in enumerate(example.pictures):
            session.add(ExamplePictureRow(example=row.serial, position=index, sha256=sha256))
    session.flush()
