"""Packing: a block's result is its own; the encoder is BERT; names become words."""

from __future__ import annotations

import pytest
import torch
from transformers import BertModel

from model.embedded.backbone import Backbone
from model.embedded.encoder import Encoder
from model.embedded.pairs import PairModel, by_length, pack, pair_texts, token_ids, unit_vectors, words_of
from model.embedded.weights import Scales
from model.questions import parse_questions


def test_the_encoder_is_the_one_that_transformers_has(backbone: Backbone, untuned: Encoder) -> None:
    reference = BertModel.from_pretrained(backbone.folder, add_pooling_layer=False).eval()
    packed = pack(
        [(ids, ()) for ids in token_ids(backbone.tokenizer, ["A short text.", "A second, longer text here."])]
    )
    real = packed.sees[:, 0]
    with torch.inference_mode():
        ours = untuned(packed.ids, packed.segments, packed.positions, real[:, None])
        theirs = reference(input_ids=packed.ids, attention_mask=real.long()).last_hidden_state
    assert torch.allclose(ours[real], theirs[real], atol=1e-5)


def test_blocks_do_not_see_each_other(backbone: Backbone, tuned: tuple[PairModel, Scales]) -> None:
    state, *blocks = token_ids(
        backbone.tokenizer, ["The parcel came on Monday.", "Is it late?", "Is it about a parcel at all?", ""]
    )
    with torch.inference_mode():
        together = tuned[0](pack([(state, blocks), ((), blocks[:1])]))
        alone = torch.cat([tuned[0](pack([(state, [block])])) for block in blocks])
    assert torch.allclose(together[:3], alone, atol=1e-5)
    assert not torch.allclose(together[0], together[3], atol=1e-3)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("request_refund", "request refund"),
        ("BookRestaurant", "book restaurant"),
        ("high-risk", "high risk"),
        ("IT", "IT"),
        ("Ann Lee", "Ann Lee"),
        ("_", "_"),
    ],
)
def test_names_become_words(name: str, words: str) -> None:
    assert words_of(name) == words


def test_texts_of_pairs() -> None:
    questions = parse_questions(
        {
            "a": {"type": "noul", "instructions": "Is it late?", "criteria": {"true": "after five", "false": None}},
            "b": {"type": "noul"},
            "c": {"type": "choice", "instructions": "Which?", "criteria": {"z": None, "get_help": "wants help"}},
            "d": {"type": "score", "instructions": "How?", "criteria": ["low", {"meaning": "high"}]},
        }
    )
    texts = {key: [text.first for text in pair_texts(question)] for key, question in questions.items()}
    assert texts == {
        "a": ["Is it late? Yes: after five"],
        "b": ["Is it true?"],
        "c": ["Which? get help: wants help", "Which? z"],
        "d": ["How? 1 of 2: low", "How? 2 of 2: meaning: high"],
    }
    assert [text.prior for text in pair_texts(questions["c"])] == ["get help: wants help", "z"]


def test_groups_hold_every_index_once_and_stay_small() -> None:
    lengths = [5, 90, 7, 30, 31, 2]
    groups = by_length(lengths, tokens=64)
    assert sorted(i for group in groups for i in group) == list(range(6))
    assert all(len(g) == 1 or max(lengths[i] for i in g) * len(g) <= 64 for g in groups)


def test_unit_vectors(backbone: Backbone, untuned: Encoder) -> None:
    rows = unit_vectors(untuned, token_ids(backbone.tokenizer, ["a refund", "money back", "", "a brown bear"]))
    assert rows[[0, 1, 3]].norm(dim=1).tolist() == pytest.approx([1, 1, 1], abs=1e-5)
    assert rows[2].abs().sum() == 0
    assert rows[0] @ rows[1] > rows[0] @ rows[3]
