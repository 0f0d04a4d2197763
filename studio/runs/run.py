"""The run: every row of a file through the model, kept as it goes, so that it can stop anywhere and go on.

Contract
--------
* Rows are judged in the file's order, a few at a time, through the engine that the pages use (a person who types waits
  for a few rows at most). A portion's decisions, true answers and progress are on the disk before the next one begins.
* A decision's id is made of the run's and the row's number: doing a portion again keeps nothing twice.
* All rows are answered by one scorer. With another one loaded the run pauses and says so.
* A row that says exactly what an earlier one said takes over its decision, if the run's `repeats` is "reuse".
* Memory does not grow with the file, but for 16 bytes per different row, to know repeats.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import time
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid4, uuid5

import sqlalchemy as sa
from sqlmodel import Session, col, select

from model.engine import Decision, Engine
from model.images import PAGE_CAPS, Picture, read_picture
from model.questions import InvalidRequest, Json, Questions
from model.scorer import Request
from model.state import parse_state
from storage.database import Database
from storage.datasets.formats import BadRow
from storage.decisions import DecisionRecord, record_decisions
from storage.errors import Conflict, InvalidValue
from storage.jobs import Job, create_job, get_job, job_row
from storage.pictures import save_picture
from storage.schemas import read_questions
from storage.tables import AnswerRow, LabelRow, QuestionSetRow, RunRow, now
from storage.tabular import Table, TableRow, open_table
from studio.jobs import Paused, Watch
from studio.judging import PORTION, Ahead, Pace
from studio.runs.mapping import Case, RowMapping, case_of, parse_mapping

KIND = "run"
FOLDER = "runs"
LABELLER = "file"


@dataclass(frozen=True, kw_only=True)
class RunSpec:
    """What is run. `file` is relative to the data folder; `limit` is how many rows of it (None: all)."""

    file: str
    name: str
    questions: str
    scorer: str
    mapping: RowMapping
    schema_id: str | None = None
    version: int | None = None
    limit: int | None = None
    repeats: str = "reuse"
    allow_cut: bool = False
    rows: int | None = None

    def json(self) -> dict[str, Json]:
        """Plain JSON."""
        return {**self.__dict__, "mapping": self.mapping.json()}


def parse_spec(raw: Mapping[str, Json]) -> RunSpec:
    """A spec from its JSON."""
    mapping = raw["mapping"]
    return RunSpec(
        **{
            **raw,
            "mapping": RowMapping(
                text=mapping["text"],
                fields=mapping["fields"],
                images=tuple(mapping["images"]),
                truth=mapping["truth"],
            ),
        }
    )


def start(database: Database, spec: RunSpec, *, id: str | None = None) -> Job:
    """A run that waits for the worker. Raises InvalidValue."""
    with database.read_session() as session:
        if session.get(QuestionSetRow, spec.questions) is None:
            raise InvalidValue("schema", "publish the schema first; a run asks a version that cannot change")
        questions = read_questions(session, spec.questions)
    table = open_table(database.folder / spec.file)
    parse_mapping(spec.mapping.json(), table.columns, questions)
    if spec.repeats not in ("reuse", "judge"):
        raise InvalidValue("repeats", "must be reuse or judge")
    progress = {
        "limit": spec.limit,
        "done": 0,
        "decided": 0,
        "reused": 0,
        "bad": 0,
        "truths": 0,
        "unread": 0,
        "seconds": 0.0,
    }
    return create_job(database, kind=KIND, title=spec.name, spec=spec.json(), progress=progress, id=id or str(uuid4()))


def run_rest(database: Database, job_id: str) -> Job:
    """Lets a run go on that ended before its file did: at its limit, failed or cancelled. Raises NotFound, Conflict."""
    with database.write_session() as session:
        row = job_row(session, job_id)
        at_limit = row.status == "done" and row.progress["limit"] is not None
        if row.kind != KIND or not (at_limit or row.status in ("failed", "cancelled")):
            raise Conflict("job", "only a run that ended before its file did has a rest to run")
        if at_limit:
            row.progress = {**row.progress, "limit": None}
        row.status, row.wanted, row.message, row.changed = "waiting", "run", "", now()
    return get_job(database, job_id)


class Run:
    """Does jobs of kind `run`; a handler for `studio.jobs.Worker`."""

    def __init__(self, database: Database, engine: Engine, *, portion: int = PORTION) -> None:
        self._database = database
        self._engine = engine
        self._portion = portion

    def __call__(self, job: Job, watch: Watch) -> str:
        """See `studio.jobs`."""
        spec = parse_spec(job.spec)
        self._check_scorer(spec)
        with self._database.read_session() as session:
            questions = read_questions(session, spec.questions)
        table = open_table(self._database.folder / spec.file)
        done = int(job.progress["done"])
        rows = itertools.islice(enumerate(table.rows()), job.progress["limit"])
        seen = _Seen()
        # What was done is read again, not judged again: to know what later rows repeat.
        for number, row in itertools.islice(rows, done):
            if isinstance(row, TableRow) and spec.repeats == "reuse":
                seen.note(number, _case(row, spec, questions, table))
        pace = Pace(self._portion)
        while portion := list(itertools.islice(rows, pace.size)):
            watch.check()
            started = time.perf_counter()
            found = self._judge(job, spec, questions, table, portion, seen, watch)
            seconds = time.perf_counter() - started
            self._keep(job, spec, found, seconds)
            pace.took(seconds)
        return ""

    def _check_scorer(self, spec: RunSpec) -> None:
        status = self._engine.wait_ready()
        if status.scorer is None:
            raise Paused(f"The model is not there: {status.message}")
        if status.scorer.fingerprint != spec.scorer:
            raise Paused(
                f"This run was begun with another model than {status.scorer.name}. Start the studio with that model to "
                "go on, or start a new run: figures of two models are never put together."
            )

    def _judge(
        self,
        job: Job,
        spec: RunSpec,
        questions: Questions,
        table: Table,
        portion: list[tuple[int, TableRow | BadRow]],
        seen: _Seen,
        watch: Watch,
    ) -> list[_Found]:
        """What becomes of a portion's rows, in order."""
        found: list[_Found] = []
        ahead = Ahead(self._engine, watch)
        for number, row in portion:
            one = _Found(number, row.line)
            found.append(one)
            if isinstance(row, BadRow):
                one.problem = row.message
                continue
            case = _case(row, spec, questions, table)
            if isinstance(case, str):
                one.problem = case
                continue
            one.case = case
            if spec.repeats == "reuse" and (first := seen.note(number, case)) is not None:
                one.same = first
                continue
            try:
                one.pictures = tuple(read_picture(data, caps=PAGE_CAPS) for data in case.pictures)
                state = parse_state(case.state, one.pictures, limits=self._engine.scorer.limits)
            except InvalidRequest as error:
                one.problem = str(error)
                continue
            ahead.ask(Request(state, questions, spec.allow_cut), partial(_settle, one))
        ahead.rest()
        return found

    def _keep(self, job: Job, spec: RunSpec, found: list[_Found], seconds: float) -> None:
        """Writes a portion: pictures and decisions first, then rows, true answers and progress together."""
        records = []
        for one in found:
            if one.decision is None or one.case is None:
                continue
            for data, picture in zip(one.case.pictures, one.pictures, strict=True):
                save_picture(
                    self._database, data, format=picture.format.lower(), width=picture.width, height=picture.height
                )
            one.id = decision_id(job.id, one.number)
            records.append(
                DecisionRecord.of(
                    one.decision,
                    id=one.id,
                    source="run",
                    pictures=[picture.sha256 for picture in one.pictures],
                    schema_id=spec.schema_id,
                    version=spec.version,
                )
            )
        stored = {record.id: record.serial for record in record_decisions(self._database, records)} if records else {}
        with self._database.write_session() as session:
            row = job_row(session, job.id)
            if int(row.progress["done"]) > found[0].number:
                return
            rows, truths = _rows(session, job, found, stored)
            session.execute(sa.insert(RunRow), rows)
            kept = _keep_truths(session, spec, truths)
            progress = dict(row.progress)
            progress["done"] = found[-1].number + 1
            progress["decided"] += len(records)
            progress["reused"] += sum(one.same is not None for one in found)
            progress["bad"] += sum(one.problem is not None for one in found)
            progress["truths"] += kept
            progress["unread"] += sum(one.case.unread for one in found if one.case is not None)
            progress["seconds"] += seconds
            row.progress, row.changed = progress, now()


