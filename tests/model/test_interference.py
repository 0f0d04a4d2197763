"""Does each question stand alone, against a scorer whose couplings are known by arithmetic."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.asking import directly, through
from model.clef import Clef
from model.engine import Engine
from model.interference import Interference, Move, Standing, interference, words
from model.noise import HARMLESS, LEAST, Noise
from model.questions import CLEF_LIMITS, Limits, Questions, parse_questions, render
from model.scorer import Reading, Request, ScorerInfo
from model.state import Cut, State, Tokens

Coupling = Mapping[tuple[str, str], float]
"""(who moves, who is moved) by instructions: what the presence of the first adds to the second's first option."""


class Coupled:
    """The first option has the logit `own` + Σ couplings + `place` · index + `name`(id) + `quirk`(text); others 0."""

    limits: Limits = CLEF_LIMITS

    def __init__(
        self,
        coupling: Coupling,
        *,
        own: Mapping[str, float] | None = None,
        place: float = 0.0,
        name: Callable[[str], float] = lambda key: 0.0,
        quirk: Callable[[str], float] = lambda text: 0.0,
        ids: Literal["literal", "neutral"] = "neutral",
        max_tokens: int = 100_000,
    ) -> None:
        self.info = ScorerInfo("coupled", "clef", "c" * 64, ids, max_tokens, sees_pictures=False)
        self.seen: list[Request] = []
        self._coupling, self._own, self._place, self._name, self._quirk = coupling, own or {}, place, name, quirk

    def count(self, state: State, questions: Questions) -> Tokens:
        size, asked = len(render(state.value)), sum(map(len, questions))
        return Tokens(size, 0, asked, 0, self.info.max_tokens, min(size, self.info.max_tokens - asked))

    def score(self, requests: Sequence[Request]) -> list[Reading]:
        self.seen += requests
        return [self._read(request) for request in requests]

    def _read(self, request: Request) -> Reading:
        tokens = self.count(request.state, request.questions)
        cut = Cut(tokens.state - tokens.read, tokens.read) if tokens.read < tokens.state else None
        said = [str(question.instructions) for question in request.questions.values()]
        text = render(request.state.value)[: tokens.read]
        logits = {}
        for i, (key, question) in enumerate(request.questions.items()):
            beside = math.fsum(self._coupling.get((other, said[i]), 0.0) for other in said)
            first = self._own.get(said[i], 0.5) + beside + self._place * i + self._name(key) + self._quirk(text)
            logits[key] = [first] + [0.0] * (len(question.options()) - 1)
        return Reading(logits, tokens, cut)


def nouls(*said: str) -> Questions:
    """Ids are the instructions with "id_" in front."""
    return parse_questions({f"id_{name}": {"type": "noul", "instructions": name} for name in said})


