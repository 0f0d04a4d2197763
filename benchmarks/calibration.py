"""How long the Calibration page's figures take, at 1,000, 10,000 and 100,000 labels.

    python -m benchmarks.calibration            prints a table; --quick only 1,000; --labels N M ... other sizes

A temporary database is filled with answers and labels of a known fault, then the page's own functions are called.
"first" reads the labels out of the database, "figures" computes the plot, numbers and desk of labels that are in
memory, "again" asks for the same once more, as a reload of the page does. Seconds of wall time, CPU in brackets.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from storage.database import Database
from studio.pages.calibration_data import Shelf
from studio.pages.calibration_desk import desk_functions
from studio.pages.calibration_review import review_functions
from tests.calibration_data import SCORER, seed

SIZES = (1_000, 10_000, 100_000)
QUICK = (1_000,)


def measure(database: Database, n: int) -> dict[str, tuple[float, float]]:
    """Seconds (wall, CPU) of each step for a scorer with `n` labels."""
    scorer = replace(SCORER, fingerprint=f"{n:064x}")
    place = seed(database, audit=n * 7 // 10, queue=n - n * 7 // 10, volunteered=n // 20, scorer=scorer, salt=n)
    where = {key: place[key] for key in ("questions", "scorer", "question")}
    shelf = Shelf(database)
    functions: dict[str, Callable[[Any], Any]] = {
        f.__name__: f for f in [*review_functions(shelf), *desk_functions(shelf)]
    }

    def page() -> None:
        for name in ("review", "thresholds", "badge"):
            reply = functions[name](where)
            if "error" in reply:
                raise SystemExit(f"{name}: {reply['error']['message']}")

    steps: dict[str, Callable[[], object]] = {
        "first": lambda: functions["cases"]({**where, "low": 0.9, "high": 0.95}),
        "figures": page,
        "again": page,
        "one option": lambda: functions["review"]({**where, "view": "option:security"}),
        "cases": lambda: functions["cases"]({**where, "low": 0.9, "high": 0.95}),
    }
    return {name: _timed(step) for name, step in steps.items()}


def _timed(step: Callable[[], object]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    step()
    return time.perf_counter() - wall, time.process_time() - cpu


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the table. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="1,000 labels only")
    parser.add_argument("--labels", type=int, nargs="+", help="numbers of labels")
    given = parser.parse_args(argv)
    sizes = given.labels or (QUICK if given.quick else SIZES)
    with tempfile.TemporaryDirectory() as folder, Database.open(Path(folder)) as database:
        for i, n in enumerate(sizes):
            times = measure(database, n)
            if i == 0:
                print(f"{'labels':>8}  " + "  ".join(f"{name:>15}" for name in times), flush=True)
            print(f"{n:>8,}  " + "  ".join(f"{w:>7.2f} ({c:>5.2f})" for w, c in times.values()), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
