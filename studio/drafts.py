"""A set of questions as the Design page keeps drafts, for schemas that come from elsewhere than that page.

Contract
--------
The form is that of `assets/design/schema.js` (`emptyDoc`, `fromWire`) in its format 1. Ids inside it only have to
differ within one document.
"""

from __future__ import annotations

from uuid import uuid4

from model.questions import Json, Questions, questions_json

FORMAT = 1


def draft_document(schema_id: str, name: str, questions: Questions) -> dict[str, Json]:
    """The draft of a schema that asks these questions."""
    doc = {
        "schema": schema_id,
        "name": name,
        "description": "",
        "questions": [_row(key, wire) for key, wire in questions_json(questions).items()],
        "state": "",
        "plain": False,
        "pictures": [],
        "examples": [],
        "at": -1,
        "allowCut": False,
    }
    return {"format": FORMAT, "doc": doc, "save": str(uuid4())}


def _row(key: str, wire: Json) -> dict[str, Json]:
    kind, criteria = wire["type"], wire.get("criteria") or {}
    return {
        "uid": uuid4().hex,
        "id": key,
        "type": kind,
        "instructions": wire.get("instructions", ""),
        "criteria": dict(criteria) if kind == "noul" else {},
        "options": [
            {"uid": uuid4().hex, "name": name, "description": "" if said is None else said}
            for name, said in (criteria.items() if kind == "choice" else ())
        ],
        "levels": [{"uid": uuid4().hex, "text": text} for text in (criteria if kind == "score" else ())],
        "open": False,
    }
