"""Readable states and passages: every character's origin is right, every token is kept."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.embedded.backbone import Backbone
from model.embedded.pairs import EXCERPT_TOKENS
from model.embedded.passages import PASSAGE_TOKENS, choose, split
from model.embedded.rendering import readable_state
from model.questions import Json, render

TEXTS = st.text(alphabet='ab é"\\\n{}:,', max_size=12)
STATES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-99, 99), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=12,
)


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.lists(STATES, min_size=1), st.dictionaries(TEXTS, STATES, min_size=1)))
def test_each_leaf_is_found_again_in_the_rendered_text(state: Json) -> None:
    readable, text = readable_state(state), render(state)
    for leaf in readable.leaves:
        if not leaf.text:
            continue
        found = readable.original(leaf.value, leaf.end)
        assert found is not None
        shown = text[found[0] : found[1]]
        assert shown == (json.dumps(leaf.text, ensure_ascii=False)[1:-1] if leaf.quoted else leaf.text)
        assert len(shown) >= len(leaf.text)


def test_a_part_of_a_leaf_claims_only_that_part() -> None:
    state = {"note": "one two three"}
    readable = readable_state(state)
    assert readable.text == "note: one two three"
    start, end = readable.original(readable.text.index("two"), readable.text.index(" three")) or (0, 0)
    assert render(state)[start:end] == "two"


@pytest.mark.parametrize(
    ("state", "text"),
    [
        ("as it is", "as it is"),
        ({"b": 1, "a": {"firstName": "Ann"}}, "a first name: Ann\nb: 1"),
        (["x", [], None], "1: x\n2: []\n3: null"),
    ],
)
def test_readable_words(state: Json, text: str) -> None:
    assert readable_state(state).text == text


def test_passages_hold_every_token_and_break_at_lines(backbone: Backbone) -> None:
    text = "\n".join(f"Line {i} says that the {'very ' * (i % 5)}small door is open." for i in range(60))
    encoding = backbone.tokenizer.encode(text, add_special_tokens=False)
    passages = split(encoding.ids, encoding.offsets, text)
    assert [i for p in passages for i in p.ids] == encoding.ids
    assert all(len(p.ids) <= PASSAGE_TOKENS for p in passages)
    assert all(text[p.start : p.end].startswith("Line") for p in passages)
    assert split([], [], "") == []


def test_the_nearest_passages_are_chosen_in_order(backbone: Backbone) -> None:
    import torch

    text = " ".join(f"word{i}" for i in range(600))
    encoding = backbone.tokenizer.encode(text, add_special_tokens=False)
    passages = split(encoding.ids, encoding.offsets, text)
    nearness = torch.zeros(len(passages))
    nearness[7], nearness[4] = 2.0, 1.0
    chosen = choose(passages, nearness)
    assert chosen == [0, 4, 7]
    assert sum(len(passages[i].ids) for i in chosen) <= EXCERPT_TOKENS
