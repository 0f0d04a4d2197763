"""Examples for tests of dataset formats: hand-made ones, and a strategy that draws nasty ones."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st
from PIL import Image

from model.questions import Questions, parse_questions, schema_hash
from storage.datasets.example import Example
from storage.datasets.formats import Plan

TICKETS = parse_questions(
    {
        "route": {
            "type": "choice",
            "instructions": "Which team should handle this ticket?",
            "criteria": {"technical": "Bugs and outages.", "billing": "Invoices, refunds.", "none_of_these": None},
        },
        "wants_refund": {"type": "noul", "instructions": "Does the customer ask for money back?"},
        "urgency": {
            "type": "score",
            "instructions": "How urgent is the ticket?",
            "criteria": ["Can wait a week.", "Handle this week.", "Handle today."],
        },
    }
)
LABELS = {"route": "billing", "wants_refund": "false", "urgency": "1"}


class Album:
    """Pictures in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def read(self, sha256: str) -> bytes:
        return self.kept[sha256]

    def save(self, data: bytes) -> str:
        key = hashlib.sha256(data).hexdigest()
        self.kept[key] = data
        return key


def picture(shade: int = 120) -> bytes:
    """A small PNG."""
    file = io.BytesIO()
    Image.new("RGB", (6, 4), (shade, 30, 200)).save(file, "PNG")
    return file.getvalue()


def ticket(id: str = "dec_1", **changes: Any) -> Example:
    """A labelled ticket."""
    whole = Example(
        id=id,
        state={"subject": "Charged twice", "body": "Please look."},
        questions=TICKETS,
        labels=LABELS,
        group="cust_88",
        time=datetime(2026, 11, 30, 10, tzinfo=UTC),
        source="api",
        stream="audit",
        scorer="tiny ffff",
        licence="CC0-1.0",
    )
    return replace(whole, **changes)


def plan(*examples: Example, name: str = "tickets") -> Plan:
    """The plan of an export of these examples."""
    schemas: dict[str, Questions] = {}
    for example in examples:
        schemas.setdefault(schema_hash(example.questions), example.questions)
    return Plan(name=name, schemas=tuple(schemas.values()), created="2026-11-30T10:00:00+00:00", licence="CC0-1.0")


def same(a: Any, b: Any) -> bool:
    """Whether two JSON values are the same text: for Python 1, 1.0 and True are equal."""
    return json.dumps(a) == json.dumps(b)


CHARACTERS = st.characters(exclude_categories=["Cs"])
NASTY = [
    "true", "false", "1", "0", "null", "no", "~", "=", "<<", "# a comment", "=1+1", "'=1", "@x", "a\u2028b", "a\u2029b",
    "a\x85b", "a\x0bb\x1cc", "\ufeff", "\0", "{x}", "{", "%s", "probabilities", "\U0001f600", "-", "1e999", "\r\n", '"',
    "a: b", "<|im_start|>", "data:image/png;base64,AAAA", "\t=x", "＝1", "image",
]  # fmt: skip
TEXT = st.sampled_from(NASTY) | st.text(CHARACTERS, max_size=12)
NAME = TEXT.filter(bool)
NUMBER = st.integers(-(10**400), 10**400) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
STATE = TEXT | st.dictionaries(TEXT, JSON, max_size=3) | st.lists(JSON, max_size=3)
FIELDS = st.fixed_dictionaries({"subject": TEXT, "n": NUMBER})
DESCRIPTION = TEXT | st.dictionaries(TEXT, TEXT, max_size=2) | st.lists(TEXT, max_size=2)


@st.composite
def question(draw: st.DrawFn) -> dict[str, Any]:
    """A question as plain JSON; most have instructions."""
    body: dict[str, Any] = {"type": draw(st.sampled_from(["noul", "choice", "score"]))}
    instructions = draw(NAME | st.just("Which one?") | DESCRIPTION | st.none())
    if instructions is not None:
        body["instructions"] = instructions
    if body["type"] == "choice":
        body["criteria"] = draw(st.dictionaries(NAME, st.none() | DESCRIPTION, min_size=1, max_size=4))
    elif body["type"] == "score":
        body["criteria"] = draw(st.lists(DESCRIPTION, min_size=1, max_size=4))
    elif draw(st.booleans()):
        body["criteria"] = draw(st.dictionaries(st.sampled_from(["true", "false"]), st.none() | DESCRIPTION))
    return body


@st.composite
def examples(draw: st.DrawFn, album: Album) -> list[Example]:
    """A few examples of one or two schemas, some of them with pictures, soft labels, or no label at all."""
    schemas = [
        parse_questions(raw)
        for raw in draw(st.lists(st.dictionaries(NAME, question(), min_size=1, max_size=3), min_size=1, max_size=2))
    ]
    plain_states = draw(st.booleans())
    found = []
    for number in range(draw(st.integers(1, 4))):
        questions = draw(st.sampled_from(schemas))
        labels, soft = {}, {}
        for key, asked in questions.items():
            options = asked.option_ids()
            kind = draw(st.sampled_from(["hard", "hard", "hard", "soft", "none"]))
            if kind == "hard" or (len(options) < 2 and kind == "soft"):
                labels[key] = draw(st.sampled_from(options))
            elif kind == "soft":
                weights = draw(st.lists(st.integers(1, 9), min_size=len(options), max_size=len(options)))
                soft[key] = {option: w / sum(weights) for option, w in zip(options, weights, strict=True)}
        shots = draw(st.sampled_from([0, 0, 0, 1, 2]))
        found.append(
            Example(
                id=f"{draw(TEXT)}{number}",
                state=draw(FIELDS if plain_states else STATE),
                questions=questions,
                labels=labels,
                soft=soft,
                pictures=tuple(album.save(picture(shade)) for shade in range(shots)),
                group=draw(st.none() | NAME),
                stream=draw(st.sampled_from(["", "audit", "queue"])),
                licence=draw(st.sampled_from(["", "CC0-1.0"])),
            )
        )
    return found
