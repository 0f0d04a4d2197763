"""What was read of states is kept, changes no answer, leaks into no other, and stays within its memory."""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from model.backbone import Backbone, Batch
from model.clef import Clef, open_clef
from model.encoding import Encoder
from model.images import Picture
from model.past import Past, covers
from model.prefix import AT_ONCE, STEP, Prefix, Text
from model.questions import Questions, parse_questions
from model.scorer import Reading, Request
from model.state import State
from tests.model.golden import RELEASE, WHOLE, distance, name, request

SAME = 2e-5
"""Of a logit, by two ways of one computation in float32: each is up to 1e-5 from the same in float64."""
PARITY = 1e-4

WORDS = tuple(
    re.split(" ", "the printer on floor two burns since noon and nobody answers my calls , please send help !")
)
ASKED = parse_questions(
    {
        "urgent": {"type": "noul", "instructions": "Is it urgent?"},
        "team": {"type": "choice", "instructions": "Who?", "criteria": {"it": "IT", "fire": "Fire", "hr": None}},
    }
)
OTHER = parse_questions({"mood": {"type": "score", "instructions": "How angry?", "criteria": ["calm", "cross", "mad"]}})


def text(words: int, seed: int = 0) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=words))


def picture(seed: int, width: int = 96, height: int = 64) -> Picture:
    pixels = np.random.default_rng(seed).integers(0, 255, (height, width, 3), dtype=np.uint8)
    return Picture(Image.fromarray(pixels), f"{seed:064x}", width, height, (width, height), "PNG", 1)


def worst(a: Sequence[Reading], b: Sequence[Reading]) -> float:
    """Largest difference of a logit."""
    far = 0.0
    for ours, theirs in zip(a, b, strict=True):
        assert list(ours.logits) == list(theirs.logits)
        for key, row in ours.logits.items():
            far = max(far, *(abs(x - y) for x, y in zip(row, theirs.logits[key], strict=True)))
    return far


@pytest.fixture
def keeping(clef: Clef) -> Clef:
    """Nothing kept yet."""
    return Clef(clef.checkpoint, backbone=clef.backbone, head=clef.head, encoder=clef.encoder)


@pytest.fixture(scope="module")
def plain(clef: Clef) -> Clef:
    """Full passes only."""
    return Clef(clef.checkpoint, backbone=clef.backbone, head=clef.head, encoder=clef.encoder, state_memory=0)


def kept(clef: Clef) -> Iterator[Prefix]:
    return iter(clef.states._kept.values())


@pytest.mark.parametrize("case", WHOLE, ids=name)
def test_golden_cases_through_a_kept_state(reference: Clef, case: dict[str, Any]) -> None:
    fresh = Clef(reference.checkpoint, backbone=reference.backbone, head=reference.head, encoder=reference.encoder)
    asked = request(case)
    first, second, third = (fresh.score([asked])[0] for _ in range(3))
    before = fresh.encode(asked).schema_at
    assert (first.reused, second.reused, third.reused) == (0, 0, before)
    for reading in (first, second, third):
        assert distance(case, reading) <= PARITY
    assert worst([first], [third]) <= 1e-5
    assert first.tokens == third.tokens


