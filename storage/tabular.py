"""Rows of any table file: CSV, TSV, JSONL, JSON, Parquet, Excel, and pictures in a folder with an optional table.

Contract
--------
* `open_table` looks at the file (encoding, delimiter, columns) and reads none of it for good; `rows()` streams it, as
  often as wanted, in the file's order. Only JSON that is one list is read whole.
* A row that cannot be read (cells that do not fit the columns, bytes that are no text, broken JSON) is a `BadRow` with
  its line, and takes its place in the count: nothing is dropped.
* Rows count from 0, lines from 1. Cells are JSON values, or bytes for a picture inside Parquet.
* Whether bytes are UTF-8 is tried; else charset-normalizer guesses, and the guess is told in `notes`.
"""

from __future__ import annotations

import codecs
import csv
import json
import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

from model.questions import Json, check_json
from storage.datasets.formats import BadRow
from storage.datasets.lines import read_lines
from storage.errors import InvalidValue

SAMPLE = 1 << 18
"""Bytes that delimiter and encoding are guessed from."""
LOOK = 1000
"""Rows that are looked at for columns that come and go."""
PROVEN = "utf-8-sig"
"""The encoding that is tried on the whole file; what passes holds no byte that is no text."""
DELIMITERS = ",;\t|"
TABLES = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json", ".parquet", ".xlsx")
PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".heic", ".heif")
FILE, FOLDER = "file", "folder"
"""Columns of a folder of pictures without a table."""


@dataclass(frozen=True)
class TableRow:
    """A row that was read. `line` is where it starts in the file."""

    number: int
    line: int
    cells: dict[str, Any]


@dataclass
class Table(ABC):
    """A table file. `kind` for people; `notes` are sentences about what was guessed; `encoding` of text, else empty."""

    path: Path
    kind: str
    columns: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)
    encoding: str = ""

    @abstractmethod
    def rows(self) -> Iterator[TableRow | BadRow]:
        """Every row, in order; bad ones in their place."""

    @property
    def folder(self) -> Path:
        """Where files lie that cells name."""
        return self.path.parent

    def _names_of(self, rows: Iterator[TableRow | BadRow]) -> tuple[str, ...]:
        """The columns of the first rows, in order of their first appearance."""
        names: dict[str, None] = {}
        for row, _ in zip(rows, range(LOOK), strict=False):
            if isinstance(row, TableRow):
                names |= dict.fromkeys(row.cells)
        return tuple(names)


def open_table(path: Path) -> Table:
    """A table by its file's ending; a folder is one of pictures.

    Raises
    ------
    InvalidValue : the ending is not known, or the file is not what its ending says, or it is empty.
    """
    if path.is_dir():
        return _Pictures(path)
    if not path.is_file():
        raise InvalidValue("file", f"{path.name} is not there")
    if path.stat().st_size == 0:
        raise InvalidValue("file", f"{path.name} is empty")
    ending = path.suffix.lower()
    try:
        if ending in (".csv", ".tsv", ".txt"):
            return _Csv(path, delimiter="\t" if ending == ".tsv" else None)
        if ending in (".jsonl", ".ndjson"):
            return _Lines(path)
        if ending == ".json":
            return _Whole(path)
        if ending == ".parquet":
            return _Parquet(path)
        if ending == ".xlsx":
            return _Excel(path)
    except (OSError, ValueError, KeyError) as error:
        if isinstance(error, InvalidValue):
            raise
        raise InvalidValue("file", f"{path.name} cannot be read as {ending[1:]}: {error}") from error
    raise InvalidValue("file", f"{path.name}: {ending or 'no ending'} is not known; use {', '.join(TABLES)}")


def encoding_of(path: Path) -> tuple[str, str]:
    """The encoding of a text file, and a note where it was guessed."""
    with path.open("rb") as file:
        sample = file.read(SAMPLE)
        if sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16", ""
        decoder = codecs.getincrementaldecoder(PROVEN)()
        try:
            part = sample
            while part:
                decoder.decode(part)
                part = file.read(SAMPLE)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            pass
        else:
            return PROVEN, ""
    from charset_normalizer import from_bytes

    best = from_bytes(sample).best()
    guess = best.encoding if best is not None else "utf-8"
    # A sample that looks like ASCII hides the bytes that are not.
    guess = "cp1252" if guess == "ascii" else guess
    return guess, f"The text is not UTF-8; it is read as {guess}, which is a guess."


