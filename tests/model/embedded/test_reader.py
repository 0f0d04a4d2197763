"""The reader's contract: same request, same numbers; nothing read twice; bounded cost; honest about what was read."""

from __future__ import annotations

import json

import pytest

from model.answers import answers_from_logits
from model.embedded.pairs import EXCERPT_TOKENS
from model.embedded.reader import NOTICE, SHORTLIST, Embedded
from model.questions import InvalidRequest, Json, Noul, Questions, parse_questions, render
from model.scorer import Reading, Request
from model.state import State, TooLong

TEXT = "Hello, I was charged twice this month. Please send one of the payments back to me today."
LONG = "\n".join(
    f"On day {i} the {w} was checked and nothing was found." for i in range(90) for w in ("lift", "boiler")
)
QUESTIONS = parse_questions(
    {
        "refund": {"type": "noul", "instructions": "Does the writer ask for money back?"},
        "team": {
            "type": "choice",
            "instructions": "Which team?",
            "criteria": {"billing": "money", "it": None, "hr": None},
        },
        "urgency": {"type": "score", "instructions": "How urgent?", "criteria": ["can wait", "soon", "now"]},
    }
)


def read(scorer: Embedded, state: Json, questions: Questions = QUESTIONS, **kwargs: bool) -> Reading:
    return scorer.score([Request(State(state), questions, **kwargs)])[0]


def edited(instructions: str) -> Questions:
    return {**QUESTIONS, "refund": Noul(instructions=instructions)}


def test_same_request_same_numbers(scorer: Embedded) -> None:
    first = read(scorer, TEXT)
    assert set(first.logits) == set(QUESTIONS)
    assert first.logits["refund"][1] == 0.0
    assert read(scorer, TEXT).logits == first.logits
    answers_from_logits(QUESTIONS, first.logits)


def test_names_and_order_of_questions_change_nothing(scorer: Embedded, other: Embedded) -> None:
    plain = read(scorer, TEXT)
    turned = {f"x{key}": QUESTIONS[key] for key in reversed(QUESTIONS)}
    assert {f"x{key}": value for key, value in plain.logits.items()} == read(other, TEXT, turned).logits


@pytest.fixture
def other(scorer: Embedded) -> Embedded:
    """The same scorer with memories of its own."""
    return Embedded(
        scorer._model, scorer._untuned, scorer._tokenizer, scorer._scales, weights_sha256="0" * 64, ocr=None
    )


def test_a_batch_says_what_single_requests_say(scorer: Embedded, other: Embedded) -> None:
    states = [TEXT, "", LONG]
    together = scorer.score([Request(State(state), QUESTIONS) for state in states])
    for state, reading in zip(states, together, strict=True):
        alone = read(other, state)
        for key in QUESTIONS:
            assert reading.logits[key] == pytest.approx(alone.logits[key], abs=1e-4)


@pytest.mark.parametrize("state", [TEXT, LONG])
def test_an_edit_reads_only_the_pair_that_changed(scorer: Embedded, state: str) -> None:
    before = read(scorer, state)
    assert scorer.pairs_read == 7
    tokens = scorer.tokens_read
    after = read(scorer, state, edited("Is money to be returned?"))
    assert scorer.pairs_read == 8
    assert scorer.tokens_read - tokens <= tokens / 2
    assert after.logits["team"] == before.logits["team"]
    assert after.logits["refund"] != before.logits["refund"]
    read(scorer, state)
    assert scorer.pairs_read == 8


def test_a_long_state_costs_no_more_pairs_and_bounded_tokens(scorer: Embedded) -> None:
    reading = read(scorer, LONG)
    assert reading.tokens.state > 1_500
    assert reading.tokens.read == reading.tokens.state
    assert scorer.pairs_read == 7
    # The state once (to choose passages), one excerpt per question, and the questions.
    assert scorer.tokens_read <= reading.tokens.state + 3 * (EXCERPT_TOKENS + 2) + 200


