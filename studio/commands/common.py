"""What the commands share: a parser that passes other arguments on as settings, exit codes, progress on a terminal.

Contract
--------
Exit codes: 0 done, 1 failed (one sentence on stderr), 2 wrong usage, 3 stopped half-way and can go on. Results go to
files and stdout, everything else to stderr.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from model.engine import Engine
from model.questions import InvalidRequest, Questions, parse_questions
from model.scorer import ScorerInfo
from storage.database import Database
from storage.errors import InvalidValue, NotFound
from storage.jobs import Job, get_job, take, wish
from storage.schemas import SchemaVersion, get_version, list_schemas
from studio.jobs import Watch, do
from studio.runs.bring import version_for
from studio.runs.run import Run
from studio.settings import Settings, options, parse

DONE, FAILED, USAGE, STOPPED = 0, 1, 2, 3


def read_arguments(parser: argparse.ArgumentParser, argv: Sequence[str]) -> tuple[argparse.Namespace, Settings]:
    """The command's own arguments, and the settings from all others. Exits with 2 and a plain error."""
    parser.epilog = "Settings of the studio, such as --data and --model, are taken too: see `python app.py --help`."
    known = {name: valued for name, valued in options().items() if name not in ("-h", "--help")}
    own, others = [], []
    rest = iter(argv)
    for argument in rest:
        name, given, _ = argument.partition("=")
        if name in known:
            others += [argument, *([next(rest, "")] if known[name] and not given else [])]
        else:
            own.append(argument)
    return parser.parse_args(own), parse(others)


class Bar:
    """One line of progress on stderr, drawn again in place on a terminal, and every tenth of the way elsewhere."""

    def __init__(self, what: str, total: int | None) -> None:
        self._what, self._total = what, total
        self._live = sys.stderr.isatty()
        self._started = time.monotonic()
        self._last = -1

    def show(self, done: int) -> None:
        """Shows that `done` rows are done."""
        seconds = time.monotonic() - self._started
        rate = f", {done / seconds:,.0f} rows/s" if seconds > 1 else ""
        if self._live:
            of = f" of {self._total:,}" if self._total else ""
            print(f"\r{self._what}: {done:,}{of}{rate}   ", end="", file=sys.stderr, flush=True)
            return
        tenth = 10 * done // self._total if self._total else done // 10_000
        if tenth != self._last:
            self._last = tenth
            print(f"{self._what}: {done:,}{rate}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Ends the line."""
        if self._live:
            print(file=sys.stderr)


def schema_version(database: Database, named: str) -> SchemaVersion:
    """A schema version by name, `name@number`, or id; or by a JSON file of questions, which is published if it is new.

    Raises
    ------
    NotFound : there is no such schema, or it has no such version.
    InvalidValue : the file holds no questions.
    """
    path = Path(named)
    if path.suffix.lower() == ".json" and path.is_file():
        return version_for(database, read_questions_file(path), path.stem)
    name, _, number = named.rpartition("@")
    wanted, version = (name, int(number)) if name and number.isdigit() else (named, None)
    found = [schema for schema in list_schemas(database) if wanted in (schema.name, schema.id)]
    if not found:
        raise NotFound("schema", f"there is no schema {named!r}; name one of the studio's, or a JSON file of questions")
    if len(found) > 1:
        raise InvalidValue("schema", f"{len(found)} schemas are called {wanted!r}; give the id, {found[0].id} for one")
    return get_version(database, found[0].id, version)


def read_questions_file(path: Path) -> Questions:
    """Questions of a JSON file: the map itself, or a request's body. Raises InvalidValue."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8-sig"))
        body = raw["questions"] if isinstance(raw, dict) and isinstance(raw.get("questions"), dict) else raw
        return parse_questions(body)
    except (ValueError, InvalidRequest) as error:
        raise InvalidValue("schema", f"{path} holds no questions: {error}") from None


def open_engine(settings: Settings) -> tuple[Engine, ScorerInfo]:
    """The model, ready. Raises RuntimeError with why it could not be opened."""
    from studio.scorers import opener

    engine = Engine(opener(settings))
    status = engine.wait_ready()
    if status.scorer is None:
        engine.close()
        raise RuntimeError(f"the model could not be opened: {status.message}")
    print(f"{status.scorer.name} is ready", file=sys.stderr)
    return engine, status.scorer


class _Shown(Watch):
    """A watch that shows how far the job is whenever it is asked."""

    def __init__(self, database: Database, job: Job, closed: threading.Event, bar: Bar) -> None:
        super().__init__(database, job, closed)
        self._of, self._bar = (database, job.id), bar

    def check(self) -> None:
        """See `Watch`."""
        self._bar.show(int(get_job(*self._of).progress["done"]))
        super().check()


def work(database: Database, engine: Engine, job: Job, total: int | None) -> Job:
    """Does a waiting run here and now, with a progress bar. Ctrl+C pauses it after the portion that runs."""
    bar = Bar("judged", total)
    taken = take(database, job.id)
    run = Run(database, engine)

    def handler(given: Job, watch: Watch) -> str:
        return run(given, _Shown(database, given, threading.Event(), bar))

    ended: list[Job] = []
    thread = threading.Thread(target=lambda: ended.append(do(database, taken, handler, threading.Event())), daemon=True)
    thread.start()
    while thread.is_alive():
        try:
            thread.join(0.2)
        except KeyboardInterrupt:
            print("\nstopping after the rows that are under way ...", file=sys.stderr)
            wish(database, job.id, "pause")
    done = ended[0]
    bar.show(int(done.progress["done"]))
    bar.close()
    return done


def run_code(job: Job) -> int:
    """The exit code of a run that ended, with a sentence on stderr where it did not end well."""
    if job.status == "done":
        return DONE
    if job.status == "paused":
        print(f"paused. {job.message} Go on with: python app.py run --resume {job.id}", file=sys.stderr)
        return STOPPED
    print(f"{job.status}: {job.message}", file=sys.stderr)
    return FAILED
