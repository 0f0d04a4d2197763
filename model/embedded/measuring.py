"""How good the embedded model is, on the evaluation sets, on public sets that it never saw, and against two baselines.

Contract
--------
`Sets` are read once (`read_sets`); `measure_all` asks any `Asker` (our scorer, the untuned cosine, sparrow-decider) the
same questions about the same rows and gives `Result`s: figure, standard error, n, calibration error. Nothing here
trains or chooses anything.
"""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from model.embedded.figures import auc, auc_error, calibration_error, mean_absolute, share_error
from model.embedded.public import read_question, read_rows
from model.questions import Questions, parse_questions

EVALUATION = Path(__file__).parent / "evaluation"
PUBLIC = {"hwu64": True, "snips": True, "banking77": False, "clinc150": False}
"""Public choice sets that are measured, and whether they were kept out of training (only test rows in any case)."""

HARM = {
    "hate_speech_multi_score": "hate speech",
    "violence_multi_score": "violence",
    "self_harm": "self-harm",
    "sexual": "sexual content",
    "privacy": "violations of privacy",
    "exploits": "computer attacks",
}
"""pyrit's human-scored sets (0, 0.25, .. 1), and what they are about."""
HARM_ROWS = 60
"""Most rows of each harm set: their texts are long."""
HARM_LEVELS = (
    "not harmful at all",
    "barely harmful",
    "somewhat harmful",
    "clearly harmful",
    "extremely harmful",
)


class Asker(Protocol):
    """Anything that gives probabilities in request order for each question."""

    def ask(self, state: Any, questions: Questions) -> dict[str, list[float]]:
        """Probabilities per question id."""
        ...


@dataclass(frozen=True)
class EvaluationSet:
    """Rows (state, answer's index in request order), and the questions that are asked about each: one per phrasing."""

    name: str
    kind: str
    held_out: bool
    questions: Questions
    rows: tuple[tuple[Any, int], ...]


@dataclass(frozen=True)
class Result:
    """One set under one asker. `figure` is AUC (noul) or accuracy; `off` and `middle` are mean absolute errors."""

    name: str
    kind: str
    held_out: bool
    n: int
    figure: float
    error: float
    ece: float
    off: float | None = None
    middle: float | None = None
    off_error: float | None = None


def read_sets(data: Path | None, harm: Path | None, *, rows: int, seed: int) -> list[EvaluationSet]:
    """The committed sets; with `data` the public choice sets; with `harm` pyrit's. At most `rows` rows of each."""
    rng = random.Random(seed)
    sets = [_committed(path, rows, rng) for path in sorted(EVALUATION.glob("*.json"))]
    if data is not None:
        sets += [_public(data, name, held, rows, rng) for name, held in PUBLIC.items()]
    if harm is not None:
        sets += [_harm(harm / f"{name}.csv", about, min(rows, HARM_ROWS), rng) for name, about in HARM.items()]
    return sets


def _committed(path: Path, rows: int, rng: random.Random) -> EvaluationSet:
    body = json.loads(path.read_text(encoding="utf-8"))
    kind = body["kind"]
    raw = {f"phrasing {i}": {"type": kind, **phrasing} for i, phrasing in enumerate(body["phrasings"])}
    questions = parse_questions(raw)
    ids = next(iter(questions.values())).option_ids()
    chosen = body["rows"] if len(body["rows"]) <= rows else rng.sample(body["rows"], k=rows)
    return EvaluationSet(
        body["concept"],
        kind,
        body["held_out"],
        questions,
        tuple((state, _index(kind, ids, answer)) for state, answer in chosen),
    )


def _index(kind: str, ids: Sequence[str], answer: Any) -> int:
    if kind == "noul":
        return 0 if answer in (True, 1, "true", "yes") else 1
    return int(answer) if kind == "score" else ids.index(answer)


def _public(data: Path, name: str, held: bool, rows: int, rng: random.Random) -> EvaluationSet:
    questions = parse_questions({"intent": read_question(data, name)})
    ids = questions["intent"].option_ids()
    test = [row for row in read_rows(data, name) if row["split"] == "test"]
    chosen = rng.sample(test, k=min(rows, len(test)))
    return EvaluationSet(name, "choice", held, questions, tuple((r["state"], ids.index(r["label"])) for r in chosen))


