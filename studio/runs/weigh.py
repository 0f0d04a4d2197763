"""What a run would be, before it is one: rows, what cannot be judged, repeats, near-duplicates, tokens and time.

Contract
--------
* `Weighing` goes once through a table under a mapping, in a thread of its own; `view` tells how far it is and what it
  found, whenever it is asked. Nothing is kept in the database.
* Memory does not grow with the file but for 16 bytes per different row, and 512 for each of the first `NEAR_ROWS` of
  them, of which near-duplicates are counted. Pictures are compared byte by byte only.
* Tokens are counted of at most `COUNTED` rows, evenly spread over the file. The time is measured: the first rows are
  really judged, so it costs the model a few rows; nothing of them is kept.
* Rows that cannot be judged are told with line and reason: `SHOWN` in `view`, all of them in the file `problems`.
"""

from __future__ import annotations

import csv
import logging
import os
import threading
import time
from collections import Counter, OrderedDict
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from model.engine import Busy, Closed, Decision, Engine, NotReady
from model.images import PAGE_CAPS, read_picture
from model.questions import InvalidRequest, Json, Limits, Questions
from model.scorer import Request, Scorer
from model.state import State, TooLong, parse_state
from storage.datasets.cells import safe
from storage.datasets.formats import BadRow
from storage.datasets.near import Sets, join_near, signature
from storage.errors import InvalidValue
from storage.tabular import Table
from studio.runs.mapping import Case, RowMapping, case_of, read_truth
from studio.runs.run import digest

log = logging.getLogger(__name__)

NEAR_ROWS = 50_000
COUNTED = 256
TRIED = 8
TRY_SECONDS = 1.5
"""If the first row takes longer, it alone is measured."""
SHOWN = 100
ODD = 5
"""Different cells that are no true answer, that are shown."""
REMEMBERED = 8
PATIENCE = 60.0


@dataclass
class Found:
    """What was found so far. `read` rows of the file; `judged` of them can be; `pictures` of those have any.

    `tokens`: of some rows, their number, what they need, and whether that is too much. `odd`: cells that are no true
    answer, by question. `near` of `compared` different rows are nearly like an earlier one.
    """

    read: int = 0
    judged: int = 0
    pictures: int = 0
    problems: list[tuple[int, str]] = field(default_factory=list)
    repeats: int = 0
    near: int | None = None
    compared: int = 0
    truths: Counter[str] = field(default_factory=Counter)
    odd: dict[str, Counter[str]] = field(default_factory=dict)
    tokens: list[tuple[int, int, bool]] = field(default_factory=list)
    limit: int | None = None
    tried: int = 0
    seconds: float | None = None


