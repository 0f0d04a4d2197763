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
* A queue holds the answers to one question of one set by one scorer, to be labelled. An item's random numbers are drawn
  once and never again: what is known of how labels were chosen hangs on them.
* `KEPT` (triggers) keeps question sets, versions, decisions, answers and labels as they were written, whoever holds the
  database.
  They are part of a revision: changing one needs a new migration (which may be empty), for they are made anew by it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
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


STREAMS = ("queue", "audit")
JOB_STATUS = ("waiting", "running", "paused", "done", "failed", "cancelled")
JOB_WISHES = ("run", "pause", "cancel")
MEASURES = ("margin", "entropy", "cost")
OUTCOMES = ("labelled", "skipped")
ACTS = (*OUTCOMES, "undone")


class Row(SQLModel):
    """Base of all tables; holds their metadata apart from that of other packages."""

    metadata = sa.MetaData(naming_convention=NAMING)


class SchemaRow(Row, table=True):
    """A named set of questions. `recording`: decisions that the APIs make under one of its versions are kept.

    Without `states` a decision is kept without what it read; `retention` is the days after which a state is emptied.
    """

    __tablename__ = "schemas"

    id: str = _id(key=True)
    name: str = _text()
    description: str = _text()
    archived: bool = Field(default=False, sa_column=sa.Column(sa.Boolean, nullable=False))
    created: datetime = _time()
    recording: bool = Field(default=False, sa_column=sa.Column(sa.Boolean, nullable=False))
    states: bool = Field(default=True, sa_column=sa.Column(sa.Boolean, nullable=False))
    retention: int | None = None


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

    `schema_id` without `version` is a draft. `seconds` is the model's time. `redacted` says when the state was emptied.
    """

    __tablename__ = "decisions"
    __table_args__ = (
        sa.ForeignKeyConstraint(["schema_id", "version"], ["schema_versions.schema_id", "schema_versions.number"]),
        sa.Index("ix_decisions_schema", "schema_id", "serial"),
        sa.Index("ix_decisions_asked", "questions", "scorer", "serial"),
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
    redacted: datetime | None = Field(default=None, sa_column=sa.Column(UtcTime))


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


class QueueRow(Row, table=True):
    """The answers to one question by one scorer, to be labelled, and how they are chosen.

    `audit_share` of what is shown comes from the audit; `overlap` of the items want two people; the model's answer is
    hidden for `blind_queue` and `blind_audit` of what is shown. With `apart`, near-duplicates of what was shown are
    left out of the queue. `enrolled` is the serial of the last decision looked at, `step` the number of the last
    serving, `queue_reached` and `audit_reached` how many items each stream came to.
    """

    __tablename__ = "queues"
    __table_args__ = (
        sa.UniqueConstraint("questions", "scorer", "question"),
        _one_of("measure", MEASURES),
        *(
            sa.CheckConstraint(f"{share} >= 0 AND {share} <= 1", name=share)
            for share in ("audit_share", "overlap", "blind_queue", "blind_audit")
        ),
    )

    serial: int | None = _serial()
    questions: str = _hash(to="question_sets.sha256")
    scorer: str = _hash(to="scorers.fingerprint")
    question: str = _text()
    measure: str = Field(default="margin", sa_column=sa.Column(sa.String(16), nullable=False))
    audit_share: float = 0.2
    overlap: float = 0.1
    blind_queue: float = 0.0
    blind_audit: float = 1.0
    apart: bool = Field(default=True, sa_column=sa.Column(sa.Boolean, nullable=False))
    enrolled: int = 0
    step: int = 0
    queue_reached: int = 0
    audit_reached: int = 0


class QueueItemRow(Row, table=True):
    """An answer in a queue: `u`, `v` and `w` are its permanent random numbers, uniform on (0, 1).

    `place` is u / x. `since` is the number of the last serving before it arrived; `before` the inclusion reached under
    an earlier target x. `queue_step` and `audit_step` are the servings that reached it, `first` the stream that showed
    it. `twin` is the item whose near-duplicate it is. `answers` counts people who labelled it in its turn.
    """

    __tablename__ = "queue_items"
    __table_args__ = (
        sa.UniqueConstraint("queue", "decision"),
        sa.Index("ix_queue_items_decision", "decision"),
        *(
            sa.Index(f"ix_queue_items_{name}", *columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))
            for name, columns, where in (
                ("queue_next", ("queue", "place"), "queue_step IS NULL"),
                ("audit_next", ("queue", "v"), "audit_step IS NULL"),
                ("open", ("queue", "serial"), "first IS NOT NULL AND answers < wanted"),
                ("shown", ("queue", "serial"), "first IS NOT NULL"),
            )
        ),
        _one_of("first", STREAMS),
    )

    serial: int | None = _serial()
    queue: int = _part("queues.serial", key=False)
    decision: int = _part("decisions.serial", key=False)
    u: float
    v: float
    w: float
    x: float
    place: float
    before: float = 0.0
    since: int = 0
    queue_step: int | None = None
    audit_step: int | None = None
    first: str | None = Field(default=None, sa_column=sa.Column(sa.String(8)))
    twin: int | None = Field(
        default=None, sa_column=sa.Column(sa.ForeignKey("queue_items.serial", ondelete="SET NULL"))
    )
    sketch: int | None = Field(default=None, sa_column=sa.Column(sa.BigInteger))
    wanted: int = 1
    answers: int = 0


class QueueStepRow(Row, table=True):
    """A serving: the furthest `place` (or v) that it served, and the next one unserved (null: nothing was left).

    Only servings that no later one went beyond are here: they alone tell how far a stream came since a given moment.
    """

    __tablename__ = "queue_steps"
    __table_args__ = (_one_of("stream", STREAMS),)

    queue: int = _part("queues.serial")
    stream: str = Field(sa_column=sa.Column(sa.String(8), primary_key=True))
    step: int = Field(sa_column=sa.Column(sa.Integer, primary_key=True, autoincrement=False))
    served: float
    following: float | None = None


class LeaseRow(Row, table=True):
    """An item that a person holds, or held: nobody else gets it till `expires`. `tab` is the page that it lies on."""

    __tablename__ = "leases"
    __table_args__ = (
        sa.Index("ix_leases_item", "item", "labeller"),
        sa.Index("ix_leases_tab", "tab", "serial"),
        _one_of("stream", STREAMS),
        _one_of("outcome", OUTCOMES),
    )

    serial: int | None = _serial()
    id: str = _id(unique=True)
    item: int = _part("queue_items.serial", key=False)
    labeller: str = _text()
    tab: str = _id()
    stream: str = Field(sa_column=sa.Column(sa.String(8), nullable=False))
    blind: bool = Field(default=False, sa_column=sa.Column(sa.Boolean, nullable=False))
    taken: datetime = _time()
    expires: datetime = _time()
    outcome: str | None = Field(default=None, sa_column=sa.Column(sa.String(16)))


class ActRow(Row, table=True):
    """What a person did with a lease, by the uuid that their page made: so that it may be sent twice.

    An act `labelled` has a label of the same id; so has `undone`, where it took back a label.
    """

    __tablename__ = "acts"
    __table_args__ = (sa.Index("ix_acts_lease", "lease", "serial"), _one_of("kind", ACTS))

    serial: int | None = _serial()
    id: str = _id(unique=True)
    lease: int = _part("leases.serial", key=False)
    kind: str = Field(sa_column=sa.Column(sa.String(16), nullable=False))
    created: datetime = _time()


class VerdictRow(Row, table=True):
    """What stands where people differed, by who decided it. The newest of an answer counts; none is overwritten."""

    __tablename__ = "verdicts"
    __table_args__ = (
        sa.ForeignKeyConstraint(["decision", "question"], ["answers.decision", "answers.question"], ondelete="CASCADE"),
        sa.Index("ix_verdicts_answer", "decision", "question", "serial"),
        {"sqlite_autoincrement": True},
    )

    serial: int | None = _serial()
    id: str = _id(unique=True)
    decision: int
    question: str = _text()
    true_option: str | None = Field(default=None, sa_column=sa.Column(sa.Text))
    note: str = _text()
    labeller: str = _text()
    created: datetime = _time()


class ErasureRow(Row, table=True):
    """That a case was deleted, when and by whom; nothing of what it held. `decision` is its serial, never reused."""

    __tablename__ = "erasures"

    decision: int = Field(sa_column=sa.Column(sa.Integer, primary_key=True, autoincrement=False))
    id: str = _id(unique=True)
    by: str = _text()
    created: datetime = _time()


class DatasetRow(Row, table=True):
    """A frozen dataset: how it is made (`recipe`), the hash of what that gives, and its counts then (`summary`)."""

    __tablename__ = "datasets"
    __table_args__ = (sa.UniqueConstraint("name", "number"),)

    id: str = _id(key=True)
    name: str = _text()
    number: int
    sha256: str = _hash()
    recipe: Any = _json()
    summary: Any = _json()
    created: datetime = _time()


class JobRow(Row, table=True):
    """Long work that outlives pages and restarts. `progress` is written together with what was done.

    `wanted` is what a person asked of it since (pause, cancel); the worker looks there between two portions.
    """

    __tablename__ = "jobs"
    __table_args__ = (_one_of("status", JOB_STATUS), _one_of("wanted", JOB_WISHES))

    serial: int | None = _serial()
    id: str = _id(unique=True)
    kind: str = Field(sa_column=sa.Column(sa.String(16), nullable=False))
    title: str = _text()
    status: str = Field(default="waiting", sa_column=sa.Column(sa.String(16), nullable=False))
    wanted: str = Field(default="run", sa_column=sa.Column(sa.String(16), nullable=False))
    spec: Any = _json()
    progress: Any = _json()
    message: str = _text()
    created: datetime = _time()
    changed: datetime = _time()


class RunRow(Row, table=True):
    """A row of a run's file, numbered from 0 in the file's order: its decision, or why it has none (`problem`).

    `line` is where it starts in the file; `same` the first row that says the same.
    """

    __tablename__ = "run_rows"
    __table_args__ = (sa.Index("ix_run_rows_decision", "decision"), sa.Index("ix_run_rows_problem", "job", "problem"))

    job: int = _part("jobs.serial")
    row: int = Field(sa_column=sa.Column(sa.Integer, primary_key=True, autoincrement=False))
    line: int
    decision: int | None = Field(
        default=None, sa_column=sa.Column(sa.ForeignKey("decisions.serial", ondelete="SET NULL"))
    )
    problem: str | None = Field(default=None, sa_column=sa.Column(sa.Text))
    same: int | None = None


class PolicyRow(Row, table=True):
    """Thresholds for the answers to one question by one scorer; `number` counts from 1, and the newest is in force.

    From `act` on a machine may act alone, under `refuse` the answer is refused; null means never. One without `basis`
    withdraws those before it. `basis` is what it was chosen under: budget, kind, labels, bound.
    """

    __tablename__ = "policies"
    __table_args__ = (
        sa.UniqueConstraint("questions", "scorer", "question", "number"),
        sa.CheckConstraint("act > 0 AND act <= 1", name="act"),
        sa.CheckConstraint("refuse >= 0 AND refuse <= 1", name="refuse"),
        sa.CheckConstraint("refuse <= act", name="order"),
    )

    serial: int | None = _serial()
    id: str = _id(unique=True)
    questions: str = _hash(to="question_sets.sha256")
    scorer: str = _hash(to="scorers.fingerprint")
    question: str = _text()
    number: int
    act: float | None = None
    refuse: float | None = None
    basis: Any = _json(nullable=True)
    by: str = _text()
    created: datetime = _time()


class CalibratorRow(Row, table=True):
    """A recalibration of one question's answers by one scorer. Only whether it is `on` changes.

    `document` is the calibrator, `judged` what it did on labels that it had not seen. At most one of a question is on.
    """

    __tablename__ = "calibrators"
    __table_args__ = (sa.Index("ix_calibrators_asked", "questions", "scorer", "question"),)

    serial: int | None = _serial()
    id: str = _id(unique=True)
    questions: str = _hash(to="question_sets.sha256")
    scorer: str = _hash(to="scorers.fingerprint")
    question: str = _text()
    document: Any = _json()
    judged: Any = _json()
    on: bool = Field(default=False, sa_column=sa.Column("active", sa.Boolean, nullable=False))
    by: str = _text()
    created: datetime = _time()


@dataclass(frozen=True)
class Kept:
    """That rows of `table` bear no `event` ("UPDATE OF ..." or "DELETE"), for `reason`; but where `unless` is true."""

    name: str
    event: str
    table: str
    reason: str
    unless: str = ""

    @property
    def trigger(self) -> str:
        """The trigger's name."""
        return f"keep_{self.name}"


