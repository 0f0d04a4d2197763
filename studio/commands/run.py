"""`python app.py run FILE --schema NAME`: every row of a file through the model.

Contract
--------
The run is the same as on the Runs page and appears there. The studio that serves must not be running on the same data
folder. Exit codes: see `studio.commands.common`.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from storage.database import Database
from storage.jobs import ENDED, Job, get_job, wish
from storage.runs import confusion, tally, write_results
from storage.schemas import read_questions
from storage.tabular import open_table
from storage.unzip import unzip
from studio.commands.common import USAGE, open_engine, read_arguments, run_code, schema_version, work
from studio.runs.bring import inner_folder
from studio.runs.mapping import RowMapping, guess, parse_mapping
from studio.runs.run import FOLDER, RunSpec, parse_spec, run_rest, start


def command(argv: Sequence[str]) -> int:
    """Runs a file; returns the exit code."""
    given, settings = read_arguments(_parser(), argv)
    if (given.file is None) == (given.resume is None):
        print("run: give a FILE, or --resume ID", file=sys.stderr)
        return USAGE
    if given.file is not None and given.schema is None:
        print("run: --schema is needed: a schema's name, name@version, or a JSON file of questions", file=sys.stderr)
        return USAGE
    with Database.open(settings.data, settings.database) as database:
        engine, scorer = open_engine(settings)
        try:
            job = _resumed(database, given.resume) if given.resume else _begun(database, given, scorer.fingerprint)
            spec = parse_spec(job.spec)
            job = work(database, engine, job, job.progress["limit"] or spec.rows)
            _tell(database, job)
            if given.out is not None:
                with database.read_session() as session:
                    questions = read_questions(session, spec.questions)
                rows = write_results(database, job, open_table(database.folder / spec.file), questions, given.out)
                print(f"{rows:,} rows written to {given.out}", file=sys.stderr)
        finally:
            engine.close()
    return run_code(job)


def _begun(database: Database, given: argparse.Namespace, fingerprint: str) -> Job:
    version = schema_version(database, given.schema)
    key = str(uuid4())
    table = open_table(keep_file(database, given.file, key))
    named = {"text": given.text, "fields": dict(given.field), "images": given.image, "truth": dict(given.truth)}
    guessed = guess(table, version.questions)
    if not given.text and not given.field:
        named |= {"text": guessed.text, "fields": dict(guessed.fields)}
    named["images"] = named["images"] or list(guessed.images)
    named["truth"] = named["truth"] or dict(guessed.truth)
    mapping = parse_mapping(named, table.columns, version.questions)
    for note in table.notes:
        print(note, file=sys.stderr)
    print(f"{table.kind}; {_said(mapping)}", file=sys.stderr)
    rows = sum(1 for _ in table.rows())
    spec = RunSpec(
        file=table.path.relative_to(database.folder).as_posix(),
        name=given.file.name,
        questions=version.sha256,
        scorer=fingerprint,
        mapping=mapping,
        schema_id=version.schema_id,
        version=version.number,
        limit=given.limit,
        repeats="judge" if given.judge_repeats else "reuse",
        allow_cut=given.allow_cut,
        rows=rows,
    )
    return start(database, spec, id=key)


def keep_file(database: Database, file: Path, key: str) -> Path:
    """A copy of a run's file in the data folder, where it is found again after a restart. Raises InvalidValue."""
    folder = database.folder / FOLDER / key
    if file.is_dir():
        shutil.copytree(file, folder)
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    if file.suffix.lower() == ".zip":
        unzip(file, folder)
        return inner_folder(folder)
    return Path(shutil.copyfile(file, folder / file.name))


def _resumed(database: Database, key: str) -> Job:
    job = get_job(database, key)
    return run_rest(database, key) if job.status in ENDED else wish(database, key, "run")


def _said(mapping: RowMapping) -> str:
    state = mapping.text or ", ".join(f"{column} as {name}" for column, name in mapping.fields.items()) or "pictures"
    truth = ", ".join(f"{key} in {column}" for key, column in mapping.truth.items()) or "none"
    pictures = f"; pictures: {', '.join(mapping.images)}" if mapping.images else ""
    return f"state: {state}{pictures}; true answers: {truth}"


def _tell(database: Database, job: Job) -> None:
    progress = job.progress
    print(
        f"{progress['done']:,} rows: {progress['decided']:,} judged, {progress['reused']:,} repeats, "
        f"{progress['bad']:,} could not be read"
    )
    if progress["unread"]:
        print(f"{progress['unread']:,} true answers are not options, so they were not taken")
    for question, counts in tally(database, job).items():
        known = confusion(database, job, question)
        n = sum(known.values())
        right = sum(c for (top, true), c in known.items() if top == true)
        said = f"; right {right:,} of {n:,} ({right / n:.1%})" if n else ""
        shown = ", ".join(f"{option} {c:,}" for option, c in sorted(counts.items(), key=lambda item: -item[1])[:8])
        print(f"{question}: {shown}{said}")


def _pair(text: str) -> tuple[str, str]:
    one, _, other = text.partition("=")
    return one, other or one


def _truth(text: str) -> tuple[str, str]:
    question, found, column = text.partition("=")
    if not found or not question or not column:
        raise argparse.ArgumentTypeError(f"{text!r} must be QUESTION=COLUMN")
    return question, column


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="app.py run", allow_abbrev=False, description="Judge every row of a file.")
    parser.add_argument(
        "file",
        type=Path,
        nargs="?",
        metavar="FILE",
        help="CSV, TSV, JSONL, JSON, Parquet, Excel, a folder or zip of pictures",
    )
    parser.add_argument(
        "--schema", metavar="NAME", help="a schema's name, name@version or id, or a JSON file of questions"
    )
    parser.add_argument("--text", metavar="COLUMN", help="the column that is the whole state")
    parser.add_argument(
        "--field",
        type=_pair,
        action="append",
        default=[],
        metavar="COLUMN[=NAME]",
        help="a column that is a field of the state; repeat it",
    )
    parser.add_argument(
        "--image", action="append", default=[], metavar="COLUMN", help="a column that names pictures; repeat it"
    )
    parser.add_argument(
        "--truth",
        type=_truth,
        action="append",
        default=[],
        metavar="QUESTION=COLUMN",
        help="where the true answers stand; repeat it",
    )
    parser.add_argument("--limit", type=int, metavar="N", help="stop after N rows; --resume runs the rest")
    parser.add_argument(
        "--allow-cut", action="store_true", help="read the start of states that are too long, instead of refusing them"
    )
    parser.add_argument(
        "--judge-repeats",
        action="store_true",
        help="judge rows that say the same again, instead of reusing the first answer",
    )
    parser.add_argument(
        "--resume", metavar="ID", help="go on with a run that was paused, or run the rest of one with a limit"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the results there: .csv or .parquet")
    return parser
