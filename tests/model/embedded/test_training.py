"""The trainer: deterministic by seed, never on what is held back; the corpus is sound; the figures are right."""

from __future__ import annotations

import json
import math
import random

import numpy as np
import pytest
import torch

from model.embedded.backbone import Backbone
from model.embedded.corpus import Family, OpenText, read_corpus, read_open
from model.embedded.develop import Development, develop_tasks, fit_many, fit_scales, measure
from model.embedded.encoder import Encoder, untuned_encoder
from model.embedded.figures import auc, calibration_error, mean_absolute
from model.embedded.gist import Gist, Row, train_gist
from model.embedded.measuring import read_sets
from model.embedded.pairs import PairModel
from model.embedded.prepared import Texts
from model.embedded.public import DEVELOPMENT, PHRASES, IntentSet, YesNoRow
from model.embedded.reader import Embedded
from model.embedded.tasks import (
    FIRST,
    HELD_BACK_CHOICES,
    HELD_BACK_MESSAGES,
    HELD_BACK_NOULS,
    HELD_BACK_PHRASINGS,
    HELD_BACK_SCORES,
    Draw,
    Example,
)
from model.embedded.train import Recipe, train
from model.embedded.weights import Scales
from model.questions import Noul
from model.scorer import Request
from model.state import State

HELD_OUT = (
    *("legal_threat", "physical_danger", "medical_question", "delivery_damage", "feature_request"),
    *("data_exfiltration", "violent_threat", "job_application", "effort", "meeting_outcome"),
)


@pytest.fixture(scope="module")
def families() -> list[Family]:
    return read_corpus()


@pytest.fixture(scope="module")
def open_texts() -> list[OpenText]:
    return read_open()


@pytest.fixture(scope="module")
def intents() -> list[IntentSet]:
    """A public set in miniature."""
    names = [*DEVELOPMENT["clinc150"], "alarm", "balance", "timer", "weather", "taxes"]
    rows = {name: [f"{name} please {i}" for i in range(6)] for name in names}
    question = {"type": "choice", "instructions": "Which intent?", "criteria": dict.fromkeys(names)}
    return [IntentSet("clinc150", question, {"alarm": "set an alarm"}, rows, rows)]


@pytest.fixture(scope="module")
def draw(families: list[Family], intents: list[IntentSet], open_texts: list[OpenText]) -> Draw:
    rows = [YesNoRow(f"text {i}", f"Does the user ask {q}?", (i + q) % 2 == 0) for i in range(6) for q in range(4)]
    draw = Draw(families, intents, rows, open_texts)
    trained = [intent for _, intent in draw.intents()]
    draw.set_neighbours({("clinc150", i): [j for j in trained if j != i] * 2 for i in trained})
    return draw


def test_held_back_things_are_never_drawn(draw: Draw, families: list[Family], open_texts: list[OpenText]) -> None:
    rng = random.Random(0)
    sheets = [draw.sheet(rng) for _ in range(1500)]
    examples = [example for sheet in sheets for example in sheet]
    groups = {example.group for example in examples}
    assert not groups & {*HELD_BACK_NOULS, *HELD_BACK_CHOICES, *HELD_BACK_SCORES, *HELD_OUT, *DEVELOPMENT["clinc150"]}
    kept = {f.messages[i].text for f in families for i in range(0, len(f.messages), HELD_BACK_MESSAGES)}
    kept |= {text.text for text in open_texts[::HELD_BACK_MESSAGES]}
    assert not {example.state for example in examples} & kept
    late = {p for f in families for n in f.nouls.values() for p in n["phrasings"][-HELD_BACK_PHRASINGS:]}
    asked = {str(e.question.instructions) for e in examples if isinstance(e.question, Noul) and e.group != "open"}
    assert not asked & late
    assert all(len({example.state for example in sheet}) == 1 for sheet in sheets)
    nouls = [e.answer for e in examples if isinstance(e.question, Noul)]
    assert 0.4 < np.mean(nouls) < 0.65
    assert {"noul", "choice", "score"} == {e.question.type for e in examples}


