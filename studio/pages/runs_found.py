"""The Runs page's results: rows by filter, one row whole, and all of them as a file.

Contract
--------
Functions take and give plain JSON and never raise (`studio.pages.design_schemas.told`); rows come a page at a time, by
the number of the last one. Files are written beside the uploads, sent from the disk and removed: none is ever whole in
memory. In CSV no cell starts a formula (`storage.datasets.cells`).
"""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

from pydantic import BaseModel, Field

from model.questions import Json
from storage.cases import questions_of, read_cases
from storage.database import Database
from storage.datasets.cells import safe
from storage.errors import InvalidValue, NotFound
from storage.jobs import Job
from storage.runs import PORTION, RunResult, Show, count_results, results, write_results
from storage.tabular import TableRow, open_table
from studio.pages.design_schemas import Told, told
from studio.pages.runs_list import run_of
from studio.runs.run import FOLDER
from studio.runs.uploads import RESULTS

PAGE = 50
TABLES = (".csv", ".parquet")


class Rows(BaseModel):
    """Which rows; see `storage.runs.results`."""

    run: UUID
    show: Show = "all"
    question: str
    option: str | None = None
    truth: str | None = None
    below: float = Field(0.6, ge=0, le=1)
    after: int = Field(-1, ge=-1)


class Row(BaseModel):
    """One row."""

    run: UUID
    row: int = Field(ge=0)


def found_functions(database: Database) -> list[Told]:
    """The page's functions about results, each under its own name."""

    @told
    def found(payload: Json) -> Json:
        given = Rows.model_validate(payload)
        job = run_of(database, str(given.run))
        wanted = given.model_dump(include={"show", "question", "option", "truth", "below"})
        rows = results(database, job, **wanted, after=given.after, limit=PAGE + 1)
        shown = rows[:PAGE]
        # A state that is only a picture has no words to show: then the picture.
        bare = [row.decision for row in shown if row.decision is not None and not row.preview.strip()]
        pictures = {key: case.pictures for key, case in read_cases(database, bare, given.question).items()}
        return {
            "rows": [_row(row, given.question, pictures.get(row.decision or "", ())) for row in shown],
            "more": len(rows) > PAGE,
            "count": count_results(database, job, **wanted),
        }

    @told
    def row(payload: Json) -> Json:
        given = Row.model_validate(payload)
        job = run_of(database, str(given.run))
        rows = results(database, job, after=given.row - 1, limit=1)
        if not rows or rows[0].row != given.row:
            raise NotFound("row", "this row is not run yet")
        (one,) = rows
        answers: list[Json] = [
            {
                "question": key,
                "top": answer.top,
                "options": list(answer.options),
                "probabilities": list(answer.probabilities),
                "truth": answer.truth,
            }
            for key, answer in one.answers.items()
        ]
        reply: dict[str, Json] = {"row": one.row, "line": one.line, "problem": one.problem, "same": one.same}
        reply |= {"decision": one.decision, "answers": answers, "state": None, "pictures": [], "redacted": False}
        if one.decision is not None and answers:
            case = read_cases(database, [one.decision], next(iter(one.answers)))[one.decision]
            reply |= {"state": case.state, "redacted": case.redacted, "words": list(case.words)}
            reply["pictures"] = [{"token": t, "width": w, "height": h} for t, w, h in case.pictures]
            reply["tokens"], reply["read"] = case.tokens, case.read
        return reply

    return [found, row]


def _row(row: RunResult, question: str, pictures: tuple[tuple[str, int, int], ...]) -> Json:
    answer = row.answers.get(question)
    return {
        "row": row.row,
        "line": row.line,
        "decision": row.decision,
        "preview": row.preview,
        "picture": pictures[0][0] if pictures else None,
        "problem": row.problem,
        "same": row.same,
        "top": None if answer is None else answer.top,
        "probability": None if answer is None else answer.probability,
        "truth": None if answer is None else answer.truth,
    }


def write_all(database: Database, job: Job, ending: str) -> Path:
    """Writes a run's results as a new file, `.csv` or `.parquet`; who asked for it removes it. Raises InvalidValue."""
    if ending not in TABLES:
        raise InvalidValue("file", f"{ending} is not written; ask for {' or '.join(TABLES)}")
    table = open_table(database.folder / job.spec["file"])
    path = _fresh(database, ending)
    try:
        write_results(database, job, table, questions_of(database, job.spec["questions"]), path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


def write_problems(database: Database, job: Job) -> Path:
    """Writes the rows that were kept aside: line, reason, and the cells where there are any."""
    table = open_table(database.folder / job.spec["file"])
    path = _fresh(database, ".csv")
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        sink = csv.writer(file, lineterminator="\r\n")
        sink.writerow([safe(name) for name in ("line", "reason", *table.columns)])
        rows = enumerate(table.rows())
        for problem in _problems(database, job):
            cells: list[str] = []
            for number, row in rows:
                if number == problem.row:
                    cells = [_text(row.cells.get(c)) for c in table.columns] if isinstance(row, TableRow) else []
                    break
            sink.writerow([problem.line, safe(problem.problem or ""), *map(safe, cells)])
    return path


def _problems(database: Database, job: Job) -> Iterator[RunResult]:
    after = -1
    while rows := results(database, job, show="bad", after=after, limit=PORTION):
        after = rows[-1].row
        yield from rows


def _fresh(database: Database, ending: str) -> Path:
    folder = database.folder / FOLDER
    folder.mkdir(exist_ok=True)
    handle, name = tempfile.mkstemp(ending, RESULTS, folder)
    os.close(handle)
    return Path(name)


def _text(cell: object) -> str:
    return "" if cell is None else "(picture)" if isinstance(cell, bytes) else str(cell)
