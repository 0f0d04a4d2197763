"""`python app.py export --schema NAME --format F --out DIR`: labels out, in a trainer's format.

Contract
--------
Without `--dataset` a new dataset version is frozen first, from the labels of the schema version; with it, that version
is written again. Prints what went in, what stayed out and why. Exit codes: see `studio.commands.common`; 1 too where
nothing could be written.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from storage.database import Database
from storage.datasets.gather import Recipe, parse_recipe
from storage.datasets.registry import FORMATS
from storage.datasets.versions import export_version, freeze, get_dataset
from storage.tables import SAMPLED_BY
from studio.commands.common import DONE, FAILED, USAGE, Bar, read_arguments, schema_version


def command(argv: Sequence[str]) -> int:
    """Exports a dataset; returns the exit code."""
    given, settings = read_arguments(_parser(), argv)
    if not given.dataset and not given.schema:
        print("export: give --schema (a new dataset) or --dataset (one that was frozen)", file=sys.stderr)
        return USAGE
    format = FORMATS[given.format]
    with Database.open(settings.data, settings.database) as database:
        bar = Bar("read", None)
        version = (
            get_dataset(database, given.dataset)
            if given.dataset
            else freeze(database, _recipe(database, given), progress=bar.show)
        )
        done = export_version(database, version, format, given.out, progress=bar.show)
        bar.close()
    rows = ", ".join(f"{split} {n:,}" for split, n in done.rows.items()) or "none"
    print(f"{version.name}@{version.number} ({version.sha256[:12]}) as {format.title}: {rows}")
    for entry in version.summary["left_out"]:
        print(f"not in the dataset: {entry['rows']:,} ({entry['reason']})")
    for reason, n in done.left_out.most_common():
        print(f"not in these files: {n:,} ({reason})")
    for note in version.summary["notes"]:
        print(note)
    for problem in done.problems[:20]:
        print(f"breaks a rule of {format.title}: {problem}", file=sys.stderr)
    return DONE if done.total and not done.problems else FAILED


def _recipe(database: Database, given: argparse.Namespace) -> Recipe:
    versions = [schema_version(database, name) for name in given.schema]
    return parse_recipe(
        {
            "name": given.name or given.schema[0].rpartition("@")[0] or given.schema[0],
            "questions": [version.sha256 for version in versions],
            "streams": [s.strip() for s in given.streams.split(",")] if given.streams else None,
            "labels": given.labels,
            "since": given.since,
            "until": given.until,
            "group_field": given.group_field,
            "licence": given.licence,
            "split": {
                "validation": given.validation,
                "test": given.test,
                "by": given.by,
                "seed": given.seed,
                "reserve_audit": not given.train_on_audit,
            },
        }
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="app.py export", allow_abbrev=False, description="Write labelled decisions for a trainer."
    )
    parser.add_argument("--dataset", metavar="NAME[@N]", help="a dataset version that was frozen before")
    parser.add_argument("--schema", action="append", default=[], metavar="NAME[@N]", help="whose labels; repeat it")
    parser.add_argument("--format", required=True, choices=list(FORMATS), help="the trainer's format")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="a new or empty folder")
    parser.add_argument("--name", help="of the new dataset (default: the schema's)")
    parser.add_argument("--streams", help=f"which labels, with commas (default: all of {','.join(SAMPLED_BY)})")
    parser.add_argument("--labels", choices=["agreed", "soft"], default="agreed", help="default: %(default)s")
    parser.add_argument("--since", metavar="DATE", help="decisions made from then on")
    parser.add_argument("--until", metavar="DATE", help="decisions made before then")
    parser.add_argument("--group-field", default="", metavar="PATH", help="what is the same there stays on one side")
    parser.add_argument("--licence", default="", help="of the states, for the card")
    parser.add_argument("--validation", type=float, default=0.1, metavar="SHARE", help="default: %(default)s")
    parser.add_argument("--test", type=float, default=0.1, metavar="SHARE", help="default: %(default)s")
    parser.add_argument("--by", choices=["random", "time"], default="random", help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    parser.add_argument(
        "--train-on-audit",
        action="store_true",
        help="do not keep audit labels for evaluation (they prove nothing then)",
    )
    return parser