def test_no_message_of_the_corpus_is_in_an_evaluation_set(families: list[Family], open_texts: list[OpenText]) -> None:
    texts = [m.text for f in families for m in f.messages] + [text.text for text in open_texts]
    ours = {" ".join(text.casefold().split()) for text in texts}
    theirs = {
        " ".join(str(state).casefold().split()) for s in read_sets(None, None, rows=999, seed=0) for state, _ in s.rows
    }
    assert len(theirs) > 1_000
    assert not ours & theirs


def test_no_question_of_the_corpus_is_about_a_held_out_concept(families: list[Family]) -> None:
    names = {name for f in families for part in (f.nouls, f.scores, f.choices) for name in part}
    assert not names & set(HELD_OUT)
    held = {s.name for s in read_sets(None, None, rows=1, seed=0) if s.held_out}
    assert held == set(HELD_OUT)


def test_intents_that_overlap_have_no_phrase() -> None:
    phrases = json.loads(PHRASES.read_text(encoding="utf-8"))
    assert "order_status" not in phrases["clinc150"]
    assert "card_arrival" not in phrases["banking77"]
    assert len(phrases["clinc150"]) == 145


def few_tasks(tasks: dict[str, list[Example]]) -> dict[str, list[Example]]:
    """Six examples of each task; of a yes/no task all of one concept, with both answers."""
    concepts = {"unseen": HELD_BACK_NOULS[0], "new": FIRST[0], "open": "open"}
    few = {}
    for name, rows in tasks.items():
        rows = [e for e in rows if e.group == concepts.get(name, e.group)]
        sides = [[e for e in rows if e.answer == answer][:3] for answer in (0, 1)]
        few[name] = sides[0] + sides[1] if name in concepts else rows[:6]
    return few


def test_training_is_decided_by_its_seed(
    draw: Draw,
    families: list[Family],
    intents: list[IntentSet],
    open_texts: list[OpenText],
    backbone: Backbone,
    untuned: Encoder,
) -> None:
    texts = Texts(backbone.tokenizer, untuned)
    few = few_tasks(develop_tasks(families, intents, open_texts, 1))

    def run(seed: int) -> tuple[dict[str, torch.Tensor], list[float]]:
        torch.manual_seed(0)
        model = PairModel(untuned_encoder(backbone.tensors))
        kept: list[tuple[dict[str, torch.Tensor], float]] = []

        def keep(tuned: PairModel, scales: Scales, facts: dict[str, object]) -> None:
            kept.append((tuned.state_dict(), scales.noul_pair))

        recipe = Recipe(seed=seed, steps=2, sheets=1, check_every=2)
        train(draw, Development(few, texts), texts, model, untuned, recipe, keep, lambda line: None)
        return kept[-1][0], [scale for _, scale in kept]

    first, again, other = run(1), run(1), run(2)
    assert first[1] == again[1]
    assert all(torch.equal(first[0][name], again[0][name]) for name in first[0])
    assert not torch.equal(first[0]["scorer.weight"], other[0]["scorer.weight"])
    # Only the trained layers move.
    start = untuned.state_dict()
    assert torch.equal(first[0]["encoder.words.weight"], start["words.weight"])
    assert not torch.equal(first[0]["encoder.layers.5.up.weight"], start["layers.5.up.weight"])


def test_scales_are_fitted_and_figures_come_out(
    families: list[Family],
    intents: list[IntentSet],
    open_texts: list[OpenText],
    backbone: Backbone,
    untuned: Encoder,
    tuned: tuple[PairModel, Scales],
) -> None:
    tasks = few_tasks(develop_tasks(families, intents, open_texts, 1))
    readings = Development(tasks, Texts(backbone.tokenizer, untuned)).readings(tuned[0])
    assert len(readings) == 6 * 6
    figures = measure(readings, fit_scales(readings))
    assert all(math.isfinite(value) for value in figures.values())


