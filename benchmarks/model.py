"""What a changed question costs on a long state: with what was read of the state kept, without, and by the reference.

    python benchmarks/model.py --reference PATH/joint_schema_model.py

One run on one random Clef of a middle size (`benchmarks/release.py`), float32, the same weights for all. A person edits
one question of two on a state of 4k and of 16k tokens; each edit is asked of

* the released code of Clef, from the file given with --reference (it lies in the package clef-finetune 0.1.0: fetch it
  with `pip download --no-deps clef-finetune==0.1.0` and unzip it; it is loaded by its path and never installed),
* Clef without memory for states (`--state-memory 0`): a full pass,
* Clef as it is opened by default: the state was read when the first question was asked.

Times are medians, of the whole way from text to logits; "first" is the first question on a state, which reads it and
keeps it. The slow ways are asked the last edits only (--slow). The last column is the largest difference of a logit
between Clef with its memory and the reference (without a reference: and a full pass).
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

# Not this folder, where `model` would be this file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch

from benchmarks.release import MIDDLE, SMALL, write_release
from model.clef import Clef, open_clef
from model.questions import parse_questions
from model.scorer import Request
from model.state import parse_state

MAX_TOKENS = 32_768
COLUMNS = ("state", "schema", "reference", "full pass", "first", "edit", "edit / reference", "edit / full pass",
           "kept MB", "max |Δlogit|")  # fmt: skip
Logits: TypeAlias = Mapping[str, Sequence[float]]
Ask: TypeAlias = Callable[[str, dict[str, Any]], Logits]

SENTENCES = (
    "Ticket {n}: the customer in room {m} says that the invoice of last month was charged twice.",
    "Our agent answered after {m} minutes and asked for the number of the order, which was {n}{m}.",
    "The parcel left the warehouse on day {m}, and since then nobody can say where it is.",
    "They would like their money back, or at least a word from somebody who knows.",
    "A second message came an hour later; it only says: please see above, still waiting ({n}).",
)
QUESTIONS: dict[str, Any] = {
    "team": {
        "type": "choice",
        "instructions": "Which team?",
        "criteria": {"money": "Invoices", "parcels": None, "none": None},
    },
    "urgent": {"type": "noul", "instructions": "Is it urgent?", "criteria": {"true": "Today", "false": None}},
}
"""With the small vocabulary about as many tokens as three questions have in a real release (334 in Cloudflare's own
example)."""


def edits(count: int) -> list[dict[str, Any]]:
    """The questions as they are after each of `count` edits of one of them, after none first."""
    words = ["Which", "team", "of", "ours", "should", "take", "this", "over", "and", "answer", "by", "tonight"]
    changed = [QUESTIONS]
    for i in range(count):
        team = QUESTIONS["team"] | {"instructions": " ".join(words[: 2 + i % 10])}
        changed.append(QUESTIONS | {"team": team})
    return changed


def state_of(clef: Clef, tokens: int) -> str:
    """A text of about so many tokens."""
    questions, text, n = parse_questions(QUESTIONS), "", 0
    while True:
        more = text + " ".join(s.format(n=n + i, m=(7 * n + i) % 60) for i, s in enumerate(SENTENCES)) + "\n"
        if clef.count(parse_state(more), questions).state > tokens:
            return text
        text, n = more, n + 1


def ours(clef: Clef) -> Ask:
    """Clef, by the way that all requests take."""

    def ask(state: str, questions: dict[str, Any]) -> Logits:
        (reading,) = clef.score([Request(parse_state(state), parse_questions(questions))])
        return reading.logits

    return ask


def reference(path: Path, clef: Clef, folder: Path) -> Ask:
    """The released code on the same weights. Its own loader wants torchvision, which reading text does not need."""
    from safetensors.torch import load_file
    from transformers import PreTrainedTokenizerFast

    spec = importlib.util.spec_from_file_location("joint_schema_model", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise SystemExit(f"--reference: {path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    head = module.JointSchemaHead(**clef.checkpoint.head_config.json())
    head.load_state_dict(load_file(folder / "joint_head.safetensors"), strict=True)
    device = clef.backbone.device
    model = module.ClefModel(clef.backbone.model, head.to(device)).eval()
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))

    @torch.inference_mode()
    def ask(state: str, questions: dict[str, Any]) -> Logits:
        record = {"state": state, "questions": questions}
        encoded = module.encode_record(tokenizer, record, max_length=MAX_TOKENS)
        (rows,) = model(module.collate_records([encoded], clef.backbone.pad_id, device))
        return {q.question_id: row.double().tolist() for q, row in zip(encoded.questions, rows, strict=True)}

    return ask


def timed(
    ask: Ask, state: str, schemas: Sequence[dict[str, Any]], clock: Callable[[], float]
) -> tuple[list[float], list[Logits]]:
    """Seconds and logits of each request, one after the other."""
    seconds, answers = [], []
    for questions in schemas:
        started = clock()
        answers.append(ask(state, questions))  # logits are on the CPU then: the device has finished
        seconds.append(clock() - started)
    return seconds, answers


def apart(a: Sequence[Logits], b: Sequence[Logits]) -> float:
    """Largest difference of a logit."""
    return max(abs(x - y) for p, q in zip(a, b, strict=True) for key in p for x, y in zip(p[key], q[key], strict=True))


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--reference", type=Path, metavar="FILE", help="joint_schema_model.py of the release")
    parser.add_argument("--quick", action="store_true", help="a small model and short states: whether all runs")
    parser.add_argument("--edits", type=int, default=None, metavar="N", help="edits per state (default: 5; quick: 2)")
    parser.add_argument("--device", default="cpu", help="cpu, cuda (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=None, metavar="N", help="CPU threads (default: torch's)")
    parser.add_argument("--slow", type=int, default=2, metavar="N", help="edits asked of the slow ways (default: 2)")
    parser.add_argument(
        "--cpu-time",
        action="store_true",
        help="count CPU seconds of all threads: where the machine does other work too",
    )
    given = parser.parse_args(argv)
    clock = time.process_time if given.cpu_time else time.perf_counter
    lengths = (300, 900) if given.quick else (4_096, 16_384)
    schemas = edits(given.edits or (2 if given.quick else 5))

    with tempfile.TemporaryDirectory() as temporary:
        folder = write_release(Path(temporary) / "random-clef", SMALL if given.quick else MIDDLE)
        options: dict[str, Any] = {
            "device": given.device, "dtype": "float32", "max_tokens": MAX_TOKENS, "threads": given.threads,
        }  # fmt: skip
        clef = open_clef(folder, **options)
        plain = Clef(clef.checkpoint, backbone=clef.backbone, head=clef.head, encoder=clef.encoder, state_memory=0)
        theirs = None if given.reference is None else reference(given.reference, clef, folder)
        size = clef.info.details
        print(
            f"random Clef: backbone {size['backbone_parameters'] / 1e6:.1f} M, "
            f"head {size['head_parameters'] / 1e6:.1f} M parameters, "
            f"{clef.backbone.text_config.num_hidden_layers} layers, float32 on {clef.info.device}, "
            f"{torch.get_num_threads()} threads, torch {torch.__version__}"
        )
        print(
            f"{len(schemas) - 1} edits of one question of {len(QUESTIONS)}; "
            f"{'CPU ' if given.cpu_time else ''}seconds, medians\n"
        )
        print(row(COLUMNS))
        for asks in filter(None, (theirs, ours(plain), ours(clef), ours(clef))):
            timed(asks, "What is set up once is not part of the figures.", schemas[:1], clock)
        clef.states.forget()
        for length in lengths:
            state = state_of(clef, length)
            tokens = clef.count(parse_state(state), parse_questions(schemas[-1]))
            kept, answers = timed(ours(clef), state, schemas, clock)
            full, same = timed(ours(plain), state, schemas[-given.slow :], clock)
            edit, whole, slow = statistics.median(kept[1:]), statistics.median(full), None
            if theirs is not None:
                seconds, same = timed(theirs, state, schemas[-given.slow :], clock)
                slow = statistics.median(seconds)
            print(
                row(
                    (
                        f"{tokens.state:,}",
                        f"{tokens.questions + tokens.frame:,}",
                        "-" if slow is None else f"{slow:.3f}",
                        f"{whole:.3f}",
                        f"{kept[0]:.3f}",
                        f"{edit:.3f}",
                        "-" if slow is None else f"{edit / slow:.3f}",
                        f"{edit / whole:.3f}",
                        f"{clef.states.bytes / 2**20:.0f}",
                        f"{apart(answers[-given.slow :], same):.1e}",
                    )
                ),
                flush=True,
            )


def row(cells: Sequence[str]) -> str:
    """One line of the table."""
    return " | ".join(f"{cell:>{max(9, len(name))}}" for cell, name in zip(cells, COLUMNS, strict=True))


if __name__ == "__main__":
    main()
