"""Table files as they come: encodings, delimiters, bad rows in their place, pictures in folders and zips."""

from __future__ import annotations

import json
import random
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from storage.datasets.formats import BadRow
from storage.errors import InvalidValue
from storage.tabular import TableRow, distinct, open_table
from storage.unzip import unzip
from tests.storage.datasets.examples import picture

GERMAN = "text;label\n" + "Größe über alles, schön;ja\nnächste Straße, süß;nein\n" * 5


def _write(folder: Path, name: str, data: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def _read(path: Path) -> tuple[list[dict[str, Any]], list[tuple[int, str]]]:
    rows = list(open_table(path).rows())
    good = [row.cells for row in rows if isinstance(row, TableRow)]
    return good, [(row.line, row.message) for row in rows if isinstance(row, BadRow)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"])
def test_encodings_and_semicolons_are_found(encoding: str, tmp_path: Path) -> None:
    path = _write(tmp_path, "a.csv", GERMAN.encode(encoding))
    table = open_table(path)
    good, bad = _read(path)
    assert (table.columns, table.kind) == (("text", "label"), "CSV with semicolons")
    assert good[0] == {"text": "Größe über alles, schön", "label": "ja"}
    assert not bad
    assert bool(table.notes) is (encoding in ("cp1252", "latin-1"))


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("a,b\n1,2\n", ("a", "b")),
        ("a\tb\n1,5\t2\n3,4\t5\n", ("a", "b")),
        ("a|b\n1|2\n", ("a", "b")),
        ('text\n"one, two"\nthree\n', ("text",)),
        ('id,text\n1,"a, b; c"\n2,"d; e"\n', ("id", "text")),
        ("a,,a\n1,2,3\n", ("a", "column 2", "a (2)")),
    ],
)
def test_delimiters_and_headers(text: str, columns: tuple[str, ...], tmp_path: Path) -> None:
    assert open_table(_write(tmp_path, "a.csv", text)).columns == columns


def test_bad_rows_keep_their_line_and_their_place(tmp_path: Path) -> None:
    data = b'a,b\n1,"two\nlines"\nonly one\n3,4,5\n\n\xff\xfe,6\n7,8\n'
    path = _write(tmp_path, "a.csv", data.replace(b"\xff\xfe", "é".encode()))
    good, bad = _read(path)
    assert [row["b"] for row in good] == ["two\nlines", "6", "8"]
    assert bad == [(4, "has 1 cells; the header has 2"), (5, "has 3 cells; the header has 2")]
    rows = list(open_table(path).rows())
    assert [isinstance(row, BadRow) for row in rows] == [False, True, True, False, False]


def test_a_row_with_foreign_bytes_is_bad_alone(tmp_path: Path) -> None:
    lines = ["text,label", *(f"schöne größe {i} über,ja" for i in range(200))]
    data = "\n".join(lines).encode("utf-16")
    path = _write(tmp_path, "a.csv", data + b"\n\x00a\x00\x00\xd8,\x00b\x00\n\x00")
    good, bad = _read(path)
    assert (len(good), bad) == (200, [(202, "has bytes that are not utf-16")])


def test_jsonl_and_json(tmp_path: Path) -> None:
    good, bad = _read(
        _write(tmp_path, "a.jsonl", '{"t": "x\u2028y", "n": 1}\n{broken\n[1]\n{"n": NaN}\n\n{"late": true}\n')
    )
    assert good == [{"t": "x\u2028y", "n": 1}, {"value": [1]}, {"late": True}]
    assert [line for line, _ in bad] == [2, 4]
    assert open_table(tmp_path / "a.jsonl").columns == ("t", "n", "value", "late")
    assert _read(_write(tmp_path, "a.json", json.dumps({"rows": [{"t": 1}, {"t": None}]})))[0] == [
        {"t": 1},
        {"t": None},
    ]
    with pytest.raises(InvalidValue, match="not JSON"):
        open_table(_write(tmp_path, "b.json", "{"))


def test_parquet_gives_pictures_as_bytes(tmp_path: Path) -> None:
    table = pa.table(
        {"text": ["a", None], "image": [{"bytes": picture(), "path": "x"}, None], "n": [1.5, float("nan")]}
    )
    pq.write_table(table, tmp_path / "a.parquet")
    good, bad = _read(tmp_path / "a.parquet")
    assert good == [{"text": "a", "image": picture(), "n": 1.5}, {"text": None, "image": None, "n": None}]
    assert not bad


