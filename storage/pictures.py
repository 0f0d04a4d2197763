"""Pictures by content hash: rows in the database, bytes in files beside it.

Contract
--------
A picture is known by the sha256 of its bytes and never changes. Its file is `pictures/ab/<sha256>`, written whole
(temporary file, flush, rename) before its row, so that a row always has its bytes. Decoding and checking pictures is
not done here (`model.images`).
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import sqlalchemy as sa
from sqlmodel import Session, col, select

from storage.database import Database, DatabaseError
from storage.errors import InvalidValue, NotFound
from storage.tables import DecisionPictureRow, DraftRow, ExamplePictureRow, PictureRow

log = logging.getLogger(__name__)

HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, kw_only=True)
class StoredPicture:
    """What is known of a picture without reading it. `width` and `height` in pixels, `bytes` its size."""

    sha256: str
    format: str
    width: int
    height: int
    bytes: int
    created: datetime


def save_picture(database: Database, data: bytes, *, format: str, width: int, height: int) -> StoredPicture:
    """Keeps a picture; the same bytes again are the same picture.

    Parameters
    ----------
    data : the file's bytes, as they came.
    format : "png", "jpeg", "webp", ..., in small letters.
    width, height : pixels, as shown (after the EXIF turn).

    Raises
    ------
    InvalidValue : `data` is empty, or a size is not positive.
    DatabaseError : the bytes cannot be written.
    """
    if not data:
        raise InvalidValue("data", "is empty; send the picture's bytes")
    if width < 1 or height < 1:
        raise InvalidValue("width", f"a picture of {width} x {height} pixels cannot be kept")
    sha256 = hashlib.sha256(data).hexdigest()
    path = _path(database.folder, sha256)
    if not path.exists() or path.stat().st_size != len(data):
        try:
            _write(path, data)
        except OSError as error:
            raise DatabaseError(f"{path.parent}: {error.strerror}. The picture was not kept.") from error
    with database.write_session() as session:
        row = session.get(PictureRow, sha256)
        if row is None:
            row = PictureRow(sha256=sha256, format=format, width=width, height=height, bytes=len(data))
            session.add(row)
            session.flush()
        return _view(row)


def get_picture(database: Database, sha256: str) -> StoredPicture:
    """Raises NotFound."""
    with database.read_session() as session:
        row = session.get(PictureRow, sha256)
        if row is None:
            raise NotFound("sha256", f"there is no picture {sha256[:80]!r}")
        return _view(row)


def picture_path(database: Database, sha256: str) -> Path:
    """Where the bytes lie, for a server to send. Raises NotFound."""
    get_picture(database, sha256)
    path = _path(database.folder, sha256)
    if not path.is_file():
        raise NotFound("sha256", f"the file of picture {sha256} is gone from {path.parent}; restore it from a backup")
    return path


def read_picture(database: Database, sha256: str) -> bytes:
    """The bytes, checked against their hash. Raises NotFound, DatabaseError (the file was altered)."""
    path = picture_path(database, sha256)
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != sha256:
        raise DatabaseError(f"{path} was altered: its bytes do not have its hash; restore it from a backup")
    return data


def require_pictures(session: Session, hashes: Sequence[str], field: str) -> None:
    """Raises NotFound, naming the first of `hashes` that is not kept."""
    if not hashes:
        return
    known = set(session.exec(select(PictureRow.sha256).where(col(PictureRow.sha256).in_(hashes))).all())
    for index, sha256 in enumerate(hashes):
        if sha256 not in known:
            raise NotFound(f"{field}.{index}", f"there is no picture {sha256[:80]!r}; save it first")


def drop_unused(session: Session, hashes: Sequence[str]) -> list[str]:
    """Deletes the rows of those of `hashes` that no decision, example or draft points at; returns them for `unlink`."""
    gone = []
    for sha256 in dict.fromkeys(hashes):
        used = sa.or_(
            sa.exists().where(col(DecisionPictureRow.sha256) == sha256),
            sa.exists().where(col(ExamplePictureRow.sha256) == sha256),
            sa.exists().where(sa.cast(col(DraftRow.document), sa.Text).contains(sha256)),
        )
        if not session.execute(sa.select(used)).scalar_one():
            session.execute(sa.delete(PictureRow).where(col(PictureRow.sha256) == sha256))
            gone.append(sha256)
    return gone


def unlink(database: Database, hashes: Sequence[str]) -> None:
    """Deletes files whose rows are gone, once that is on the disk. A file that stays is nobody's; it is logged."""
    for sha256 in hashes:
        try:
            _path(database.folder, sha256).unlink(missing_ok=True)
        except OSError as error:
            log.warning("the file of picture %s could not be deleted: %s", sha256, error)


def _path(folder: Path, sha256: str) -> Path:
    if not HASH.fullmatch(sha256):
        raise NotFound("sha256", f"{sha256[:80]!r} is not the hash of a picture")
    return folder / "pictures" / sha256[:2] / sha256


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
    if os.name == "posix":
        # The new name itself must be on the disk before a row points at it.
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _view(row: PictureRow) -> StoredPicture:
    return StoredPicture(
        sha256=row.sha256,
        format=row.format,
        width=row.width,
        height=row.height,
        bytes=row.bytes,
        created=row.created,
    )
