"""Decisions to label, written into a data folder before a studio opens it."""

from __future__ import annotations

import hashlib
import uuid
from pathlib import Path
from typing import Any

from model.answers import Answer
from model.questions import parse_questions, schema_hash
from model.scorer import ScorerInfo
from model.state import Tokens
from storage.database import Database
from storage.decisions import DecisionRecord, record_decisions
from storage.schemas import create_schema, publish

QUESTIONS = parse_questions(
    {
        "next_team": {
            "type": "choice",
            "instructions": "Which team should take this?",
            "criteria": {"billing": "Invoices, charges, refunds", "delivery": "Parcels", "technical": None},
        },
        "refund": {"type": "noul", "instructions": "Does the customer ask for money back?"},
    }
)
SCORER = ScorerInfo(
    name="tiny", kind="clef", fingerprint="a" * 64, question_ids="literal", max_tokens=512, sees_pictures=False
)
OPTIONS = ("billing", "delivery", "technical")


def words(i: int) -> str:
    """A text that is like no other."""
    return " ".join(hashlib.sha256(f"{i}.{k}".encode()).hexdigest().translate(LETTERS)[:9] for k in range(6))


LETTERS = str.maketrans("0123456789", "ghijklmnop")


def record(i: int, n: int, **more: Any) -> DecisionRecord:
    """Decision i of n; the state's number says which it is."""
    p = 0.36 + 0.6 * (i / n)
    rest = (1 - p) / 2
    lead = i % 3
    return DecisionRecord(
        **{
            "id": str(uuid.uuid4()),
            "source": "api",
            "questions": QUESTIONS,
            "scorer": SCORER,
            "state": f"Ticket {i}\n\n{words(i)}",
            "answers": {
                "next_team": Answer("choice", OPTIONS, tuple(p if k == lead else rest for k in range(3))),
                "refund": Answer("noul", ("true", "false"), (1 - p, p)),
            },
            "tokens": Tokens(state=20, pictures=0, questions=30, frame=5, limit=512, read=20),
            "seconds": 0.01,
            **more,
        }
    )


def seed(data: Path, n: int) -> str:
    """Writes a schema "Support" v1 and n of its decisions; returns the schema's id."""
    with Database.open(data) as database:
        schema = create_schema(database, name="Support")
        publish(database, schema.id, QUESTIONS)
        record_decisions(database, [record(i, n, schema_id=schema.id, version=1) for i in range(n)])
        return schema.id


def address(question: str = "next_team") -> str:
    """The page's address by the set of questions."""
    return f"/label?questions={schema_hash(QUESTIONS)[:16]}&question={question}"
