"""Trains the embedded model: `python -m model.embedded.train --data FOLDER --out assets/embedded`.

Contract
--------
Reads the untuned backbone, our corpus and the public sets in FOLDER; tunes the encoder's layers and the scorer on
pairs; keeps the exponential average of the weights at the step that is best on held-back *tasks* (never on the
evaluation sets); fits the priors' weights and one temperature per question type there, with a gist
(`model.embedded.gist`) that was trained first on the same draws; writes the weights (`model.embedded.weights`) and
prints the table. Same seed, same threads, same machine: same weights.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.embedded.askers import CosineAsker, ScorerAsker
from model.embedded.backbone import Backbone, open_backbone
from model.embedded.corpus import read_corpus, read_open
from model.embedded.develop import Development, develop_tasks, fit_many, fit_scales, many_questions, measure
from model.embedded.encoder import FROZEN, LAYERS, Encoder, untuned_encoder
from model.embedded.gist import Gist, Row, train_gist
from model.embedded.losses import answer_loss, with_false
from model.embedded.measuring import Asker, read_sets, summary, table
from model.embedded.measuring import measure as measure_set
from model.embedded.pairs import SHORTLIST, TYPES, PairModel, compared_texts
from model.embedded.prepared import Prepared, Texts, prepare, sheet_logits
from model.embedded.public import IntentSet, read_intents, read_yes_no
from model.embedded.reader import Embedded
from model.embedded.tasks import Draw
from model.embedded.weights import Scales, load_weights, save_weights
from model.scorer import Request
from model.state import State


@dataclass(frozen=True)
class Recipe:
    """Everything that decides the weights, besides the data."""

    seed: int = 20
    steps: int = 1000
    sheets: int = 10
    """Messages per step; each is asked about seven questions."""
    rate: float = 2e-4
    layer_decay: float = 0.85
    """The learning rate of each layer below the last, as a factor of the next higher one's."""
    scorer_rate: float = 1e-3
    warm: int = 40
    pull: float = 0.02
    """Decoupled decay towards the untuned weights, per unit of learning rate x 100."""
    average: float = 0.985
    smoothing: float = 0.06
    prior: float = 10.0
    """Weight of the cosine prior while training; `fit_scales` fits what is shipped."""
    length: int = 160
    """Most tokens of the state while training."""
    gist_sheets: int = 12_000
    """Messages that the gist is trained on."""
    check_every: int = 200


def example_loss(logits: Tensor, example: Prepared, recipe: Recipe) -> Tensor:
    """The loss of a question's pairs; a choice stands beside its prior, as it will when it is served."""
    kind = TYPES[example.column]
    if kind == "noul":
        logits = with_false(logits)
    elif kind == "choice":
        logits = logits + recipe.prior * example.priors
    return answer_loss(logits, example.answer, smoothing=recipe.smoothing, brier=True, ordered=kind == "score")


def parameter_groups(model: PairModel, recipe: Recipe) -> list[dict[str, Any]]:
    """AdamW groups: the layers with rates that fall towards the input, and the scorer."""
    groups: list[dict[str, Any]] = []
    for i, layer in enumerate(model.encoder.layers):
        if i < FROZEN:
            continue
        rate = recipe.rate * recipe.layer_decay ** (LAYERS - 1 - i)
        groups.append({"params": list(layer.parameters()), "lr": rate, "base": rate})
    groups.append({"params": list(model.scorer.parameters()), "lr": recipe.scorer_rate, "base": recipe.scorer_rate})
    return groups


def fitted_gist(draw: Draw, reader: Texts, recipe: Recipe, say: Callable[[str], None] = print) -> Gist:
    """A gist trained on `recipe.gist_sheets` sheets: their nouls and scores."""
    rng = random.Random(recipe.seed)
    drawn = [example for _ in range(recipe.gist_sheets) for example in draw.sheet(rng)]
    asked = [(e, compared_texts(e.question)) for e in drawn if e.question.type != "choice"]
    texts = sorted({e.state for e, _ in asked} | {text for _, firsts in asked for text in firsts})
    index = {text: i for i, text in enumerate(texts)}
    vectors = reader.vectors(texts)
    rows: dict[str, list[Row]] = {"noul": [], "score": []}
    for example, firsts in asked:
        rows[example.question.type].append(([index[t] for t in firsts], index[example.state], example.answer))
    torch.manual_seed(recipe.seed)
    gist = Gist()
    phrasings = draw.phrasings()
    centres = torch.stack([F.normalize(reader.vectors(texts).mean(0), dim=0) for texts in phrasings])
    gist.known[: len(centres)] = centres
    train_gist(gist, vectors, rows, seed=recipe.seed, smoothing=recipe.smoothing, say=say)
    return gist


