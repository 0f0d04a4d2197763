"""`python app.py import PATH`: labelled data in, judged by the model, its labels kept as true answers.

Contract
--------
Takes every format that is exported, and tables in long form (`text,label`). Prints which columns and which format were
taken. Exit codes: see `studio.commands.common`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from model.questions import CLEF_LIMITS
from storage.database import Database
from storage.datasets.registry import FORMATS
from studio.commands.common import DONE, open_engine, read_arguments, run_code, work
from studio.runs.bring import bring, version_for
from studio.runs.run import RunSpec, start

BAD_SHOWN = 10


def command(argv: Sequence[str]) -> int:
    """Imports labelled data; returns the exit code."""
    given, settings = read_arguments(_parser(), argv)
    format = FORMATS[given.format] if given.format else None
    code = DONE
    with Database.open(settings.data, settings.database) as database:
        found = bring(database, given.path, format=format, text=given.text, label=given.label, asked=given.asked)
        print(f"read as {found.format}")
        if found.long:
            print(f"text: {found.long.text}; label: {found.long.label}, {len(found.long.counts)} options")
        for row in found.bad[:BAD_SHOWN]:
            print(f"kept aside: {row}", file=sys.stderr)
        if len(found.bad) > BAD_SHOWN:
            print(f"kept aside: {len(found.bad):,} rows in all", file=sys.stderr)
        engine, scorer = open_engine(settings)
        try:
            for number, part in enumerate(found.parts, 1):
                name = given.name or given.path.stem
                name = name if len(found.parts) == 1 else f"{name} {number}"
                version = version_for(database, part.questions, name)
                spec = RunSpec(
                    file=part.file,
                    name=f"import {name}",
                    questions=version.sha256,
                    scorer=scorer.fingerprint,
                    mapping=part.mapping,
                    schema_id=version.schema_id,
                    version=version.number,
                    # Two rows that say the same may bear different labels: both are wanted.
                    repeats="judge",
                    rows=part.rows,
                )
                job = work(database, engine, start(database, spec), part.rows)
                print(
                    f"{name}: {job.progress['decided']:,} rows judged, {job.progress['truths']:,} labels kept, "
                    f"{job.progress['bad']:,} could not be judged"
                )
                if part.soft:
                    print(f"{part.soft:,} shared (soft) labels were not taken: nobody gave them as such")
                code = max(code, run_code(job))
        finally:
            engine.close()
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="app.py import", allow_abbrev=False, description="Bring labelled data in.")
    parser.add_argument("path", type=Path, metavar="PATH", help="a file, a folder or a zip file")
    parser.add_argument("--format", choices=list(FORMATS), help="default: what it looks like")
    parser.add_argument("--name", help="of the schema that is made (default: the file's)")
    parser.add_argument("--text", metavar="COLUMN", help="long form: the column with the text")
    parser.add_argument("--label", metavar="COLUMN", help="long form: the column with the label")
    parser.add_argument(
        "--asked", default="", metavar="TEXT", help=f"long form: the question (at most {CLEF_LIMITS.options} labels)"
    )
    return parser