def delimiter_of(sample: str) -> str:
    """The delimiter under which the sample's rows agree best on their number of cells; on a tie the more cells.

    Not `csv.Sniffer`: it is misled by commas inside text.
    """
    best, found = (0.0, 0), ","
    for delimiter in DELIMITERS:
        # The last row may be cut off by the sample's end.
        widths = [len(row) for row in csv.reader(sample.splitlines(keepends=True), delimiter=delimiter) if row][:200]
        width, count = Counter(widths).most_common(1)[0] if widths else (0, 0)
        if width > 1 and (rank := (count / len(widths), width)) > best:
            best, found = rank, delimiter
    return found


class _Csv(Table):
    def __init__(self, path: Path, delimiter: str | None) -> None:
        super().__init__(path, "CSV")
        csv.field_size_limit(2**31 - 1)
        self._encoding, note = encoding_of(path)
        self.encoding = "utf-8" if self._encoding == PROVEN else self._encoding
        with self._open() as file:
            sample = file.read(SAMPLE)
        if note:
            self.notes.append(note)
        self._delimiter = delimiter or delimiter_of(sample)
        if self._delimiter != ",":
            name = {"\t": "tabs", ";": "semicolons", "|": "bars"}[self._delimiter]
            self.kind = f"CSV with {name}"
        header = next(
            (row for row in csv.reader(sample.splitlines(keepends=True), delimiter=self._delimiter) if row), []
        )
        self.columns = distinct(header)

    def _open(self) -> Any:
        # What cannot be decoded is marked, so that its row alone is bad.
        return self.path.open(encoding=self._encoding, errors="replace", newline="")

    def rows(self) -> Iterator[TableRow | BadRow]:
        with self._open() as file:
            reader = csv.reader(file, delimiter=self._delimiter)
            number, headed = 0, False
            while True:
                line = reader.line_num + 1
                try:
                    cells = next(reader, None)
                except csv.Error as error:
                    yield BadRow(self.path.name, line, str(error))
                    number += 1
                    continue
                if cells is None:
                    return
                if not cells:
                    continue
                if not headed:
                    headed = True
                    continue
                yield self._row(number, line, cells)
                number += 1

    def _row(self, number: int, line: int, cells: list[str]) -> TableRow | BadRow:
        if len(cells) != len(self.columns):
            return BadRow(self.path.name, line, f"has {len(cells)} cells; the header has {len(self.columns)}")
        if self._encoding != PROVEN and any("\ufffd" in cell for cell in cells):
            return BadRow(self.path.name, line, f"has bytes that are not {self._encoding}")
        return TableRow(number, line, dict(zip(self.columns, cells, strict=True)))


class _Lines(Table):
    def __init__(self, path: Path) -> None:
        super().__init__(path, "JSONL")
        self.columns = self._names_of(self.rows())

    def rows(self) -> Iterator[TableRow | BadRow]:
        for number, (line, value) in enumerate(read_lines(self.path)):
            yield (
                BadRow(self.path.name, line, str(value))
                if isinstance(value, ValueError)
                else _object(number, line, value)
            )


class _Whole(Table):
    def __init__(self, path: Path) -> None:
        super().__init__(path, "JSON")
        self.columns = self._names_of(self.rows())

    def rows(self) -> Iterator[TableRow | BadRow]:
        try:
            value = json.loads(self.path.read_bytes())
        except (ValueError, RecursionError) as error:
            raise InvalidValue("file", f"{self.path.name} is not JSON ({error})") from None
        if isinstance(value, dict):
            lists = [inner for inner in value.values() if isinstance(inner, list)]
            value = lists[0] if len(lists) == 1 else [value]
        for number, item in enumerate(value if isinstance(value, list) else [value]):
            errors = check_json(item, ("row",))
            yield BadRow(self.path.name, number + 1, str(errors[0])) if errors else _object(number, number + 1, item)


def _object(number: int, line: int, value: Json) -> TableRow:
    return TableRow(number, line, value if isinstance(value, dict) else {"value": value})