def parts_of(scales: Scales) -> dict[str, Scales]:
    """The model as fitted, and each of the two parts of its nouls and scores alone."""
    return {
        "both": scales,
        "pairs alone": replace(scales, noul_prior=0.0, score_prior=0.0),
        "gist alone": replace(scales, noul_pair=0.0, noul_prior=1.0, score_pair=0.0, score_prior=1.0),
    }


def with_many(
    model: PairModel, untuned: Encoder, backbone: Backbone, scales: Scales, intents: Sequence[IntentSet], *, seed: int
) -> Scales:
    """`scales` with `choice_many` fitted: choices among all intents of a public set, as the served model reads them."""
    scorer = Embedded(model, untuned, backbone.tokenizer, scales, weights_sha256="", ocr=None)
    logits, answers, doublings = [], [], []
    for question, text, answer in many_questions(intents, rows=80, seed=seed):
        reading = scorer.score([Request(State(text), {"intent": question})])[0]
        logits.append(torch.tensor(reading.logits["intent"]))
        answers.append(answer)
        doublings.append(math.log2(len(question.option_ids()) / SHORTLIST))
    return replace(scales, choice_many=fit_many(logits, answers, doublings))


def neighbours(intents: Sequence[tuple[IntentSet, str]], reader: Texts) -> dict[tuple[str, str], list[str]]:
    """For each trained intent, the others of its set, nearest first (untuned vectors of five messages' mean)."""
    near: dict[tuple[str, str], list[str]] = {}
    for name in sorted({s.name for s, _ in intents}):
        of_set = [(s, i) for s, i in intents if s.name == name]
        names = [i for _, i in of_set]
        centres = torch.stack([reader.vectors(s.train[i][:5]).mean(0) for s, i in of_set])
        similar = centres @ centres.T
        for row, intent in enumerate(names):
            order = similar[row].argsort(descending=True).tolist()
            near[name, intent] = [names[j] for j in order if j != row]
    return near


def train(
    draw: Draw,
    development: Development,
    reader: Texts,
    model: PairModel,
    untuned: Encoder,
    recipe: Recipe,
    keep: Callable[[PairModel, Scales, dict[str, Any]], None],
    say: Callable[[str], None] = print,
) -> None:
    """Trains; `keep` gets the averaged model whenever it is better on the held-back tasks than before."""
    rng = random.Random(recipe.seed)
    torch.manual_seed(recipe.seed)
    start = {f"encoder.{name}": value for name, value in untuned.state_dict().items()}
    groups = parameter_groups(model, recipe)
    trained = {id(p) for group in groups for p in group["params"]}
    for parameter in model.parameters():
        parameter.requires_grad_(id(parameter) in trained)
    optimiser = torch.optim.AdamW(groups, weight_decay=0.0, betas=(0.9, 0.98))
    averaged = {name: value.detach().clone() for name, value in model.named_parameters() if value.requires_grad}
    best = -math.inf
    began, losses = time.monotonic(), []
    for step in range(1, recipe.steps + 1):
        model.train()
        examples = [example for _ in range(recipe.sheets) for example in draw.sheet(rng)]
        sheets = prepare(examples, reader, length=recipe.length)
        questions = [question for sheet in sheets for question in sheet.questions]
        logits = sheet_logits(model, sheets)
        loss = torch.stack([example_loss(z, q, recipe) for z, q in zip(logits, questions, strict=True)]).mean()
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_([p for p in model.parameters() if p.requires_grad], 1.0)
        scale = schedule(step, recipe)
        for group in optimiser.param_groups:
            group["lr"] = group["base"] * scale
        optimiser.step()
        with torch.no_grad():
            decay = min(recipe.average, (1 + step) / (10 + step))
            for name, value in model.named_parameters():
                if name in averaged:
                    if not name.startswith("scorer"):
                        value.sub_(value - start[name], alpha=recipe.pull * 100 * recipe.rate * scale)
                    averaged[name].lerp_(value, 1 - decay)
        losses.append(loss.item())
        if step % recipe.check_every == 0 or step == recipe.steps:
            shadow = shadow_of(model, averaged)
            readings = development.readings(shadow)
            scales = fit_scales(readings)
            figures = measure(readings, scales)
            mean = sum(losses[-recipe.check_every :]) / len(losses[-recipe.check_every :])
            minutes = (time.monotonic() - began) / 60
            shown = "  ".join(f"{name} {value:.3f}" for name, value in figures.items())
            say(f"step {step:5d}  {minutes:5.1f} min  loss {mean:.3f}  {shown}")
            if figures["criterion"] > best:
                best = figures["criterion"]
                keep(shadow, scales, {**asdict(recipe), "kept_step": step, "held_back": figures})


