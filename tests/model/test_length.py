"""A lower bound of tokens without tokenising: never above the truth, and enough to refuse megabytes at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from model.embedded.reader import open_embedded
from model.encoding import Encoder, Span
from model.length import Shortest, words
from model.questions import parse_questions
from model.scorer import Request
from model.state import State, TooLong

TOKENIZER = Path(__file__).parents[1] / "golden" / "tiny_release" / "tokenizer.json"
QUESTIONS = parse_questions({"q": {"type": "noul", "instructions": "Is it urgent?"}})
BYTE_PAIR = Tokenizer.from_file(str(TOKENIZER))
LETTERS = ["a", "word ", "é", "e\u0301", "각", "\u1100\u1161\u11a8", "🎯", "漢", "0", "ß", "'s", "<|im_start|>"]
OTHERS = [" ", "  ", "\n", "\t", "-" * 30, "_", "\u0301", "\u200d"]
PIECES = st.sampled_from([*LETTERS, *OTHERS])
TEXTS = st.lists(PIECES | st.text(max_size=4), max_size=40).map("".join)


def tokens(tokenizer: Tokenizer, text: str) -> int:
    return len(tokenizer.encode(text, add_special_tokens=False).ids)


@settings(max_examples=300, deadline=None, database=None)
@given(TEXTS.map(lambda text: text.encode("utf-8", "ignore").decode()))
def test_it_is_never_above_the_truth(text: str) -> None:
    assert Shortest(BYTE_PAIR)(text) <= tokens(BYTE_PAIR, text)


def test_it_says_nothing_of_tokenizers_that_drop_or_swallow_text() -> None:
    word_piece = Tokenizer(models.WordPiece({"[UNK]": 0, "a": 1}, unk_token="[UNK]"))
    dropping = Tokenizer(models.BPE({"a": 0}, []))
    dropping.pre_tokenizer = pre_tokenizers.Whitespace()
    stripping = Tokenizer(models.BPE({"a": 0}, []))
    stripping.normalizer = normalizers.Strip()
    for tokenizer in (word_piece, dropping, stripping):
        assert Shortest(tokenizer)("a" * 1000) == 0
    plain = Tokenizer(models.BPE({"a": 0}, []))
    assert Shortest(plain)("a" * 1000) == 1000


@pytest.mark.parametrize(
    ("text", "n"),
    [("", 0), ("one, two -- drei!", 3), ("漢字 字", 2), ("... ---", 0), ("a\tb\nc d e f", 4), ("a€b c", 2)],
)
def test_words_are_counted_no_further_than_needed(text: str, n: int) -> None:
    assert words(text, most=3) == n


class Watching(Encoder):
    """Fails where a long text is tokenised."""

    def _user(self, text: str) -> tuple[list[int], list[Span]]:
        assert len(text) < 1_000, "tokenised"
        return super()._user(text)


WORD_PIECE = Tokenizer(models.WordPiece({"[UNK]": 0, "a": 1, "##b": 2}, unk_token="[UNK]"))
WORD_PIECE.normalizer = normalizers.BertNormalizer()
WORD_PIECE.pre_tokenizer = pre_tokenizers.BertPreTokenizer()


@settings(max_examples=300, deadline=None, database=None)
@given(TEXTS.map(lambda text: text.encode("utf-8", "ignore").decode()))
def test_words_are_never_more_than_tokens_of_word_piece(text: str) -> None:
    assert words(text, most=10**9) <= tokens(WORD_PIECE, text)


def test_an_endless_state_is_refused_untokenised_with_true_counts() -> None:
    state = "Nobody reads this far. " * 2_000
    whole = Encoder(TOKENIZER, max_tokens=512).count(state, QUESTIONS)
    encoder = Watching(TOKENIZER, max_tokens=512)
    with pytest.raises(TooLong, match=r"too long by at least [\d,]+ tokens \(state at least [\d,]+, ") as refused:
        encoder.encode(state, QUESTIONS)
    counts = refused.value.tokens
    assert refused.value.at_least is True
    assert refused.value.errors[0].loc == ("state",)
    assert 512 < counts.needed <= whole.needed
    assert (counts.questions, counts.frame, counts.limit) == (whole.questions, whole.frame, 512)
    assert counts.read == 512 - counts.questions - counts.frame


def test_what_might_fit_is_counted_to_its_end() -> None:
    encoder = Encoder(TOKENIZER, max_tokens=512)
    state = "Nobody reads this far. " * 60
    with pytest.raises(TooLong) as refused:
        encoder.encode(state, QUESTIONS)
    assert refused.value.at_least is False
    assert refused.value.tokens == encoder.count(state, QUESTIONS)


def test_a_cut_still_knows_how_much_was_left_out() -> None:
    encoder = Encoder(TOKENIZER, max_tokens=512)
    state = "Nobody reads this far. " * 2_000
    encoded = encoder.encode(state, QUESTIONS, allow_cut=True)
    assert encoded.cut is not None
    assert encoded.cut.tokens + encoded.tokens.read == encoder.count(state, QUESTIONS).state


def test_megabytes_are_not_remembered() -> None:
    encoder = Encoder(TOKENIZER, max_tokens=64)
    encoder.state_part("short")
    encoder.state_part("long " * 1_000)
    assert encoder._state_part.cache_info().currsize == 1


def test_the_embedded_model_refuses_it_too() -> None:
    scorer = open_embedded(max_tokens=64)
    state = State("Nobody reads this far. " * 200)
    with pytest.raises(TooLong, match="at least") as refused:
        scorer.score([Request(state, QUESTIONS)])
    counts = refused.value.tokens
    assert counts.limit == 64 < counts.needed <= scorer.count(state, QUESTIONS).needed
    (reading,) = scorer.score([Request(state, QUESTIONS, allow_cut=True)])
    assert reading.cut is not None
