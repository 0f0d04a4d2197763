"""States, and the words in which a state that is too long is refused."""

from __future__ import annotations

from typing import Any

import pytest

from model.questions import StateError
from model.state import State, Tokens, TooLong, parse_state


@pytest.mark.parametrize("value", ["", "text", {}, {"a": [1, None]}, [], [{"role": "user", "content": "x"}]])
def test_text_objects_and_lists_are_states(value: Any) -> None:
    assert parse_state(value) == State(value)


@pytest.mark.parametrize("value", [None, 1, 1.5, True, b"x"])
def test_anything_else_is_not(value: Any) -> None:
    with pytest.raises(StateError, match="state: must be text, an object or a list"):
        parse_state(value)


@pytest.mark.parametrize(
    ("value", "loc"), [({"a": float("nan")}, ("state", "a")), ("\ud83d", ("state",)), (["x", "\udc00"], ("state", 1))]
)
def test_what_is_not_json_is_told_by_place(value: Any, loc: tuple[str | int, ...]) -> None:
    with pytest.raises(StateError) as refused:
        parse_state(value)
    assert refused.value.errors[0].loc == loc


def test_at_most_four_pictures() -> None:
    picture: Any = object()
    assert len(parse_state("x", (picture,) * 4).pictures) == 4
    with pytest.raises(StateError, match="has 5 pictures; at most 4"):
        parse_state("x", (picture,) * 5)


def test_tokens_add_up() -> None:
    tokens = Tokens(state=1000, pictures=20, questions=300, frame=80, limit=600, read=200)
    assert tokens.total == 600
    assert tokens.needed == 1400


@pytest.mark.parametrize(
    ("tokens", "loc", "words"),
    [
        (
            Tokens(state=20_000, pictures=0, questions=300, frame=100, limit=16_384, read=15_984),
            ("state",),
            "too long by 4,016 tokens (state 20,000, pictures 0, questions 400; limit 16,384): shorten it",
        ),
        (
            Tokens(state=5, pictures=100, questions=300, frame=100, limit=400, read=0),
            ("questions",),
            "too long by 105 tokens (state 5, pictures 100, questions 400; limit 400): ask less",
        ),
    ],
)
def test_too_long_says_by_how_much_and_what_to_do(tokens: Tokens, loc: tuple[str, ...], words: str) -> None:
    error = TooLong(tokens)
    assert error.errors[0].loc == loc
    assert words in str(error)
    assert error.tokens is tokens
