"""Decisions: what was asked, what was answered, unrounded, and by whom.

Contract
--------
* The id is a uuid that the caller made: recording it again returns the row that is there, so a request may be sent
  twice. The first answers stand (a scorer run twice may differ in the last digits); another state, other questions,
  pictures or another scorer under the same id are a `Conflict`.
* A decision never changes; only whether a person keeps it does, and whether its state is still there
  (`storage.privacy`). Of a schema that keeps no states, a decision is written without one.
* Pictures are saved first (`storage.pictures`); a decision names them by hash, in order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

import sqlalchemy as sa
from sqlmodel import Session, col, select

from model.answers import Answer
from model.engine import Decision
from model.questions import Json, Questions, Score, render, schema_hash
from model.scorer import ScorerInfo
from model.state import Cut, Tokens
from storage.database import Database
from storage.errors import Conflict, InvalidValue, NotFound, checked_id, checked_json, plain_id
from storage.pictures import drop_unused, require_pictures, unlink
from storage.schemas import keep_questions, read_questions
from storage.states_index import index, text_of
from storage.tables import (
    SOURCES,
    AnswerRow,
    DecisionBodyRow,
    DecisionPictureRow,
    DecisionRow,
    Row,
    SchemaRow,
    SchemaVersionRow,
    ScorerRow,
    now,
)

Source: TypeAlias = Literal["page", "api", "run", "import"]
PREVIEW_LENGTH = 160
"""Characters of the rendered state that a list shows."""


@dataclass(frozen=True, kw_only=True)
class DecisionRecord:
    """A decision as it is kept.

    `answers` map each question, in order, to its distribution. `pictures` are sha256 hashes. `version` needs its
    `schema_id`, whose version must have these questions; a `schema_id` alone means its draft. `seconds` is the model's
    time. Without `created` it is now.
    """

    id: str
    source: Source
    questions: Questions
    scorer: ScorerInfo
    state: Json
    answers: Mapping[str, Answer]
    tokens: Tokens
    seconds: float
    cut: Cut | None = None
    words: tuple[str, ...] = ()
    looked: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    pictures: tuple[str, ...] = ()
    schema_id: str | None = None
    version: int | None = None
    kept: bool = False
    created: datetime | None = None

    @classmethod
    def of(
        cls,
        decision: Decision,
        *,
        id: str,
        source: Source,
        pictures: Sequence[str] = (),
        schema_id: str | None = None,
        version: int | None = None,
        kept: bool = False,
    ) -> DecisionRecord:
        """A record of what the engine decided. `pictures`: the hashes under which the state's pictures were saved."""
        return cls(
            id=id,
            source=source,
            questions=decision.questions,
            scorer=decision.scorer,
            state=decision.state.value,
            answers=decision.answers,
            tokens=decision.tokens,
            seconds=decision.seconds,
            cut=decision.cut,
            words=decision.words,
            looked=decision.looked,
            pictures=tuple(pictures),
            schema_id=schema_id,
            version=version,
            kept=kept,
        )


@dataclass(frozen=True, kw_only=True)
class StoredDecision(DecisionRecord):
    """A kept decision. `serial` orders decisions by arrival; `questions_sha256` is the hash of its questions."""

    serial: int
    questions_sha256: str


def record_decision(database: Database, record: DecisionRecord) -> StoredDecision:
    """Keeps a decision and returns it as kept. See the contract for an id that is there already.

    Raises
    ------
    Conflict : `id` belongs to another decision.
    NotFound : `schema_id`, `version` or `pictures` are not kept.
    InvalidValue : `id`, `source`, `state`, `answers` or `version`.
    """
    return record_decisions(database, [record])[0]


def record_decisions(
    database: Database,
    records: Sequence[DecisionRecord],
    *,
    also: Callable[[Session, Mapping[str, StoredDecision]], None] | None = None,
) -> list[StoredDecision]:
    """Keeps many decisions in one transaction (all or none): one flush to the disk. Raises as `record_decision`.

    Parameters
    ----------
    also : writes, in the same transaction, what belongs to the decisions; given them by id.
    """
    checked = [_checked(record) for record in records]
    with database.write_session() as session:
        rows = _kept(session, [record.id for record in checked])
        fresh = {record.id: record for record in reversed(checked) if record.id not in rows}
        stored = _write(session, [fresh[key] for key in dict.fromkeys(r.id for r in checked) if key in fresh])
        for record in checked:
            if fresh.get(record.id) is record:
                continue
            row = rows.get(record.id) or find_decision(session, record.id)
            if other := _difference(session, row, record):
                raise Conflict("id", f"decision {record.id} is already kept with another {other}; use a new uuid")
            stored[record.id] = _stored(session, row)
        if also is not None:
            also(session, stored)
        # Of what is kept without its state, the pictures were saved just before.
        emptied = [p for record in checked if not stored[record.id].pictures for p in record.pictures]
        gone = drop_unused(session, emptied)
    unlink(database, gone)
    return [stored[record.id] for record in checked]


