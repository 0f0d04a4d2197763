"""What a row of a table means: which cells are the state, which are pictures, which the true answers.

Contract
--------
* Pure but for reading picture files that cells name, and those only below the table's folder.
* `text` names the column that is the whole state; else `fields` map columns to fields of a state that is an object.
* `truth` maps question ids to columns. A true answer may be an option's id in any case, yes/no for a noul, a level's
  number or its text. An empty cell is no answer; any other text is a problem that is counted, not guessed at.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from model.questions import Json, Questions, check_json, render
from storage.errors import InvalidValue
from storage.tabular import FILE, PICTURES, Table, TableRow

YES = {
    "true": "true",
    "yes": "true",
    "y": "true",
    "1": "true",
    "false": "false",
    "no": "false",
    "n": "false",
    "0": "false",
}
TRUTH_NAMES = ("label", "truth", "target", "answer", "class", "category", "expected", "gold")
TEXT_NAMES = ("text", "state", "message", "body", "content", "description", "review", "sentence", "email", "comment")
LOOK = 200
MOSTLY = 0.8
"""Share of cells that must be answers, in a column with the question's name."""


@dataclass(frozen=True, kw_only=True)
class RowMapping:
    """How rows are read. See the module's contract."""

    text: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    images: tuple[str, ...] = ()
    truth: Mapping[str, str] = field(default_factory=dict)

    def json(self) -> dict[str, Json]:
        """Plain JSON."""
        return {"text": self.text, "fields": dict(self.fields), "images": list(self.images), "truth": dict(self.truth)}


@dataclass(frozen=True)
class Case:
    """A row as it is judged. `pictures` are files' bytes; `truth` maps questions to option ids; `unread` counts true
    answers that are not options."""

    state: Json
    pictures: tuple[bytes, ...]
    truth: dict[str, str]
    unread: int = 0


def parse_mapping(raw: Any, columns: Sequence[str], questions: Questions) -> RowMapping:
    """A mapping from JSON. Raises InvalidValue for columns or questions that there are not, or no state at all."""
    if not isinstance(raw, Mapping):
        raise InvalidValue("mapping", "must be an object")
    found = RowMapping(
        text=raw.get("text") or None,
        fields=dict(raw.get("fields") or {}),
        images=tuple(raw.get("images") or ()),
        truth={key: column for key, column in (raw.get("truth") or {}).items() if column},
    )
    named = [*([found.text] if found.text else []), *found.fields, *found.images, *found.truth.values()]
    for column in named:
        if column not in columns:
            raise InvalidValue("mapping", f"there is no column {column!r}; the file has {', '.join(columns[:20])}")
    for key in found.truth:
        if key not in questions:
            raise InvalidValue("mapping", f"there is no question {key!r} in this schema")
    if found.text and found.fields:
        raise InvalidValue("mapping", "the state is one column's text or an object of fields, not both")
    names = list(found.fields.values())
    if len(set(names)) < len(names):
        raise InvalidValue("mapping", "two columns have the same name in the state; rename one of them")
    if not found.text and not found.fields and not found.images:
        raise InvalidValue("mapping", "choose which columns are the state")
    return found


def guess(table: Table, questions: Questions) -> RowMapping:
    """A first mapping from the columns' names and a look at the first rows."""
    columns = list(table.columns)
    rows = [row.cells for row, _ in zip(table.rows(), range(LOOK), strict=False) if isinstance(row, TableRow)]
    images = [c for c in columns if _pictures(c, rows)]
    truth = {}
    for key in questions:
        exact = [c for c in columns if c.casefold() == key.casefold()]
        likely = [c for c in columns if c.casefold() in TRUTH_NAMES]
        for column in exact + likely:
            cells = [row.get(column) for row in rows if row.get(column) not in (None, "")]
            read = sum(read_truth(questions, key, cell) is not None for cell in cells)
            # A column that is called like the question holds its answers, even if some cells say "n/a": as a part of
            # the state it would give them away.
            if cells and read >= (MOSTLY if column in exact else 1) * len(cells):
                truth[key] = column
                break
    rest = [c for c in columns if c not in images and c not in truth.values()]
    texts = [c for c in rest if c.casefold() in TEXT_NAMES]
    if len(rest) == 1 or (len(texts) == 1 and len(rest) <= 2):
        return RowMapping(text=(texts or rest)[0], images=tuple(images), truth=truth)
    if images and columns[:1] == [FILE]:
        rest = []
    return RowMapping(fields={column: column for column in rest}, images=tuple(images), truth=truth)


