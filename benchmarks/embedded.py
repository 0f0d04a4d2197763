"""Measures the embedded model: `python -m benchmarks.embedded [--data FOLDER] [--harm FOLDER] [--quick]`.

Contract
--------
Prints one table: per set the figure of our scorer, of the untuned cosine of the same backbone and of sparrow-decider
(package `sparrow-decider`, extra `bench`) on the same rows, with n and standard errors; then the means that the targets
name, and latencies. Without `--data` only the committed sets are measured; `--harm` names the folder
`scorer_evals/harm` of an unpacked pyrit 1.1.0. `--quick` measures a few rows of the committed sets and times nothing.
A yes/no cell is `AUC ±error`, a choice cell `accuracy ±error`, a score cell `accuracy MAE|MAE of always the middle
±error of MAE`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

# Not this folder, where `model` would be benchmarks/model.py.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch

from model.embedded.askers import CosineAsker, ScorerAsker, SparrowAsker
from model.embedded.backbone import open_backbone
from model.embedded.encoder import untuned_encoder
from model.embedded.measuring import Asker, measure, read_sets, summary, table
from model.embedded.reader import ASSETS, Embedded, open_embedded
from model.questions import Noul, parse_questions
from model.scorer import Request
from model.state import State

MESSAGE = (
    "Hello, the annual fee left my account twice this morning and my rent goes out at noon tomorrow.\n"
    "Please send one of them back before then. Regards, Ines"
)
QUESTIONS = parse_questions(
    {
        "refund": {"type": "noul", "instructions": "Does the writer ask for money back?"},
        "team": {
            "type": "choice",
            "instructions": "Which team should handle this?",
            "criteria": {"billing": "payments and invoices", "technical": "faults and errors", "sales": "offers"},
        },
        "urgency": {
            "type": "score",
            "instructions": "How urgent is it?",
            "criteria": ["it can wait", "within some days", "today"],
        },
    }
)


def latencies(scorer: Embedded, *, repeats: int) -> dict[str, float]:
    """Median seconds: a short message, a 2,000-token state, and one reworded question on each."""

    def timed(state: str, question: str | None) -> float:
        asked = dict(QUESTIONS)
        if question is not None:
            asked["refund"] = Noul(instructions=question)
        began = time.perf_counter()
        scorer.score([Request(State(state), asked)])
        return time.perf_counter() - began

    found: dict[str, list[float]] = {}
    for i in range(repeats):
        # Other words each time, so that nothing is remembered but what a person's edit would find remembered.
        short = f"{MESSAGE} {i}"
        long = "\n".join(f"{MESSAGE} Part {i} {j}." for j in range(46))
        for name, state in (("message", short), ("2,000 tokens", long)):
            found.setdefault(name, []).append(timed(state, None))
            found.setdefault(f"{name}, one question edited", []).append(timed(state, f"Is money to be sent back? {i}"))
    return {name: statistics.median(values) for name, values in found.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with the public sets")
    parser.add_argument("--harm", type=Path, help="folder scorer_evals/harm of pyrit 1.1.0")
    parser.add_argument("--weights", type=Path, default=ASSETS)
    parser.add_argument("--rows", type=int, default=200, help="most rows of one set")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--alone", action="store_true", help="measure no baselines")
    parser.add_argument("--no-latency", action="store_true", help="time nothing (a busy machine)")
    parser.add_argument("--json", type=Path, help="also write the results here")
    parser.add_argument("--quick", action="store_true", help="ten rows of each committed set, no baselines, no latency")
    options = parser.parse_args(arguments)
    scorer = open_embedded(threads=options.threads, folder=options.weights)
    askers: dict[str, Asker] = {"ours": ScorerAsker(scorer)}
    if not (options.alone or options.quick):
        backbone = open_backbone()
        askers["cosine"] = CosineAsker(untuned_encoder(backbone.tensors), backbone.tokenizer)
        askers["sparrow"] = SparrowAsker()
    rows = 10 if options.quick else options.rows
    sets = read_sets(
        None if options.quick else options.data, None if options.quick else options.harm, rows=rows, seed=options.seed
    )
    results = {name: [measure(evaluation, asker) for evaluation in sets] for name, asker in askers.items()}
    print(table(results))
    for name, found in results.items():
        print(f"\n{name}: " + "; ".join(f"{what} {value:.3f}" for what, value in summary(found).items()))
    times = {} if options.quick or options.no_latency else latencies(scorer, repeats=7)
    for name, seconds in times.items():
        print(f"{name:40} {seconds * 1000:7.0f} ms ({torch.get_num_threads()} threads)")
    if options.json:
        whole = {"results": {n: [asdict(r) for r in found] for n, found in results.items()}, "seconds": times}
        options.json.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
