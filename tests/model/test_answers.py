"""From logits to answers: order, ties, ranges, and each confidence formula against numbers worked by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.answers import CONFIDENCE, Answer, NotFinite, answers_from_logits, softmax
from model.questions import parse_questions


def choice(*p: float) -> Answer:
    return Answer("choice", tuple(map(str, range(len(p)))), p)


def score(*p: float) -> Answer:
    return Answer("score", tuple(map(str, range(len(p)))), p, tuple(f"level {i}" for i in range(len(p))))


@pytest.mark.parametrize(
    ("answer", "strategy", "wanted"),
    [
        # choice: (max - 1/n) / (1 - 1/n); a recorded hosted answer of nine options, top 0.20
        (choice(0.2, *[0.1] * 8), "typesafe", (0.2 - 1 / 9) / (8 / 9)),
        (choice(0.5, 0.5), "typesafe", 0.0),
        (choice(1.0, 0.0, 0.0), "typesafe", 1.0),
        (choice(1.0), "typesafe", 1.0),
        # score: 1 - Σ p|i - top| / mean|i - (n-1)/2|; four levels spread evenly about the middle are 1 apart on average
        (score(0.0, 0.0, 1.0, 0.0), "typesafe", 1.0),
        (score(0.1, 0.2, 0.6, 0.1), "typesafe", 1 - (0.1 * 2 + 0.2 + 0.1) / 1.0),
        (score(0.4, 0.0, 0.0, 0.6), "typesafe", 0.0),  # 1 - 1.2, floored
        (score(0.3, 0.7), "typesafe", 1 - 0.3 / 0.5),
        (score(1.0), "typesafe", 1.0),
        # the example of the wire format: levels 0.1021, 0.3344, 0.5635
        (score(0.1021, 0.3344, 0.5635), "typesafe", 1 - (2 * 0.1021 + 0.3344) / (2 / 3)),
        # (Σp² - 1/n) / (1 - 1/n)
        (choice(0.7, 0.2, 0.1), "workers-ai", (0.49 + 0.04 + 0.01 - 1 / 3) / (2 / 3)),
        (score(0.7, 0.2, 0.1), "workers-ai", (0.54 - 1 / 3) / (2 / 3)),
        (choice(1.0), "workers-ai", 1.0),
        (choice(0.7, 0.2, 0.1), "top", 0.7),
        (score(0.1, 0.9), "top", 0.9),
    ],
)
def test_confidence(answer: Answer, strategy: str, wanted: float) -> None:
    assert answer.confidence(strategy) == pytest.approx(wanted, abs=1e-12)


def test_an_unknown_confidence_names_those_there_are() -> None:
    with pytest.raises(ValueError, match="use one of typesafe, workers-ai, top"):
        choice(1.0).confidence("margin")


def test_answers_are_in_request_order_though_logits_are_in_model_order() -> None:
    questions = parse_questions({"c": {"type": "choice", "criteria": {"z": None, "a": None, "m": None}}})
    answer = answers_from_logits(questions, {"c": [0.0, 1.0, 2.0]})["c"]  # a, m, z
    assert answer.options == ("z", "a", "m")
    total = 1 + math.e + math.e**2
    assert answer.probabilities == pytest.approx((math.e**2 / total, 1 / total, math.e / total))
    assert (answer.top, answer.lead, answer.expected_level) == ("z", 0, None)


def test_a_tie_goes_to_the_first_asked() -> None:
    questions = parse_questions({"c": {"type": "choice", "criteria": {"z": None, "a": None}}})
    assert answers_from_logits(questions, {"c": [3.0, 3.0]})["c"].top == "z"


def test_noul_and_score() -> None:
    levels: list[Any] = ["low", {"k": 1}, "high"]
    questions = parse_questions({"n": {"type": "noul"}, "s": {"type": "score", "criteria": levels}})
    answers = answers_from_logits(questions, {"s": [0.0, 0.0, math.log(2)], "n": [math.log(3), 0.0]})
    assert list(answers) == ["n", "s"]
    assert answers["n"].options == ("true", "false")
    assert answers["n"].probabilities == pytest.approx((0.75, 0.25))
    assert answers["s"].legend == tuple(levels)
    assert answers["s"].expected_level == pytest.approx(0.25 + 2 * 0.5)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_logit_that_is_no_number_is_an_error_not_an_answer(bad: float) -> None:
    questions = parse_questions({"n": {"type": "noul"}})
    with pytest.raises(NotFinite):
        answers_from_logits(questions, {"n": [0.0, bad]})


def test_logits_that_do_not_fit_name_the_question() -> None:
    with pytest.raises(ValueError, match="n: 3 logits for 2 options"):
        answers_from_logits(parse_questions({"n": {"type": "noul"}}), {"n": [0.0, 1.0, 2.0]})


logits = st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=12)


@given(logits, st.floats(-1e3, 1e3))
def test_softmax_is_a_distribution_that_ignores_a_shift(z: list[float], shift: float) -> None:
    p = softmax(z)
    assert math.fsum(p) == pytest.approx(1, abs=1e-12)
    assert all(0 <= x <= 1 for x in p)
    assert p == pytest.approx(softmax([x + shift for x in z]), abs=1e-9)
    assert p[max(range(len(z)), key=z.__getitem__)] == max(p)


@given(logits.filter(lambda z: len(z) <= 10), st.sampled_from(sorted(CONFIDENCE)), st.sampled_from(["choice", "score"]))
def test_confidence_and_expected_level_stay_in_their_ranges(z: list[float], strategy: str, kind: str) -> None:
    answer = (choice if kind == "choice" else score)(*softmax(z))
    assert 0 <= answer.confidence(strategy) <= 1
    if answer.expected_level is not None:
        assert -1e-9 <= answer.expected_level <= len(z) - 1 + 1e-9
        assert answer.expected_level == sum(i * p for i, p in enumerate(answer.probabilities))
