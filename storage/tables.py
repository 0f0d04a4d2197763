"""The tables: what is kept, and what may never change.

Contract
--------
* Rows never leave `storage`; its functions return frozen dataclasses.
* Ids that others see are uuids as text (36 characters). `serial` is the order in which rows arrived, never reused.
* JSON documents are immutable values: assign a new one, never change one in place (such a change is not noticed).
* Times are aware datetimes in UTC.
* A set of questions is written once, under its sha256 (`question_sets`); schema versions and decisions point at it.
* A decision is split by use: `decisions` is small, for lists; `decision_bodies` is read on opening; `answers` holds one
  row per question, for statistics.
* `TRIGGERS` keep question sets, versions, decisions, answers and labels as they were written, whoever holds the file.
  They are part of a revision: changing one needs a new migration (which may be empty), for they are made anew by it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlmodel import Field, SQLModel

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
"""Every constraint has a name, so that a migration can drop it."""


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


class UtcTime(sa.types.TypeDecorator[datetime]):
    """An aware datetime, written as UTC (SQLite keeps no zone)."""

    impl = sa.DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        """UTC without its zone. Raises ValueError for a time without a zone."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a zone cannot be kept; use datetime.now(UTC)")
        return value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        """The same moment, aware."""
        return None if value is None else value.replace(tzinfo=UTC)


class Document(sa.types.TypeDecorator[Any]):
    """JSON whose every change counts: Python holds 1, 1.0 and True for equal, and objects whatever their order."""

    impl = sa.JSON(none_as_null=True)
    cache_ok = True

    def compare_values(self, x: Any, y: Any) -> bool:
        """Whether both are the same text."""
        return json.dumps(x) == json.dumps(y)


def _id(*, key: bool = False, to: str | None = None, nullable: bool = False, unique: bool = False) -> Any:
    references = [sa.ForeignKey(to)] if to else []
    return Field(
        default=None if nullable else ...,
        sa_column=sa.Column(sa.String(36), *references, primary_key=key, nullable=nullable, unique=unique or None),
    )


def _hash(*, key: bool = False, to: str | None = None) -> Any:
    references = [sa.ForeignKey(to)] if to else []
    return Field(sa_column=sa.Column(sa.String(64), *references, primary_key=key, nullable=False))


def _serial() -> Any:
    return Field(default=None, sa_column=sa.Column(sa.Integer, primary_key=True, autoincrement=True))


def _part(to: str, *, key: bool = True) -> Any:
    """A row's owner; the row goes when the owner goes."""
    reference = sa.ForeignKey(to, ondelete="CASCADE")
    return Field(sa_column=sa.Column(sa.Integer, reference, primary_key=key, nullable=False, autoincrement=False))


def _json(*, nullable: bool = False) -> Any:
    return Field(default=None if nullable else ..., sa_column=sa.Column(Document, nullable=nullable))


def _text() -> Any:
    return Field(default="", sa_column=sa.Column(sa.Text, nullable=False))


def _time() -> Any:
    return Field(default_factory=now, sa_column=sa.Column(UtcTime, nullable=False))


def _one_of(column: str, values: tuple[str, ...]) -> sa.CheckConstraint:
    return sa.CheckConstraint(f"{column} IN ({', '.join(map(repr, values))})", name=column)


SOURCES = ("page", "api", "run", "import")
VERDICTS = ("right", "wrong", "cant_tell", "withdrawn")
SAMPLED_BY = ("volunteered", "queue", "audit", "bulk", "import")


class Row(SQLModel):
    """Base of all tables; holds their metadata apart from that of other packages."""

    metadata = sa.MetaData(naming_convention=NAMING)


