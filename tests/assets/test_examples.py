"""The start gallery: every schema can be asked, every picture can be read, nothing in it names a real firm or host."""

from __future__ import annotations

import ipaddress
import json
import re
from pathlib import Path
from typing import Any

import pytest

from model.images import API_CAPS, read_picture
from model.questions import Choice, Noul, Score, parse_questions, questions_json
from model.state import parse_state

FOLDER = Path(__file__).parents[2] / "assets" / "examples"
SCHEMAS: dict[str, dict[str, Any]] = {f.stem: json.loads(f.read_text("utf-8")) for f in sorted(FOLDER.glob("*.json"))}
STATES = [
    pytest.param(state, id=f"{key}-{place}")
    for key, schema in SCHEMAS.items()
    for place, state in enumerate(schema["states"])
]
TOPICS = {
    "support-triage",
    "phishing-page",
    "tool-call-guardrail",
    "bot-or-human",
    "content-moderation",
    "document-routing",
}
PICTURE_BYTES = 150_000
"""A repository carries its pictures for ever."""
PICTURE_SIDE = 1280
"""Pixels of the longer side: wide enough to read, small enough for a thumbnail to be the whole."""
REAL = re.compile(
    r"\b(amazon|apple|cloudflare|dhl|facebook|fedex|github|google|instagram|linkedin|microsoft|netflix|openai|paypal"
    r"|slack|telegram|visa|whatsapp)\b",
    re.IGNORECASE,
)
HOST = re.compile(
    r"(?:https?://|@|www\.)([\w-]+(?:\.[\w-]+)+)|\b([\w-]+(?:\.[\w-]+)*\.(?:com|net|org|io|co|uk|de|eu|info))\b"
)
ADDRESS = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")
DOCUMENTATION = [ipaddress.ip_network(net) for net in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24")]

each_schema = pytest.mark.parametrize("key", SCHEMAS)


def test_the_gallery_covers_its_topics() -> None:
    assert {schema["id"] for schema in SCHEMAS.values()} >= TOPICS


@each_schema
def test_a_schema_says_what_it_is_and_is_named_like_its_file(key: str) -> None:
    schema = SCHEMAS[key]
    assert set(schema) == {"id", "name", "description", "questions", "states"}
    assert re.fullmatch(r"\d-" + re.escape(schema["id"]), key), "a number for its place in the menu, then its id"
    assert schema["name"]
    assert re.fullmatch(r"[A-Z][^.]+[.?]", schema["description"]), "one sentence"


@pytest.mark.parametrize("field", ["id", "name"])
def test_no_two_schemas_are_called_the_same(field: str) -> None:
    called = [schema[field].casefold() for schema in SCHEMAS.values()]
    assert len(set(called)) == len(called)


@each_schema
def test_the_questions_can_be_asked_as_they_are(key: str) -> None:
    raw = SCHEMAS[key]["questions"]
    questions = parse_questions(raw)
    assert questions_json(questions) == raw, "holds a field that would be ignored"
    assert 3 <= len(questions) <= 5
    assert {q.type for q in questions.values()} == {"noul", "choice", "score"}


@each_schema
def test_the_questions_show_good_habits(key: str) -> None:
    for question in parse_questions(SCHEMAS[key]["questions"]).values():
        assert isinstance(question.instructions, str)
        assert question.instructions.count("?") == 1, "one question"
        assert not re.search(r"\bnot\b|n't\b", question.instructions.replace("that it does not belong to", ""))
        described = [option.description for option in question.options()]
        assert all(described)
        assert len({str(d).casefold() for d in described}) == len(described)
        match question:
            case Noul():
                assert question.criteria is not None
                assert set(question.criteria) == {"true", "false"}
            case Choice():
                ids = question.option_ids()
                assert len(ids) >= 3, "two options are a yes/no question"
                assert not {"yes", "no", "true", "false"} & set(ids)
                assert len({i.casefold() for i in ids}) == len(ids)
                assert "none_of_these" in ids
            case Score():
                assert 3 <= len(question.criteria) <= 5


@each_schema
def test_a_schema_has_states_with_names_of_their_own(key: str) -> None:
    states = SCHEMAS[key]["states"]
    assert 4 <= len(states) <= 6
    assert len({state["name"] for state in states}) == len(states)
    hints = [re.findall(r"\((tricky|doubtful)\)$", state["name"]) for state in states]
    assert {hint for found in hints for hint in found} == {"tricky", "doubtful"}
    assert [] in hints, "at least one that is clear"


@pytest.mark.parametrize("state", STATES)
def test_a_state_is_read_with_its_pictures(state: dict[str, Any]) -> None:
    assert set(state) == {"name", "state", "pictures"}
    pictures = [read_picture((FOLDER / name).read_bytes()) for name in state["pictures"]]
    parsed = parse_state(state["state"], tuple(pictures))
    assert parsed.value or pictures
    assert sum(p.size_bytes for p in pictures) <= API_CAPS.total_bytes
    for picture in pictures:
        assert picture.format.lower() == "png"
        assert picture.size_bytes <= PICTURE_BYTES
        assert min(picture.width, picture.height) >= 280
        assert max(picture.width, picture.height) <= PICTURE_SIDE
        assert not picture.notes, "read as it is"


def test_every_picture_is_shown_and_has_its_drawing() -> None:
    shown = {Path(name).stem for schema in SCHEMAS.values() for state in schema["states"] for name in state["pictures"]}
    assert shown, "at least one state has a picture"
    assert shown == {f.stem for f in FOLDER.glob("*.png")}
    assert shown == {f.stem for f in (FOLDER / "drawings").glob("*.html")}


@pytest.mark.parametrize("file", [*FOLDER.glob("*.json"), *(FOLDER / "drawings").glob("*.html")], ids=lambda f: f.name)
def test_firms_and_hosts_are_invented(file: Path) -> None:
    text = file.read_text("utf-8")
    assert not REAL.search(text)
    hosts = {named or bare for named, bare in HOST.findall(text)}
    assert all(host.endswith(".example") for host in hosts), hosts
    assert all(any(ipaddress.ip_address(a) in net for net in DOCUMENTATION) for a in ADDRESS.findall(text))
