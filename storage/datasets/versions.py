"""Dataset versions: a recipe, frozen, with the hash of what it gives; exported as often as wanted.

Contract
--------
* `survey` says what a recipe gives now, without keeping anything. `freeze` keeps the recipe with its marks, counts and
  hash; where the newest version of that name has the same recipe and the same hash, that one is it.
* `open_version` works the rows out again and refuses if the hash differs (cases were deleted since).
* The hash covers ids, sides, states, pictures, questions and labels of all rows, whatever their order.
* Working out a version takes one pass over the rows and 512 bytes per row for near-duplicates; an export one more.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from uuid import uuid4

import numpy as np
from sqlmodel import col, select

from model.questions import Json, Questions, schema_hash
from storage.database import Database
from storage.datasets.card import write_card
from storage.datasets.changes import same_recipe
from storage.datasets.example import Example
from storage.datasets.formats import SPLITS, Exported, Format, Plan, export
from storage.datasets.gather import Recipe, case_of, gather, parse_recipe, read_marks
from storage.datasets.near import HASHES, signature
from storage.datasets.split import Item, split
from storage.errors import Conflict, NotFound, plain_id
from storage.pictures import read_picture
from storage.tables import DatasetRow

Progress = Callable[[int], None]
"""Told how many rows were worked through."""


@dataclass
class Survey:
    """What a recipe gives. `options` counts per split, question and option; `left_out` per reason."""

    recipe: Recipe
    sha256: str
    rows: Counter[str] = field(default_factory=Counter)
    options: dict[str, dict[str, Counter[str]]] = field(default_factory=dict)
    streams: Counter[str] = field(default_factory=Counter)
    scorers: Counter[str] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    schemas: list[Questions] = field(default_factory=list)
    divided: int = 0
    pictures: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    repeats: int = 0
    joined: int = 0
    largest: int = 0
    first: datetime | None = None
    last: datetime | None = None
    notes: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()

    def json(self) -> dict[str, Json]:
        """Plain JSON, without the sides of single rows and the questions."""
        return {
            "rows": {side: self.rows[side] for side in SPLITS},
            "total": sum(self.rows.values()),
            "options": {s: {q: dict(c) for q, c in by.items()} for s, by in self.options.items()},
            "streams": dict(self.streams),
            "scorers": dict(self.scorers),
            "sources": dict(self.sources),
            "left_out": [{"reason": reason, "rows": n} for reason, n in self.left_out.most_common()],
            "refused": [{"reason": reason, "rows": n} for reason, n in self.refused.most_common()],
            "divided": self.divided,
            "pictures": self.pictures,
            "repeats": self.repeats,
            "joined": self.joined,
            "largest": self.largest,
            "first": self.first and self.first.isoformat(),
            "last": self.last and self.last.isoformat(),
            "notes": list(self.notes),
        }


@dataclass(frozen=True, kw_only=True)
class DatasetVersion:
    """A frozen dataset. `summary` is `Survey.json()` of the moment when it was frozen."""

    id: str
    name: str
    number: int
    sha256: str
    recipe: Recipe
    summary: dict[str, Json]
    created: datetime


def survey(database: Database, recipe: Recipe, progress: Progress | None = None) -> Survey:
    """What a recipe gives: one pass over its rows. Raises InvalidValue."""
    recipe = recipe if recipe.marks is not None else replace(recipe, marks=read_marks(database))
    found = Survey(recipe, "")
    items: list[Item] = []
    lines: list[str] = []
    sketches: list[np.ndarray] = []
    tallies: list[tuple[tuple[str, str], ...]] = []
    cases: set[str] = set()
    schemas: dict[str, Questions] = {}
    hashes: dict[int, str] = {}
    for example in gather(database, recipe, lambda _, reason: found.left_out.update([reason])):
        case = case_of(example)
        asked = hashes.setdefault(id(example.questions), schema_hash(example.questions))
        schemas.setdefault(asked, example.questions)
        tally = tuple(example.labels.items())
        items.append(
            Item(
                id=example.id,
                case=case,
                group=example.group,
                time=example.time,
                strata=tuple(f"{asked[:8]} {key}={option}" for key, option in tally),
                audit=example.stream == "audit",
            )
        )
        soft = {key: dict(shares) for key, shares in example.soft.items()}
        lines.append(json.dumps([example.id, case, asked, dict(tally), soft], ensure_ascii=True, sort_keys=True))
        tallies.append(tally)
        if recipe.split.similar is not None:
            sketches.append(signature(example.state))
        found.repeats += case in cases
        cases.add(case)
        _count(found, example)
        if progress is not None and len(items) % 500 == 0:
            progress(len(items))
    rows = np.stack(sketches) if sketches else np.zeros((0, HASHES), dtype=np.uint32)
    dealt = split(items, recipe.split, rows if recipe.split.similar is not None else None)
    found.sides, found.notes = dealt.sides, dealt.notes
    found.joined, found.largest = dealt.joined, dealt.largest
    for side, tally in zip(dealt.sides, tallies, strict=True):
        found.rows[side] += 1
        for key, option in tally:
            found.options.setdefault(side, {}).setdefault(key, Counter())[option] += 1
    whole = sorted(f"{side} {line}" for side, line in zip(dealt.sides, lines, strict=True))
    found.sha256 = hashlib.sha256("\n".join(whole).encode()).hexdigest()
    found.schemas = [schemas[key] for key in sorted(schemas)]
    return found


def _count(found: Survey, example: Example) -> None:
    found.streams[example.stream or "unknown"] += 1
    found.scorers[example.scorer] += 1
    found.sources[example.source] += 1
    found.divided += bool(example.soft)
    found.pictures += bool(example.pictures)
    if example.refused:
        found.refused[example.refused] += 1
    if example.time is not None:
        found.first = min(found.first or example.time, example.time)
        found.last = max(found.last or example.time, example.time)


def freeze(
    database: Database,
    recipe: Recipe,
    *,
    id: str | None = None,
    found: Survey | None = None,
    progress: Progress | None = None,
) -> DatasetVersion:
    """Keeps a recipe with what it gives now; the same `id` again is the version that is there.

    `found`: what was surveyed just now, if it was; the version then holds exactly that.

    Raises
    ------
    InvalidValue : the recipe.
    """
    key = plain_id(id or str(uuid4()))
    with database.read_session() as session:
        if (kept := session.get(DatasetRow, key)) is not None:
            return _view(kept)
    found = found or survey(database, recipe, progress)
    marked = replace(recipe, marks=found.recipe.marks)
    with database.write_session() as session:
        newest = session.exec(
            select(DatasetRow).where(DatasetRow.name == recipe.name).order_by(col(DatasetRow.number).desc())
        ).first()
        if newest is not None and newest.sha256 == found.sha256 and same_recipe(parse_recipe(newest.recipe), recipe):
            return _view(newest)
        row = DatasetRow(
            id=key,
            name=recipe.name,
            number=1 if newest is None else newest.number + 1,
            sha256=found.sha256,
            recipe=marked.json(),
            summary=found.json(),
        )
        session.add(row)
        session.flush()
        return _view(row)


def list_datasets(database: Database) -> list[DatasetVersion]:
    """All dataset versions, newest first."""
    with database.read_session() as session:
        return [_view(row) for row in session.exec(select(DatasetRow).order_by(col(DatasetRow.created).desc()))]


def get_dataset(database: Database, dataset_id: str) -> DatasetVersion:
    """A dataset version by its id, or by `name` or `name@number` (the newest without a number). Raises NotFound."""
    with database.read_session() as session:
        row = session.get(DatasetRow, plain_id(dataset_id))
        if row is None:
            name, _, number = dataset_id.rpartition("@")
            query = select(DatasetRow).where(DatasetRow.name == (name if number.isdigit() and name else dataset_id))
            if number.isdigit() and name:
                query = query.where(DatasetRow.number == int(number))
            row = session.exec(query.order_by(col(DatasetRow.number).desc())).first()
        if row is None:
            raise NotFound("dataset", f"there is no dataset {dataset_id!r}; freeze one first")
        return _view(row)


def open_version(database: Database, version: DatasetVersion, progress: Progress | None = None) -> Survey:
    """The rows of a version, worked out again. Raises Conflict where they are not the frozen ones any more."""
    found = survey(database, version.recipe, progress)
    if found.sha256 != version.sha256:
        gone = int(version.summary["total"]) - sum(found.rows.values())
        why = f"{gone:,} of its rows were deleted since" if gone > 0 else "its rows changed"
        raise Conflict("dataset", f"{version.name}@{version.number} cannot be made again: {why}. Freeze a new version.")
    return found


def export_version(
    database: Database, version: DatasetVersion, format: Format, folder: Path, progress: Progress | None = None
) -> Exported:
    """Writes a frozen version into a new folder, with its card, and checks it by the trainer's rules.

    Raises
    ------
    Conflict : the version cannot be made again.
    FileExistsError : the folder holds something already.
    """
    found = open_version(database, version)
    plan = Plan(
        name=f"{version.name}-{version.number}",
        schemas=tuple(found.schemas),
        created=version.created.isoformat(),
        licence=version.recipe.licence,
    )
    done = export(format, folder, plan, _sided(database, found, progress), DatabasePictures(database))
    write_card(folder / "README.md", format=format, plan=plan, version=version, done=done)
    return done


def _sided(database: Database, found: Survey, progress: Progress | None) -> Iterator[tuple[str, Example]]:
    examples = gather(database, found.recipe, lambda _, reason: None)
    for number, (side, example) in enumerate(zip(found.sides, examples, strict=True), 1):
        yield side, example
        if progress is not None and number % 500 == 0:
            progress(number)


class DatabasePictures:
    """The pictures of a database. `keep` checks and saves one that came in, and returns its hash."""

    def __init__(self, database: Database, keep: Callable[[bytes], str] | None = None) -> None:
        self._database = database
        self._keep = keep

    def read(self, sha256: str) -> bytes:
        """See `Pictures`."""
        return read_picture(self._database, sha256)

    def save(self, data: bytes) -> str:
        """See `Pictures`."""
        if self._keep is None:
            raise ValueError("pictures are not read here")
        return self._keep(data)


def _view(row: DatasetRow) -> DatasetVersion:
    return DatasetVersion(
        id=row.id,
        name=row.name,
        number=row.number,
        sha256=row.sha256,
        recipe=parse_recipe(row.recipe),
        summary=row.summary,
        created=row.created,
    )