@dataclass
class _Found:
    """A row on its way."""

    number: int
    line: int
    case: Case | None = None
    problem: str | None = None
    same: int | None = None
    pictures: tuple[Picture, ...] = ()
    decision: Decision | None = None
    id: str = ""


class _Seen:
    """Which rows said what, by 16 bytes each."""

    def __init__(self) -> None:
        self._first: dict[bytes, int] = {}

    def note(self, number: int, case: Case | str) -> int | None:
        """The first row that said the same; None for a new one, which is noted."""
        if isinstance(case, str):
            return None
        first = self._first.setdefault(digest(case.state, case.pictures), number)
        return first if first != number else None


def digest(state: Json, pictures: tuple[bytes, ...]) -> bytes:
    """What a case says, in 16 bytes."""
    text = json.dumps(state, ensure_ascii=False, sort_keys=True).encode(errors="surrogatepass")
    hashed = hashlib.blake2b(text, digest_size=16)
    for data in pictures:
        hashed.update(hashlib.sha256(data).digest())
    return hashed.digest()


def decision_id(job: str, number: int) -> str:
    """The id of a row's decision."""
    return str(uuid5(UUID(job), str(number)))


def _case(row: TableRow, spec: RunSpec, questions: Questions, table: Table) -> Case | str:
    """A row as it is judged, or why it cannot be."""
    try:
        return case_of(row, spec.mapping, questions, table.folder)
    except (ValueError, OSError) as error:
        return str(error)


