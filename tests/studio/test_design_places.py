"""Positions in the rendered state lead to what was typed, whatever its order, escapes and blanks."""

from __future__ import annotations

import json

import pytest

from model.questions import render
from studio.pages.design_places import Places, units

TYPED = '{ "b" : ["x\\u00e9 y", 1.50, {}],\n "a": {"é😀": "hello. world", "n": null} , "z": 5}'


def cut_out(typed: str, spans: list[tuple[int, int]]) -> list[str]:
    """The pieces as a browser would cut them: in UTF-16 units."""
    data = typed.encode("utf-16-le")
    return [data[2 * start : 2 * end].decode("utf-16-le") for start, end in spans]


@pytest.mark.parametrize(
    ("said", "typed"),
    [
        ("hello", ["hello"]),
        ("world", ["world"]),
        ("xé", ['"x\\u00e9 y"']),
        ("1.5", ["1.50"]),
        ('"z":5', ['"z"', "5"]),
        ("é😀", ["é😀"]),
        ("{}", ["{}"]),
        (":", []),
    ],
)
def test_keys_and_values_are_found(said: str, typed: str) -> None:
    value = json.loads(TYPED)
    start = render(value).index(said)
    assert cut_out(TYPED, Places(TYPED, value).of(start, start + len(said))) == typed


def test_what_comes_after_is_told_in_the_typed_order_and_few_spans() -> None:
    value = json.loads(TYPED)
    places = Places(TYPED, value)
    assert cut_out(TYPED, places.after(0)) == [TYPED[2:-1]]
    # Keys are read in order: `b` and `z` come after all of `a`.
    assert cut_out(TYPED, places.after(render(value).index('"b"'))) == ['"b" : ["x\\u00e9 y", 1.50, {}', '"z": 5']


def test_text_is_its_own_rendering() -> None:
    text = "a 😀 b"
    places = Places(text, text)
    assert (places.of(2, 3), places.of(4, 5), places.after(3)) == ([(2, 4)], [(5, 6)], [(4, 6)])
    assert Places("plain", "plain").of(1, 3) == [(1, 3)]
    assert units("plain") is None
