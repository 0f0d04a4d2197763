"""Plain JSONL and plain CSV of everything that is known of labelled rows: for people, scripts and spreadsheets.

Contract
--------
* Nothing is left out, whatever a trainer would say: rows without labels and rows that no trainer may learn from are
  there, the latter with the reason in `refused`. So neither counts as a training format.
* JSONL: labels are option ids, always text. CSV: one column `label: <question>` per question, over all schemas;
  `schema` counts from 1 into `schemas.json`; state is text where `state_type` is text, else JSON.
* CSV is UTF-8 with a byte order mark (spreadsheets want it), and no cell can be run as a formula (`cells`).
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from model.questions import Json, Questions, parse_questions, questions_json
from storage.datasets import rules
from storage.datasets.cells import plain, safe
from storage.datasets.example import META, Example, from_meta, labels_of, meta_of, soft_of
from storage.datasets.formats import BadRow, PictureFolder, Pictures, Plan, Writer, read_pictures
from storage.datasets.lines import LineFormat, Row
from storage.errors import InvalidValue
from storage.schemas import ANY_SIZE

SCHEMAS = "schemas.json"
LABEL = "label: "
FIXED = ("id", "state", "state_type", "schema", "soft", "images", "time", *META)
ANY_CELL = 2**31 - 1


class PlainJsonl(LineFormat):
    """See the module's contract."""

    name = "jsonl"
    title = "plain JSONL"
    about = "Every row with all that is known of it, one JSON object per line. Not meant for a trainer."
    trains = False
    pictures = 10**9
    soft = True

    def reason(self, example: Example) -> str | None:
        """See `LineFormat`: nothing is left out."""
        return None

    def row(self, example: Example, questions: Row, images: Sequence[str]) -> Row:
        """See `LineFormat`."""
        return {
            "id": example.id,
            "state": example.state,
            "images": list(images),
            "questions": questions,
            "labels": dict(example.labels),
            "soft": {key: dict(shares) for key, shares in example.soft.items()},
            "meta": meta_of(example),
        }

    def problems(self, row: Json) -> list[str]:
        """See `LineFormat`."""
        return rules.questions_of(row, rule=rules.criteria(1), extra=("id", "labels"))

    def example(self, row: Row, id: str, questions: Questions, pictures: Callable[[Json], tuple[str, ...]]) -> Example:
        """See `LineFormat`."""
        return Example(
            id=id,
            state=row["state"],
            questions=questions,
            labels=labels_of(questions, row.get("labels")),
            soft=soft_of(questions, row.get("soft")),
            pictures=pictures(row.get("images")),
            **from_meta(row.get("meta")),
        )


class PlainCsv:
    """See the module's contract."""

    name = "csv"
    title = "plain CSV"
    about = "Every row with all that is known of it, for spreadsheets; no cell runs as a formula."
    trains = False

    def writer(self, folder: Path, plan: Plan, pictures: Pictures) -> Writer:
        """See `Format`."""
        return _Writer(folder, plan, pictures)

    def check(self, folder: Path) -> list[str]:
        """See `Format`: every row has every column, and no cell starts a formula."""
        found = []
        for path in _files(folder):
            for number, row in _rows(path):
                if None in row or None in row.values():
                    found.append(f"{path.name}:{number}: has not one cell per column")
                    continue
                found += [
                    f"{path.name}:{number}: {name} would run" for name, cell in row.items() if safe(plain(cell)) != cell
                ]
        return found

    def read(self, folder: Path, pictures: Pictures, bad: Callable[[BadRow], None]) -> Iterator[tuple[str, Example]]:
        """See `Format`."""
        base = folder.parent if folder.is_file() else folder
        schemas = [parse_questions(raw, limits=ANY_SIZE) for raw in _listed(base / SCHEMAS)]
        for path in [folder] if folder.is_file() else _files(folder):
            for number, row in _rows(path):
                try:
                    found = _example(row, schemas, base, pictures, f"{path.stem}-{number}")
                except ValueError as error:
                    bad(BadRow(path.name, number, str(error)))
                else:
                    yield path.stem, found


class _Writer:
    def __init__(self, folder: Path, plan: Plan, pictures: Pictures) -> None:
        self._folder = folder
        self._plan = plan
        self._pictures = PictureFolder(folder, pictures)
        self._asked = list(dict.fromkeys(key for questions in plan.schemas for key in questions))
        self._files: dict[str, tuple[IO[str], Any]] = {}

    def add(self, split: str, example: Example) -> None:
        whole = isinstance(example.state, str)
        row: dict[str, str] = {
            "id": example.id,
            "state": example.state if whole else _json(example.state),
            "state_type": "text" if whole else "json",
            "schema": str(self._plan.number(example.questions) + 1),
            "soft": _json({key: dict(shares) for key, shares in example.soft.items()}) if example.soft else "",
            "images": _json([self._pictures.path(p) for p in example.pictures]) if example.pictures else "",
            **{name: str(value) for name, value in meta_of(example).items()},
        }
        row |= {LABEL + key: option for key, option in example.labels.items()}
        if split not in self._files:
            file = (self._folder / f"{split}.csv").open("w", encoding="utf-8-sig", newline="")
            columns = [*FIXED, *(LABEL + key for key in self._asked)]
            writer = csv.DictWriter(file, columns, restval="", lineterminator="\r\n")
            writer.writeheader()
            self._files[split] = (file, writer)
        self._files[split][1].writerow({name: safe(cell) for name, cell in row.items()})

    def close(self) -> None:
        for file, _ in self._files.values():
            file.close()
        text = json.dumps([questions_json(questions) for questions in self._plan.schemas], indent=1)
        (self._folder / SCHEMAS).write_text(text + "\n", encoding="ascii")


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _listed(path: Path) -> list[Json]:
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InvalidValue("file", f"the file {SCHEMAS} cannot be read: {error}") from None
    if not isinstance(listed, list):
        raise InvalidValue("file", f"the file {SCHEMAS} must hold a list of schemas")
    return listed


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.csv"), key=lambda path: path.name)


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Rows with the number of their last line."""
    # A state may be longer than what the csv module takes for a cell by default.
    csv.field_size_limit(ANY_CELL)
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        for row in reader:
            yield reader.line_num, row


def _example(row: dict[str, str], schemas: list[Questions], base: Path, pictures: Pictures, id: str) -> Example:
    if None in row or None in row.values():
        raise ValueError("has not one cell per column")
    cells = {name: plain(cell) for name, cell in row.items()}
    number = cells.get("schema", "")
    if not number.isdigit() or not 1 <= int(number) <= len(schemas):
        raise ValueError(f"schema: must be a number from 1 to {len(schemas)}")
    questions = schemas[int(number) - 1]
    labels = {name.removeprefix(LABEL): cell for name, cell in cells.items() if name.startswith(LABEL) and cell}
    state = cells["state"]
    return Example(
        id=cells.get("id") or id,
        state=state if cells.get("state_type", "text") == "text" else json.loads(state),
        questions=questions,
        labels=labels_of(questions, labels),
        soft=soft_of(questions, json.loads(cells["soft"]) if cells.get("soft") else None),
        pictures=read_pictures(base, json.loads(cells["images"]) if cells.get("images") else None, pictures),
        **from_meta({name: cell for name, cell in cells.items() if cell}),
    )


PLAIN_JSONL = PlainJsonl()
PLAIN_CSV = PlainCsv()
