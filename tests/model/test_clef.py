"""Clef against the reference's numbers: ten cases, alone, in one padded batch, with pictures and text mixed."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from model.answers import answers_from_logits
from model.clef import BATCH_ROWS, BATCH_TOKENS, Clef, batches, open_clef
from model.encoding import Encoded, Encoder
from model.questions import parse_questions
from model.scorer import Reading, Request
from model.state import State, TooLong, parse_state
from tests.model.golden import CASES, RELEASE, WHOLE, distance, name, request

PARITY = 1e-4
SAME = 1e-5
"""Two ways of one computation in float32."""


def encoded(clef: Clef, case: dict[str, Any]) -> Encoded:
    asked = request(case)
    budget = case.get("max_length", 16_384)
    encoder = Encoder(RELEASE / "tokenizer.json", max_tokens=budget, reference_specials=True)
    tokens = [clef.encode(asked).picture_spans[i] for i in range(len(asked.state.pictures))]
    return encoder.encode(
        asked.state.value,
        asked.questions,
        picture_tokens=[end - start for start, end in tokens],
        allow_cut=True,
        state_tokens=case.get("max_state_tokens"),
    )


def read_together(clef: Clef, cases: list[dict[str, Any]]) -> list[Reading]:
    """One forward pass over all cases, padded to the longest."""
    batch = [encoded(clef, case) for case in cases]
    logits, _, layout = clef.run(batch, [request(case).state.pictures for case in cases])
    return [
        Reading({field.id: row for field, row in zip(e.fields, rows, strict=True)}, e.tokens, e.cut)
        for e, rows in zip(batch, layout.split(logits), strict=True)
    ]


def on_the_wire(answer: Any) -> dict[str, Any]:
    """As the reference writes an answer: confidence is the top probability, figures rounded to 4 places."""
    probabilities = {o: round(p, 4) for o, p in zip(answer.options, answer.probabilities, strict=True)}
    if answer.type == "noul":
        return {"type": "noul", "noul": probabilities["true"]}
    wire = {"type": answer.type, "confidence": round(answer.confidence("top"), 4), "probabilities": probabilities}
    if answer.type == "choice":
        return wire | {"choice": answer.top}
    legend = {str(i): level for i, level in enumerate(answer.legend)}
    return wire | {"score": round(answer.expected_level, 4), "legend": legend}


@pytest.mark.parametrize("case", CASES, ids=name)
def test_tokens_spans_and_options_are_the_references(reference: Clef, case: dict[str, Any]) -> None:
    ours = encoded(reference, case)
    assert list(ours.ids) == case["input_ids"]
    for field, theirs in zip(ours.fields, case["questions"], strict=True):
        assert field.id == theirs["id"]
        assert list(field.question) == theirs["question_span"]
        assert [list(span) for span in field.options] == theirs["option_spans"]
        assert list(field.option_ids) == theirs["option_ids"]
    if case["text"] is not None:
        assert reference.encoder.decode(ours.ids) == case["text"]


@pytest.mark.parametrize("case", CASES, ids=name)
def test_one_case_alone_gives_the_references_logits_and_answers(reference: Clef, case: dict[str, Any]) -> None:
    (reading,) = read_together(reference, [case])
    assert distance(case, reading) <= PARITY
    answers = answers_from_logits(request(case).questions, reading.logits)
    assert {key: on_the_wire(answer) for key, answer in answers.items()} == case["answers"]


def test_all_cases_in_one_padded_batch_of_pictures_and_text(reference: Clef) -> None:
    for case, reading in zip(CASES, read_together(reference, CASES), strict=True):
        assert distance(case, reading) <= PARITY, case["name"]


def test_a_padded_batch_without_pictures(reference: Clef) -> None:
    cases = [case for case in CASES if not case["images"]]
    for case, reading in zip(cases, read_together(reference, cases), strict=True):
        assert distance(case, reading) <= PARITY, case["name"]


def test_score_answers_in_the_order_asked(reference: Clef) -> None:
    cases = random.Random(7).sample(WHOLE * 3, len(WHOLE) * 3)
    for case, reading in zip(cases, reference.score([request(case) for case in cases]), strict=True):
        assert distance(case, reading) <= PARITY, case["name"]


def test_several_records_with_pictures_in_one_batch(reference: Clef) -> None:
    (case,) = [case for case in CASES if case["images"]]
    asked = request(case)
    turned = State(asked.state.value, asked.state.pictures[::-1])
    single = State(asked.state.value, asked.state.pictures[:1])
    requests = [asked, Request(turned, asked.questions), Request(single, asked.questions)]
    together = reference.run([reference.encode(r) for r in requests], [r.state.pictures for r in requests])
    alone = [reference.score([r])[0] for r in requests]
    for rows, reading in zip(together[2].split(together[0]), alone, strict=True):
        for row, logits in zip(rows, reading.logits.values(), strict=True):
            assert row == pytest.approx(logits, abs=SAME)
    assert alone[0].logits["urgent"] != pytest.approx(alone[1].logits["urgent"], abs=SAME)
    assert alone[0].logits["urgent"] != pytest.approx(alone[2].logits["urgent"], abs=SAME)


def test_control_tokens_in_a_state_change_the_answer_only_with_the_switch(clef: Clef, reference: Clef) -> None:
    (case,) = [case for case in CASES if case["name"] == "special_tokens_in_state"]
    assert distance(case, reference.score([request(case)])[0]) <= PARITY
    assert distance(case, clef.score([request(case)])[0]) > PARITY


def test_no_call_changes_a_later_answer(clef: Clef) -> None:
    with_pictures, text = request(CASES[-1]), request(CASES[0])
    before = clef.score([text])[0].logits
    clef.score([with_pictures])
    for key, row in clef.score([text])[0].logits.items():
        assert row == pytest.approx(before[key], abs=SAME)


def test_neutral_ids_make_names_powerless() -> None:
    neutral = open_clef(RELEASE, device="cpu", question_ids="neutral")
    state = parse_state("The printer is on fire.")
    bodies = [{"type": "noul", "instructions": "Is it urgent?"}, {"type": "score", "criteria": ["calm", "angry"]}]
    ids, logits = [], []
    for names in (("urgent", "mood"), ("🎯", "with space")):
        questions = parse_questions(dict(zip(names, bodies, strict=True)))
        ids.append(neutral.encode(Request(state, questions)).ids)
        (reading,) = neutral.score([Request(state, questions)])
        assert list(reading.logits) == list(names)
        logits.append([z for row in reading.logits.values() for z in row])
    assert ids[0] == ids[1]
    # The second is read on the kept state, which adds up in another order: equal within what reuse promises.
    assert logits[0] == pytest.approx(logits[1], abs=1e-5)


def test_literal_ids_are_read(clef: Clef) -> None:
    state = parse_state("The printer is on fire.")
    a, b = (parse_questions({key: {"type": "noul", "instructions": "Is it urgent?"}}) for key in ("urgent", "harmless"))
    first, second = clef.score([Request(state, a), Request(state, b)])
    assert list(first.logits["urgent"]) != pytest.approx(list(second.logits["harmless"]), abs=SAME)


def test_a_long_state_is_refused_with_counts_or_cut_and_told(clef: Clef) -> None:
    encoder = Encoder(RELEASE / "tokenizer.json", max_tokens=300)
    small = Clef(clef.checkpoint, backbone=clef.backbone, head=clef.head, encoder=encoder)
    text = "word " * 400
    state, questions = parse_state(text), parse_questions({"n": {"type": "noul", "instructions": "Is it?"}})
    counted = small.count(state, questions)
    with pytest.raises(TooLong) as refused:
        small.score([Request(state, questions)])
    assert refused.value.tokens == counted
    assert counted.needed > counted.limit == counted.total == 300
    assert f"{counted.state:,}" in str(refused.value)
    (reading,) = small.score([Request(state, questions, allow_cut=True)])
    assert reading.cut is not None
    assert reading.cut.tokens == counted.state - counted.read
    (shorter,) = small.score([Request(parse_state(text[: reading.cut.start]), questions)])
    assert shorter.cut is None
    assert list(reading.logits["n"]) == pytest.approx(list(shorter.logits["n"]), abs=SAME)


def test_one_request_that_does_not_fit_stops_the_batch_before_the_model_runs(clef: Clef) -> None:
    fine, questions = request(CASES[0]), parse_questions({"n": {"type": "noul", "instructions": "Is it?"}})
    long = Request(parse_state("word " * 40_000), questions)
    with pytest.raises(TooLong, match="state"):
        clef.score([fine, long])


def test_count_agrees_with_what_is_read(clef: Clef) -> None:
    for case in WHOLE:
        asked = request(case)
        counted = clef.count(asked.state, asked.questions)
        assert counted == clef.score([asked])[0].tokens
        assert counted.total == len(clef.encode(asked).ids)


def test_routing_looks_at_real_tokens_and_sums_to_one(clef: Clef) -> None:
    asked = request(CASES[0])
    read, looks = clef.routing(asked)
    assert {key: rows.shape for key, rows in looks.items()} == {
        "urgent": (2, len(read.ids)),
        "team": (3, len(read.ids)),
        "severity": (4, len(read.ids)),
    }
    for rows in looks.values():
        assert (rows >= 0).all()
        assert rows.sum(1) == pytest.approx(np.ones(len(rows)), abs=1e-5)
    start, end = read.state
    assert [asked.state.value[a:b] for a, b in read.offsets[: end - start]][:3] == ["C", "he", "c"]


@pytest.mark.parametrize("seed", range(3))
def test_batches_hold_everything_once_within_their_bounds(seed: int) -> None:
    lengths = [random.Random(seed).randint(80, 20_000) for _ in range(150)] + [40_000, 100, 100]
    groups = batches(lengths)
    assert sorted(i for group in groups for i in group) == list(range(len(lengths)))
    for group in groups:
        sizes = [lengths[i] for i in group]
        assert len(group) == 1 or len(group) * max(sizes) <= BATCH_TOKENS
        assert len(group) <= BATCH_ROWS
        assert max(sizes) <= min(sizes) * 1.25 + 64
    assert batches([100] * 40) == [list(range(32)), list(range(32, 40))]


def test_who_answers_is_told(clef: Clef, reference: Clef) -> None:
    info = clef.info
    assert (info.name, info.kind, info.question_ids, info.sees_pictures) == ("tiny_release", "clef", "literal", True)
    assert (info.device, info.dtype, info.max_tokens) == ("cpu", "float32", 16_384)
    assert info.details["head_parameters"] == 59_748
    assert info.fingerprint != reference.info.fingerprint
    assert info.fingerprint == open_clef(RELEASE, device="cpu").info.fingerprint
    assert info.fingerprint != open_clef(RELEASE, device="cpu", dtype="bfloat16").info.fingerprint


def test_bfloat16_agrees_to_its_precision(reference: Clef) -> None:
    half = open_clef(RELEASE, device="cpu", dtype="bfloat16")
    case = CASES[0]
    assert half.info.dtype == "bfloat16"
    assert distance(case, half.score([request(case)])[0]) <= 0.2
    half.warm_up()
