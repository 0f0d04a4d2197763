"""The Datasets page's versions: which there are, what each holds, and their files for each trainer.

Contract
--------
* Functions take and give plain JSON and never raise (`studio.pages.design_schemas.told`).
* `prepare` writes a version in a format, has it checked by that trainer's rules, and packs it as one zip file, whose
  bytes are the same each time. Rules that are broken come back with file, line and reason, and then there is no zip
  file. `prepared` tells how far it is. The card is there to be read before anything is downloaded.
* Files lie in `exports/<dataset>/` of the data folder for an hour, so that what is deleted elsewhere does not stay in
  them; then they are made again when somebody wants them.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, field_validator
from sqlmodel import col, select

from model.questions import Json, render
from storage.database import Database
from storage.datasets.formats import Format
from storage.datasets.registry import FORMATS
from storage.datasets.versions import DatasetVersion, export_version, get_dataset, list_datasets
from storage.errors import NotFound
from storage.tables import DecisionBodyRow, DecisionRow
from studio.pages.datasets_choose import said_changes
from studio.pages.datasets_work import Told as Progress
from studio.pages.datasets_work import Works
from studio.pages.design_schemas import Told, told

EXPORTS = "exports"
KEPT_SECONDS = 3600.0
PROBLEMS = 200
EXCERPT = 90
PACKED = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".heic", ".parquet")
"""Do not get smaller by being packed again."""
LEVEL: Literal[6] = 6


class Named(BaseModel):
    """One dataset version."""

    dataset: UUID


class Wanted(Named):
    """It, in one format."""

    format: str

    @field_validator("format")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in FORMATS:
            raise ValueError(f"must be one of {', '.join(FORMATS)}")
        return name


def export_functions(database: Database, works: Works) -> list[Told]:
    """The page's functions about dataset versions, each under its own name."""

    @told
    def datasets(_: Json) -> Json:
        sweep(database)
        return {"datasets": [_listed(version) for version in list_datasets(database)]}

    @told
    def dataset(payload: Json) -> Json:
        sweep(database)
        version = get_dataset(database, str(Named.model_validate(payload).dataset))
        older = [v for v in list_datasets(database) if v.name == version.name and v.number < version.number]
        before = max(older, key=lambda v: v.number, default=None)
        return {
            **_listed(version),
            "summary": version.summary,
            "recipe": version.recipe.json(),
            "before": None if before is None else before.number,
            "changes": [] if before is None else said_changes(before, version),
            "formats": [
                {"name": f.name, "title": f.title, "about": f.about, "trains": f.trains} for f in FORMATS.values()
            ],
            "files": {name: _state(database, works, version.id, name) for name in FORMATS},
        }

    @told
    def prepare(payload: Json) -> Json:
        sweep(database)
        given = Wanted.model_validate(payload)
        version = get_dataset(database, str(given.dataset))
        if _report(database, version.id, given.format) is None:
            # Each under an owner of its own: formats do not end one another.
            works.start(
                _key(version.id, given.format),
                lambda progress: write_zip(database, version, FORMATS[given.format], progress),
                # Its files may be gone since.
                again=True,
            )
        return _state(database, works, version.id, given.format)

    @told
    def prepared(payload: Json) -> Json:
        sweep(database)
        given = Wanted.model_validate(payload)
        return _state(database, works, str(given.dataset), given.format)

    return [datasets, dataset, prepare, prepared]


def _key(dataset: str, format: str) -> str:
    return f"export {dataset} {format}/"


def _state(database: Database, works: Works, dataset: str, format: str) -> dict[str, Json]:
    """What there is of a format: `state` is none, working, failed or done; `report` where it is done."""
    error = ""
    try:
        work = works.get(_key(dataset, format))
    except NotFound:
        pass
    else:
        if not work.finished:
            return {"state": "working", "rows": work.rows}
        error = work.error
    if (report := _report(database, dataset, format)) is not None:
        return {"state": "done", "report": report}
    # Done, and swept since: it can be made again.
    return {"state": "failed", "error": error} if error else {"state": "none"}