def get_decision(database: Database, decision_id: str) -> StoredDecision:
    """Raises NotFound."""
    with database.read_session() as session:
        return _stored(session, find_decision(session, decision_id))


def keep_decision(database: Database, decision_id: str, *, kept: bool = True) -> None:
    """Marks a decision as kept by a person, or takes the mark away. Raises NotFound."""
    with database.write_session() as session:
        find_decision(session, decision_id).kept = kept


def find_decision(session: Session, decision_id: str) -> DecisionRow:
    """The row of a decision. Raises NotFound."""
    row = session.exec(select(DecisionRow).where(DecisionRow.id == plain_id(decision_id))).first()
    if row is None:
        raise NotFound("decision", f"there is no decision {decision_id!r}; record it first")
    return row


def _checked(record: DecisionRecord) -> DecisionRecord:
    """The record with canonical ids and its time in UTC. Raises InvalidValue."""
    if record.source not in SOURCES:
        raise InvalidValue("source", f"{record.source!r} is not known; use one of {', '.join(SOURCES)}")
    if not isinstance(record.state, str | dict | list):
        raise InvalidValue("state", "must be text, an object or a list")
    checked_json(record.state, "state")
    checked_json(list(record.words), "words")
    if record.version is not None and record.schema_id is None:
        raise InvalidValue("schema_id", "is required beside a version")
    if list(record.answers) != list(record.questions):
        raise InvalidValue("answers", "must answer every question, in order")
    for key, answer in record.answers.items():
        if list(answer.options) != record.questions[key].option_ids() or len(answer.options) != len(
            answer.probabilities
        ):
            raise InvalidValue(f"answers.{key}", "must give each option of the question its probability, in order")
        checked_json(list(answer.probabilities), f"answers.{key}.probabilities")
    schema_id = None if record.schema_id is None else plain_id(record.schema_id)
    created = (record.created or now()).astimezone(UTC)
    return replace(record, id=checked_id(record.id, "id"), schema_id=schema_id, created=created)


def _kept(session: Session, ids: Sequence[str]) -> dict[str, DecisionRow]:
    """Which of `ids` are there already; asked in portions, for a statement holds only so many."""
    rows: dict[str, DecisionRow] = {}
    for start in range(0, len(ids), 1000):
        query = select(DecisionRow).where(col(DecisionRow.id).in_(ids[start : start + 1000]))
        rows.update((row.id, row) for row in session.exec(query))
    return rows


def _write(session: Session, records: Sequence[DecisionRecord]) -> dict[str, StoredDecision]:
    """Adds new decisions, in order, table by table; returns them by id."""
    questions: dict[int, str] = {}
    scorers: set[str] = set()
    rows = []
    keeps = {key: _keeps_states(session, key) for key in {record.schema_id for record in records}}
    given_records, records = records, [record if keeps[record.schema_id] else _bare(record) for record in records]
    versions: set[tuple[str | None, int | None, int]] = set()
    for given, record in zip(given_records, records, strict=True):
        # What a run asks of thousands of rows is looked up once.
        if (version := (record.schema_id, record.version, id(record.questions))) not in versions:
            versions.add(version)
            _check_version(session, record)
        require_pictures(session, record.pictures, "pictures")
        # A run asks the same questions thousands of times: the object itself tells that they were written.
        if id(record.questions) not in questions:
            questions[id(record.questions)] = keep_questions(session, record.questions)
        if record.scorer.fingerprint not in scorers:
            scorers.add(record.scorer.fingerprint)
            _keep_scorer(session, record.scorer)
        rows.append(_decision_row(record, questions[id(record.questions)], bare=record is not given))
    session.add_all(rows)
    session.flush()
    stored = {}
    parts: dict[type[Row], list[dict[str, Any]]] = {DecisionBodyRow: [], DecisionPictureRow: [], AnswerRow: []}
    for record, row in zip(records, rows, strict=True):
        assert row.serial is not None
        for table, values in _parts(record):
            parts[table].append({"decision": row.serial, **values})
        stored[row.id] = StoredDecision(
            **{f.name: getattr(record, f.name) for f in fields(DecisionRecord)},
            serial=row.serial,
            questions_sha256=row.questions,
        )
    for table, additions in parts.items():
        if additions:
            session.execute(sa.insert(table), additions)
    index(session, [(r.serial, text_of(r.state, r.words)) for r in stored.values()])
    return stored


def _decision_row(record: DecisionRecord, questions: str, *, bare: bool) -> DecisionRow:
    return DecisionRow(
        id=record.id,
        schema_id=record.schema_id,
        version=record.version,
        questions=questions,
        scorer=record.scorer.fingerprint,
        source=record.source,
        kept=record.kept,
        preview=" ".join(render(record.state)[: 4 * PREVIEW_LENGTH].split())[:PREVIEW_LENGTH],
        tokens=asdict(record.tokens),
        cut=None if record.cut is None else asdict(record.cut),
        seconds=record.seconds,
        created=record.created or now(),
        redacted=now() if bare else None,
    )


