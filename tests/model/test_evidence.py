"""What moves it, against a scorer whose every influence is known by arithmetic."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace

import pytest
from PIL import Image

from model.asking import baseline, directly, through
from model.clef import Clef
from model.engine import Busy, Decision, Engine
from model.evidence import GREY, Evidence, greyed, occlude, tiles_of
from model.images import Picture
from model.noise import AGAIN, HARMLESS, LEAST, Shift, measure
from model.questions import CLEF_LIMITS, Limits, Questions, QuestionsError, parse_questions, render
from model.scorer import Reading, Request, ScorerInfo
from model.state import Cut, State, Tokens, TooLong

QUESTIONS = parse_questions(
    {
        "angry": {"type": "noul", "instructions": "Is the customer angry?"},
        "team": {"type": "choice", "criteria": {"sales": None, "billing": None, "tech": None}},
    }
)
WEIGHTS = {"furious": 2.0, "late": 0.5, "thanks": -1.0}
TEAMS = {"billing": ("invoice",), "sales": ("buy",), "tech": ("crash",)}


class Keywords:
    """Logit of `angry`: Σ of the weights of the words in the state, and 1/1000 per red pixel. A team gains 1 per word.

    A token is a character. `quirk` adds to the logit of `angry`, given the whole text and the number of requests so
    far: white space, or re-runs, that move the answer although they should not.
    """

    limits: Limits = CLEF_LIMITS

    def __init__(
        self,
        *,
        weigh: Callable[[str], float] | None = None,
        quirk: Callable[[str, int], float] = lambda text, n: 0.0,
        max_tokens: int = 1_000_000,
        sees_pictures: bool = True,
    ) -> None:
        self.info = ScorerInfo("keywords", "clef", "f" * 64, "neutral", max_tokens, sees_pictures)
        self.seen: list[Request] = []
        self._weigh = weigh or (lambda text: sum(w * text.count(word) for word, w in WEIGHTS.items()))
        self._quirk = quirk

    def count(self, state: State, questions: Questions) -> Tokens:
        size, limit = len(render(state.value)), self.info.max_tokens
        return Tokens(size, 0, 0, 0, limit, min(size, limit))

    def score(self, requests: Sequence[Request]) -> list[Reading]:
        return [self._read(request) for request in requests]

    def _read(self, request: Request) -> Reading:
        tokens = self.count(request.state, request.questions)
        text, cut = render(request.state.value), None
        if tokens.needed > tokens.limit:
            if not request.allow_cut:
                raise TooLong(tokens)
            cut = Cut(tokens.state - tokens.limit, tokens.limit)
            text = text[: tokens.limit]
        red = sum(_red(picture) for picture in request.state.pictures)
        yes = self._weigh(text) + red / 1000 + self._quirk(text, len(self.seen))
        self.seen.append(request)
        teams = [float(sum(map(text.count, TEAMS[name]))) for name in sorted(TEAMS)]
        return Reading({"angry": [yes, 0.0], "team": teams}, tokens, cut)


def _red(picture: Picture) -> int:
    return sum(count for count, colour in picture.image.getcolors(1 << 16) if colour == (255, 0, 0))


def yes(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


def look(
    scorer: Keywords, state: object, question: str = "angry", *, allow_cut: bool = False, **how: object
) -> Evidence:
    state = state if isinstance(state, State) else State(state)
    return occlude(directly(scorer), Request(state, QUESTIONS, allow_cut), question, **how)  # type: ignore[arg-type]


def texts(evidence: Evidence) -> list[str]:
    return [effect.part.text for effect in evidence.parts]


def test_each_sentence_moves_the_answer_by_exactly_its_weight() -> None:
    scorer = Keywords()
    found = look(scorer, "I am furious. My parcel is late. It is blue. Some thanks.\n")
    assert texts(found) == ["I am furious.", "My parcel is late.", "It is blue.", "Some thanks."]
    assert (found.option, found.lead, found.noise.floor) == ("true", "true", LEAST)
    assert found.probability == found.lead_probability == pytest.approx(yes(1.5))
    for effect, left in zip(found.parts, [-0.5, 1.0, 1.5, 2.5], strict=True):
        assert effect.probability == pytest.approx(yes(left))
        assert effect.change == effect.lead_change == pytest.approx(100 * (yes(left) - yes(1.5)))
    assert [effect.above_noise for effect in found.parts] == [True, True, False, True]
    assert [effect.flips for effect in found.parts] == [True, False, False, False]
    assert [effect.top for effect in found.parts] == ["false", "true", "true", "true"]
    assert found.flip is not None
    assert found.flip.parts == (0,)
    assert (found.flip.top, found.flip.probability) == ("false", pytest.approx(yes(0.5)))
    assert found.asked == len(scorer.seen) == 1 + 3 + len(HARMLESS) + 4
    assert {tuple(request.questions) for request in scorer.seen} == {("angry", "team")}  # asked jointly


def test_an_option_that_does_not_lead_is_followed_with_the_lead_beside_it() -> None:
    found = look(Keywords(), "One invoice. A crash! A crash! A crash!", "team", option="billing", flip=0)
    total = math.e + 1 + math.e**3
    assert (found.lead, found.option) == ("tech", "billing")
    assert found.probability == pytest.approx(math.e / total)
    first = found.parts[0]
    assert first.probability == pytest.approx(1 / (2 + math.e**3))
    assert first.change == pytest.approx(100 * (1 / (2 + math.e**3) - math.e / total))
    assert first.lead_change == pytest.approx(100 * (math.e**3 / (2 + math.e**3) - math.e**3 / total))
    assert first.change < 0 < first.lead_change
    assert found.flip is None


def test_json_values_are_left_out_by_path() -> None:
    scorer = Keywords()
    value = {"order": {"id": 7, "note": "Very late. I am furious!"}, "tags": ["thanks"]}
    found = look(scorer, value)
    assert [(effect.part.path, effect.part.text) for effect in found.parts] == [
        (("order", "id"), "7"),
        (("order", "note"), "Very late."),
        (("order", "note"), "I am furious!"),
        (("tags", 0), '"thanks"'),
    ]
    text = render(value)
    assert [text[e.part.start : e.part.end].strip() for e in found.parts] == texts(found)
    assert [effect.probability for effect in found.parts] == pytest.approx([yes(1.5), yes(1.0), yes(-0.5), yes(2.5)])
    assert scorer.seen[-4:][3].state.value == {"order": value["order"]}
    assert scorer.seen[-4:][1].state.value["order"]["note"] == "I am furious!"


def picture(red: tuple[int, int, int, int] | None = None, size: tuple[int, int] = (90, 60)) -> Picture:
    image = Image.new("RGB", size, "white")
    if red:
        image.paste((255, 0, 0), red)
    return Picture(image, "a" * 64, *size, size, "PNG", 1)


def test_pictures_whole_and_in_tiles() -> None:
    scorer = Keywords()
    shown = (picture(), picture(red=(60, 0, 90, 20)))  # all 600 red pixels are in the tile at the top right
    found = look(scorer, State("It is late.", shown), flip=0)
    kinds = [(effect.part.kind, effect.part.picture) for effect in found.parts]
    assert kinds == [("text", None), ("picture", 0), *[("tile", 0)] * 9, ("picture", 1), *[("tile", 1)] * 9]
    moved = [effect.part for effect in found.parts if effect.above_noise]
    assert [(part.kind, part.picture, part.box) for part in moved] == [
        ("text", None, None),
        ("picture", 1, None),
        ("tile", 1, (60, 0, 90, 20)),
    ]
    assert found.parts[11].change == found.parts[14].change == pytest.approx(100 * (yes(0.5) - yes(1.1)))
    assert [len(request.state.pictures) for request in scorer.seen].count(1) == 2
    hashes = {request.state.pictures[1].sha256 for request in scorer.seen if len(request.state.pictures) == 2}
    assert len(hashes) == 10  # as it is, and nine with another grey tile: a cache by hash must see them apart
    assert found.left_out == ()


def test_pictures_are_left_alone_when_the_scorer_does_not_see_them() -> None:
    found = look(Keywords(sees_pictures=False), State("It is late.", (picture(),)))
    assert [effect.part.kind for effect in found.parts] == ["text"]


@pytest.mark.parametrize(
    ("limit", "tiles"), [(64, 4), (20, 4), (16, 0), (6, 0)], ids=["2x2", "just 2x2", "whole only", "least"]
)
def test_pictures_take_at_most_half_of_the_budget(limit: int, tiles: int) -> None:
    count = 2 if limit < 64 else 4
    found = look(Keywords(), State("It is late.", (picture(),) * count), limit=limit, flip=0)
    kinds = [effect.part.kind for effect in found.parts]
    assert kinds.count("picture") == count
    assert kinds.count("tile") == count * tiles
    assert ("the pictures were left out whole, not in tiles" in found.left_out) == (tiles == 0)


def test_a_grey_tile_is_another_picture_and_the_first_stays_as_it_was() -> None:
    shown = picture(red=(0, 0, 90, 60))
    other = greyed(shown, [(0, 0, 30, 20)])
    assert other.image.getpixel((29, 19)) == GREY
    assert other.image.getpixel((30, 20)) == shown.image.getpixel((0, 0)) == (255, 0, 0)
    assert other.sha256 != shown.sha256
    assert greyed(shown, []) is shown


@pytest.mark.parametrize("size", [(90, 60), (7, 5), (2, 1), (1, 1)])
def test_tiles_cover_a_picture_exactly(size: tuple[int, int]) -> None:
    covered = [
        (x, y) for left, top, right, low in tiles_of(*size, 3) for x in range(left, right) for y in range(top, low)
    ]
    assert sorted(covered) == [(x, y) for x in range(size[0]) for y in range(size[1])]


def test_in_a_long_text_the_one_sentence_is_found_within_the_budget() -> None:
    sentences = [f"Sentence number {i} is of no interest." for i in range(3000)]
    sentences[1711] = "Now I am furious."
    text = " ".join(sentences)
    scorer = Keywords()
    found = look(scorer, text, limit=64)
    (effect,) = [effect for effect in found.parts if effect.above_noise]
    assert "furious" in text[effect.part.start : effect.part.end]
    assert effect.part.atoms <= 4
    assert effect.flips is False  # without it the model is undecided, and the first option still leads
    assert found.passages
    assert all(passage.change == pytest.approx(effect.change) for passage in found.passages)
    probes = found.asked - 1 - 3 - len(HARMLESS)
    assert probes <= 64 + 19
    # What is reported covers the text exactly, in order.
    assert found.parts[0].part.start == 0
    assert found.parts[-1].part.end == len(text)
    assert all(a.part.end == b.part.start for a, b in zip(found.parts, found.parts[1:], strict=False))
    assert "passages were left out as a whole" in found.left_out[0]


def test_what_moves_less_than_white_space_does_is_not_evidence() -> None:
    scorer = Keywords(quirk=lambda text, n: 0.6 if text.endswith("\n") else 0.0)
    found = look(scorer, "I am furious. My parcel is late. Bye.")
    floor = 100 * (yes(3.1) - yes(2.5))
    assert found.noise.floor >= floor
    assert [effect.above_noise for effect in found.parts] == [True, False, False]
    assert {shift.what for shift in found.noise.shifts if shift.points > 1} == {HARMLESS[0][0], HARMLESS[3][0]}


def test_when_the_answer_flips_by_itself_no_set_is_blamed_for_it() -> None:
    scorer = Keywords(quirk=lambda text, n: 0.1 if n % 2 else -0.1)
    found = look(scorer, "It is blue. It is green.")
    assert found.noise.flips
    assert found.flip is None
    assert "flips although nothing has changed" in found.left_out[-1]
    assert not any(effect.above_noise for effect in found.parts)


def test_sentences_that_say_the_same_hide_each_other_until_both_are_gone() -> None:
    scorer = Keywords(weigh=lambda text: 1.0 if "refund" in text else -1.0)
    found = look(scorer, "I want a refund. It rained. Give me a refund.")
    assert not any(effect.above_noise for effect in found.parts)
    assert found.flip is not None
    assert found.flip.parts == (0, 2)
    assert found.flip.probability == pytest.approx(yes(1.0))


@pytest.mark.parametrize(
    ("sentences", "most", "parts"),
    [
        (["late."] * 3, 3, (0, 1, 2)),
        (["late."] * 3, 2, None),
        (["late."] * 4, 3, None),
        (["Calm.", "late.", "Calm.", "late.", "late."], 3, (1, 3, 4)),
        (["late."], 1, (0,)),
    ],
)
def test_the_smallest_set_that_flips(sentences: list[str], most: int, parts: tuple[int, ...] | None) -> None:
    scorer = Keywords(weigh=lambda text: text.count("late") - 0.25)
    found = look(scorer, "\n".join(sentences), flip=most)
    assert (found.flip.parts if found.flip else None) == parts


def test_after_a_cut_leaving_a_part_out_lets_no_unread_text_in() -> None:
    text = "It is blue. It is late. I am furious. I am furious."
    scorer = Keywords(max_tokens=text.index("I am"))
    found = look(scorer, text, allow_cut=True)
    assert found.read == text.index("I am")
    assert [effect.part.text for effect in found.parts] == ["It is blue.", "It is late."]
    assert [effect.probability for effect in found.parts] == pytest.approx([yes(0.5), yes(0)])
    assert not any("furious" in render(request.state.value) for request in scorer.seen[1:])


def test_a_request_without_room_is_not_made_longer() -> None:
    text = "I am furious. It is late."
    found = look(Keywords(max_tokens=len(text)), text)
    assert [shift.what for shift in found.noise.shifts] == [AGAIN] * 3
    assert len(found.parts) == 2


def test_an_empty_state_has_no_parts() -> None:
    found = look(Keywords(), "")
    assert found.parts == ()
    assert found.flip is None


def test_what_is_not_asked_cannot_be_looked_at() -> None:
    with pytest.raises(QuestionsError, match=r"question: 'mood' is not asked"):
        look(Keywords(), "x", "mood")
    with pytest.raises(QuestionsError, match=r"option: 'maybe' is no option of 'angry'"):
        look(Keywords(), "x", option="maybe")
    with pytest.raises(ValueError, match="limit: must be at least 4"):
        look(Keywords(), State("x", (picture(),)), limit=3)
    with pytest.raises(ValueError, match="noise_runs"):
        look(Keywords(), "x", noise_runs=0)
    with pytest.raises(ValueError, match="flip"):
        look(Keywords(), "x", flip=4)


def test_it_is_plain_json() -> None:
    found = look(Keywords(), State({"a": "I am furious.", "b": "thanks"}, (picture(),)))
    body = json.loads(json.dumps(found.json()))
    assert body["parts"][0]["part"]["path"] == ["a"]
    assert body["noise"]["flips"] is False
    assert body["flip"]["parts"] == [0]
    assert body["parts"][3]["part"]["box"] == [0, 0, 30, 20]


def test_the_floor_is_above_what_was_seen_and_above_three_robust_deviations() -> None:
    assert measure([]).floor == LEAST
    one_wild = [Shift("space", points, False) for points in (1.0, 1.0, 1.0, 9.0)]
    assert measure(one_wild).floor == 9.0
    even = [Shift("space", points, False) for points in (1.0, 1.0, 1.1)]
    assert measure(even).floor == pytest.approx(3 * 1.4826)
    # Re-runs that repeat exactly do not hide the harmless changes.
    assert measure([Shift(AGAIN, 0.0, False)] * 9 + even).floor == pytest.approx(3 * 1.4826)


def test_through_an_engine_it_gives_the_same_and_leaves_the_queue_to_others() -> None:
    scorer = Keywords()
    engine = Engine(lambda _: scorer, capacity=4)
    assert engine.wait_ready(10).phase == "ready"
    request = Request(State("I am furious. My parcel is late. It is blue."), QUESTIONS)
    try:
        found = occlude(through(engine, window=3, timeout=10), request, "angry")
    finally:
        engine.close()
    assert replace(found, asked=0) == replace(occlude(directly(Keywords()), request, "angry"), asked=0)


def test_a_failure_in_the_engine_reaches_the_caller_and_leaves_nothing_waiting() -> None:
    engine = Engine(lambda _: Keywords(max_tokens=5))
    assert engine.wait_ready(10).phase == "ready"
    requests = [Request(State(text), QUESTIONS) for text in ("too long", "a", "b", "c")]
    try:
        with pytest.raises(TooLong):
            through(engine, timeout=10)(requests)
        assert engine.decide(requests[1], timeout=10).answers["angry"].options == ("true", "false")
    finally:
        engine.close()
    with pytest.raises(ValueError, match="window"):
        through(engine, window=0)


def test_after_a_failure_what_still_waits_is_cancelled() -> None:
    class Handed(Engine):
        """Gives out futures that nobody answers; the first has failed."""

        def submit(self, request: Request, *, key: str | None = None) -> Future[Decision]:
            futures.append(Future())
            if len(futures) == 1:
                futures[0].set_exception(RuntimeError("broken"))
            return futures[-1]

    futures: list[Future[Decision]] = []
    engine = Handed(lambda _: Keywords())
    try:
        with pytest.raises(RuntimeError, match="broken"):
            through(engine, window=3, timeout=10)([Request(State("x"), QUESTIONS)] * 5)
    finally:
        engine.close()
    assert [future.cancelled() for future in futures] == [False, True, True]


def test_a_queue_full_of_others_is_busy_and_of_ours_is_waited_for() -> None:
    class Full(Engine):
        """An engine of which others took all but one place."""

        def __init__(self, free: int) -> None:
            self.free = free
            super().__init__(lambda _: Keywords())

        def submit(self, request: Request, *, key: str | None = None):  # type: ignore[no-untyped-def]
            if not self.free:
                self.free = 1  # ours left the queue by now
                raise Busy("full")
            self.free -= 1
            return super().submit(request, key=key)

    requests = [Request(State("x"), QUESTIONS)] * 3
    for free, works in ((1, True), (0, False)):
        engine = Full(free)
        engine.wait_ready(10)
        try:
            if works:
                assert len(through(engine, timeout=10)(requests)) == 3
            else:
                with pytest.raises(Busy):
                    through(engine, timeout=10)(requests)
        finally:
            engine.close()


def test_the_baseline_is_asked_once_unless_it_was_cut() -> None:
    scorer = Keywords(max_tokens=3)
    request = Request(State("abcdef"), QUESTIONS, allow_cut=True)
    read, decision, asked = baseline(directly(scorer), request)
    assert (read.state.value, decision.cut, asked) == ("abc", None, 2)
    assert baseline(directly(scorer), read)[2] == 1


@pytest.mark.parametrize("value", ["Checkout fails. It is urgent!\n\nThanks.", {"a": "One. Two.", "b": [1, None]}])
def test_on_a_real_clef_a_part_moves_as_far_as_asking_without_it(clef: Clef, value: object) -> None:
    request = Request(State(value), QUESTIONS)
    found = occlude(directly(clef), request, "team")
    assert len(found.parts) == (3 if isinstance(value, str) else 4)
    if isinstance(value, str):
        left: object = "It is urgent!\n\nThanks."
    else:
        left = {"a": "Two.", "b": [1, None]}
    (decision,) = directly(clef)([Request(State(left), QUESTIONS)])
    answer = _answer(decision)
    assert found.parts[0].probability == pytest.approx(answer[found.option], abs=1e-5)
    reruns = [shift.points for shift in found.noise.shifts if shift.what == AGAIN]
    assert max(reruns) < LEAST  # float noise of another batch is far below a point


def test_on_a_real_clef_tiles_of_a_picture_are_read(clef: Clef) -> None:
    request = Request(State("See the picture.", (picture(red=(0, 0, 90, 60)),)), QUESTIONS)
    found = occlude(directly(clef), request, "angry", flip=0)
    assert clef.info.sees_pictures
    assert [effect.part.kind for effect in found.parts] == ["text", "picture", *["tile"] * 9]
    assert any(effect.change for effect in found.parts if effect.part.kind == "tile")


def _answer(decision: Decision) -> dict[str, float]:
    answer = decision.answers["team"]
    return dict(zip(answer.options, answer.probabilities, strict=True))