def _report(database: Database, dataset: str, format: str) -> dict[str, Any] | None:
    path = _folder(database, dataset) / f"{format}.json"
    if not path.is_file():
        return None
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def zip_of(database: Database, dataset: str, format: str) -> tuple[Path, str]:
    """The zip file of a version in a format, and its name for people. Raises NotFound."""
    sweep(database)
    path = _folder(database, dataset) / f"{format}.zip"
    if format not in FORMATS or not path.is_file():
        raise NotFound("dataset", "there is no such file; have it made on the Datasets page first")
    version = get_dataset(database, dataset)
    return path, f"{_plain(version.name)}-{version.number}-{format}.zip"


def write_zip(database: Database, version: DatasetVersion, format: Format, progress: Progress) -> None:
    """Writes a version's files, checks them, and packs them; the report lies beside the zip file when all is there."""
    folder = _folder(database, version.id)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix="making-") as work:
        out = Path(work) / f"{_plain(version.name)}-{version.number}-{format.name}"
        done = export_version(database, version, format, out, progress)
        report = done.json()
        report["problems"] = done.problems[:PROBLEMS]
        report["broken"] = len(done.problems)
        report["total"] = done.total
        report["card"] = (out / "README.md").read_text(encoding="utf-8")
        report["files"] = sorted(path.relative_to(out).as_posix() for path in out.iterdir())
        for entry in report["left_out"]:
            entry["examples"] = _excerpts(database, entry.pop("ids")[:5])
        target = folder / f"{format.name}.zip"
        if done.total and not done.problems:
            part = Path(work) / target.name
            _pack(out, part, version.created)
            report["bytes"] = part.stat().st_size
            os.replace(part, target)
        else:
            report["bytes"] = None
            target.unlink(missing_ok=True)
        told_of = Path(work) / "report.json"
        told_of.write_text(json.dumps(report), encoding="utf-8")
        # Last: where there is a report, the zip file that it speaks of is there.
        os.replace(told_of, folder / f"{format.name}.json")


def _pack(folder: Path, target: Path, when: datetime) -> None:
    """A zip file whose bytes hang on nothing but what is in the folder and when the version was frozen."""
    stamp = (when.year, when.month, when.day, when.hour, when.minute, when.second)
    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(f"{folder.name}/{path.relative_to(folder).as_posix()}", stamp)
            entry.compress_type = zipfile.ZIP_STORED if path.suffix in PACKED else zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            with path.open("rb") as source, archive.open(entry, "w", force_zip64=True) as out:
                shutil.copyfileobj(source, out, 1 << 20)


def sweep(database: Database) -> int:
    """Removes files that were made over an hour ago; returns how many."""
    root = database.folder / EXPORTS
    old = [p for p in root.glob("*/*") if p.is_file() and time.time() - p.stat().st_mtime > KEPT_SECONDS]
    for path in old:
        path.unlink(missing_ok=True)
    return len(old)


def _folder(database: Database, dataset: str) -> Path:
    return database.folder / EXPORTS / str(UUID(dataset))


def _plain(name: str) -> str:
    """A name as part of a file's name."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "-" for c in name).strip("-.")
    return kept[:60] or "dataset"


def _excerpts(database: Database, ids: list[str]) -> list[Json]:
    """The beginnings of states, for people to know them by."""
    with database.read_session() as session:
        query = (
            select(DecisionRow.id, DecisionBodyRow.state)
            .join(DecisionBodyRow, col(DecisionBodyRow.decision) == col(DecisionRow.serial))
            .where(col(DecisionRow.id).in_(ids))
        )
        states: dict[str, Json] = dict(session.exec(query).all())
    return [{"id": key, "text": _excerpt(states.get(key))} for key in ids]


def _excerpt(state: Json) -> str:
    text = " ".join((state if isinstance(state, str) else render(state)).split())
    return text if len(text) <= EXCERPT else f"{text[:EXCERPT]}…"


def _listed(version: DatasetVersion) -> dict[str, Json]:
    return {
        "id": version.id,
        "name": version.name,
        "number": version.number,
        "sha256": version.sha256,
        "created": version.created.isoformat(),
        "rows": version.summary["rows"],
        "total": version.summary["total"],
    }
