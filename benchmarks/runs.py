"""How fast runs and exports are, and what memory they take. Prints one table.

    python -m benchmarks.runs [--quick] [--data DIR]

* `model`: rows through the embedded model, of a file with one choice question: rows/s of the whole run.
* `pipeline only`: the same rows through a scorer that answers at once. What is left is reading, queueing and storing.
* `export`: labelled decisions of that run, frozen and written in each format.

Each part runs in a process of its own, so that its peak memory (resident, from the kernel) is its own; what the process
took before the first row is printed beside it. CPU seconds count all threads: they hold on a busy machine too.
`--data DIR` takes texts from the `.jsonl.gz` files of a folder (rows with `state` and `label`), else texts are made up.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from model.engine import Engine
from model.questions import CLEF_LIMITS, Limits, Questions, parse_questions
from model.scorer import Reading, Request, Scorer, ScorerInfo
from model.state import State, Tokens
from storage.database import Database
from storage.datasets.gather import Recipe
from storage.datasets.registry import FORMATS
from storage.datasets.split import SplitSpec
from storage.datasets.versions import export_version, freeze
from storage.jobs import take
from studio.jobs import do
from studio.runs.bring import version_for
from studio.runs.mapping import RowMapping
from studio.runs.run import Run, RunSpec, start

OPTIONS = ("billing", "delivery", "refund", "account", "other")
WORDS = ("parcel", "invoice", "charged", "twice", "late", "never", "arrived", "login", "password", "money", "address")


class Constant:
    """Answers at once, always the same way."""

    def __init__(self) -> None:
        self.info = ScorerInfo("constant", "clef", "c" * 64, "neutral", 4096, sees_pictures=False)
        self.limits: Limits = CLEF_LIMITS

    def count(self, state: State, questions: Questions) -> Tokens:
        """Nothing is counted."""
        return Tokens(state=1, pictures=0, questions=1, frame=1, limit=4096, read=1)

    def score(self, requests: Sequence[Request]) -> list[Reading]:
        """One reading per request."""
        return [
            Reading(
                {key: [float(i) for i, _ in enumerate(q.options())] for key, q in request.questions.items()},
                self.count(request.state, request.questions),
            )
            for request in requests
        ]


def texts(data: Path | None, rows: int) -> Iterator[tuple[str, str]]:
    """Text and label of so many rows; a set that is too small is gone through again with a number added."""
    draw = random.Random(6)
    if data is None:
        for number in range(rows):
            yield f"{' '.join(draw.choices(WORDS, k=30))} (case {number})", draw.choice(OPTIONS)
        return
    found = []
    for path in sorted(data.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            found += [(row["state"], str(row["label"])) for row in map(json.loads, file)]
    for number in range(rows):
        text, label = found[number % len(found)]
        yield (text if number < len(found) else f"{text} ({number})"), label


def peak() -> float:
    """The most memory that this process has had so far, in MB."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def run(folder: Path, rows: int, data: Path | None, scorer: str) -> dict[str, float]:
    """Runs a file of so many rows; returns rows per second and memory in MB."""
    file = folder / "rows.jsonl"
    labels: dict[str, None] = {}
    with file.open("w") as out:
        for text, label in texts(data, rows):
            labels[label] = None
            out.write(json.dumps({"text": text, "label": label}) + "\n")
    options = dict.fromkeys([*labels][:255])
    questions = parse_questions({"label": {"type": "choice", "instructions": "What is it about?", "criteria": options}})

    def load(_: object) -> Scorer:
        if scorer == "constant":
            return Constant()
        from model.embedded.reader import open_embedded

        return open_embedded()

    with Database.open(folder) as database:
        engine = Engine(load)
        info = engine.wait_ready().scorer
        assert info is not None
        version = version_for(database, questions, "benchmark")
        spec = RunSpec(
            file="rows.jsonl",
            name="rows.jsonl",
            questions=version.sha256,
            scorer=info.fingerprint,
            mapping=RowMapping(text="text", truth={"label": "label"}),
            schema_id=version.schema_id,
            version=version.number,
        )
        before, started, cpu = peak(), time.perf_counter(), time.process_time()
        job = take(database, start(database, spec).id)
        done = do(database, job, Run(database, engine), threading.Event())
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
        engine.close()
        assert (done.status, done.progress["done"]) == ("done", rows), done
    speed = {"seconds": seconds, "CPU s": cpu, "rows/s": rows / seconds, "rows/CPU s": rows / cpu}
    return {"rows": rows, **speed, "MB before": before, "MB peak": peak()}


def export(folder: Path, format: str) -> dict[str, float]:
    """Freezes what a run labelled, and writes it in one format."""
    from storage.datasets.gather import labelled_schemas

    with Database.open(folder) as database:
        before, started, cpu = peak(), time.perf_counter(), time.process_time()
        (asked,) = labelled_schemas(database)
        recipe = Recipe(name="benchmark", questions=(asked.sha256,), split=SplitSpec(similar=0.8))
        version = freeze(database, recipe)
        frozen = time.perf_counter() - started
        with tempfile.TemporaryDirectory() as out:
            done = export_version(database, version, FORMATS[format], Path(out) / "out")
        assert not done.problems, done.problems[:3]
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    return {
        "rows": done.total,
        "freeze s": frozen,
        "seconds": seconds,
        "CPU s": cpu,
        "MB before": before,
        "MB peak": peak(),
    }


def _apart(part: str, folder: Path, *arguments: object) -> None:
    """One part in a process of its own; prints its line."""
    argv = [sys.executable, "-m", "benchmarks.runs", "--part", part, str(folder), *map(str, arguments)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    figures = json.loads(done.stdout.splitlines()[-1])
    name = " ".join([part, *(str(a) for a in arguments if not str(a).isdigit() and a)])
    print(f"{name:32} " + "  ".join(f"{k} {v:,.1f}" if v != int(v) else f"{k} {int(v):,}" for k, v in figures.items()))


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few rows, to see that it works")
    parser.add_argument("--data", type=Path, default=None, metavar="DIR")
    parser.add_argument("--part", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        part, folder, *rest = given.part
        data = Path(rest[2]) if len(rest) > 2 and rest[2] else None
        print(
            json.dumps(
                run(Path(folder), int(rest[0]), data, rest[1]) if part == "run" else export(Path(folder), rest[0])
            )
        )
        return
    few, many = (50, 2000) if given.quick else (1000, 100_000)
    with tempfile.TemporaryDirectory() as work:
        first, second = Path(work) / "a", Path(work) / "b"
        for folder in (first, second):
            folder.mkdir()
        _apart("run", first, few, "embedded", given.data or "")
        _apart("run", second, many, "constant", given.data or "")
        for name in ("clef-finetune", "hf-parquet") if given.quick else FORMATS:
            _apart("export", second, name)


if __name__ == "__main__":
    main()