class SchemaRow(Row, table=True):
    """A named set of questions. `recording`: decisions that the APIs make under one of its versions are kept."""

    __tablename__ = "schemas"

    id: str = _id(key=True)
    name: str = _text()
    description: str = _text()
    archived: bool = Field(default=False, sa_column=sa.Column(sa.Boolean, nullable=False))
    created: datetime = _time()
    recording: bool = Field(default=False, sa_column=sa.Column(sa.Boolean, nullable=False))


class QuestionSetRow(Row, table=True):
    """The text of a set of questions (`model.questions.canonical_json`), once."""

    __tablename__ = "question_sets"

    sha256: str = _hash(key=True)
    document: str = _text()


class SchemaVersionRow(Row, table=True):
    """A published schema. Immutable; `number` counts from 1 within the schema."""

    __tablename__ = "schema_versions"

    schema_id: str = _id(key=True, to="schemas.id")
    number: int = Field(sa_column=sa.Column(sa.Integer, primary_key=True, autoincrement=False))
    sha256: str = _hash(to="question_sets.sha256")
    note: str = _text()
    created: datetime = _time()


class DraftRow(Row, table=True):
    """What somebody is writing: any JSON, valid or not. `revision` rises by one with every change."""

    __tablename__ = "drafts"

    schema_id: str = _id(key=True, to="schemas.id")
    revision: int
    document: Any = _json()
    saved: datetime = _time()


class ExampleRow(Row, table=True):
    """A named state to try a schema on; `position` orders them within the schema."""

    __tablename__ = "examples"
    __table_args__ = (sa.UniqueConstraint("schema_id", "position"),)

    serial: int | None = _serial()
    schema_id: str = _id(to="schemas.id")
    position: int
    name: str = _text()
    state: Any = _json()


class PictureRow(Row, table=True):
    """A picture, known by the sha256 of its bytes, which lie beside the database (`storage.pictures`)."""

    __tablename__ = "pictures"

    sha256: str = _hash(key=True)
    format: str = _text()
    width: int
    height: int
    bytes: int
    created: datetime = _time()


class ExamplePictureRow(Row, table=True):
    """The pictures of an example, in order."""

    __tablename__ = "example_pictures"

    example: int = _part("examples.serial")
    position: int = Field(sa_column=sa.Column(sa.Integer, primary_key=True, autoincrement=False))
    sha256: str = _hash(to="pictures.sha256")


class ScorerRow(Row, table=True):
    """A scorer as it was when it first answered."""

    __tablename__ = "scorers"

    fingerprint: str = _hash(key=True)
    name: str = _text()
    info: Any = _json()
    created: datetime = _time()


class DecisionRow(Row, table=True):
    """One state judged under one set of questions by one scorer: what a list shows.

    `schema_id` without `version` is a draft. `seconds` is the model's time.
    """

    __tablename__ = "decisions"
    __table_args__ = (
        sa.ForeignKeyConstraint(["schema_id", "version"], ["schema_versions.schema_id", "schema_versions.number"]),
        sa.Index("ix_decisions_schema", "schema_id", "serial"),
        sa.Index("ix_decisions_kept", "serial", sqlite_where=sa.text("kept = 1"), postgresql_where=sa.text("kept")),
        _one_of("source", SOURCES),
        {"sqlite_autoincrement": True},
    )

    serial: int | None = _serial()
    id: str = _id(unique=True)
    schema_id: str | None = _id(to="schemas.id", nullable=True)
    version: int | None = None
    questions: str = _hash(to="question_sets.sha256")
    scorer: str = _hash(to="scorers.fingerprint")
    source: str = Field(sa_column=sa.Column(sa.String(16), nullable=False))
    kept: bool = Field(default=False, sa_column=sa.Column(sa.Boolean, nullable=False))
    preview: str = _text()
    tokens: Any = _json()
    cut: Any = _json(nullable=True)
    seconds: float
    created: datetime = _time()


class DecisionBodyRow(Row, table=True):
    """What a decision read: its state, the words found in its pictures, and where the scorer looked."""

    __tablename__ = "decision_bodies"

    decision: int = _part("decisions.serial")
    state: Any = _json()
    words: Any = _json()
    looked: Any = _json()