def yes(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


def look(
    scorer: Coupled, questions: Questions, state: Any = "x", *, allow_cut: bool = False, **how: Any
) -> Interference:
    return interference(directly(scorer), Request(State(state), questions, allow_cut), **how)


def by_id(found: Interference) -> dict[str, Standing]:
    return {standing.question: standing for standing in found.standings}


def move(standing: Standing, how: str, other: str | None = None) -> Move:
    (found,) = [m for m in standing.moves if (m.how, m.other) == (how, other)]
    return found


def test_who_moves_whom_and_by_how_much() -> None:
    scorer = Coupled({("b", "a"): -2.0, ("c", "a"): 0.5})
    found = look(scorer, nouls("a", "b", "c", "d"))
    standing = by_id(found)
    a = standing["id_a"]
    base = yes(0.5 - 2.0 + 0.5)
    assert (a.top, a.probability) == ("false", pytest.approx(1 - base))
    alone = move(a, "alone")
    assert alone.points == pytest.approx(100 * (yes(0.5) - base))
    assert (alone.top, alone.probability, alone.kept) == ("true", pytest.approx(yes(0.5)), pytest.approx(1 - yes(0.5)))
    assert alone.flips
    assert move(a, "without", "id_b").points == pytest.approx(100 * (yes(1.0) - base))
    assert move(a, "without", "id_c").points == pytest.approx(100 * (base - yes(-1.5)))
    assert move(a, "without", "id_d").points == 0
    assert [m.other for m in a.movers] == ["id_b", "id_c"]
    assert [m.how for m in a.findings] == ["without", "alone", "without"]
    assert not a.stands_alone
    assert all(standing[key].stands_alone for key in ("id_b", "id_c", "id_d"))
    assert found.left_out == ()
    assert found.asked == len(scorer.seen) == 1 + 3 + len(HARMLESS) + 4 + 2 + 4


def test_order_and_names() -> None:
    scorer = Coupled({}, place=0.3, name=lambda key: -1.0 if key == "id_b" else 0.0, ids="literal")
    found = by_id(look(scorer, nouls("a", "b", "c")))
    assert move(found["id_a"], "reversed").points == pytest.approx(100 * (yes(1.1) - yes(0.5)))
    assert move(found["id_a"], "rotated").points == pytest.approx(100 * (yes(1.1) - yes(0.5)))  # b c a
    assert move(found["id_b"], "reversed").points == 0
    assert move(found["id_b"], "renamed").flips
    assert move(found["id_b"], "renamed").points == pytest.approx(100 * (yes(0.8) - yes(-0.2)))
    assert move(found["id_a"], "renamed").points == 0


def test_names_are_not_tried_where_the_scorer_does_not_read_them() -> None:
    found = look(Coupled({}), nouls("a", "b"))
    assert {m.how for standing in found.standings for m in standing.moves} == {"alone", "reversed"}


def test_an_id_that_stands_for_missing_instructions_keeps_its_name() -> None:
    questions = parse_questions(
        {"q1": {"type": "noul"}, "mood": {"type": "noul", "instructions": "Is it angry?"}, "q2": {"type": "noul"}}
    )
    scorer = Coupled({}, ids="literal")
    found = look(scorer, questions)
    asked = [list(request.questions) for request in scorer.seen]
    assert ["q1", "q3", "q2"] in asked
    assert found.left_out == ("2 ids were not renamed: without instructions the id is the question",)
    assert len(by_id(look(Coupled({}, ids="literal"), parse_questions({"q1": {"type": "noul"}})))["q1"].moves) == 0


def test_of_two_questions_each_ones_being_alone_tells_who_moves_it() -> None:
    scorer = Coupled({("b", "a"): 1.0})
    found = look(scorer, nouls("a", "b"))
    a = by_id(found)["id_a"]
    assert [(m.how, m.other) for m in a.moves] == [("alone", "id_b"), ("reversed", None)]
    assert [m.other for m in a.movers] == ["id_b"]
    assert found.asked == 1 + 3 + len(HARMLESS) + 2 + 1


def test_a_single_question_has_nothing_beside_it() -> None:
    (standing,) = look(Coupled({}), nouls("a")).standings
    assert standing.stands_alone
    assert words(standing) == ["there is nothing beside it that could move it"]


def test_sixty_four_questions_stay_within_the_limit_and_what_moved_is_tried_first() -> None:
    scorer = Coupled({("n60", "n62"): 3.0, ("n62", "n60"): 3.0})
    found = look(scorer, nouls(*(f"n{i}" for i in range(64))), limit=80)
    assert found.asked == len(scorer.seen) == 80
    tried = {m.other for standing in found.standings for m in standing.moves if m.how == "without"}
    assert len(tried) == 80 - 1 - 3 - len(HARMLESS) - 64 - 2
    assert [m.other for m in by_id(found)["id_n60"].movers] == ["id_n62"]
    assert found.left_out == ("58 of 64 questions were not left out in turn; a higher limit tries them too",)
    little = look(Coupled({}), nouls("a", "b", "c"), limit=1)
    assert {m.how for m in little.standings[0].moves} == {"alone", "reversed", "rotated"}
    assert little.left_out == ("3 of 3 questions were not left out in turn; a higher limit tries them too",)


@pytest.mark.parametrize(
    ("quirk", "tolerance", "matters"),
    [(0.0, 1.0, True), (0.0, 30.0, False), (-2.0, 1.0, False)],
    ids=["clear", "tolerated", "noise"],
)
def test_a_move_matters_above_tolerance_and_noise(quirk: float, tolerance: float, matters: bool) -> None:
    scorer = Coupled({("b", "a"): 1.0}, quirk=lambda text: quirk * text.endswith(" "))
    a = by_id(look(scorer, nouls("a", "b"), tolerance=tolerance))["id_a"]
    assert move(a, "alone", "id_b").points == pytest.approx(100 * (yes(1.5) - yes(0.5)))
    assert move(a, "alone", "id_b").matters is matters
    assert a.noise.floor >= 100 * (yes(1.5) - yes(1.5 + quirk))


def test_after_a_cut_fewer_questions_let_no_unread_text_in() -> None:
    # Each question takes the place of four characters of the state; unread text would move the answers.
    scorer = Coupled({}, quirk=lambda text: float(text.count("!")), max_tokens=20)
    found = look(scorer, nouls("a", "b", "c"), "x" * 8 + "!" * 12, allow_cut=True)
    assert all(standing.stands_alone for standing in found.standings)
    assert {render(request.state.value).strip() for request in scorer.seen[1:]} == {"x" * 8}


def test_choices_and_scores_are_measured_over_all_options() -> None:
    questions = parse_questions(
        {
            "team": {"type": "choice", "instructions": "t", "criteria": {"z": None, "m": None, "a": None}},
            "grade": {"type": "score", "instructions": "g", "criteria": ["low", "high"]},
        }
    )
    found = by_id(look(Coupled({("g", "t"): -4.0}, own={"t": 1.0, "g": -1.0}), questions))
    alone = move(found["team"], "alone", "grade")
    before, after = math.exp(-3) / (math.exp(-3) + 2), math.e / (math.e + 2)
    assert alone.points == pytest.approx(100 * (after - before))
    assert (found["team"].top, alone.top) == ("z", "a")
    assert words(found["team"])[0] == "alone it says “a” (58 %), beside the others “z” (49 %)"
    assert words(found["grade"])[0].startswith("stands alone: nothing that was tried moved it by more than 0.0 points")


def told(*moves: Move, kind: Any = "noul", top: str = "true", p: float = 0.63, floor: float = LEAST) -> list[str]:
    return words(Standing("q", kind, top, p, Noise(floor, ()), moves))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            Move("alone", None, 22, "false", 0.59, 0.41, True, True),
            "alone it says no (59 %), beside the others yes (63 %)",
        ),
        (
            Move("without", "team", 22, "true", 0.85, 0.85, False, True),
            "without “team” it says yes with 85 %, with it with 63 %",
        ),
        (
            Move("reversed", None, 30, "true", 0.61, 0.61, False, True),
            "with the questions in reverse order it says yes with 61 %, in this order with 63 %; "
            "another option moves by 30 points",
        ),
        (
            Move("rotated", None, 62.9, "false", 0.9999, 0.0001, True, True),
            "with the later half of the questions first it says no (>99 %), in this order yes (63 %)",
        ),
        (
            Move("renamed", None, 13, "true", 0.5, 0.5, False, True),
            "under neutral ids (q1, q2, …) it says yes with 50 %, under its own id with 63 %",
        ),
    ],
    ids=["flip", "without", "another option", "nearly sure", "renamed"],
)
def test_words(found: Move, said: str) -> None:
    assert told(found) == [said]