class Weighing:
    """See the module's contract. Starts at once."""

    def __init__(
        self, table: Table, mapping: RowMapping, questions: Questions, engine: Engine, *, problems: Path
    ) -> None:
        self._table, self._mapping, self._questions, self._engine = table, mapping, questions, engine
        self._path = problems
        self._found = Found()
        self._seen: set[bytes] = set()
        self._marks: list[np.ndarray] = []
        self._stride = 1
        self._trial: list[State] = []
        self._error = ""
        self._odd = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="weigh", daemon=True)
        self._thread.start()

    @property
    def finished(self) -> bool:
        """Whether it came to its end."""
        return not self._thread.is_alive()

    def stop(self) -> None:
        """Nobody wants to know any more."""
        self._stopped.set()

    def view(self) -> dict[str, Json]:
        """Plain JSON, for the page."""
        found, finished = self._found, self.finished
        counted = list(found.tokens)
        tokens = [needed for _, needed, _ in counted]
        mean = sum(tokens) / len(tokens) if tokens else None
        with self._odd:
            odd: Json = {
                key: {"n": counts.total(), "kinds": len(counts), "cells": [cell for cell, _ in counts.most_common(ODD)]}
                for key, counts in found.odd.items()
            }
        return {
            "finished": finished,
            "error": self._error,
            "rows": found.read,
            "judged": found.judged,
            "pictures": found.pictures,
            "bad": found.read - found.judged,
            "problems": [list(problem) for problem in found.problems[:SHOWN]],
            "repeats": found.repeats,
            "near": found.near,
            "compared": found.compared,
            "truths": {key: found.truths[key] for key in self._mapping.truth},
            "odd": odd,
            "tokens": {
                "counted": len(tokens),
                "mean": mean,
                "most": max(tokens, default=None),
                "all": None if mean is None else round(mean * found.judged),
                "too_long": sum(over for _, _, over in counted),
                "limit": found.limit,
            },
            "seconds_per_row": found.seconds,
            "tried": found.tried,
        }

    def _run(self) -> None:
        try:
            self._read()
            if not self._stopped.is_set():
                self._compare()
                self._try()
        except (OSError, ValueError, KeyError) as error:
            # A file that breaks off in the middle, such as a Parquet file that is not whole.
            self._error = error.message if isinstance(error, InvalidValue) else str(error)
        except Exception:
            # The edge of the thread: the page must hear of it.
            log.exception("a file could not be looked through")
            self._error = "The file could not be looked through; the log says why."

    def _read(self) -> None:
        found, scorer = self._found, self._scorer()
        # Of its own until it is whole: an earlier weighing may not have noticed yet that it was told to end.
        part = self._path.with_name(f"{self._path.name}.{uuid4()}")
        try:
            self._read_rows(found, scorer, part)
            if not self._stopped.is_set():
                os.replace(part, self._path)
        finally:
            part.unlink(missing_ok=True)
        found.compared = len(self._marks)
        self._seen = set()

    def _read_rows(self, found: Found, scorer: Scorer | None, path: Path) -> None:
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            sink = csv.writer(file)
            sink.writerow(["line", "reason"])
            for row in self._table.rows():
                if self._stopped.is_set():
                    return
                found.read += 1
                case = row.message if isinstance(row, BadRow) else self._case(row)
                if isinstance(case, str):
                    self._problem(sink, row.line, case)
                    continue
                self._note(case, row, scorer)

    def _case(self, row: Any) -> Case | str:
        try:
            return case_of(row, self._mapping, self._questions, self._table.folder)
        except (ValueError, OSError) as error:
            return str(error)

    def _problem(self, sink: Any, line: int, reason: str) -> None:
        sink.writerow([line, safe(reason)])
        if len(self._found.problems) < SHOWN:
            self._found.problems.append((line, reason[:300]))

    def _note(self, case: Case, row: Any, scorer: Scorer | None) -> None:
        found = self._found
        number, found.judged = found.judged, found.judged + 1
        found.pictures += bool(case.pictures)
        found.truths.update(case.truth.keys())
        if case.unread:
            self._note_odd(row.cells)
        key = digest(case.state, case.pictures)
        if key in self._seen:
            found.repeats += 1
        else:
            self._seen.add(key)
            if not case.pictures and len(self._marks) < NEAR_ROWS:
                self._marks.append(signature(case.state))
        if scorer is not None and number % self._stride == 0:
            self._count(number, case, scorer)

    def _note_odd(self, cells: dict[str, Any]) -> None:
        for key, column in self._mapping.truth.items():
            cell = cells.get(column)
            if cell is None or cell == "" or read_truth(self._questions, key, cell) is not None:
                continue
            text = str(cell)[:60]
            with self._odd:
                counts = self._found.odd.setdefault(key, Counter())
                # Free text in a column of true answers must not fill the memory.
                counts[text if text in counts or len(counts) < 1000 else "other cells"] += 1

    def _count(self, number: int, case: Case, scorer: Scorer) -> None:
        found = self._found
        try:
            state = _state(case, scorer.limits)
            tokens = scorer.count(state, self._questions)
            over = tokens.needed > tokens.limit
        except TooLong as error:
            tokens, over = error.tokens, True
        except InvalidRequest:
            return
        if not over and len(self._trial) < TRIED:
            self._trial.append(state)
        found.limit = tokens.limit
        found.tokens.append((number, tokens.needed, over))
        if len(found.tokens) > COUNTED:
            # Half as dense from here on, and back to the beginning: so they stay evenly spread.
            self._stride *= 2
            found.tokens = [entry for entry in found.tokens if entry[0] % self._stride == 0]

    def _compare(self) -> None:
        if self._found.compared:
            sets = Sets(self._found.compared)
            join_near(sets, np.stack(self._marks))
            self._found.near = sum(sets.find(item) != item for item in range(self._found.compared))
        self._marks = []

    def _try(self) -> None:
        """Judges the first rows and looks at the clock: one alone, then the others together, as a run does."""
        if not self._trial:
            return
        try:
            started = time.perf_counter()
            first = self._engine.submit(Request(self._trial[0], self._questions, True))
            _wait([first])
            seconds, tried = time.perf_counter() - started, 1
            if seconds < TRY_SECONDS and len(self._trial) > 1:
                started = time.perf_counter()
                _wait([self._engine.submit(Request(state, self._questions, True)) for state in self._trial[1:]])
                seconds, tried = time.perf_counter() - started, len(self._trial) - 1
        except (Busy, NotReady, Closed, InvalidRequest, TimeoutError) as error:
            log.info("the time of a run was not measured: %s", error)
            return
        self._found.seconds, self._found.tried = seconds / tried, tried
        self._trial = []

    def _scorer(self) -> Scorer | None:
        try:
            return self._engine.scorer
        except NotReady:
            return None


class Weighings:
    """The newest weighings, so that a page that asks again is told how far the one under way is."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Weighing] = OrderedDict()

    def find(self, key: str) -> Weighing | None:
        """The weighing under a key, if it is here."""
        with self._lock:
            return self._kept.get(key)

    def put(self, key: str, weighing: Weighing) -> None:
        """Keeps it under `<upload>/<rest>`; others of the same upload end, for nobody will ask after them."""
        upload = key.partition("/")[0]
        with self._lock:
            for other in [other for other in self._kept if other.partition("/")[0] == upload]:
                self._kept.pop(other).stop()
            self._kept[key] = weighing
            while len(self._kept) > REMEMBERED:
                self._kept.popitem(last=False)[1].stop()


def _state(case: Case, limits: Limits) -> State:
    pictures = tuple(read_picture(data, caps=PAGE_CAPS) for data in case.pictures)
    return parse_state(case.state, pictures, limits=limits)


def _wait(futures: list[Future[Decision]]) -> None:
    for future in futures:
        future.result(PATIENCE)