def _keeps_states(session: Session, schema_id: str | None) -> bool:
    """Whether decisions under a schema are kept with what they read."""
    schema = None if schema_id is None else session.get(SchemaRow, schema_id)
    return schema is None or schema.states


def _bare(record: DecisionRecord) -> DecisionRecord:
    """The record without what it read."""
    return replace(record, state="", words=(), looked={}, pictures=())


def _parts(record: DecisionRecord) -> Iterator[tuple[type[Row], dict[str, Any]]]:
    """The rows that belong to a decision, without its serial."""
    looked = {question: [list(span) for span in spans] for question, spans in record.looked.items()}
    yield DecisionBodyRow, {"state": record.state, "words": list(record.words), "looked": looked}
    for position, sha256 in enumerate(record.pictures):
        yield DecisionPictureRow, {"position": position, "sha256": sha256}
    for position, (question, answer) in enumerate(record.answers.items()):
        yield (
            AnswerRow,
            {
                "question": question,
                "position": position,
                "type": answer.type,
                "options": list(answer.options),
                "probabilities": list(answer.probabilities),
                "top": answer.top,
                "probability": answer.probabilities[answer.lead],
                "expected_level": answer.expected_level,
            },
        )


def _difference(session: Session, row: DecisionRow, record: DecisionRecord) -> str | None:
    """Which part of the request `record` differs from the kept decision; None when it is the same request."""
    assert row.serial is not None
    if row.questions != schema_hash(record.questions):
        return "set of questions"
    if row.scorer != record.scorer.fingerprint:
        return "scorer"
    if (row.schema_id, row.version) != (record.schema_id, record.version):
        return "schema version"
    if row.source != record.source:
        return "source"
    if row.redacted is not None:
        # What it read is gone: whether it was the same cannot be told.
        return None
    if _pictures(session, row.serial) != record.pictures:
        return "list of pictures"
    # Compared as text: the order of keys is part of what the model read.
    kept = session.get_one(DecisionBodyRow, row.serial).state
    return None if json.dumps(kept) == json.dumps(record.state) else "state"


def _check_version(session: Session, record: DecisionRecord) -> None:
    if record.schema_id is None:
        return
    if session.get(SchemaRow, record.schema_id) is None:
        raise NotFound("schema_id", f"there is no schema {record.schema_id!r}")
    if record.version is None:
        return
    version = session.get(SchemaVersionRow, (record.schema_id, record.version))
    if version is None:
        raise NotFound("version", f"schema {record.schema_id} has no version {record.version}; publish it first")
    if version.sha256 != schema_hash(record.questions):
        raise InvalidValue("version", f"version {record.version} asks other questions; publish these, or leave it out")


def _keep_scorer(session: Session, scorer: ScorerInfo) -> None:
    if session.get(ScorerRow, scorer.fingerprint) is None:
        info = checked_json(scorer.json(), "scorer")
        session.add(ScorerRow(fingerprint=scorer.fingerprint, name=scorer.name, info=info))
        session.flush()


def _pictures(session: Session, serial: int) -> tuple[str, ...]:
    query = select(DecisionPictureRow.sha256).where(DecisionPictureRow.decision == serial)
    return tuple(session.exec(query.order_by(col(DecisionPictureRow.position))).all())


def _stored(session: Session, row: DecisionRow) -> StoredDecision:
    assert row.serial is not None
    body = session.get_one(DecisionBodyRow, row.serial)
    questions = read_questions(session, row.questions)
    answers = session.exec(
        select(AnswerRow).where(AnswerRow.decision == row.serial).order_by(col(AnswerRow.position))
    ).all()
    return StoredDecision(
        serial=row.serial,
        questions_sha256=row.questions,
        id=row.id,
        source=row.source,  # type: ignore[arg-type]
        questions=questions,
        scorer=_scorer(session.get_one(ScorerRow, row.scorer).info),
        state=body.state,
        answers={answer.question: _answer(answer, questions) for answer in answers},
        tokens=Tokens(**row.tokens),
        seconds=row.seconds,
        cut=None if row.cut is None else Cut(**row.cut),
        words=tuple(body.words),
        looked={question: tuple((a, b) for a, b in spans) for question, spans in body.looked.items()},
        pictures=_pictures(session, row.serial),
        schema_id=row.schema_id,
        version=row.version,
        kept=row.kept,
        created=row.created,
    )


def _scorer(info: Mapping[str, Any]) -> ScorerInfo:
    # Written by another version of the studio, perhaps: what it knew and we do not is left out.
    known = {f.name for f in fields(ScorerInfo)}
    return ScorerInfo(**{name: value for name, value in info.items() if name in known})


def _answer(row: AnswerRow, questions: Questions) -> Answer:
    question = questions[row.question]
    legend = tuple(question.criteria) if isinstance(question, Score) else ()
    return Answer(question.type, tuple(row.options), tuple(row.probabilities), legend)
