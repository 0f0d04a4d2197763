"""Documents to start a page with, as the page itself keeps them in its tab."""

from __future__ import annotations

import json
import uuid
from typing import Any

SEED = """
if (!sessionStorage.getItem("seeded")) {
  sessionStorage.setItem("seeded", "1");
  sessionStorage.setItem("clef-studio-draft", JSON.stringify(%s));
}
"""

TICKET = """From: Maren Oduya, Harbour Street Bakery
Subject: Charged twice

Our card was charged twice for November. Please send the second payment back."""


def question(
    id: str, type: str, wording: str, rows: list[Any] | None = None, *, opened: bool = False
) -> dict[str, Any]:
    """A question; `rows` are (name, description) pairs of a choice, or the levels of a score."""
    made: dict[str, Any] = {
        "uid": f"q-{id}-{uuid.uuid4().hex[:6]}",
        "id": id,
        "type": type,
        "instructions": wording,
        "criteria": {},
        "options": [],
        "levels": [],
        "open": opened,
    }
    if type == "choice":
        made["options"] = [{"uid": f"o{i}-{id}", "name": n, "description": d} for i, (n, d) in enumerate(rows or [])]
    if type == "score":
        made["levels"] = [{"uid": f"l{i}-{id}", "text": text} for i, text in enumerate(rows or [])]
    return made


TEAMS = [("billing", "Invoices and refunds"), ("delivery", "Parcels"), ("technical", "Errors and outages")]


def triage() -> list[dict[str, Any]]:
    """One question of each type."""
    return [
        question("asks_for_refund", "noul", "Does the customer ask for money back?"),
        question("next_team", "choice", "Which team should take this?", TEAMS, opened=True),
        question("urgency", "score", "How soon must somebody look at this?", ["can wait", "this week", "now"]),
    ]


def document(questions: list[dict[str, Any]] | None = None, state: str = TICKET, **more: Any) -> str:
    """A kept draft as JSON."""
    doc = {
        "schema": str(uuid.uuid4()),
        "name": "Test schema",
        "description": "",
        "questions": triage() if questions is None else questions,
        "state": state,
        "plain": False,
        "pictures": [],
        "allowCut": False,
        **more,
    }
    return json.dumps({"format": 1, "doc": doc, "revisions": {}})
