"""Answers in bulk, as statistics over all of them need them: when, what, how sure; and which states they were about.

Contract
--------
Reads only; columns, not rows of everything. States are compared as their stored text, pictures by hash: the same case
asked of two scorers, or under two schema versions, has the same key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlmodel import Session, col

from model.questions import Json
from storage.database import Database
from storage.labels import standing
from storage.replays import replayed
from storage.tables import AnswerRow, DecisionBodyRow, DecisionPictureRow, DecisionRow, LabelRow

PORTION = 10_000
Key = tuple[str, tuple[str, ...]]
"""A case: the state's stored text, and the hashes of its pictures."""


@dataclass(frozen=True, kw_only=True)
class Answered:
    """All answers to a question, oldest first: uuids, seconds since the epoch, leading options, their probabilities."""

    decisions: tuple[str, ...]
    times: tuple[float, ...]
    tops: tuple[str, ...]
    probabilities: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Doubt:
    """A label that says that no option fits: `kind` is "cant_tell", "no_option" (wrong, and none named), or an option's
    id that means it."""

    decision: str
    kind: str
    state: Json


def answered(database: Database, *, questions: str, scorer: str, question: str) -> Answered:
    """All answers to a question by a scorer, those of replays left out."""
    query = (
        sa.select(col(DecisionRow.id), col(DecisionRow.created), col(AnswerRow.top), col(AnswerRow.probability))
        .join(AnswerRow, sa.and_(col(AnswerRow.decision) == col(DecisionRow.serial), _asks(question)))
        .where(col(DecisionRow.questions) == questions, col(DecisionRow.scorer) == scorer, ~replayed())
        .order_by(col(DecisionRow.serial))
    )
    with database.read_session() as session:
        rows = session.execute(query).all()
    return Answered(
        decisions=tuple(row[0] for row in rows),
        times=tuple(row[1].timestamp() for row in rows),
        tops=tuple(row[2] for row in rows),
        probabilities=tuple(row[3] for row in rows),
    )


def keys_of(database: Database, *, questions: str, scorer: str) -> dict[str, Key]:
    """The case of each decision (uuid) of a scorer under these questions, oldest first. Emptied states are left out:
    they are all alike."""
    with database.read_session() as session:
        pictures: dict[int, list[str]] = {}
        asked = (col(DecisionRow.questions) == questions, col(DecisionRow.scorer) == scorer)
        links = (
            sa.select(col(DecisionPictureRow.decision), col(DecisionPictureRow.sha256))
            .join(DecisionRow, col(DecisionRow.serial) == col(DecisionPictureRow.decision))
            .where(*asked)
            .order_by(col(DecisionPictureRow.position))
        )
        for serial, sha256 in session.execute(links):
            pictures.setdefault(serial, []).append(sha256)
        # As text, unparsed: only sameness is asked.
        state = sa.type_coerce(col(DecisionBodyRow.state), sa.Text)
        query = (
            sa.select(col(DecisionRow.serial), col(DecisionRow.id), state)
            .join(DecisionBodyRow, col(DecisionBodyRow.decision) == col(DecisionRow.serial))
            .where(*asked, col(DecisionRow.redacted).is_(None))
            .order_by(col(DecisionRow.serial))
        )
        return {key: (text, tuple(pictures.get(serial, ()))) for serial, key, text in session.execute(query)}


def distributions(
    database: Database, decisions: Sequence[str], question: str
) -> dict[str, tuple[tuple[str, ...], tuple[float, ...]]]:
    """The answers of these decisions (uuids) to a question: options and probabilities, in request order."""
    found = {}
    with database.read_session() as session:
        for portion in _portions(decisions):
            query = (
                sa.select(col(DecisionRow.id), col(AnswerRow.options), col(AnswerRow.probabilities))
                .join(AnswerRow, sa.and_(col(AnswerRow.decision) == col(DecisionRow.serial), _asks(question)))
                .where(col(DecisionRow.id).in_(portion))
            )
            for key, options, probabilities in session.execute(query):
                found[key] = (tuple(options), tuple(probabilities))
    return found


def states_of(database: Database, decisions: Sequence[str]) -> dict[str, Json]:
    """The states of these decisions (uuids), those that were emptied left out."""
    found: dict[str, Json] = {}
    with database.read_session() as session:
        for portion in _portions(decisions):
            query = (
                sa.select(col(DecisionRow.id), col(DecisionBodyRow.state))
                .join(DecisionBodyRow, col(DecisionBodyRow.decision) == col(DecisionRow.serial))
                .where(col(DecisionRow.id).in_(portion), col(DecisionRow.redacted).is_(None))
            )
            found.update((key, state) for key, state in session.execute(query))
    return found


def doubts(
    database: Database, *, questions: str, scorer: str, question: str, none_of: Sequence[str]
) -> tuple[int, list[Doubt]]:
    """How many answers have a standing label, by whomever; and those of which a label says that no option fits.

    Parameters
    ----------
    none_of : ids of options that mean "none of these".
    """
    with database.read_session() as session:
        conditions = [
            col(DecisionRow.questions) == questions,
            col(DecisionRow.scorer) == scorer,
            col(LabelRow.question) == question,
            *standing(),
        ]
        return _labelled(session, conditions), _doubts(session, conditions, none_of)


def _labelled(session: Session, conditions: Sequence[sa.ColumnElement[bool]]) -> int:
    query = sa.select(sa.func.count(sa.distinct(col(LabelRow.decision)))).join(
        DecisionRow, col(DecisionRow.serial) == col(LabelRow.decision)
    )
    return int(session.execute(query.where(*conditions)).scalar_one())


def _doubts(session: Session, conditions: Sequence[sa.ColumnElement[bool]], none_of: Sequence[str]) -> list[Doubt]:
    named = col(LabelRow.true_option)
    unnamed = sa.and_(col(LabelRow.verdict) == "wrong", named.is_(None))
    query = (
        sa.select(col(DecisionRow.id), col(LabelRow.verdict), named, col(DecisionBodyRow.state))
        .join(DecisionRow, col(DecisionRow.serial) == col(LabelRow.decision))
        .join(DecisionBodyRow, col(DecisionBodyRow.decision) == col(DecisionRow.serial))
        .where(*conditions, sa.or_(col(LabelRow.verdict) == "cant_tell", unnamed, named.in_(none_of)))
        .order_by(col(LabelRow.serial))
    )
    found: dict[str, Doubt] = {}
    for key, verdict, option, state in session.execute(query):
        kind = "cant_tell" if verdict == "cant_tell" else option or "no_option"
        found[key] = Doubt(decision=key, kind=kind, state=state)
    return list(found.values())


def _portions(decisions: Sequence[str]) -> list[Sequence[str]]:
    return [decisions[start : start + PORTION] for start in range(0, len(decisions), PORTION)]


def _asks(question: str) -> sa.ColumnElement[bool]:
    return col(AnswerRow.question) == question
