"""Formats whose files hold the rows of one schema: a folder of their own for every schema of a dataset.

Contract
--------
With one schema its files lie in the dataset's folder itself; with several, in `schema-1`, `schema-2`, ... in the
plan's order. Every such folder has a file (the marker) that holds what all its rows share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from model.questions import Json
from storage.datasets.beside import read_beside
from storage.datasets.example import Example
from storage.datasets.formats import BadRow, Plan
from storage.datasets.lines import read_lines, split_files

Shared = TypeVar("Shared")


def schema_folder(folder: Path, plan: Plan, number: int) -> Path:
    """The folder of the schema `number` (from 0), made if it is missing."""
    if len(plan.schemas) == 1:
        return folder
    inner = folder / f"schema-{number + 1}"
    inner.mkdir(exist_ok=True)
    return inner


def schema_folders(folder: Path, marker: str) -> list[Path]:
    """The folders that hold `marker` (a file of every schema's folder), in order."""
    if folder.is_file():
        return [folder.parent]
    if (folder / marker).is_file():
        return [folder]
    return sorted(
        (path.parent for path in folder.glob(f"schema-*/{marker}")),
        key=lambda path: (len(path.name), path.name),
    )


def check_cases(
    folder: Path, marker: str, problems: Callable[[Json, dict[str, Json], str], list[str]]
) -> Iterator[str]:
    """Every rule that a row breaks, with its file and line. `problems` gets row, marker's content and split."""
    for inner in schema_folders(folder, marker):
        shared = read_beside(inner / marker)
        for path in split_files(inner):
            for number, row in read_lines(path):
                broken = [str(row)] if isinstance(row, ValueError) else problems(row, shared, path.stem)
                yield from (f"{path.relative_to(folder)}:{number}: {problem}" for problem in broken)


def read_cases(
    folder: Path,
    marker: str,
    load: Callable[[dict[str, Json]], Shared],
    example: Callable[[Json, str, Shared], Example],
    bad: Callable[[BadRow], None],
) -> Iterator[tuple[str, Example]]:
    """Split and example of every row; `bad` is told of those that cannot be read.

    `load` makes what the rows share of the marker's content, once per folder; `example` gets row, id and that.

    Raises
    ------
    InvalidValue : a marker cannot be read. What `load` raises, too.
    """
    for inner in schema_folders(folder, marker):
        shared = load(read_beside(inner / marker))
        for path in split_files(folder if folder.is_file() else inner):
            for number, row in read_lines(path):
                try:
                    if isinstance(row, ValueError):
                        raise row
                    found = example(row, f"{path.stem}-{number}", shared)
                except ValueError as error:
                    bad(BadRow(path.name, number, str(error)))
                else:
                    yield path.stem, found