def test_what_is_developed_on_is_what_is_served(
    families: list[Family],
    intents: list[IntentSet],
    open_texts: list[OpenText],
    backbone: Backbone,
    untuned: Encoder,
    tuned: tuple[PairModel, Scales],
    scorer: Embedded,
) -> None:
    model, scales = tuned
    tasks = few_tasks(develop_tasks(families, intents, open_texts, 1))
    # States of one passage: of longer ones the served model reads passages, and their mean is another vector.
    tasks = {name: [e for e in rows if len(e.state) < 200] for name, rows in tasks.items()}
    development = Development(tasks, Texts(backbone.tokenizer, untuned), gist=model.gist)
    examples = [e for rows in tasks.values() for e in sorted(rows, key=lambda e: e.state)]
    readings = development.readings(model)
    assert {r.kind for r in readings} == {"noul", "choice", "score"}
    assert any(r.kind == "noul" and r.priors.any() for r in readings)
    for example, reading in zip(examples, readings, strict=True):
        (served,) = scorer.score([Request(State(example.state), {"q": example.question})])
        assert served.logits["q"] == pytest.approx(reading.full(scales).tolist(), abs=1e-4), example


def test_a_gist_learns_what_it_is_shown_and_is_decided_by_its_seed() -> None:
    generator = torch.Generator().manual_seed(0)
    vectors = torch.nn.functional.normalize(torch.randn(40, 384, generator=generator), dim=1)
    # Texts 0 and 1 are questions; a state answers them by the sign of one direction each.
    rows: dict[str, list[Row]] = {
        "noul": [([q], s, int(vectors[s, q] < 0)) for q in (0, 1) for s in range(5, 40)],
        "score": [([2, 3, 4], s, int(vectors[s, :3].argmax())) for s in range(5, 40)],
    }

    def fit(seed: int) -> Gist:
        gist = Gist()
        gist.known[:2] = vectors[:2]
        train_gist(gist, vectors, rows, seed=seed, smoothing=0.06, say=lambda line: None, rounds=60, batch=64)
        return gist

    torch.manual_seed(0)
    first = fit(1)
    torch.manual_seed(0)
    again = fit(1)
    assert all(torch.equal(a, b) for a, b in zip(first.state_dict().values(), again.state_dict().values(), strict=True))
    with torch.inference_mode():
        for row, states in ((0, range(5, 40)), (1, range(5, 40))):
            found = first("noul", vectors[[row]].expand(35, -1), vectors[list(states)])
            assert auc(found.tolist(), [bool(vectors[s, row] > 0) for s in states]) > 0.95
        # A question that is like none of the known ones: nothing is said.
        assert not first("noul", vectors[[2]].expand(35, -1), vectors[5:40]).any()


def test_many_options_get_the_sharpness_that_fits() -> None:
    # 16 options, the right one 1 above the others, right every time: sharper is better, so the grid's end is found.
    sharp = [torch.tensor([1.0] + [0.0] * 15)] * 4
    assert fit_many(sharp, [0] * 4, [1.0] * 4) == pytest.approx(1.08)
    # Right once in sixteen: no sharpness is best, and the scale stays 1 where nothing doubles.
    assert fit_many(sharp * 4, list(range(16)), [1.0] * 16) == pytest.approx(-0.1)
    assert Scales(choice_many=0.5).of_many(8) == 1.0
    assert Scales(choice_many=0.5).of_many(32) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("scores", "truth", "value"),
    [([1, 2, 3, 4], [0, 0, 1, 1], 1.0), ([4, 3, 2, 1], [0, 0, 1, 1], 0.0), ([1, 1, 1, 1], [0, 1, 0, 1], 0.5)],
)
def test_auc(scores: list[float], truth: list[int], value: float) -> None:
    assert auc(scores, [bool(t) for t in truth]) == value


def test_calibration_and_mean_absolute_error() -> None:
    assert calibration_error([[0.8, 0.2]] * 5, [0, 0, 0, 0, 1]) == pytest.approx(0)
    assert calibration_error([[1.0, 0.0]] * 4, [0, 0, 1, 1]) == pytest.approx(0.5)
    assert mean_absolute(np.array([1.0, 2.0]), [0, 2])[0] == 0.5


def test_an_example_names_its_concept() -> None:
    example = Example(Noul(instructions="Is it?"), "text", 0, "thing")
    assert example.question.option_ids()[example.answer] == "true"
