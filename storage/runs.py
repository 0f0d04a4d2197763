"""What a run found: its rows by filter, how answers and truth fall together, and all of it as a file.

Contract
--------
Reads only. A row's true answer is the newest standing label of its decision, whoever gave it. Rows page by number.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal, Protocol, TypeAlias

import sqlalchemy as sa
from sqlmodel import Session, col, select

from model.questions import Questions
from storage.database import Database
from storage.datasets.cells import safe
from storage.datasets.formats import BadRow
from storage.jobs import Job
from storage.labels import standing
from storage.tables import AnswerRow, DecisionRow, LabelRow, RunRow
from storage.tabular import Table, TableRow

Show: TypeAlias = Literal["all", "wrong", "right", "unsure", "bad", "repeats"]
PORTION = 500
NUMBER = ": probability"


@dataclass(frozen=True)
class Found:
    """One question's answer in a row, as in `AnswerRow`; `truth` is None where nobody knows it."""

    top: str
    probability: float
    options: tuple[str, ...]
    probabilities: tuple[float, ...]
    truth: str | None
    expected_level: float | None = None


@dataclass(frozen=True)
class RunResult:
    """A row of a run. `decision` is its uuid; `problem` says why there is none; `same` is the row that it repeats."""

    row: int
    line: int
    decision: str | None
    preview: str
    problem: str | None
    same: int | None
    answers: dict[str, Found] = field(default_factory=dict)


def results(
    database: Database,
    job: Job,
    *,
    show: Show = "all",
    question: str | None = None,
    option: str | None = None,
    truth: str | None = None,
    below: float = 0.6,
    after: int = -1,
    limit: int = 50,
) -> list[RunResult]:
    """Rows after the row `after`, in order.

    Parameters
    ----------
    show : wrong and right need a true answer; unsure is a leading probability under `below`; bad has no decision.
    question : which question `show` and `option` speak of; None: any.
    option, truth : only rows whose leading option, or whose true answer, it is.
    """
    wanted = _wanted(job, show, question, option, truth, below)
    with database.read_session() as session:
        query = select(RunRow).where(*wanted, col(RunRow.row) > after)
        rows = session.exec(query.order_by(col(RunRow.row)).limit(limit)).all()
        return _views(session, rows)


def count_results(
    database: Database,
    job: Job,
    *,
    show: Show = "all",
    question: str | None = None,
    option: str | None = None,
    truth: str | None = None,
    below: float = 0.6,
) -> int:
    """How many rows `results` would give over all pages."""
    wanted = _wanted(job, show, question, option, truth, below)
    with database.read_session() as session:
        return session.exec(select(sa.func.count()).select_from(RunRow).where(*wanted)).one()


def _wanted(
    job: Job, show: Show, question: str | None, option: str | None, truth: str | None, below: float
) -> list[sa.ColumnElement[bool]]:
    wanted = [col(RunRow.job) == job.serial]
    if show == "bad":
        wanted.append(col(RunRow.problem).is_not(None))
    elif show == "repeats":
        wanted.append(col(RunRow.same).is_not(None))
    if show in ("wrong", "right", "unsure") or option is not None or truth is not None:
        wanted.append(_answered(show, question, option, truth, below))
    return wanted


def _answered(
    show: Show, question: str | None, option: str | None, true: str | None, below: float
) -> sa.ColumnElement[bool]:
    conditions = [col(AnswerRow.decision) == col(RunRow.decision)]
    if question is not None:
        conditions.append(col(AnswerRow.question) == question)
    if option is not None:
        conditions.append(col(AnswerRow.top) == option)
    if show == "unsure":
        conditions.append(col(AnswerRow.probability) < below)
    if show in ("wrong", "right") or true is not None:
        label = [
            col(LabelRow.decision) == col(AnswerRow.decision),
            col(LabelRow.question) == col(AnswerRow.question),
            *standing(),
        ]
        if show in ("wrong", "right"):
            label.append(col(LabelRow.verdict) == show)
        if true is not None:
            label.append(col(LabelRow.true_option) == true)
        conditions.append(sa.exists().where(*label))
    return sa.exists().where(*conditions)


def confusion(database: Database, job: Job, question: str) -> dict[tuple[str, str], int]:
    """How many rows have which leading option under which true one: (answered, true) to count."""
    with database.read_session() as session:
        query = (
            sa.select(col(AnswerRow.top), col(LabelRow.true_option), sa.func.count())
            .join(RunRow, col(RunRow.decision) == col(AnswerRow.decision))
            .join(
                LabelRow,
                (col(LabelRow.decision) == col(AnswerRow.decision))
                & (col(LabelRow.question) == col(AnswerRow.question)),
            )
            .where(
                col(RunRow.job) == job.serial,
                col(AnswerRow.question) == question,
                col(LabelRow.true_option).is_not(None),
                col(LabelRow.source) == "import",
                *standing(),
            )
            .group_by(col(AnswerRow.top), col(LabelRow.true_option))
        )
        return {(top, true): n for top, true, n in session.execute(query)}


def tally(database: Database, job: Job) -> dict[str, dict[str, int]]:
    """How often each option leads, per question."""
    found: dict[str, dict[str, int]] = {}
    with database.read_session() as session:
        query = (
            sa.select(col(AnswerRow.question), col(AnswerRow.top), sa.func.count())
            .join(RunRow, col(RunRow.decision) == col(AnswerRow.decision))
            .where(col(RunRow.job) == job.serial)
            .group_by(col(AnswerRow.question), col(AnswerRow.top))
        )
        for question, top, n in session.execute(query):
            found.setdefault(question, {})[top] = n
    return found


