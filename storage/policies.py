"""Policies: from which probability on a machine may act alone, under which an answer is refused; versioned.

Contract
--------
* A policy belongs to one question of one set of questions (a schema version's content, by its sha256) and one scorer
  (by fingerprint): it says nothing about another version or another model.
* Policies are append-only. The newest of a question is in force; withdrawing adds one that says nothing.
* The thresholds are on the *leading option's probability*, unrounded: `act` itself acts, `refuse` itself does not.
* The id is a uuid that the caller made: the same policy again is the same row, another one under it a `Conflict`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

from sqlmodel import Session, col, select

from model.answers import Answer
from storage.database import Database
from storage.errors import Conflict, InvalidValue, NotFound, checked_id, checked_json, checked_text
from storage.schemas import read_questions
from storage.tables import PolicyRow, QuestionSetRow, ScorerRow

Outcome: TypeAlias = Literal["act", "ask", "refuse"]
FORMAT = "clef-studio/policy"
FORMAT_VERSION = 1
NAME_LENGTH = 200


@dataclass(frozen=True, kw_only=True)
class Policy:
    """One policy. `act` or `refuse` None: never. `basis` is what it was chosen under, None for a withdrawal."""

    id: str
    questions: str
    scorer: str
    question: str
    number: int
    act: float | None
    refuse: float | None
    basis: Mapping[str, Any] | None
    by: str
    created: datetime

    def outcome(self, probability: float) -> Outcome:
        """What it says to an answer whose leading option has this probability."""
        if self.act is not None and probability >= self.act:
            return "act"
        return "refuse" if self.refuse is not None and probability < self.refuse else "ask"


@dataclass(frozen=True, kw_only=True)
class InForce:
    """The policies that count now for one set of questions and one scorer, by question."""

    questions: str
    scorer: str
    policies: Mapping[str, Policy] = field(default_factory=dict)

    def outcome(self, question: str, answer: Answer) -> Outcome | None:
        """act, ask or refuse; None where the question has no policy."""
        policy = self.policies.get(question)
        return None if policy is None else policy.outcome(answer.probabilities[answer.lead])

    def json(self) -> dict[str, Any]:
        """The export: plain JSON that says to which questions and scorer it belongs."""
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "questions_sha256": self.questions,
            "scorer": self.scorer,
            "rule": "act if p >= act; refuse if p < refuse; else ask; p is the leading option's probability, unrounded",
            "policies": {
                question: {
                    "id": policy.id,
                    "number": policy.number,
                    "act": policy.act,
                    "refuse": policy.refuse,
                    "basis": policy.basis,
                    "by": policy.by,
                    "created": policy.created.isoformat(),
                }
                for question, policy in self.policies.items()
            },
        }


def save_policy(
    database: Database,
    *,
    id: str,
    questions: str,
    scorer: str,
    question: str,
    act: float | None,
    refuse: float | None,
    basis: Mapping[str, Any],
    by: str,
) -> Policy:
    """Keeps a policy, which is in force from then on; returns it as kept.

    Raises
    ------
    NotFound : `questions`, `scorer` or `question`.
    InvalidValue : `act`, `refuse` (over `act`, or not a share), `basis`, `by` or `id`.
    Conflict : `id` belongs to another policy.
    """
    check_thresholds(act, refuse)
    document = checked_json(dict(basis), "basis")
    return _append(
        database, id=id, questions=questions, scorer=scorer, question=question, act=act, refuse=refuse, basis=document,
        by=by,
    )  # fmt: skip


def check_thresholds(act: float | None, refuse: float | None) -> None:
    """Raises InvalidValue for thresholds that are no shares, or of which an answer could meet both."""
    if act is not None and not 0 < act <= 1:
        raise InvalidValue("act", f"must be over 0 and at most 1, not {act}")
    if refuse is not None and not 0 <= refuse <= 1:
        raise InvalidValue("refuse", f"must be from 0 to 1, not {refuse}")
    if act is not None and refuse is not None and refuse > act:
        raise InvalidValue("refuse", f"must not be over act ({act:g}), or an answer would be both; lower it")


def withdraw_policy(database: Database, *, id: str, questions: str, scorer: str, question: str, by: str) -> Policy:
    """No policy is in force for the question from then on; those before stay as history. Raises as `save_policy`."""
    return _append(
        database, id=id, questions=questions, scorer=scorer, question=question, act=None, refuse=None, basis=None, by=by
    )


def policy_in_force(database: Database, *, questions: str, scorer: str) -> InForce:
    """The policies that count now for a schema version (the sha256 of its questions) and a scorer (fingerprint)."""
    with database.read_session() as session:
        newest: dict[str, Policy] = {}
        query = select(PolicyRow).where(PolicyRow.questions == questions, PolicyRow.scorer == scorer)
        for row in session.exec(query.order_by(col(PolicyRow.number))):
            newest[row.question] = _policy(row)
    standing = {question: policy for question, policy in newest.items() if policy.basis is not None}
    return InForce(questions=questions, scorer=scorer, policies=standing)


def list_policies(database: Database, *, questions: str, scorer: str, question: str) -> list[Policy]:
    """All policies of a question, the newest first, withdrawals too."""
    with database.read_session() as session:
        return [_policy(row) for row in _rows(session, questions, scorer, question)]


def _append(database: Database, *, id: str, questions: str, scorer: str, question: str, **values: Any) -> Policy:
    key = checked_id(id, "id")
    values["by"] = checked_text(values["by"], "by", limit=NAME_LENGTH, blank=False)
    with database.write_session() as session:
        kept = session.exec(select(PolicyRow).where(PolicyRow.id == key)).first()
        given = {"questions": questions, "scorer": scorer, "question": question, **values}
        if kept is not None:
            for name, value in given.items():
                if getattr(kept, name) != value:
                    raise Conflict("id", f"policy {key} is already kept with another {name}; use a new uuid")
            return _policy(kept)
        if session.get(QuestionSetRow, questions) is None or question not in read_questions(session, questions):
            raise NotFound("question", f"there are no questions {questions[:16]!r} with {question!r}")
        if session.get(ScorerRow, scorer) is None:
            raise NotFound("scorer", f"no decision of a scorer {scorer[:16]!r} is kept")
        before = _rows(session, questions, scorer, question)
        row = PolicyRow(id=key, number=before[0].number + 1 if before else 1, **given)
        session.add(row)
        session.flush()
        return _policy(row)


def _rows(session: Session, questions: str, scorer: str, question: str) -> list[PolicyRow]:
    query = select(PolicyRow).where(
        PolicyRow.questions == questions, PolicyRow.scorer == scorer, PolicyRow.question == question
    )
    return list(session.exec(query.order_by(col(PolicyRow.number).desc())))


def _policy(row: PolicyRow) -> Policy:
    return Policy(
        id=row.id,
        questions=row.questions,
        scorer=row.scorer,
        question=row.question,
        number=row.number,
        act=row.act,
        refuse=row.refuse,
        basis=row.basis,
        by=row.by,
        created=row.created,
    )