def test_a_changed_question_pays_for_the_schema_alone(
    keeping: Clef, plain: Clef, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    hidden = Backbone.hidden

    def counted(self: Backbone, batch: Batch, **kept: Any) -> torch.Tensor:
        read.append(batch.ids.numel())
        return hidden(self, batch, **kept)

    state = State(text(1500))
    assert keeping.backbone.goes_on  # the trial is not counted
    first = keeping.score([Request(state, ASKED)])[0]
    monkeypatch.setattr(Backbone, "hidden", counted)
    (second,) = keeping.score([Request(state, OTHER)])
    encoded = keeping.encode(Request(state, OTHER))
    assert read == [len(encoded.ids) - encoded.schema_at]
    assert (first.reused, second.reused) == (0, encoded.schema_at)
    assert encoded.schema_at >= AT_ONCE  # so it was kept the first time
    monkeypatch.undo()
    assert worst([first, second], plain.score([Request(state, q) for q in (ASKED, OTHER)])) <= SAME


def test_short_states_are_kept_when_they_are_asked_again(keeping: Clef) -> None:
    a, b = State("A small state."), State("Quite another one, of the same kind.")
    for state, expected in ((a, 0), (b, 0), (a, 1), (a, 1)):
        keeping.score([Request(state, ASKED)])
        assert len(keeping.states) == expected
    (reading,) = keeping.score([Request(a, OTHER)])
    assert reading.reused == keeping.encode(Request(a, OTHER)).schema_at


def test_runs_over_many_states_keep_nothing(keeping: Clef) -> None:
    keeping.score([Request(State(text(200, seed)), ASKED) for seed in range(6)])
    assert len(keeping.states) == keeping.states.bytes == 0


def test_several_questions_on_one_state_read_it_once(keeping: Clef, plain: Clef) -> None:
    """Rows of different lengths go on from one state, in one batch with others."""
    state, lonely = State(text(150)), State(text(80, 5))
    both = parse_questions({"n": {"type": "noul", "instructions": text(40, 3)}})
    requests = [Request(state, ASKED), Request(lonely, ASKED), Request(state, OTHER), Request(state, both)]
    readings = keeping.score(requests)
    begun = keeping.encode(requests[0]).schema_at
    assert [r.reused for r in readings] == [0, 0, begun, begun]
    assert worst(readings, plain.score(requests)) <= SAME
    assert worst(keeping.score(requests), readings) <= SAME


@pytest.mark.parametrize("pictures", [(), (picture(1),), (picture(1), picture(2, 64, 160))], ids=len)
def test_a_growing_state_is_read_on(keeping: Clef, plain: Clef, pictures: tuple[Picture, ...]) -> None:
    words, reused = text(300).split(), []
    for n in (200, 201, 202, 203, 260, 203, 300):
        asked = Request(State(" ".join(words[:n]), pictures), ASKED)
        (reading,) = keeping.score([asked])
        reused.append(reading.reused)
        assert worst([reading], plain.score([asked])) <= SAME
    assert reused[0] == reused[1] == 0  # from the second on it is known that someone types
    begun = [keeping.encode(Request(State(" ".join(words[:n]), pictures), ASKED)).schema_at for n in (203, 260)]
    assert all(r >= begun[0] - 2 * STEP - 20 for r in reused[2:5])
    assert reused[5] == begun[0]
    assert begun[1] - 2 * STEP <= reused[6]


def test_a_state_that_grows_word_by_word_collects_nothing(keeping: Clef) -> None:
    words = text(140).split()
    for n in range(60, 140, 4):
        keeping.score([Request(State(" ".join(words[:n]), (picture(1),)), ASKED)])
    assert len(keeping.states) > 10
    assert max(len(prefix.stops) for prefix in kept(keeping)) <= 5


def test_text_under_the_same_pictures_does_not_pay_for_them_again(keeping: Clef, plain: Clef) -> None:
    shown = (picture(1), picture(2, 64, 160))
    for words in ("First words.", "Then others.", "And these."):
        asked = Request(State(words, shown), ASKED)
        (reading,) = keeping.score([asked])
        assert worst([reading], plain.score([asked])) <= SAME
    assert reading.reused >= keeping.encode(asked).state[0]
    for others in ((picture(3), shown[1]), shown[::-1], shown[:1], ()):
        asked = Request(State("And these.", others), ASKED)
        (reading,) = keeping.score([asked])
        assert reading.reused == 0
        assert worst([reading], plain.score([asked])) <= SAME


def test_pictures_move_the_positions_of_what_follows(clef: Clef) -> None:
    """Our own count of positions is the backbone's."""
    asked = Request(State("Look.", (picture(1), picture(2, 64, 160))), ASKED)
    encoded = clef.encode(asked)
    clef.run([encoded], [asked.state.pictures])
    deltas = clef.backbone._whole.rope_deltas
    ((found, _),) = clef._by_text([encoded], [asked.state.pictures])
    assert found.shift == int(deltas) < 0


def test_a_cut_state_is_kept_as_it_was_cut(clef: Clef) -> None:
    encoder = Encoder(RELEASE / "tokenizer.json", max_tokens=700)
    ours, full = (
        Clef(clef.checkpoint, backbone=clef.backbone, head=clef.head, encoder=encoder, state_memory=memory)
        for memory in (1 << 30, 0)
    )
    state = State(text(900))
    for questions in (ASKED, ASKED, OTHER, OTHER, ASKED):
        asked = Request(state, questions, allow_cut=True)
        (reading,) = ours.score([asked])
        assert reading.cut is not None
        assert reading.cut == full.score([asked])[0].cut
        assert worst([reading], full.score([asked])) <= SAME
    assert reading.reused == ours.encode(asked).schema_at


def test_asking_others_in_between_changes_nothing(keeping: Clef) -> None:
    """A cache that is written over in place would show here."""
    a, b = State(text(100, 1)), State(text(100, 2))
    for _ in range(2):  # kept from the second time on
        keeping.score([Request(a, ASKED)])
        keeping.score([Request(b, ASKED)])
    tensors = [(prefix, [t.clone() for t in _tensors(prefix)]) for prefix in kept(keeping)]
    before = keeping.score([Request(a, ASKED)])
    keeping.score([Request(a, OTHER), Request(b, ASKED), Request(a, ASKED)])
    keeping.score([Request(State(a.value + " And more."), ASKED)])
    assert worst(keeping.score([Request(a, ASKED)]), before) == 0
    assert len(tensors) == 2
    for prefix, old in tensors:
        assert all(torch.equal(x, y) for x, y in zip(old, _tensors(prefix), strict=True))


def _tensors(prefix: Prefix) -> list[torch.Tensor]:
    pairs = [*prefix.full.values(), *prefix.memory, *(p for stop in prefix.stops.values() for p in stop.values())]
    return [tensor for pair in pairs for tensor in pair]


def test_the_memory_is_bounded_and_the_oldest_goes_first(clef: Clef) -> None:
    def ask(ours: Clef, seed: int) -> int:
        asked = Request(State(text(400, seed)), ASKED)
        return [ours.score([asked])[0].reused for _ in range(2)][1]

    def scorer(memory: int) -> Clef:
        return Clef(clef.checkpoint, backbone=clef.backbone, head=clef.head, encoder=clef.encoder, state_memory=memory)

    one = scorer(1 << 30)
    ask(one, 0)
    size = one.states.bytes
    (prefix,) = kept(one)
    assert size == sum(t.numel() * t.element_size() for t in _tensors(prefix))

    two = scorer(int(2.5 * size))
    for seed in (0, 1):
        ask(two, seed)
    two.score([Request(State(text(400, 0)), ASKED)])  # used again, so 1 is now the oldest
    ask(two, 2)
    assert len(two.states) == 2
    assert size < two.states.bytes <= two.states.budget
    present = {p.text.key for p in kept(two)}
    for seed, there in ((0, True), (1, False), (2, True)):
        ((found, _),) = two._by_text([two.encode(Request(State(text(400, seed)), ASKED))], [()])
        assert (found.key in present) is there

    small = scorer(size // 2)
    assert [ask(small, 0), len(small.states), small.states.bytes] == [0, 0, 0]
    asked = Request(State(text(400)), ASKED)
    assert worst(small.score([asked]), one.score([asked])) <= SAME

    two.states.forget()
    assert (len(two.states), two.states.bytes) == (0, 0)
    assert ask(scorer(0), 0) == 0


def test_routing_through_a_kept_state_is_the_same(keeping: Clef, plain: Clef) -> None:
    asked = Request(State(text(100), (picture(4),)), ASKED)
    for _ in range(3):
        encoded, looks = keeping.routing(asked)
    assert len(keeping.states) == 1
    again, full = plain.routing(asked)
    assert encoded == again
    for key, rows in full.items():
        assert np.abs(looks[key] - rows).max() <= SAME


@st.composite
def edits(draw: st.DrawFn) -> list[tuple[str, bool, Questions, int]]:
    """A person at work: types, deletes, inserts, swaps questions, adds and removes a picture."""
    words, out = draw(st.lists(st.sampled_from(WORDS), min_size=0, max_size=90)), []
    shown, questions = False, ASKED
    for _ in range(draw(st.integers(2, 7))):
        match draw(st.sampled_from(["type", "delete", "insert", "ask", "look", "again"])):
            case "type":
                words = words + draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=40))
            case "delete":
                words = words[: max(0, len(words) - draw(st.integers(1, 40)))]
            case "insert":
                at = draw(st.integers(0, len(words)))
                words = [*words[:at], draw(st.sampled_from(WORDS)), *words[at:]]
            case "ask":
                questions = draw(st.sampled_from([ASKED, OTHER]))
            case "look":
                shown = not shown
        out.append((" ".join(words), shown, questions, draw(st.integers(1, 3))))
    return out


