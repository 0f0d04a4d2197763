"""The reference numbers: requests, and what the unmodified reference made of them (see tests/golden/cases.json)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from model.images import read_picture
from model.questions import parse_questions
from model.scorer import Reading, Request
from model.state import parse_state

GOLDEN = Path(__file__).parents[1] / "golden"
RELEASE = GOLDEN / "tiny_release"
CASES: list[dict[str, Any]] = json.loads((GOLDEN / "cases.json").read_text(encoding="utf-8"))["cases"]
WHOLE = [case for case in CASES if "max_length" not in case and "max_state_tokens" not in case]
"""The cases whose state is read whole; the two others are cut."""


def name(case: dict[str, Any]) -> str:
    return str(case["name"])


def request(case: dict[str, Any]) -> Request:
    record = case["record"]
    pictures = tuple(read_picture((GOLDEN / "images" / file).read_bytes()) for file in case["images"] or [])
    return Request(parse_state(record["state"], pictures), parse_questions(record["questions"]), allow_cut=True)


def distance(case: dict[str, Any], reading: Reading) -> float:
    """Largest difference of a logit; fails where questions or options do not match in number and order."""
    assert list(reading.logits) == [question["id"] for question in case["questions"]]
    return max(
        abs(ours - theirs)
        for question in case["questions"]
        for ours, theirs in zip(reading.logits[question["id"]], question["logits"], strict=True)
    )
