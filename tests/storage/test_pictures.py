"""Pictures by content hash."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from storage.database import Database, DatabaseError
from storage.errors import InvalidValue, NotFound
from storage.pictures import get_picture, picture_path, read_picture, save_picture

DATA = b"\x89PNG and so on"
HASH = hashlib.sha256(DATA).hexdigest()


def test_the_same_bytes_are_one_picture(database: Database) -> None:
    once = save_picture(database, DATA, format="png", width=3, height=2)
    assert save_picture(database, DATA, format="png", width=3, height=2) == once
    assert (once.sha256, once.bytes, once.width, once.height) == (HASH, len(DATA), 3, 2)
    assert get_picture(database, HASH) == once
    assert read_picture(database, HASH) == DATA
    assert picture_path(database, HASH) == database.folder / "pictures" / HASH[:2] / HASH
    assert os.listdir(picture_path(database, HASH).parent) == [HASH]


@pytest.mark.parametrize("sha256", ["0" * 64, "../../studio.db", HASH.upper(), ""])
def test_what_is_not_kept_is_not_found(database: Database, sha256: str) -> None:
    save_picture(database, DATA, format="png", width=3, height=2)
    for ask in (get_picture, picture_path, read_picture):
        with pytest.raises(NotFound):
            ask(database, sha256)


@pytest.mark.parametrize(
    ("data", "width", "field"), [(b"", 1, "data"), (DATA, 0, "width")], ids=["no bytes", "no width"]
)
def test_what_is_no_picture_is_refused(database: Database, data: bytes, width: int, field: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        save_picture(database, data, format="png", width=width, height=1)
    assert caught.value.field == field


def test_a_half_written_file_from_before_a_crash_is_replaced(database: Database) -> None:
    path = database.folder / "pictures" / HASH[:2] / HASH
    path.parent.mkdir(parents=True)
    path.write_bytes(DATA[:4])
    save_picture(database, DATA, format="png", width=3, height=2)
    assert read_picture(database, HASH) == DATA


def test_altered_and_lost_files_are_said(database: Database) -> None:
    save_picture(database, DATA, format="png", width=3, height=2)
    path = picture_path(database, HASH)
    path.write_bytes(DATA[::-1])
    with pytest.raises(DatabaseError, match="was altered"):
        read_picture(database, HASH)
    path.unlink()
    with pytest.raises(NotFound, match="is gone"):
        read_picture(database, HASH)


def test_a_folder_that_cannot_be_written_keeps_no_row(database: Database) -> None:
    Path(database.folder / "pictures").write_text("in the way")
    with pytest.raises(DatabaseError, match="was not kept"):
        save_picture(database, DATA, format="png", width=3, height=2)
    with pytest.raises(NotFound):
        get_picture(database, HASH)