class _Parquet(Table):
    def __init__(self, path: Path) -> None:
        import pyarrow.parquet as pq

        super().__init__(path, "Parquet")
        self.columns = tuple(pq.ParquetFile(path).schema_arrow.names)

    def rows(self) -> Iterator[TableRow | BadRow]:
        import pyarrow.parquet as pq

        number = 0
        for batch in pq.ParquetFile(self.path).iter_batches(batch_size=200):
            for cells in batch.to_pylist():
                yield TableRow(number, number + 1, {name: jsonable(cell) for name, cell in cells.items()})
                number += 1


class _Excel(Table):
    def __init__(self, path: Path) -> None:
        super().__init__(path, "Excel")
        sheets, rows = self._open()
        header = list(next((cells for _, cells in rows), ()))
        # Sheets are as wide as their widest row.
        while header and header[-1] is None:
            header.pop()
        self.columns = distinct(["" if cell is None else str(cell) for cell in header])
        if sheets > 1:
            self.notes.append(f"The first of {sheets} sheets is read.")

    def _open(self) -> tuple[int, Iterator[tuple[int, tuple[Any, ...]]]]:
        import zipfile

        from openpyxl import load_workbook
        from openpyxl.utils.exceptions import InvalidFileException

        try:
            book = load_workbook(self.path, read_only=True, data_only=True)
        except (InvalidFileException, zipfile.BadZipFile) as error:
            raise InvalidValue("file", f"{self.path.name} is not an Excel file ({error})") from None
        sheet = book.worksheets[0]
        filled = (
            (n, cells)
            for n, cells in enumerate(sheet.iter_rows(values_only=True), 1)
            if any(c is not None for c in cells)
        )
        return len(book.worksheets), filled

    def rows(self) -> Iterator[TableRow | BadRow]:
        _, rows = self._open()
        next(rows, None)
        for number, (line, cells) in enumerate(rows):
            if any(cell is not None for cell in cells[len(self.columns) :]):
                yield BadRow(self.path.name, line, f"has cells beyond the header's {len(self.columns)}")
                continue
            padded = [*cells, *[None] * len(self.columns)]
            yield TableRow(number, line, {c: jsonable(v) for c, v in zip(self.columns, padded, strict=False)})


class _Pictures(Table):
    """A folder of pictures: the rows of the one table in it, or one row per picture."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "pictures")
        found = sorted(p for p in path.rglob("*") if p.suffix.lower() in TABLES and p.is_file())
        tables = [p for p in found if p.parent == path] or found
        if len(tables) > 1:
            raise InvalidValue(
                "file", f"{tables[0].name} and {tables[1].name}: only one table may lie beside the pictures"
            )
        self._table = open_table(tables[0]) if tables else None
        self.columns = self._table.columns if self._table else (FILE, FOLDER)
        if self._table:
            self.kind = f"pictures with {self._table.kind}"
            self.notes += self._table.notes
            self.encoding = self._table.encoding
        elif not any(self._files()):
            raise InvalidValue("file", f"{path.name} holds no pictures ({', '.join(PICTURES)}) and no table")

    @property
    def folder(self) -> Path:
        return self._table.folder if self._table else self.path

    def _files(self) -> Iterator[Path]:
        return (p for p in sorted(self.path.rglob("*")) if p.suffix.lower() in PICTURES and p.is_file())

    def rows(self) -> Iterator[TableRow | BadRow]:
        if self._table:
            yield from self._table.rows()
            return
        for number, file in enumerate(self._files()):
            inner = file.relative_to(self.path)
            yield TableRow(number, number + 1, {FILE: inner.as_posix(), FOLDER: inner.parent.name})


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Column names that differ: blank ones are numbered, repeated ones counted."""
    seen: dict[str, None] = {}
    for place, name in enumerate(names, 1):
        name = name.strip() or f"column {place}"
        unique, n = name, 2
        while unique in seen:
            unique, n = f"{name} ({n})", n + 1
        seen[unique] = None
    return tuple(seen)


def jsonable(value: Any) -> Any:
    """A cell as JSON: times as ISO 8601 text, numbers as they are; bytes, and pictures of Parquet, stay bytes."""
    if value is None or isinstance(value, str | bool | int | bytes):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, dict):
        # How Hugging Face datasets keep a picture.
        if set(value) == {"bytes", "path"} and isinstance(value["bytes"], bytes):
            return value["bytes"]
        return {str(key): jsonable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(inner) for inner in value]
    return str(value)
