"""The start gallery: schemas with states and pictures, from `assets/examples`.

Contract
--------
Each file is {name, description, questions (a System One map), states: [{name, state, pictures: [file]}]}, written by
us. Their pictures enter the same way as a person's.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from model.questions import parse_questions, questions_json
from studio.pages.design_pictures import Gallery


def list_examples(folder: Path) -> list[dict[str, Any]]:
    """What a menu shows, in the order of the file names: {id, name, description, states: [{name}]}."""
    found = []
    for path in sorted(folder.glob("*.json")):
        raw = json.loads(path.read_text(encoding="utf-8"))
        states = [{"name": state["name"]} for state in raw["states"]]
        found.append({"id": path.stem, "name": raw["name"], "description": raw["description"], "states": states})
    return found


def load_example(folder: Path, example: str, gallery: Gallery) -> dict[str, Any] | None:
    """One example whole, each picture as `Gallery.add` describes it; None when there is no such example."""
    path = next((p for p in folder.glob("*.json") if p.stem == example), None)
    if path is None:
        return None
    raw = json.loads(path.read_text(encoding="utf-8"))
    states = [
        {**state, "pictures": [gallery.add_now((path.parent / name).read_bytes(), name) for name in state["pictures"]]}
        for state in raw["states"]
    ]
    return {**raw, "questions": questions_json(parse_questions(raw["questions"])), "states": states}