def _settle(one: _Found, future: Future[Decision]) -> None:
    """Waits for a decision; what the model cannot read is the row's problem, what breaks the model is the run's."""
    try:
        one.decision = future.result()
    except InvalidRequest as error:
        one.problem = str(error)


def _rows(
    session: Session, job: Job, found: list[_Found], stored: Mapping[str, int]
) -> tuple[list[dict[str, Any]], list[tuple[str, int, dict[str, str]]]]:
    """Rows to write, and (label key, decision, true answers) of those that have any."""
    firsts = {one.same for one in found if one.same is not None}
    before = select(RunRow).where(RunRow.job == job.serial, col(RunRow.row).in_(firsts))
    known: dict[int, tuple[int | None, str | None]] = {r.row: (r.decision, r.problem) for r in session.exec(before)}
    rows, truths = [], []
    for one in found:
        decision = stored.get(one.id)
        if one.same is not None:
            decision, one.problem = known[one.same]
        known[one.number] = (decision, one.problem)
        rows.append(
            {
                "job": job.serial,
                "row": one.number,
                "line": one.line,
                "decision": decision,
                "problem": None if one.problem is None else one.problem[:500],
                "same": one.same,
            }
        )
        if decision is not None and one.case is not None and one.case.truth and one.same is None:
            truths.append((one.id, decision, one.case.truth))
    return rows, truths


def _keep_truths(session: Session, spec: RunSpec, truths: list[tuple[str, int, dict[str, str]]]) -> int:
    """Keeps the file's true answers as labels of the stream `import`, many at a time; returns how many."""
    decisions = [decision for _, decision, _ in truths]
    query = select(AnswerRow.decision, AnswerRow.question, AnswerRow.top).where(col(AnswerRow.decision).in_(decisions))
    tops = {(decision, question): top for decision, question, top in session.exec(query)}
    labels = [
        {
            "id": str(uuid5(NAMESPACE_URL, f"{key} {question}")),
            "decision": decision,
            "question": question,
            "verdict": "right" if tops[decision, question] == option else "wrong",
            "true_option": option,
            "note": "",
            "labeller": f"{LABELLER} {spec.name}"[:200],
            "source": "import",
            "blind": True,
            "created": now(),
        }
        for key, decision, truth in truths
        for question, option in truth.items()
    ]
    if labels:
        session.execute(sa.insert(LabelRow), labels)
    return len(labels)