class DecisionPictureRow(Row, table=True):
    """The pictures of a decision, in order."""

    __tablename__ = "decision_pictures"

    decision: int = _part("decisions.serial")
    position: int = Field(sa_column=sa.Column(sa.Integer, primary_key=True, autoincrement=False))
    sha256: str = _hash(to="pictures.sha256")


class AnswerRow(Row, table=True):
    """One question's distribution: `options` and `probabilities` are lists in request order, unrounded.

    `top` is the most probable option, `probability` its probability, `expected_level` that of a score.
    """

    __tablename__ = "answers"

    decision: int = _part("decisions.serial")
    question: str = Field(sa_column=sa.Column(sa.Text, primary_key=True))
    position: int
    type: str = Field(sa_column=sa.Column(sa.String(8), nullable=False))
    options: Any = _json()
    probabilities: Any = _json()
    top: str = _text()
    probability: float
    expected_level: float | None = None


class LabelRow(Row, table=True):
    """A person's word on an answer. Append-only: the newest row of a labeller stands, the others are history.

    `true_option` is null when nobody knows it. `propensity` is the probability that the person was shown the answer.
    """

    __tablename__ = "labels"
    __table_args__ = (
        sa.ForeignKeyConstraint(["decision", "question"], ["answers.decision", "answers.question"]),
        sa.Index("ix_labels_answer", "decision", "question", "labeller", "serial"),
        _one_of("verdict", VERDICTS),
        _one_of("source", SAMPLED_BY),
        sa.CheckConstraint("propensity > 0 AND propensity <= 1", name="propensity"),
        {"sqlite_autoincrement": True},
    )

    serial: int | None = _serial()
    id: str = _id(unique=True)
    decision: int
    question: str = _text()
    verdict: str = Field(sa_column=sa.Column(sa.String(16), nullable=False))
    true_option: str | None = Field(default=None, sa_column=sa.Column(sa.Text))
    note: str = _text()
    labeller: str = _text()
    source: str = Field(sa_column=sa.Column(sa.String(16), nullable=False))
    propensity: float | None = None
    blind: bool = Field(default=False, sa_column=sa.Column(sa.Boolean, nullable=False))
    seconds: float | None = None
    supersedes: int | None = Field(default=None, sa_column=sa.Column(sa.ForeignKey("labels.serial"), unique=True))
    created: datetime = _time()


def _keep(name: str, event: str, table: str, reason: str) -> tuple[str, str]:
    trigger = f"keep_{name}"
    return trigger, f"CREATE TRIGGER {trigger} BEFORE {event} ON {table} BEGIN SELECT RAISE(ABORT, '{reason}'); END"


# Of a decision, only the mark that a person keeps it and the preview (which redaction empties) may change.
_FIXED = ", ".join(c.name for c in DecisionRow.__table__.columns if c.name not in ("kept", "preview"))  # type: ignore[attr-defined]

TRIGGERS: Mapping[str, str] = dict(
    [
        _keep("question_sets_update", "UPDATE", "question_sets", "question sets never change"),
        _keep("question_sets_delete", "DELETE", "question_sets", "question sets are never deleted"),
        _keep("schema_versions_update", "UPDATE", "schema_versions", "schema versions never change; publish a new one"),
        _keep("schema_versions_delete", "DELETE", "schema_versions", "schema versions are never deleted"),
        _keep("decisions_update", f"UPDATE OF {_FIXED}", "decisions", "decisions never change"),
        _keep("answers_update", "UPDATE", "answers", "answers never change"),
        _keep("labels_update", "UPDATE", "labels", "labels are never changed; supersede them"),
        _keep("labels_delete", "DELETE", "labels", "labels are never deleted; withdraw them"),
    ]
)
"""SQLite's triggers: name to statement."""
