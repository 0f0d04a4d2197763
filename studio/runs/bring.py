"""Labelled data that comes in: every format we write, and tables in long form, made into runs.

Contract
--------
An imported row is judged by the model like any other, with its label as the true answer: so it can be measured, and
exported again. Rows are written to `runs/<id>/` in the data folder, one file per schema, with their pictures, and
started from there. Rows without a label come along; soft labels have no place in the studio's labels (nobody said
them), are counted, and are left behind.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from model.images import PAGE_CAPS, read_picture
from model.questions import Questions, StateError, schema_hash
from storage.database import Database
from storage.datasets.detect import detect
from storage.datasets.formats import BadRow, Format, PictureFolder
from storage.datasets.lines import LineFile
from storage.datasets.longform import QUESTION, LongForm, long_form
from storage.datasets.versions import DatabasePictures
from storage.errors import InvalidValue
from storage.pictures import save_picture
from storage.schemas import SchemaVersion, create_schema, find_version, publish
from storage.tabular import TableRow, open_table
from storage.unzip import unzip
from studio.drafts import draft_document
from studio.runs.mapping import RowMapping
from studio.runs.run import FOLDER

TRUTH = "truth "


@dataclass
class Brought:
    """One schema's rows, ready to run: `file` relative to the data folder."""

    questions: Questions
    file: str
    mapping: RowMapping
    rows: int = 0
    labels: int = 0
    soft: int = 0


@dataclass
class Import:
    """What came in. `format` is the format's title; `long` is set for a table in long form."""

    format: str
    parts: list[Brought] = field(default_factory=list)
    bad: list[BadRow] = field(default_factory=list)
    long: LongForm | None = None


def bring(
    database: Database,
    path: Path,
    *,
    format: Format | None = None,
    text: str | None = None,
    label: str | None = None,
    asked: str = "",
    described: Mapping[str, str] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Import:
    """Reads labelled data from a file, a folder or a zip file. Raises InvalidValue for what is not labelled data.

    `described` gives the labels of a table in long form their descriptions. `progress` is told how many rows were read.
    """
    if not path.exists():
        raise InvalidValue("file", f"{path} is not there")
    folder = database.folder / FOLDER / str(uuid4())
    if path.suffix.lower() == ".zip":
        unzip(path, folder / "zip")
        path = inner_folder(folder / "zip")
    format = format or (None if text or label else detect(path))
    done = Import(format.title if format else "a table in long form")
    if format is None:
        table = open_table(path)
        done.long = long_form(table, text=text, label=label, asked=asked, described=described)
        folder.mkdir(parents=True, exist_ok=True)
        copy = folder / table.path.name
        shutil.copyfile(table.path, copy)
        mapping = RowMapping(text=done.long.text, truth={QUESTION: done.long.label})
        rows = sum(1 for row in table.rows() if isinstance(row, TableRow))
        done.bad = [row for row in table.rows() if isinstance(row, BadRow)]
        part = Brought(done.long.questions, copy.relative_to(database.folder).as_posix(), mapping, rows)
        part.labels = done.long.counts.total()
        done.parts.append(part)
        return done
    _read(database, format, path, folder, done, progress or (lambda _: None))
    if not done.parts:
        reason = f" The first row: {done.bad[0]}" if done.bad else ""
        raise InvalidValue("file", f"{path.name} holds no row that can be read as {format.title}.{reason}")
    return done


def _read(
    database: Database, format: Format, path: Path, folder: Path, done: Import, progress: Callable[[int], None]
) -> None:
    album = DatabasePictures(database, keep=keeper(database))
    files: dict[str, tuple[Brought, LineFile, PictureFolder]] = {}
    for number, (_, example) in enumerate(format.read(path, album, done.bad.append), 1):
        if number % 500 == 0:
            progress(number)
        key = schema_hash(example.questions)
        if key not in files:
            inner = folder / f"schema-{len(files) + 1}"
            inner.mkdir(parents=True)
            truth = {question: f"{TRUTH}{question}" for question in example.questions}
            part = Brought(
                example.questions,
                (inner / "rows.jsonl").relative_to(database.folder).as_posix(),
                RowMapping(text="state", images=("images",), truth=truth),
            )
            files[key] = (part, LineFile(inner / "rows.jsonl"), PictureFolder(inner, album))
            done.parts.append(part)
        part, file, pictures = files[key]
        row = {"state": example.state, "images": [pictures.path(sha256) for sha256 in example.pictures]}
        # Every row names every column, for the columns of a JSONL file are those of its first rows.
        row |= {f"{TRUTH}{question}": example.labels.get(question) for question in example.questions}
        file.add(row)
        part.rows += 1
        part.labels += len(example.labels)
        part.soft += len(example.soft)
    for _, file, _ in files.values():
        file.close()


def keeper(database: Database) -> Callable[[bytes], str]:
    """What checks a picture that came in, and keeps it."""

    def keep(data: bytes) -> str:
        try:
            picture = read_picture(data, caps=PAGE_CAPS)
        except StateError as error:
            raise ValueError(str(error)) from None
        kept = save_picture(database, data, format=picture.format.lower(), width=picture.width, height=picture.height)
        return kept.sha256

    return keep


def version_for(database: Database, questions: Questions, name: str) -> SchemaVersion:
    """The schema version that asks these questions; a new schema of that name where none does."""
    found = find_version(database, questions)
    if found is not None:
        return found
    key = str(uuid4())
    create_schema(database, name=name, document=draft_document(key, name, questions), schema_id=key)
    return publish(database, key, questions, note="imported")


def inner_folder(folder: Path) -> Path:
    """The folder that holds everything, where a zip file has just one."""
    inside = list(folder.iterdir())
    return inner_folder(inside[0]) if len(inside) == 1 and inside[0].is_dir() else folder