def _pictures(column: str, rows: Iterable[Mapping[str, Any]]) -> bool:
    cells = [row.get(column) for row in rows if row.get(column) not in (None, "")]
    return bool(cells) and all(
        isinstance(cell, bytes) or (isinstance(cell, str) and cell.lower().endswith(PICTURES)) for cell in cells
    )


def case_of(row: TableRow, mapping: RowMapping, questions: Questions, folder: Path) -> Case:
    """A row as it is judged. Raises ValueError, with a sentence, for a row that cannot be."""
    cells = row.cells
    if mapping.text is not None:
        value = cells.get(mapping.text)
        state: Json = "" if value is None else value
        if not isinstance(state, str | dict | list):
            state = render(state)
    else:
        state = {name: cells.get(column) for column, name in mapping.fields.items()}
    if any(isinstance(inner, bytes) for inner in (state.values() if isinstance(state, dict) else ())):
        raise ValueError("a cell of the state is a picture; map its column to pictures")
    if errors := check_json(state, ("state",)):
        raise ValueError(str(errors[0]))
    pictures = tuple(data for column in mapping.images for data in _files(cells.get(column), column, folder))
    if state in ("", {}, []) and not pictures:
        raise ValueError("is empty: nothing to judge")
    truth, unread = {}, 0
    for key, column in mapping.truth.items():
        cell = cells.get(column)
        if cell is None or cell == "":
            continue
        option = read_truth(questions, key, cell)
        if option is None:
            unread += 1
        else:
            truth[key] = option
    return Case(state, pictures, truth, unread)


def read_truth(questions: Questions, key: str, cell: Any) -> str | None:
    """The option that a cell means; None where it means none."""
    question = questions[key]
    options = question.option_ids()
    if isinstance(cell, bool):
        cell = "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    text = str(cell)
    if text in options:
        return text
    folded = text.strip().casefold()
    if question.type == "noul":
        return YES.get(folded)
    if question.type == "score":
        levels = [render(level).strip().casefold() for level in question.criteria]
        return str(levels.index(folded)) if levels.count(folded) == 1 else None
    same = [option for option in options if option.strip().casefold() == folded]
    return same[0] if len(same) == 1 else None


def _files(cell: Any, column: str, folder: Path) -> list[bytes]:
    """The bytes of the pictures that a cell names, or is."""
    if cell is None or cell == "":
        return []
    if isinstance(cell, bytes):
        return [cell]
    if isinstance(cell, list):
        return [data for inner in cell for data in _files(inner, column, folder)]
    if not isinstance(cell, str):
        raise ValueError(f"{column}: {cell!r} names no picture")
    if cell.startswith("data:image/"):
        try:
            return [base64.b64decode(cell.partition(",")[2], validate=True)]
        except binascii.Error:
            raise ValueError(f"{column}: a data URI that is not base64") from None
    root = folder.resolve()
    try:
        path = (root / cell).resolve()
        inside = path.is_relative_to(root) and path.is_file()
    except (OSError, ValueError):
        inside = False
    # A table that somebody sent must not make us read what lies elsewhere.
    if not inside:
        raise ValueError(f"{column}: there is no picture {cell[:80]!r} beside the table")
    return [path.read_bytes()]
