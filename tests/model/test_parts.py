"""A state in parts: exact cover, stable neighbours, sentences as people see them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from model.parts import LONGEST, Atom, Unit, atoms, common, divide, split, without
from model.questions import render

UNITS: list[Unit] = ["sentence", "line", "paragraph"]
# Characters that the rules speak of are drawn often, all of Unicode (with lone surrogates) sometimes.
TEXT = st.text(st.one_of(st.sampled_from("ab A.!?。」と> \n\r\t-1)…\u2028\u0301\u200d"), st.characters()), max_size=200)
KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.lists(st.sampled_from(["One. ", 'Two "quoted"! ', "Drei\n", "四。", "\t"]), max_size=4).map("".join),
)
DOCUMENTS = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=20
).filter(lambda value: isinstance(value, dict | list))


@given(TEXT, st.sampled_from(UNITS))
@example("x" * 5000, "sentence")
@example("e\u0301" * 5000, "sentence")
@example(" " * 5000 + "x" + " " * 5000, "sentence")
@settings(max_examples=300, deadline=None)
def test_spans_cover_any_text_exactly(text: str, unit: Unit) -> None:
    spans = split(text, unit)
    assert "".join(text[a:b] for a, b in spans) == text
    assert all(a < b for a, b in spans)
    assert [b for _, b in spans[:-1]] == [a for a, _ in spans[1:]]
    if text.strip():
        assert all(text[a:b].strip() for a, b in spans)


@given(TEXT, st.sampled_from(UNITS), st.data())
@settings(max_examples=200, deadline=None)
def test_leaving_one_part_out_changes_no_other(text: str, unit: Unit, data: st.DataObject) -> None:
    parts = atoms(text, unit)
    if not parts:
        assert not text.strip()
        return
    i = data.draw(st.integers(0, len(parts) - 1))
    kept = [text[atom.start : atom.end] for k, atom in enumerate(parts) if k != i]
    assert without(text, [parts[i]]) == "".join(kept)


@given(DOCUMENTS)
@settings(max_examples=200, deadline=None)
def test_json_atoms_stand_where_they_say(value: Any) -> None:
    text = render(value)
    for atom in atoms(value):
        leaf = value
        for step in atom.path or ():
            leaf = leaf[step]
        shown = text[atom.start : atom.end]
        if atom.within is None:
            assert json.loads(shown) == leaf
        else:
            assert json.loads(f'"{shown}"') == leaf[slice(*atom.within)]


@given(DOCUMENTS, st.data())
@settings(max_examples=200, deadline=None)
def test_leaving_one_value_out_keeps_every_other_value(value: Any, data: st.DataObject) -> None:
    parts = atoms(value)
    if not parts:
        return
    i = data.draw(st.integers(0, len(parts) - 1))
    said = [render(value)[atom.start : atom.end] for atom in parts]
    left = without(value, [parts[i]])
    kept = render(left)
    at = 0
    for k, piece in enumerate(said):  # the others are there, in order
        if k != i:
            at = kept.index(piece, at) + len(piece)
    assert type(left) is type(value)
    assert without(value, []) == value
    assert without(value, parts) == type(value)()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("It broke. Fix it! Now? yes.", ["It broke. ", "Fix it! ", "Now? ", "yes."], id="stops"),
        pytest.param("Dr. Smith paid 3.50 at a.example. Ok.", ["Dr. Smith paid 3.50 at a.example. ", "Ok."], id="dr"),
        pytest.param("Use tools, e.g. Excel. J. Doe did.", ["Use tools, e.g. Excel. ", "J. Doe did."], id="letters"),
        pytest.param("I said no. Then left.", ["I said no. ", "Then left."], id="no as a word"),
        pytest.param("See No. 5 and fig. 3. Thanks.", ["See No. 5 and fig. 3. ", "Thanks."], id="no before a number"),
        pytest.param("Das gilt z. B. für Sie. Gut.", ["Das gilt z. B. für Sie. ", "Gut."], id="German"),
        pytest.param("Well... maybe. Wait… No.", ["Well... maybe. ", "Wait… ", "No."], id="dots"),
        pytest.param('He said "stop." Then he left.', ['He said "stop." ', "Then he left."], id="quotation"),
        pytest.param("你好。请退款！谢谢", ["你好。", "请退款！", "谢谢"], id="Chinese"),
        pytest.param("「はい。」と言った。次。", ["「はい。」と言った。", "次。"], id="Japanese quotation"),
        pytest.param("यह ठीक है। धन्यवाद।", ["यह ठीक है। ", "धन्यवाद।"], id="danda"),
        pytest.param("- one. two\n- two\n", ["- one. two\n", "- two\n"], id="list"),
        pytest.param("1. Open it. Look.\n2) Close", ["1. Open it. ", "Look.\n", "2) Close"], id="numbers"),
        pytest.param("Subject: Refund\nFrom: Ann\n\nHi", ["Subject: Refund\n", "From: Ann\n\n", "Hi"], id="headers"),
        pytest.param(
            "This line was broken by a mail program because it was\nlong. Next.",
            ["This line was broken by a mail program because it was\nlong. ", "Next."],
            id="hard-wrapped",
        ),
        pytest.param("Short\nlines here", ["Short\n", "lines here"], id="short lines"),
        pytest.param(
            "Ann wrote:\n> I paid. Twice.\n> Help\n>> older\nOk",
            ["Ann wrote:\n", "> I paid. Twice.\n", "> Help\n", ">> older\n", "Ok"],
            id="quoted mail",
        ),
        pytest.param("a\r\nb\rc", ["a\r\n", "b\r", "c"], id="line ends"),
        pytest.param("\n\n Hi. \n\n", ["\n\n Hi. \n\n"], id="outer space"),
        pytest.param(" \n ", [" \n "], id="only space"),
        pytest.param("", [], id="empty"),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [text[a:b] for a, b in split(text)] == expected


def test_lines_and_paragraphs_are_coarser() -> None:
    text = "One. Two.\nThree.\n\nFour."
    assert [text[a:b] for a, b in split(text, "line")] == ["One. Two.\n", "Three.\n\n", "Four."]
    assert [text[a:b] for a, b in split(text, "paragraph")] == ["One. Two.\nThree.\n\n", "Four."]


def test_what_has_no_stops_is_split_at_spaces_and_never_before_a_combining_mark() -> None:
    chat = "word " * 500
    pieces = [chat[a:b] for a, b in split(chat)]
    assert all(len(piece) <= LONGEST and piece.endswith("word ") and piece.startswith("word") for piece in pieces)
    marks = "e\u0301" * 1000
    assert all(marks[a] == "e" for a, _ in split(marks))


def test_json_values_are_addressed_by_path() -> None:
    value = {"b": {"x": 1, "notes": ['First. Second "quoted".', None]}, "a": "plain"}
    found = atoms(value)
    assert [(atom.path, atom.within) for atom in found] == [
        (("a",), None),
        (("b", "notes", 0), (0, 7)),
        (("b", "notes", 0), (7, 23)),
        (("b", "notes", 1), None),
        (("b", "x"), None),
    ]
    assert without(value, [found[1]]) == {"b": {"x": 1, "notes": ['Second "quoted".', None]}, "a": "plain"}
    assert without(value, found[1:3]) == {"b": {"x": 1, "notes": [None]}, "a": "plain"}
    assert without(value, found[1:4]) == {"b": {"x": 1}, "a": "plain"}  # an empty list would still say "notes"
    assert without(value, found) == {}


def test_groups_follow_strong_boundaries_and_lose_nothing() -> None:
    text = "A one. A two. A three.\n\nB one. B two.\nB three."
    parts = atoms(text)
    assert [atom.level for atom in parts] == [0, 0, 0, 2, 0, 1]
    assert [len(group) for group in divide(parts, 2)] == [3, 3]
    for most in range(1, 9):
        groups = divide(parts, most)
        assert len(groups) == min(most, len(parts))
        assert [atom for group in groups for atom in group] == parts
    assert divide([], 4) == []


def test_json_groups_keep_records_together() -> None:
    rows = [{"id": i, "note": f"note {i}"} for i in range(16)]
    groups = divide(atoms(rows), 4)
    assert [common([atom.path or () for atom in group]) for group in groups] == [()] * 4
    assert [[atom.path[0] for atom in group if atom.path] for group in groups] == [
        [row for row in range(k, k + 4) for _ in range(2)] for k in (0, 4, 8, 12)
    ]
    assert common([("a", 0, "x"), ("a", 0)]) == ("a", 0)


def test_a_long_text_is_split_quickly_and_into_few_groups() -> None:
    text = "".join(f"Sentence number {i} says little. " for i in range(6000))
    groups = divide(atoms(text), 64)
    assert len(groups) == 64
    sizes = [group[-1].end - group[0].start for group in groups]
    assert max(sizes) < 3 * min(sizes)
    assert isinstance(groups[0][0], Atom)