def schedule(step: int, recipe: Recipe) -> float:
    """Linear warm-up, then a cosine down to a twentieth."""
    if step <= recipe.warm:
        return step / recipe.warm
    done = (step - recipe.warm) / max(1, recipe.steps - recipe.warm)
    return 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * done))


def shadow_of(model: PairModel, averaged: dict[str, Tensor]) -> PairModel:
    """A copy of `model` with the averaged weights, in evaluation mode."""
    shadow = PairModel(Encoder())
    shadow.load_state_dict({**model.state_dict(), **averaged})
    return shadow.eval()


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m model.embedded.train", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the public sets")
    parser.add_argument("--out", type=Path, required=True, help="folder for the weights")
    parser.add_argument("--start", type=Path, help="go on from the weights in this folder (default: the untuned ones)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rows", type=int, default=200, help="most rows of a public set in the table")
    for name, kind in (("seed", int), ("steps", int), ("rate", float), ("pull", float), ("check-every", int)):
        parser.add_argument(f"--{name}", type=kind, default=getattr(Recipe, name.replace("-", "_")))
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    recipe = Recipe(
        seed=options.seed,
        steps=options.steps,
        rate=options.rate,
        pull=options.pull,
        check_every=options.check_every,
    )
    began = time.monotonic()
    backbone = open_backbone()
    untuned = untuned_encoder(backbone.tensors)
    reader = Texts(backbone.tokenizer, untuned)
    families, intents, open_texts = read_corpus(), read_intents(options.data), read_open()
    draw = Draw(families, intents, read_yes_no(options.data), open_texts)
    draw.set_neighbours(neighbours(draw.intents(), reader))
    torch.manual_seed(recipe.seed)
    model = PairModel(untuned_encoder(backbone.tensors))
    if options.start is not None:
        model = load_weights(options.start, backbone.tensors)[0]
    model.gist.load_state_dict(fitted_gist(draw, reader, recipe).state_dict())
    development = Development(develop_tasks(families, intents, open_texts, recipe.seed), reader, gist=model.gist)

    kept: list[tuple[PairModel, Scales, dict[str, Any]]] = []

    def keep(tuned: PairModel, scales: Scales, facts: dict[str, Any]) -> None:
        kept[:] = [(tuned, scales, facts)]
        # What is stopped halfway has its best step on the disk.
        save_weights(options.out, tuned, scales, facts)

    train(draw, development, reader, model, untuned, recipe, keep, lambda line: print(line, flush=True))
    tuned, scales, facts = kept[0]
    readings = development.readings(tuned)
    for part, alone in parts_of(scales).items():
        figures = measure(readings, alone)
        print(f"{part:12} " + "  ".join(f"{name} {value:.3f}" for name, value in figures.items()))
    scales = with_many(tuned, untuned, backbone, scales, intents, seed=recipe.seed)
    save_weights(options.out, tuned, scales, facts)
    print(f"written to {options.out}: step {facts['kept_step']}, {scales}")
    print(f"{(time.monotonic() - began) / 60:.1f} minutes so far; now the evaluation sets", flush=True)
    ours = Embedded(tuned, untuned, backbone.tokenizer, scales, weights_sha256="", ocr=None)
    sets = read_sets(options.data, None, rows=options.rows, seed=1)
    askers: dict[str, Asker] = {"this model": ScorerAsker(ours), "cosine": CosineAsker(untuned, backbone.tokenizer)}
    results = {name: [measure_set(s, asker) for s in sets] for name, asker in askers.items()}
    print(table(results))
    print("this model: " + "; ".join(f"{what} {value:.3f}" for what, value in summary(results["this model"]).items()))
    print(f"{(time.monotonic() - began) / 60:.1f} minutes in all")


if __name__ == "__main__":
    main()