def test_words_name_levels_and_doubt() -> None:
    flip = Move("alone", None, 22, "2", 0.59, 0.41, True, True)
    assert told(flip, kind="score", top="1")[0] == "alone it says level 2 (59 %), beside the others level 1 (63 %)"
    still = Move("alone", None, 2.25, "true", 0.6, 0.6, False, False)
    assert told(still, floor=4.0) == [
        "stands alone: nothing that was tried moved it by more than 2.2 points",
        "changes without meaning move it by up to 4.0 points",
    ]
    tie = look(Coupled({}, own={"a": 0.01}, quirk=lambda text: -0.1 * text.startswith("\n")), nouls("a", "b"))
    assert words(by_id(tie)["id_a"])[-1] == (
        "its answer flips even when nothing that matters has changed: too close to call"
    )


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.floats(-2, 2)), max_size=6), st.randoms())
@settings(max_examples=40, deadline=None)
def test_any_coupling_is_found_as_it_is(links: list[tuple[int, int, float]], random: Any) -> None:
    names = ["n0", "n1", "n2", "n3", "n4"]
    coupling = {(names[i], names[j]): weight for i, j, weight in links if i != j}
    random.shuffle(names)
    found = by_id(look(Coupled(coupling), nouls(*names)))
    for one in names:
        whole = 0.5 + math.fsum(weight for (_, to), weight in coupling.items() if to == one)
        for other in names:
            if other != one:
                left = whole - coupling.get((other, one), 0.0)
                points = move(found[f"id_{one}"], "without", f"id_{other}").points
                assert points == pytest.approx(100 * abs(yes(left) - yes(whole)), abs=1e-9)


