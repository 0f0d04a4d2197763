"""Decisions as a person judges them: the state whole, its pictures, and one answer; and where there are any.

Contract
--------
Reads only, many at once. A state that was emptied is "", and its case is `redacted`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlmodel import col, select

from model.questions import Json, Questions
from storage.database import Database
from storage.errors import NotFound
from storage.schemas import read_questions
from storage.tables import (
    AnswerRow,
    DecisionBodyRow,
    DecisionPictureRow,
    DecisionRow,
    PictureRow,
    QuestionSetRow,
    SchemaRow,
    SchemaVersionRow,
    ScorerRow,
)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A decision and its answer to one question.

    `pictures` are (sha256, width, height) in order. `read` and `tokens` count tokens of the state that the scorer read,
    and all of them. `options` and `probabilities` are in request order.
    """

    id: str
    created: datetime
    source: str
    state: Json
    words: tuple[str, ...]
    pictures: tuple[tuple[str, int, int], ...]
    tokens: int
    read: int
    options: tuple[str, ...]
    probabilities: tuple[float, ...]
    top: str
    redacted: bool


@dataclass(frozen=True, kw_only=True)
class Place:
    """A set of questions and a scorer that decisions are kept of.

    `schema_id`, `schema` and `version` name the newest published version that asks these questions; `version` is None,
    and the schema that of the newest decision (or None), where no version does. `decisions` counts them.
    """

    questions: str
    asked: Questions
    scorer: str
    scorer_name: str
    schema_id: str | None
    schema: str | None
    version: int | None
    decisions: int


def questions_of(database: Database, sha256: str) -> Questions:
    """The questions kept under a hash. Raises NotFound."""
    with database.read_session() as session:
        if session.get(QuestionSetRow, sha256) is None:
            raise NotFound("questions", f"no questions {sha256[:16]!r} are kept")
        return read_questions(session, sha256)


def read_cases(database: Database, decisions: Sequence[str], question: str) -> dict[str, Case]:
    """The cases of these decisions (uuids), by id; those that are gone are missing."""
    with database.read_session() as session:
        query = (
            sa.select(DecisionRow, DecisionBodyRow, AnswerRow)
            .join(DecisionBodyRow, col(DecisionBodyRow.decision) == col(DecisionRow.serial))
            .join(
                AnswerRow,
                sa.and_(col(AnswerRow.decision) == col(DecisionRow.serial), col(AnswerRow.question) == question),
            )
            .where(col(DecisionRow.id).in_(decisions))
        )
        rows = session.execute(query).all()
        pictures: dict[int, list[tuple[str, int, int]]] = defaultdict(list)
        seen = (
            sa.select(DecisionPictureRow, PictureRow)
            .join(PictureRow, col(PictureRow.sha256) == col(DecisionPictureRow.sha256))
            .where(col(DecisionPictureRow.decision).in_([row.serial for row, _, _ in rows]))
        )
        for link, picture in session.execute(seen.order_by(col(DecisionPictureRow.position))):
            pictures[link.decision].append((picture.sha256, picture.width, picture.height))
        return {
            row.id: Case(
                id=row.id,
                created=row.created,
                source=row.source,
                state=body.state,
                words=tuple(body.words),
                pictures=tuple(pictures[row.serial]),
                tokens=row.tokens["state"],
                read=row.tokens["read"],
                options=tuple(answer.options),
                probabilities=tuple(answer.probabilities),
                top=answer.top,
                redacted=row.redacted is not None,
            )
            for row, body, answer in rows
        }


def list_places(database: Database) -> list[Place]:
    """Where decisions are kept, those with the newest decision first."""
    with database.read_session() as session:
        newest = sa.func.max(col(DecisionRow.serial)).label("newest")
        groups = (
            sa.select(col(DecisionRow.questions), col(DecisionRow.scorer), sa.func.count().label("n"), newest)
            .group_by(col(DecisionRow.questions), col(DecisionRow.scorer))
            .order_by(newest.desc())
        )
        found = []
        for questions, scorer, count, last in session.execute(groups).all():
            versions = select(SchemaVersionRow).where(SchemaVersionRow.sha256 == questions)
            version = session.exec(versions.order_by(col(SchemaVersionRow.created).desc()).limit(1)).first()
            schema_id, number = _named(version, session.get_one(DecisionRow, last))
            schema = None if schema_id is None else session.get_one(SchemaRow, schema_id)
            found.append(
                Place(
                    questions=questions,
                    asked=read_questions(session, questions),
                    scorer=scorer,
                    scorer_name=session.get_one(ScorerRow, scorer).name,
                    schema_id=schema_id,
                    schema=None if schema is None else schema.name,
                    version=number,
                    decisions=count,
                )
            )
        return found


def _named(version: SchemaVersionRow | None, last: DecisionRow) -> tuple[str | None, int | None]:
    return (last.schema_id, None) if version is None else (version.schema_id, version.number)
