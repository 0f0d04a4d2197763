"""Formats whose files hold the rows of one schema: a folder of their own for every schema of a dataset.

Contract
--------
With one schema its files lie in the dataset's folder itself; with several, in `schema-1`, `schema-2`, ... in the
plan's order.
"""

from __future__ import annotations

from pathlib import Path

from storage.datasets.formats import Plan


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