# Of a decision, only the mark that a person keeps it and what redaction empties and notes may change.
_FREE = ("kept", "preview", "redacted")
_FIXED = ", ".join(c.name for c in DecisionRow.__table__.columns if c.name not in _FREE)  # type: ignore[attr-defined]
_ERASED = "EXISTS (SELECT 1 FROM erasures WHERE decision = OLD.decision)"

KEPT = (
    Kept("question_sets_update", "UPDATE", "question_sets", "question sets never change"),
    Kept("question_sets_delete", "DELETE", "question_sets", "question sets are never deleted"),
    Kept("schema_versions_update", "UPDATE", "schema_versions", "schema versions never change; publish a new one"),
    Kept("schema_versions_delete", "DELETE", "schema_versions", "schema versions are never deleted"),
    Kept("decisions_update", f"UPDATE OF {_FIXED}", "decisions", "decisions never change"),
    Kept("answers_update", "UPDATE", "answers", "answers never change"),
    Kept("labels_update", "UPDATE", "labels", "labels are never changed; supersede them"),
    Kept("labels_delete", "DELETE", "labels", "labels are never deleted; withdraw them", _ERASED),
    Kept("queue_items_update", "UPDATE OF u, v, w, decision", "queue_items", "random numbers are drawn once"),
    Kept("verdicts_update", "UPDATE", "verdicts", "verdicts are never changed; give a newer one"),
    Kept("policies_update", "UPDATE", "policies", "policies are never changed; save a newer one"),
    Kept("policies_delete", "DELETE", "policies", "policies are never deleted; withdraw them"),
    Kept("calibrators_update", "UPDATE OF document, judged", "calibrators", "calibrators never change"),
)
"""What may never change. Both kinds of database make triggers of it."""


def _sqlite(kept: Kept) -> str:
    when = f" WHEN NOT ({kept.unless})" if kept.unless else ""
    return (
        f"CREATE TRIGGER {kept.trigger} BEFORE {kept.event} ON {kept.table}{when} "
        f"BEGIN SELECT RAISE(ABORT, '{kept.reason}'); END"
    )


TRIGGERS: Mapping[str, str] = {kept.trigger: _sqlite(kept) for kept in KEPT}
"""SQLite's triggers: name to statement."""