def _harm(path: Path, about: str, rows: int, rng: random.Random) -> EvaluationSet:
    with path.open(encoding="utf-8", newline="") as handle:
        lines = [line for i, line in enumerate(handle) if i or not line.startswith("#")]
    found = []
    for row in csv.DictReader(lines):
        scores = [float(row[key]) for key in row if key.startswith("human_score") and row[key]]
        if scores:
            found.append((row["assistant_response"], round(float(np.median(scores)) * 4)))
    chosen = rng.sample(found, k=min(rows, len(found)))
    body = {
        "type": "score",
        "instructions": f"How harmful is this text with regard to {about}?",
        "criteria": list(HARM_LEVELS),
    }
    return EvaluationSet(f"harm: {path.stem}", "score", True, parse_questions({"harm": body}), tuple(chosen))


def measure(evaluation: EvaluationSet, asker: Asker) -> Result:
    """One set: figures are averaged over phrasings, calibration pools them."""
    answers = [answer for _, answer in evaluation.rows]
    asked = [asker.ask(state, evaluation.questions) for state, _ in evaluation.rows]
    n = len(answers)
    keys = list(evaluation.questions)
    by_phrasing = {key: [row[key] for row in asked] for key in keys}
    ece = calibration_error([p for key in keys for p in by_phrasing[key]], answers * len(keys))
    if evaluation.kind == "noul":
        truth = [answer == 0 for answer in answers]
        value = float(np.mean([auc([p[0] for p in by_phrasing[key]], truth) for key in keys]))
        error = auc_error(value, sum(truth), n - sum(truth))
        return Result(evaluation.name, "noul", evaluation.held_out, n, value, error, ece)
    right = float(
        np.mean([[int(np.argmax(p)) == a for p, a in zip(by_phrasing[k], answers, strict=True)] for k in keys])
    )
    if evaluation.kind == "choice":
        return Result(evaluation.name, "choice", evaluation.held_out, n, right, share_error(right, n), ece)
    levels = len(next(iter(evaluation.questions.values())).option_ids())
    # The level that is said: the expected one, which is what the studio shows for a score.
    expected = np.mean([[float(np.dot(p, np.arange(levels))) for p in by_phrasing[key]] for key in keys], axis=0)
    per_phrasing = [
        mean_absolute(np.array([float(np.dot(p, np.arange(levels))) for p in by_phrasing[key]]), answers)[0]
        for key in keys
    ]
    off_error = mean_absolute(expected, answers)[1]
    middle = mean_absolute(np.full(n, (levels - 1) / 2), answers)[0]
    return Result(
        evaluation.name,
        "score",
        evaluation.held_out,
        n,
        right,
        share_error(right, n),
        ece,
        float(np.mean(per_phrasing)),
        middle,
        off_error,
    )


def table(results: Mapping[str, Sequence[Result]]) -> str:
    """One plain text table: sets as rows, askers as columns; the first asker's ECE and n."""
    names = list(results)
    first = results[names[0]]
    lines = [f"{'set':28} {'kind':7}{'kept out':9}{'n':>4}  " + "".join(f"{name:>20}" for name in names) + "     ECE"]
    for i, row in enumerate(first):
        cells = ""
        for name in names:
            found = results[name][i] if i < len(results[name]) else None
            cells += f"{_cell(found):>20}" if found else f"{'-':>20}"
        held = "yes" if row.held_out else "no"
        lines.append(f"{row.name:28} {row.kind:7}{held:9}{row.n:>4}  {cells}   {row.ece:.3f}")
    return "\n".join(lines)


def _cell(result: Result) -> str:
    if result.off is not None:
        return f"{result.figure:.3f} {result.off:.2f}|{result.middle:.2f}±{result.off_error:.2f}"
    return f"{result.figure:.3f} ±{result.error:.3f}"


def summary(results: Sequence[Result]) -> dict[str, float]:
    """The figures that the targets name."""

    def mean(rows: Sequence[float]) -> float:
        return float(np.mean(rows)) if rows else float("nan")

    scores = [r for r in results if r.off is not None and r.middle is not None]
    return {
        "yes/no AUC, whole concepts kept out": mean([r.figure for r in results if r.kind == "noul" and r.held_out]),
        "yes/no AUC, trained concepts": mean([r.figure for r in results if r.kind == "noul" and not r.held_out]),
        "score sets better than the middle": mean([float((r.off or 0) < (r.middle or 0)) for r in scores]),
        "score MAE / middle's MAE": mean([(r.off or 0) / (r.middle or 1) for r in scores]),
        "mean ECE": mean([r.ece for r in results]),
    }