def write_results(database: Database, job: Job, table: Table, questions: Questions, path: Path) -> int:
    """Writes every row that was run, with the columns of its file: CSV or Parquet by the ending; returns how many."""
    columns = result_columns(table.columns, questions)
    count = 0
    with _sink(path, columns) as sink:
        for batch in _joined(database, job, table):
            for row, found in batch:
                sink.add(_cells(row, found, table.columns, questions))
                count += 1
    return count


def result_columns(given: Sequence[str], questions: Questions) -> list[str]:
    """The file's own columns, then what the run adds; each name once."""
    added = ["row", "decision", "problem"]
    for key in questions:
        added += [f"{key}: answer", f"{key}: probability", f"{key}: probabilities", f"{key}: truth"]
    return [*given, *(name if name not in given else f"{name} (run)" for name in added)]


def _cells(row: TableRow | BadRow, found: RunResult, given: Sequence[str], questions: Questions) -> list[Any]:
    cells = [row.cells.get(name) if isinstance(row, TableRow) else None for name in given]
    out: list[Any] = [*cells, found.row, found.decision, found.problem]
    for key in questions:
        answer = found.answers.get(key)
        if answer is None:
            out += [None] * 4
            continue
        shares = dict(zip(answer.options, answer.probabilities, strict=True))
        out += [answer.top, answer.probability, json.dumps(shares, ensure_ascii=False), answer.truth]
    return out


def _joined(database: Database, job: Job, table: Table) -> Iterator[list[tuple[TableRow | BadRow, RunResult]]]:
    rows = table.rows()
    after = -1
    while found := results(database, job, after=after, limit=PORTION):
        after = found[-1].row
        yield [(row, one) for one, row in zip(found, rows, strict=False)]


def _views(session: Session, rows: Sequence[RunRow]) -> list[RunResult]:
    serials = [row.decision for row in rows if row.decision is not None]
    decisions = {d.serial: d for d in session.exec(select(DecisionRow).where(col(DecisionRow.serial).in_(serials)))}
    truths: dict[tuple[int, str], str] = {}
    labels = select(LabelRow).where(col(LabelRow.decision).in_(serials), *standing()).order_by(col(LabelRow.serial))
    for label in session.exec(labels):
        if label.true_option is not None:
            truths[label.decision, label.question] = label.true_option
    answers: dict[int, dict[str, Found]] = {}
    given = select(AnswerRow).where(col(AnswerRow.decision).in_(serials)).order_by(col(AnswerRow.position))
    for answer in session.exec(given):
        answers.setdefault(answer.decision, {})[answer.question] = Found(
            answer.top,
            answer.probability,
            tuple(answer.options),
            tuple(answer.probabilities),
            truths.get((answer.decision, answer.question)),
            answer.expected_level,
        )
    views = []
    for row in rows:
        decision = decisions.get(row.decision) if row.decision is not None else None
        views.append(
            RunResult(
                row=row.row,
                line=row.line,
                decision=None if decision is None else decision.id,
                preview=decision.preview if decision else "",
                problem=row.problem,
                same=row.same,
                answers=answers.get(row.decision or 0, {}),
            )
        )
    return views


class _Sink(Protocol):
    """Where results go."""

    def add(self, cells: list[Any]) -> None:
        """One row."""
        ...


@contextmanager
def _sink(path: Path, columns: list[str]) -> Iterator[_Sink]:
    if path.suffix.lower() == ".parquet":
        sink = _Parquet(path, columns)
        try:
            yield sink
        finally:
            sink.close()
        return
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        yield _Csv(file, columns)


class _Csv:
    """CSV in which no cell runs as a formula."""

    def __init__(self, file: IO[str], columns: list[str]) -> None:
        self._csv = csv.writer(file, lineterminator="\r\n")
        self._csv.writerow([safe(name) for name in columns])

    def add(self, cells: list[Any]) -> None:
        self._csv.writerow([cell if isinstance(cell, int | float) else safe(_text(cell)) for cell in cells])


class _Parquet:
    """Parquet: probabilities are numbers; all else is text, for a file's own types may vary from row to row."""

    def __init__(self, path: Path, columns: list[str]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        kinds = [(name, pa.float64() if name.endswith(NUMBER) else pa.string()) for name in columns]
        self._schema = pa.schema(kinds)
        self._writer = pq.ParquetWriter(path, self._schema)
        self._rows: list[list[Any]] = []

    def add(self, cells: list[Any]) -> None:
        self._rows.append(cells)
        if len(self._rows) >= PORTION:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        columns = []
        for field_, *cells in zip(self._schema, *self._rows, strict=True):
            number = pa.types.is_floating(field_.type)
            values = [c if c is None or (number and isinstance(c, float)) else _text(c) for c in cells]
            columns.append(pa.array([None if number and isinstance(v, str) else v for v in values], field_.type))
        self._writer.write_table(pa.Table.from_arrays(columns, schema=self._schema))
        self._rows = []

    def close(self) -> None:
        if self._rows:
            self._flush()
        self._writer.close()


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bytes):
        return f"picture of {len(cell):,} bytes"
    return cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)
