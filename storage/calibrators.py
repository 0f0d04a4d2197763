"""Calibrators: recalibrations of one question's answers by one scorer, and which of them is on.

Contract
--------
A calibrator belongs to one question of one set of questions (sha256) and one scorer (fingerprint): the *base*, whose
probabilities it was fitted on. At most one of a question is on. `document` and `judged` never change. The id is a uuid
that the caller made: the same calibrator again is the same row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlmodel import Session, col, select, update

from storage.database import Database
from storage.errors import Conflict, InvalidValue, NotFound, checked_id, checked_json, checked_text, plain_id
from storage.policies import NAME_LENGTH
from storage.schemas import read_questions
from storage.tables import CalibratorRow, QuestionSetRow, ScorerRow


@dataclass(frozen=True, kw_only=True)
class KeptCalibrator:
    """A calibrator. `document` is what it does, `judged` what it did on labels that it had not seen."""

    id: str
    questions: str
    scorer: str
    question: str
    document: Mapping[str, Any]
    judged: Mapping[str, Any]
    on: bool
    by: str
    created: datetime


def keep_calibrator(
    database: Database,
    *,
    id: str,
    questions: str,
    scorer: str,
    question: str,
    document: Mapping[str, Any],
    judged: Mapping[str, Any],
    by: str,
) -> KeptCalibrator:
    """Keeps a calibrator, off; returns it as kept.

    Raises
    ------
    NotFound : `questions`, `scorer` or `question`.
    InvalidValue : `document`, `judged`, `by` or `id`.
    Conflict : `id` belongs to another calibrator.
    """
    key = checked_id(id, "id")
    given = {
        "questions": questions,
        "scorer": scorer,
        "question": question,
        "document": checked_json(dict(document), "document"),
        "judged": checked_json(dict(judged), "judged"),
        "by": checked_text(by, "by", limit=NAME_LENGTH, blank=False),
    }
    if not given["document"]:
        raise InvalidValue("document", "is empty; send what the calibrator does")
    with database.write_session() as session:
        kept = session.exec(select(CalibratorRow).where(CalibratorRow.id == key)).first()
        if kept is not None:
            if any(getattr(kept, name) != value for name, value in given.items()):
                raise Conflict("id", f"calibrator {key} is already kept as another one; use a new uuid")
            return _view(kept)
        if session.get(QuestionSetRow, questions) is None or question not in read_questions(session, questions):
            raise NotFound("question", f"there are no questions {questions[:16]!r} with {question!r}")
        if session.get(ScorerRow, scorer) is None:
            raise NotFound("scorer", f"no decision of a scorer {scorer[:16]!r} is kept")
        row = CalibratorRow(id=key, on=False, **given)
        session.add(row)
        session.flush()
        return _view(row)


def switch_calibrator(database: Database, calibrator_id: str, *, on: bool) -> KeptCalibrator:
    """Switches a calibrator on (and the question's other one off), or off. Raises NotFound."""
    with database.write_session() as session:
        row = session.exec(select(CalibratorRow).where(CalibratorRow.id == plain_id(calibrator_id))).first()
        if row is None:
            raise NotFound("calibrator", f"there is no calibrator {calibrator_id!r}")
        if on:
            others = update(CalibratorRow).where(
                col(CalibratorRow.questions) == row.questions,
                col(CalibratorRow.scorer) == row.scorer,
                col(CalibratorRow.question) == row.question,
            )
            session.execute(others.values(on=False).execution_options(synchronize_session=False))
        row.on = on
        session.add(row)
        session.flush()
        return _view(row)


def list_calibrators(database: Database, *, questions: str, scorer: str, question: str) -> list[KeptCalibrator]:
    """The calibrators of a question, the newest first."""
    with database.read_session() as session:
        query = select(CalibratorRow).where(
            CalibratorRow.questions == questions, CalibratorRow.scorer == scorer, CalibratorRow.question == question
        )
        return [_view(row) for row in session.exec(query.order_by(col(CalibratorRow.serial).desc()))]


def active_calibrators(database: Database) -> list[KeptCalibrator]:
    """All that are on."""
    with database.read_session() as session:
        return _active(session)


def _active(session: Session) -> list[KeptCalibrator]:
    query = select(CalibratorRow).where(col(CalibratorRow.on)).order_by(col(CalibratorRow.serial))
    return [_view(row) for row in session.exec(query)]


def _view(row: CalibratorRow) -> KeptCalibrator:
    return KeptCalibrator(
        id=row.id,
        questions=row.questions,
        scorer=row.scorer,
        question=row.question,
        document=row.document,
        judged=row.judged,
        on=row.on,
        by=row.by,
        created=row.created,
    )