def test_excel(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (
        ["text", "when", "n"],
        ["a", datetime(2026, 1, 2), 3],
        [None, None, None],
        ["b", None, 1.5],
        ["c", 1, 2, 3],
    ):
        sheet.append(row)
    book.create_sheet("other")
    book.save(tmp_path / "a.xlsx")
    good, bad = _read(tmp_path / "a.xlsx")
    assert good == [{"text": "a", "when": "2026-01-02T00:00:00", "n": 3}, {"text": "b", "when": None, "n": 1.5}]
    assert bad == [(5, "has cells beyond the header's 3")]
    assert open_table(tmp_path / "a.xlsx").notes == ["The first of 2 sheets is read."]
    with pytest.raises(InvalidValue, match="not an Excel file"):
        open_table(_write(tmp_path, "b.xlsx", "no"))


def test_a_folder_of_pictures(tmp_path: Path) -> None:
    (tmp_path / "cats").mkdir()
    _write(tmp_path, "cats/b.png", picture())
    _write(tmp_path, "a.jpg", picture())
    good, _ = _read(tmp_path)
    assert good == [{"file": "a.jpg", "folder": ""}, {"file": "cats/b.png", "folder": "cats"}]
    _write(tmp_path, "list.csv", "file,truth\na.jpg,dog\n")
    assert _read(tmp_path)[0] == [{"file": "a.jpg", "truth": "dog"}]
    _write(tmp_path, "more.csv", "file\n")
    with pytest.raises(InvalidValue, match="only one table"):
        open_table(tmp_path)


def _zip(path: Path, **files: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__", "/"), data)
    return path


def test_a_zip_is_unpacked_within_its_folder_only(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("in/a.png", "../out.png", "/abs.png", "x.exe", "in/list.csv", "C:\\b.png", "..\\c.png"):
            archive.writestr(name, picture())
    assert unzip(path, tmp_path / "to" / "here") == 2
    assert sorted(p.name for p in tmp_path.rglob("*") if p.is_file()) == ["a.png", "a.zip", "list.csv"]


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    path = _zip(tmp_path / "a.zip", **{"big.csv": b"0" * 3_000_000})
    with pytest.raises(InvalidValue, match="more than 1 MB"):
        unzip(path, tmp_path / "to", most_bytes=1 << 20)
    assert (tmp_path / "to" / "big.csv").stat().st_size <= (1 << 20) + 1
    with pytest.raises(InvalidValue, match="cannot be unpacked"):
        unzip(_write(tmp_path, "b.zip", "no"), tmp_path / "to")
    with pytest.raises(InvalidValue, match="no table and no pictures"):
        unzip(_zip(tmp_path / "c.zip", **{"readme.md": b"x"}), tmp_path / "to")


@pytest.mark.parametrize(
    "method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA], ids=lambda m: f"m{m}"
)
def test_a_damaged_zip_is_unpacked_or_refused_in_words(method: int, tmp_path: Path) -> None:
    draw = random.Random(method)
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("a/é.csv", "text,label\n" + "hello world,1\n" * 100)
        archive.writestr("b.csv", draw.randbytes(300))
    whole, refused = path.read_bytes(), 0
    for turn in range(300):
        damaged = bytearray(whole)
        for _ in range(draw.choice((1, 1, 2, 4))):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        path.write_bytes(damaged if turn % 10 else damaged[: draw.randrange(len(damaged))])
        try:
            unzip(path, tmp_path / "to")
        except InvalidValue:
            refused += 1
    assert refused > 50


@pytest.mark.parametrize(
    ("name", "data", "why"), [("a.csv", "", "empty"), ("a.doc", "x", "not known"), ("a", "x", "no ending")]
)
def test_what_is_no_table_is_refused(name: str, data: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match=why):
        open_table(_write(tmp_path, name, data))


def test_distinct_names() -> None:
    assert distinct(["a", "a", " a ", "", "a (2)"]) == ("a", "a (2)", "a (3)", "column 4", "a (2) (2)")