@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=edits(), budget=st.sampled_from([1 << 30, 400_000]))
def test_any_sequence_of_edits_gives_what_full_passes_give(
    clef: Clef, plain: Clef, steps: list[tuple[str, bool, Questions, int]], budget: int
) -> None:
    ours = Clef(clef.checkpoint, backbone=clef.backbone, head=clef.head, encoder=clef.encoder, state_memory=budget)
    for words, shown, questions, times in steps:
        asked = [Request(State(words, (picture(1),) if shown else ()), questions)] * times
        readings = ours.score(asked)
        assert worst(readings, [plain.score(asked[:1])[0]] * times) <= 2 * SAME
        assert all(0 <= r.reused <= ours.encode(asked[0]).schema_at for r in readings)
        assert ours.states.bytes <= budget


def test_texts_are_alike_only_under_the_same_pictures() -> None:
    a = Text(np.arange(10, dtype=np.int32), 2)
    b = Text(np.array([0, 1, 2, 9], dtype=np.int32), 2)
    assert (a.alike(b), b.alike(a), a.alike(a)) == (3, 3, 10)
    assert a.alike(dataclasses.replace(a, ids=a.ids[:4])) == 4
    assert a.alike(dataclasses.replace(a, pictures=("x",))) == 0


@pytest.fixture(params=["llama", "mistral"])
def causal(request: pytest.FixtureRequest, tmp_path: Path) -> Clef:
    """Other families beside a head: one keeps every token, one a window of the last."""
    import json
    import shutil

    import transformers
    from safetensors.torch import save_file

    from model.head import HeadConfig, JointSchemaHead

    size = {
        "vocab_size": 1280, "hidden_size": 48, "intermediate_size": 96, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 4096,
    }  # fmt: skip
    torch.manual_seed(5)
    model: Any
    if request.param == "llama":
        model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**size))
    else:
        model = transformers.MistralForCausalLM(transformers.MistralConfig(**size, sliding_window=32))
    model.save_pretrained(tmp_path)
    shutil.copyfile(RELEASE / "tokenizer.json", tmp_path / "tokenizer.json")
    config = HeadConfig(hidden_size=48, width=16, routing_layers=1, layers=2, heads=2, feedforward=32)
    (tmp_path / "joint_head_config.json").write_text(json.dumps(config.json()), encoding="utf-8")
    save_file(JointSchemaHead(config).state_dict(), tmp_path / "joint_head.safetensors")
    return open_clef(tmp_path, device="cpu")


