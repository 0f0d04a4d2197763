"""The question language: what is accepted, in which order it is read, and what is refused at which field."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.questions import (
    CLEF_LIMITS,
    MAX_DEPTH,
    NOUL_DEFAULTS,
    Limits,
    Option,
    QuestionsError,
    canonical_json,
    check_json,
    parse_questions,
    questions_json,
    render,
    schema_hash,
)

TRUE, FALSE = NOUL_DEFAULTS["true"], NOUL_DEFAULTS["false"]


@pytest.mark.parametrize(
    ("body", "options", "request_order"),
    [
        ({"type": "noul"}, [("true", TRUE), ("false", FALSE)], ["true", "false"]),
        ({"type": "noul", "criteria": {}}, [("true", TRUE), ("false", FALSE)], ["true", "false"]),
        ({"type": "noul", "criteria": {"false": "no"}}, [("true", TRUE), ("false", "no")], ["true", "false"]),
        ({"type": "noul", "criteria": {"true": None}}, [("true", None), ("false", FALSE)], ["true", "false"]),
        (
            {"type": "choice", "criteria": {"b": None, "10": "x", "2": {"k": 1}, "é": "", "B": ["l"]}},
            [("10", "x"), ("2", {"k": 1}), ("B", ["l"]), ("b", None), ("é", "")],
            ["b", "10", "2", "é", "B"],
        ),
        (
            {"type": "choice", "criteria": {"toString": None, "__proto__": None}},
            [("__proto__", None), ("toString", None)],
            ["toString", "__proto__"],
        ),
        ({"type": "score", "criteria": ["low", {"k": "high"}]}, [("0", "low"), ("1", {"k": "high"})], ["0", "1"]),
    ],
)
def test_options_in_model_order_and_in_request_order(
    body: dict[str, Any], options: list[tuple[str, Any]], request_order: list[str]
) -> None:
    question = parse_questions({"q": body})["q"]
    assert question.options() == [Option(*option) for option in options]
    assert question.option_ids() == request_order


@pytest.mark.parametrize("key", ["ticket-1", "q.2", "with space", "질문", "🎯", "constructor", "a" * 256])
def test_ids_may_be_any_text(key: str) -> None:
    assert list(parse_questions({key: {"type": "noul"}})) == [key]


REFUSED: list[tuple[Any, tuple[str | int, ...], str]] = [
    ({}, (), "at least one question"),
    ([], (), "must be an object"),
    (None, (), "must be an object"),
    ({"": {"type": "noul"}}, ("",), "id that is not empty"),
    ({"a" * 257: {"type": "noul"}}, ("a" * 40,), "257 characters"),
    ({"\ud83d": {"type": "noul"}}, (), "surrogate"),
    ({"q": "noul"}, ("q",), ""),
    ({"q": {}}, ("q",), "needs a `type`"),
    ({"q": {"type": "box"}}, ("q",), "use noul, choice or score"),
    (
        {"q": {"type": "noul", "criteria": {"maybe": "x"}}},
        ("q", "noul", "criteria", "maybe"),
        "only `true` and `false`",
    ),
    ({"q": {"type": "noul", "criteria": {"true": 5}}}, ("q", "noul", "criteria"), "text, an object, a list or null"),
    ({"q": {"type": "noul", "instructions": 5}}, ("q", "noul", "instructions"), "text, an object, a list or null"),
    ({"q": {"type": "noul", "instructions": "\ud83d"}}, ("q", "noul", "instructions"), "surrogate"),
    ({"q": {"type": "noul", "instructions": {"a": float("nan")}}}, ("q", "noul", "instructions"), "finite"),
    ({"q": {"type": "choice"}}, ("q", "choice", "criteria"), "is required"),
    ({"q": {"type": "choice", "criteria": {}}}, ("q", "choice", "criteria"), "at least one option"),
    ({"q": {"type": "choice", "criteria": ["a"]}}, ("q", "choice", "criteria"), "must be an object"),
    ({"q": {"type": "choice", "criteria": {"": "x"}}}, ("q", "choice", "criteria"), "without a name"),
    ({"q": {"type": "choice", "criteria": {"\udc00": "x"}}}, ("q", "choice", "criteria"), "surrogate"),
    (
        {"q": {"type": "choice", "criteria": dict.fromkeys(map(str, range(256)))}},
        ("q", "choice", "criteria"),
        "256 options",
    ),
    ({"q": {"type": "score", "criteria": {"0": "x"}}}, ("q", "score", "criteria"), "list of levels"),
    ({"q": {"type": "score", "criteria": []}}, ("q", "score", "criteria"), "at least one level"),
    ({"q": {"type": "score", "criteria": ["x", None]}}, ("q", "score", "criteria"), "level 1 is null"),
    ({"q": {"type": "score", "criteria": ["x"] * 11}}, ("q", "score", "criteria"), "11 levels"),
    ({f"q{i}": {"type": "noul"} for i in range(65)}, (), "65 questions; at most 64"),
]


@pytest.mark.parametrize(("raw", "loc", "words"), REFUSED, ids=[str(i) for i in range(len(REFUSED))])
def test_what_is_refused_names_its_field(raw: Any, loc: tuple[str | int, ...], words: str) -> None:
    with pytest.raises(QuestionsError) as refused:
        parse_questions(raw, loc=("body", "questions"))
    errors = refused.value.errors
    assert ("body", "questions", *loc) in [error.loc for error in errors]
    assert words in str(refused.value)


def test_all_that_is_wrong_is_told_at_once() -> None:
    raw = {"a": {"type": "choice"}, "": {"type": "noul"}, "c": {"type": "score", "criteria": []}}
    with pytest.raises(QuestionsError) as refused:
        parse_questions(raw)
    assert len(refused.value.errors) == 3


def test_limits_are_the_callers() -> None:
    raw = {"q": {"type": "choice", "criteria": {"a": None, "b": None, "c": None}}}
    with pytest.raises(QuestionsError, match="3 options; at most 2"):
        parse_questions(raw, limits=Limits(options=2))
    many = {"q": {"type": "choice", "criteria": dict.fromkeys(map(str, range(300)))}}
    assert len(parse_questions(many, limits=Limits(options=300))["q"].options()) == 300
    assert Limits(questions=64, options=255, levels=10, images=4) == CLEF_LIMITS


def test_unknown_keys_are_ignored_and_types_keep_their_case() -> None:
    questions = parse_questions({"q": {"type": "noul", "x_trace": 1}})
    assert questions_json(questions) == {"q": {"type": "noul"}}


def test_a_question_cannot_be_changed() -> None:
    question = parse_questions({"q": {"type": "noul"}})["q"]
    with pytest.raises(ValueError, match="frozen"):
        question.instructions = "x"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("raw \n text", "raw \n text"),
        ({"b": 1, "a": [1.0, 2.5, None, True]}, '{"a":[1.0,2.5,null,true],"b":1}'),
        (["é", "東"], '["é","東"]'),
        ({}, "{}"),
    ],
)
def test_render(value: Any, text: str) -> None:
    assert render(value) == text


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


def test_depth_is_bounded_without_recursion() -> None:
    assert check_json(nested(MAX_DEPTH), ()) == []
    for depth in (MAX_DEPTH + 1, 100_000):
        assert [e.code for e in check_json(nested(depth), ("state",))] == ["too_deep"]


@pytest.mark.parametrize(
    ("value", "loc", "code"),
    [
        ({"a": [1, float("inf")]}, ("s", "a", 1), "finite_number"),
        ({"a": {"b": "\ud83d"}}, ("s", "a", "b"), "string_unicode"),
        ({"\ud83d": 1}, ("s",), "string_unicode"),
        ({1: 1}, ("s",), "string_unicode"),
        ({"a": b"x"}, ("s", "a"), "json_type"),
    ],
)
def test_what_is_not_json_is_told_by_place(value: Any, loc: tuple[str | int, ...], code: str) -> None:
    assert [(e.loc, e.code) for e in check_json(value, ("s",))] == [(loc, code)]


text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
described = st.none() | text | st.lists(text, max_size=2) | st.dictionaries(text, text, max_size=2)
body = st.one_of(
    st.fixed_dictionaries({"type": st.just("noul")}, optional={"instructions": described}),
    st.fixed_dictionaries(
        {"type": st.just("choice"), "criteria": st.dictionaries(text, described, min_size=1, max_size=5)}
    ),
    st.fixed_dictionaries(
        {
            "type": st.just("score"),
            "criteria": st.lists(described.filter(lambda d: d is not None), min_size=1, max_size=5),
        }
    ),
)
schemas = st.dictionaries(text, body, min_size=1, max_size=5)


@settings(max_examples=80, deadline=None)
@given(schemas)
def test_questions_survive_json_and_keep_their_identity(raw: dict[str, Any]) -> None:
    questions = parse_questions(raw)
    again = parse_questions(json.loads(canonical_json(questions)))
    assert again == questions
    assert list(again) == list(questions)
    assert schema_hash(again) == schema_hash(questions)
    for question in questions.values():
        assert sorted(o.id for o in question.options()) == sorted(question.option_ids())


@settings(max_examples=40, deadline=None)
@given(schemas.filter(lambda raw: len(raw) > 1))
def test_the_order_of_questions_is_part_of_a_schemas_identity(raw: dict[str, Any]) -> None:
    turned = dict(reversed(raw.items()))
    assert schema_hash(parse_questions(turned)) != schema_hash(parse_questions(raw))