def test_what_was_looked_at_is_named_and_true(scorer: Embedded) -> None:
    hidden = "The alligator in the swimming pool bit the postman."
    lines = LONG.split("\n")
    state = "\n".join([*lines[:120], hidden, *lines[120:]])
    question = parse_questions({"q": {"type": "noul", "instructions": "Did an alligator bite the postman?"}})
    looked = read(scorer, state, question).looked["q"]
    assert looked[0][0] == 0
    assert all(0 <= a < b <= len(state) for a, b in looked)
    assert [a for a, _ in looked] == sorted(a for a, _ in looked)
    assert any(hidden in state[a:b] for a, b in looked)
    assert sum(b - a for a, b in looked) < len(state) / 2
    assert read(scorer, TEXT).looked == {}


def test_looked_ranges_of_json_lie_in_its_rendered_text(scorer: Embedded) -> None:
    state = {"rows": [{"note": f'line "{i}" é\n', "kind": "lift"} for i in range(200)], "about": "weekly checks"}
    looked = read(scorer, state).looked
    text = render(state)
    assert looked
    for ranges in looked.values():
        assert all(0 <= a < b <= len(text) for a, b in ranges)


def test_many_options_are_shortlisted(scorer: Embedded) -> None:
    animals = ["cat", "dog", "cow", "hen", "pig", "owl", "ant", "bee", "fox", "elk", "bat", "cod", "eel", "emu"]
    question = parse_questions(
        {"q": {"type": "choice", "instructions": "Which animal?", "criteria": dict.fromkeys(animals)}}
    )
    reading = read(scorer, "We bought hay and the cow gave forty litres of milk.", question)
    assert scorer.pairs_read == SHORTLIST
    assert len(reading.logits["q"]) == len(animals)
    assert answers_from_logits(question, reading.logits)["q"].top == "cow"


def test_an_empty_state_can_be_asked(scorer: Embedded) -> None:
    for state in ("", {}, []):
        reading = read(scorer, state)
        answers_from_logits(QUESTIONS, reading.logits)
    assert read(scorer, "").tokens.state == 0


def test_json_is_read_as_words(scorer: Embedded) -> None:
    asked = parse_questions({"q": {"type": "noul", "instructions": "Is it about a refund?"}})
    state = {"subject": "refund", "customer_name": "Ann"}
    assert read(scorer, state, asked).logits == read(scorer, "customer name: Ann\nsubject: refund", asked).logits


def test_too_long_is_refused_or_cut_and_said(scorer: Embedded) -> None:
    scorer = Embedded(
        scorer._model, scorer._untuned, scorer._tokenizer, scorer._scales, weights_sha256="0", ocr=None, max_tokens=400
    )
    with pytest.raises(TooLong) as refused:
        read(scorer, LONG)
    assert refused.value.tokens.state > 400
    assert refused.value.errors[0].loc == ("state",)
    reading = read(scorer, LONG, allow_cut=True)
    assert reading.cut is not None
    assert reading.tokens.read + reading.cut.tokens == reading.tokens.state
    assert reading.tokens.total <= 400
    assert all(b <= reading.cut.start for ranges in reading.looked.values() for _, b in ranges)
    many = parse_questions(
        {f"q{i}": {"type": "noul", "instructions": f"Is {i} {'very ' * 20} large?"} for i in range(30)}
    )
    with pytest.raises(TooLong) as refused:
        read(scorer, TEXT, many, allow_cut=True)
    assert refused.value.errors[0].loc == ("questions",)


def test_an_instruction_that_no_pair_can_hold_is_refused(scorer: Embedded) -> None:
    question = parse_questions({"long": {"type": "noul", "instructions": "really " * 300}})
    with pytest.raises(InvalidRequest) as refused:
        read(scorer, TEXT, question)
    assert refused.value.errors[0].loc == ("questions", "long", "instructions")


def test_tokens_are_counted_alike_before_and_after(scorer: Embedded) -> None:
    for state in (TEXT, LONG, json.loads('{"a": [1, "two"]}')):
        assert scorer.count(State(state), QUESTIONS) == read(scorer, state).tokens


def test_it_says_what_it_is(scorer: Embedded) -> None:
    info = scorer.info
    assert info.kind == "embedded"
    assert info.question_ids == "neutral"
    assert not info.sees_pictures
    assert info.notice.startswith(NOTICE)
    assert len(info.fingerprint) == 64
    json.dumps(info.json())
