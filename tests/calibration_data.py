"""Decisions with labels of known faults, written straight into the tables: thousands in a moment.

Used by the browser tests and by `benchmarks/calibration.py`. What is written is what the studio itself would write
after people labelled a queue: items with their random numbers, servings, leases and labels.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlmodel import col

from model.questions import Questions, parse_questions, schema_hash
from model.scorer import ScorerInfo
from storage.database import Database
from storage.schemas import create_schema, keep_questions, publish
from storage.tables import (
    AnswerRow,
    DecisionBodyRow,
    DecisionRow,
    LabelRow,
    LeaseRow,
    QueueItemRow,
    QueueRow,
    QueueStepRow,
    ScorerRow,
)

SCORER = ScorerInfo(
    name="tiny", kind="clef", fingerprint="a1" * 32, question_ids="literal", max_tokens=512, sees_pictures=False
)
OTHER = ScorerInfo(
    name="tiny, tuned", kind="clef", fingerprint="b2" * 32, question_ids="literal", max_tokens=512, sees_pictures=False
)
TEAMS = {"billing": "Invoices", "delivery": "Parcels", "security": "Fraud", "none_of_these": None}
QUESTIONS = {
    "next_team": {"type": "choice", "instructions": "Which team should take this?", "criteria": TEAMS},
    "upset": {"type": "noul", "instructions": "Is the customer upset?"},
    "urgency": {"type": "score", "instructions": "How soon?", "criteria": ["can wait", "this week", "now"]},
}  # fmt: skip
WORDS = ("invoice", "parcel", "refund", "password", "stranger", "driver", "damage", "receipt", "account", "letter")
START = datetime(2026, 9, 7, tzinfo=UTC)


def questions() -> Questions:
    """The questions that are asked."""
    return parse_questions(QUESTIONS)


def seed(
    database: Database,
    *,
    audit: int,
    queue: int = 0,
    volunteered: int = 0,
    unlabelled: int = 0,
    question: str = "next_team",
    scorer: ScorerInfo = SCORER,
    temperature: float = 1.6,
    noise: float = 0.0,
    sharp: float = 0.5,
    cant_tell: int = 0,
    salt: int = 0,
    name: str = "Support triage",
) -> dict[str, Any]:
    """Fills a database; returns {questions, scorer, question, schema}.

    Parameters
    ----------
    audit, queue : answers labelled in these streams; volunteered : labelled by nobody's wish, mostly where it is wrong.
    temperature : how much too sure the scorer is (1: calibrated); noise : how much it errs besides.
    sharp : how rarely the truth is in doubt; the less, the rarer.
    salt : other states and answers; with the same salt the same states come again, for another scorer.
    """
    asked = questions()
    sha = schema_hash(asked)
    schema = create_schema(database, name=name, document={}, schema_id=str(uuid.uuid5(uuid.NAMESPACE_OID, name)))
    version = publish(database, schema.id, asked)
    total = audit + queue + volunteered + unlabelled
    rng = np.random.default_rng([20261130, salt])
    # Truths and honest distributions depend on the salt alone; a scorer distorts them.
    honest = {key: rng.dirichlet(np.full(len(q.option_ids()), sharp), total) for key, q in asked.items()}
    truth = {key: _draw(rng, p) for key, p in honest.items()}
    states = [_state(rng, i) for i in range(total)]
    said = {key: _heat(p, temperature, noise * rng.standard_normal(p.shape)) for key, p in honest.items()}
    with database.write_session() as session:
        keep_questions(session, asked)
        if session.get(ScorerRow, scorer.fingerprint) is None:
            session.add(ScorerRow(fingerprint=scorer.fingerprint, name=scorer.name, info=scorer.json()))
            session.flush()
        first = (session.execute(sa.select(sa.func.max(col(DecisionRow.serial)))).scalar() or 0) + 1
        serials = list(range(first, first + total))
        tokens = {"state": 12, "pictures": 0, "questions": 30, "frame": 5, "limit": 512, "read": 12}
        minutes = np.linspace(0, 8 * 7 * 24 * 60, max(total, 1), endpoint=False)
        _insert(session, DecisionRow, [
            {"serial": s, "id": str(uuid.UUID(int=rng.integers(0, 2**63).item() << 64 | s)), "schema_id": schema.id,
             "version": version.number, "questions": sha, "scorer": scorer.fingerprint, "source": "api", "kept": False,
             "preview": states[i][:160], "tokens": tokens, "cut": None, "seconds": 0.01,
             "created": START + timedelta(minutes=float(minutes[i])), "redacted": None}
            for i, s in enumerate(serials)
        ])  # fmt: skip
        _insert(session, DecisionBodyRow, [
            {"decision": s, "state": states[i], "words": [], "looked": {}} for i, s in enumerate(serials)
        ])  # fmt: skip
        session.execute(
            sa.text("INSERT INTO searches(rowid, text) VALUES (:rowid, :text)"),
            [{"rowid": s, "text": states[i]} for i, s in enumerate(serials)] or [{"rowid": 0, "text": ""}],
        )
        answers = []
        for position, (key, q) in enumerate(asked.items()):
            options = q.option_ids()
            for i, s in enumerate(serials):
                p = said[key][i]
                lead = int(p.argmax())
                level = float(p @ np.arange(p.size)) if q.type == "score" else None
                answers.append(
                    {"decision": s, "question": key, "position": position, "type": q.type, "options": options,
                     "probabilities": p.tolist(), "top": options[lead], "probability": float(p[lead]),
                     "expected_level": level}
                )  # fmt: skip
        _insert(session, AnswerRow, answers)
        _label(
            session, asked, question, sha, scorer, serials, said[question], truth[question], rng, audit=audit,
            queue=queue, volunteered=volunteered, cant_tell=cant_tell,
        )  # fmt: skip
    return {"questions": sha, "scorer": scorer.fingerprint, "question": question, "schema": schema.id}


def _label(
    session: Any, asked: Questions, question: str, sha: str, scorer: ScorerInfo, serials: list[int], said: np.ndarray,
    truth: np.ndarray, rng: np.random.Generator, *, audit: int, queue: int, volunteered: int, cant_tell: int,
) -> None:  # fmt: skip
    options = asked[question].option_ids()
    row = QueueRow(questions=sha, scorer=scorer.fingerprint, question=question, enrolled=max(serials, default=0),
                   step=audit + queue, audit_reached=audit, queue_reached=queue)  # fmt: skip
    session.add(row)
    session.flush()
    shown = audit + queue
    n = len(serials)
    x = np.full(n, 0.5)
    u, v = rng.uniform(0.5, 1, n), rng.uniform(0.5, 1, n)
    share_audit, share_queue = max(audit, 1) / max(n, 1), max(queue, 1) / max(n, 1)
    v[:audit] = rng.uniform(0, share_audit * 0.5, audit)
    u[audit:shown] = rng.uniform(0, share_queue * 0.25, queue)
    base = (session.execute(sa.select(sa.func.max(col(QueueItemRow.serial)))).scalar() or 0) + 1
    _insert(session, QueueItemRow, [
        {"serial": base + i, "queue": row.serial, "decision": s, "u": float(u[i]), "v": float(v[i]), "w": 0.5,
         "x": float(x[i]), "place": float(u[i] / x[i]), "before": 0.0, "since": 0,
         "queue_step": i + 1 if audit <= i < shown else None, "audit_step": i + 1 if i < audit else None,
         "first": "audit" if i < audit else "queue" if i < shown else None, "twin": None, "sketch": None, "wanted": 1,
         "answers": int(i < shown)}
        for i, s in enumerate(serials)
    ])  # fmt: skip
    steps = []
    if audit:
        steps.append({"queue": row.serial, "stream": "audit", "step": audit, "served": share_audit * 0.5,
                      "following": share_audit * 0.55})  # fmt: skip
    if queue:
        steps.append({"queue": row.serial, "stream": "queue", "step": shown, "served": share_queue * 0.5,
                      "following": share_queue * 0.55})  # fmt: skip
    _insert(session, QueueStepRow, steps)
    tab = str(uuid.uuid4())
    now = START + timedelta(weeks=9)
    _insert(session, LeaseRow, [
        {"id": str(uuid.uuid4()), "item": base + i, "labeller": "Maren", "tab": tab,
         "stream": "audit" if i < audit else "queue", "blind": True, "taken": now, "expires": now,
         "outcome": "labelled"}
        for i in range(shown)
    ])  # fmt: skip
    lead = said.argmax(axis=1)
    labels = []
    for i in range(shown + volunteered):
        right = bool(lead[i] == truth[i])
        if i >= shown and right and rng.random() > 0.1:
            continue
        unknown = cant_tell > 0 and i < cant_tell
        labels.append(
            {"id": str(uuid.uuid4()), "decision": serials[i], "question": question,
             "verdict": "cant_tell" if unknown else "right" if right else "wrong",
             "true_option": None if unknown else options[truth[i]], "note": "",
             "labeller": "Maren" if i < shown else "api",
             "source": "audit" if i < audit else "queue" if i < shown else "volunteered", "propensity": None,
             "blind": i < shown, "seconds": 4.0, "supersedes": None, "created": now}
        )  # fmt: skip
    _insert(session, LabelRow, labels)


def _insert(session: Any, table: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        session.execute(sa.insert(table), rows)


def _draw(rng: np.random.Generator, p: np.ndarray) -> np.ndarray:
    return (p.cumsum(axis=1) < rng.random((p.shape[0], 1))).sum(axis=1).clip(0, p.shape[1] - 1)


def _heat(p: np.ndarray, temperature: float, noise: np.ndarray) -> np.ndarray:
    logs = np.log(np.maximum(p, 1e-9)) * temperature + noise
    raised = np.exp(logs - logs.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


def _state(rng: np.random.Generator, i: int) -> str:
    chosen = rng.choice(WORDS, 3, replace=False)
    return f"Ticket {i}: {' '.join(chosen)}, please help."