def test_other_backbones_are_kept_or_left_to_full_passes(causal: Clef) -> None:
    windows = causal.checkpoint.config["model_type"] == "mistral"
    assert causal.backbone.goes_on is not windows
    full = Clef(causal.checkpoint, backbone=causal.backbone, head=causal.head, encoder=causal.encoder, state_memory=0)
    words, reused = text(200).split(), []
    for n in (100, 101, 102, 60, 150):
        asked = [Request(State(" ".join(words[:n])), q) for q in (ASKED, OTHER, ASKED)]
        for part in (asked[:1], asked):
            readings = causal.score(part)
            assert worst(readings, full.score(part)) <= SAME
            reused.append(readings[-1].reused)
    if windows:
        assert reused == [0] * 10
        assert len(causal.states) == 0
    else:
        lengths = [causal.encode(Request(State(" ".join(words[:n])), ASKED)).schema_at for n in (100, 101, 102, 60)]
        assert reused[1] == lengths[0]
        assert reused[2] >= lengths[0] - 2  # without linear layers any place will do
        assert reused[6] == lengths[3] or reused[6] >= lengths[3] - 2


def test_a_model_that_takes_a_cache_and_does_not_use_it_is_found_out(
    clef: Clef, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = Backbone(clef.backbone.model)
    assert fresh.goes_on
    monkeypatch.setattr(Past, "cache", lambda self, config, rows=1: Backbone.empty_cache(fresh))
    assert not Backbone(clef.backbone.model).goes_on


def test_what_a_past_does_not_cover() -> None:
    import transformers

    llama = transformers.LlamaConfig(num_hidden_layers=2)
    assert covers(llama)
    llama.is_causal = False
    assert not covers(llama)
    assert not covers(transformers.MambaConfig(num_hidden_layers=2))


def test_the_first_bytes_of_a_state_do_not_stand_for_all(keeping: Clef, plain: Clef) -> None:
    """Same beginning, same length, one token apart."""
    a, b = State(text(60) + " yes"), State(text(60) + " nay")
    assert worst(*([plain.score([Request(state, ASKED)]) for state in (a, b)])) > 10 * SAME
    for state in (a, b, a, b, a, b):
        asked = Request(state, ASKED)
        assert worst(keeping.score([asked]), plain.score([asked])) <= SAME