def test_it_is_plain_json() -> None:
    found = look(Coupled({("b", "a"): 1.0}), nouls("a", "b"))
    body = json.loads(json.dumps(found.json()))
    first = body["standings"][0]
    assert first["stands_alone"] is False
    assert first["moves"][0]["how"] == "alone"
    assert first["words"] == words(found.standings[0])
    assert first["noise"]["flips"] is False


def test_out_of_range() -> None:
    with pytest.raises(ValueError, match="tolerance"):
        look(Coupled({}), nouls("a"), tolerance=-1)
    with pytest.raises(ValueError, match="noise_runs"):
        look(Coupled({}), nouls("a"), noise_runs=0)


def test_through_an_engine_it_gives_the_same() -> None:
    engine = Engine(lambda _: Coupled({("b", "a"): 1.0}), capacity=4)
    assert engine.wait_ready(10).phase == "ready"
    questions = nouls("a", "b", "c")
    try:
        found = interference(through(engine, window=3, timeout=10), Request(State("x"), questions))
    finally:
        engine.close()
    assert found == look(Coupled({("b", "a"): 1.0}), questions)


def test_a_real_clef_answers_jointly(clef: Clef) -> None:
    questions = parse_questions(
        {
            "urgent": {"type": "noul", "instructions": "Is this support request urgent?"},
            "team": {"type": "choice", "instructions": "Which team?", "criteria": {"tech": "Outages", "billing": None}},
            "severity": {"type": "score", "instructions": "How severe?", "criteria": ["None", "Minor", "Major"]},
        }
    )
    request = Request(State("Checkout has been failing for every customer for the last hour."), questions)
    found = interference(directly(clef), request)
    for key, standing in by_id(found).items():
        (decision,) = directly(clef)([Request(request.state, {key: questions[key]})])
        answer = decision.answers[key]
        alone = move(standing, "alone")
        assert alone.top == answer.top
        assert alone.probability == pytest.approx(answer.probabilities[answer.lead], abs=1e-5)
        assert {m.how for m in standing.moves} == {"alone", "reversed", "rotated", "without"} | (
            {"renamed"} if clef.info.question_ids == "literal" else set()
        )
    assert max(m.points for standing in found.standings for m in standing.moves) > 0.01
