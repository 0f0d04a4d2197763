"""Files that people upload for a run: streamed to the data folder, kept under `runs/<id>/given`, swept if never run.

Contract
--------
* An upload is one file, or the files of one folder, under an id that the page made. A file is there whole or not at
  all.
* Names never lead out of the folder, and only tables, pictures and zip files are taken; a zip file is unpacked at once.
* Sizes are counted while they arrive. What an upload may hold, and what must stay free on the disk, are limits here.
* Never whole in memory: `Receiving.add` writes what it is given.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from storage.database import Database
from storage.errors import InvalidValue, NotFound, checked_id
from storage.jobs import list_jobs
from storage.tabular import PICTURES, TABLES, Table, open_table
from storage.unzip import unzip
from studio.runs.bring import inner_folder
from studio.runs.run import FOLDER, KIND

GIVEN = "given"
TITLE = "title.txt"
PART = ".part"
MOST_BYTES = 4 << 30
MOST_FILES = 200_000
MOST_JSON = 256 << 20
"""A JSON file that is one list is read whole, each time; JSONL is not."""
SPARE = 512 << 20
"""Bytes that an upload leaves free on the disk."""
NAME_BYTES = 200
KEPT_SECONDS = 86_400.0
EVERYTHING = 1_000_000
ZIP = ".zip"


class Uploads:
    """See the module's contract. Safe to use from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._used: OrderedDict[str, tuple[int, int]] = OrderedDict()

    def receive(self, key: str, name: str, size: int | None = None) -> Receiving:
        """Takes in one file of an upload.

        Parameters
        ----------
        name : the file's name, or its path inside the folder that was chosen, with slashes.
        size : bytes that are announced; more than announced is taken too, as far as the limits go.

        Raises
        ------
        InvalidValue : the name, what is not taken, or too much.
        """
        key = checked_id(key, "upload")
        parts = _parts(name)
        folder = self._database.folder / FOLDER / key
        if not folder.exists():
            self.sweep()
        target = (folder / GIVEN).joinpath(*parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        title = folder / TITLE
        if not title.exists():
            title.write_text(parts[0], encoding="utf-8")
        free = shutil.disk_usage(folder).free - SPARE
        if free < (size or 0):
            raise InvalidValue(
                "file", f"the disk of the data folder has no room for it: {max(free, 0) >> 20:,} MB left"
            )
        self.count(key, 0, 1)
        return Receiving(self, key, target, free)

    def count(self, key: str, size: int, files: int = 0) -> None:
        """Adds to what an upload holds. Raises InvalidValue when it is more than one may hold."""
        with self._lock:
            bytes_, count = self._used.get(key) or _size(self._database.folder / FOLDER / key / GIVEN)
            bytes_, count = bytes_ + size, count + files
            if bytes_ > MOST_BYTES:
                raise InvalidValue("file", f"an upload may hold at most {MOST_BYTES >> 30} GB; split it")
            if count > MOST_FILES:
                raise InvalidValue("file", f"an upload may hold at most {MOST_FILES:,} files; split it")
            self._used[key] = bytes_, count
            while len(self._used) > 64:
                self._used.popitem(last=False)

    def title(self, key: str) -> str:
        """The file's name, or the folder's. Raises NotFound."""
        path = self.folder(key) / TITLE
        return path.read_text(encoding="utf-8") if path.is_file() else self.source(key).name

    def folder(self, key: str) -> Path:
        """Where an upload lies. Raises NotFound."""
        folder = self._database.folder / FOLDER / checked_id(key, "upload")
        if not (folder / GIVEN).is_dir():
            raise NotFound("upload", "this file is not here any more; choose it again")
        return folder

    def source(self, key: str) -> Path:
        """The table file of an upload, or its folder of pictures. Raises NotFound."""
        folder = inner_folder(self.folder(key) / GIVEN)
        inside = [path for path in folder.iterdir() if not path.name.endswith(PART)]
        if len(inside) == 1 and inside[0].suffix.lower() in TABLES:
            return inside[0]
        return folder

    def table(self, key: str) -> Table:
        """The upload as a table. Raises NotFound, InvalidValue."""
        path = self.source(key)
        if path.suffix.lower() == ".json" and path.stat().st_size > MOST_JSON:
            raise InvalidValue("file", f"JSON is read whole, so at most {MOST_JSON >> 20} MB of it; save it as JSONL")
        try:
            return open_table(path)
        except InvalidValue as error:
            raise of_the_file(error) from None

    def sweep(self) -> int:
        """Removes uploads that nobody ran for a day; returns how many."""
        root = self._database.folder / FOLDER
        old = [folder for folder in _folders(root) if _age(folder) > KEPT_SECONDS and (folder / TITLE).exists()]
        for left in root.glob(f"{RESULTS}*"):
            if _age(left) > KEPT_SECONDS:
                left.unlink(missing_ok=True)
        if not old:
            return 0
        # Not only by the id: another run may be of the same file.
        run = {str(job.spec["file"]) for job in list_jobs(self._database, kind=KIND, limit=EVERYTHING)}
        used = {path.split("/")[1] for path in run if path.startswith(f"{FOLDER}/")}
        gone = [folder for folder in old if folder.name not in used]
        for folder in gone:
            shutil.rmtree(folder)
        return len(gone)


RESULTS = "results-"
"""Begins the names of files that are written to be downloaded, beside the uploads."""


class Receiving:
    """A file on its way in: `add` what comes, then `done`; or `drop` it."""

    def __init__(self, uploads: Uploads, key: str, target: Path, room: int) -> None:
        self._uploads, self._key, self._target, self._room = uploads, key, target, room
        self._part = target.with_name(target.name + PART)
        self._file: IO[bytes] = self._part.open("wb")
        self._size = 0

    def add(self, data: bytes) -> None:
        """Writes on. Raises InvalidValue when it is too much."""
        self._size += len(data)
        if self._size > self._room:
            raise InvalidValue("file", "the disk of the data folder has no room for it")
        self._uploads.count(self._key, len(data))
        self._file.write(data)

    def done(self) -> None:
        """The file is whole; a zip file is unpacked. Raises InvalidValue."""
        self._file.close()
        try:
            if self._size == 0:
                raise InvalidValue("file", f"the file {self._target.name} is empty")
            if self._target.suffix.lower() != ZIP:
                os.replace(self._part, self._target)
                return
            left = MOST_BYTES - self._size
            inside = self._target.parent / self._target.stem
            try:
                unzip(self._part, inside, most_bytes=min(left, self._room), most_entries=MOST_FILES)
            except InvalidValue as error:
                shutil.rmtree(inside, ignore_errors=True)
                raise of_the_file(InvalidValue(error.field, error.message.replace(PART, ""))) from None
        finally:
            self._part.unlink(missing_ok=True)

    def drop(self) -> None:
        """Nothing is left of it."""
        self._file.close()
        self._part.unlink(missing_ok=True)


def of_the_file(error: InvalidValue) -> InvalidValue:
    """The same error, as a sentence that may begin with a capital letter: a file's name would be changed by it."""
    first = error.message.partition(" ")[0]
    return InvalidValue(error.field, f"the file {error.message}") if "." in first else error


def _parts(name: str) -> tuple[str, ...]:
    """The parts of a file's name. Raises InvalidValue."""
    path = PurePosixPath(name.replace("\\", "/"))
    parts = path.parts
    if not parts or path.is_absolute() or ".." in parts or ":" in name or any(ord(c) < 32 for c in name):
        raise InvalidValue("file", f"{name[:80]!r} is no name for a file")
    if len(parts) > 16 or any(len(part.encode(errors="replace")) > NAME_BYTES for part in parts):
        raise InvalidValue("file", f"{name[:80]!r} is too long a name")
    if path.suffix.lower() not in (*TABLES, *PICTURES, ZIP):
        ending = path.suffix or "no ending"
        raise InvalidValue(
            "file", f"the file {path.name}: {ending} is not known; use {', '.join(TABLES)}, {ZIP}, or pictures"
        )
    return parts


def _folders(root: Path) -> Iterator[Path]:
    return (path for path in root.iterdir() if path.is_dir()) if root.is_dir() else iter(())


def _age(path: Path) -> float:
    return time.time() - path.stat().st_mtime


def _size(folder: Path) -> tuple[int, int]:
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return sum(sizes), len(sizes)
