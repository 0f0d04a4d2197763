"""Zip files that people upload, unpacked so that they can do no harm.

Contract
--------
Only tables, pictures and what a dataset's format keeps beside its rows are unpacked, below the folder that is given,
under names that cannot lead out of it; other entries are skipped. Sizes are counted while unpacking, not believed.
"""

from __future__ import annotations

import lzma
import shutil
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from storage.errors import InvalidValue
from storage.tabular import PICTURES, TABLES

ENTRIES = 200_000
BYTES = 8 << 30
"""Unpacked."""
BESIDE = (".yaml", ".yml")
"""The tasks of laya-finetune; what the other formats keep beside their rows is JSON, and so passes as a table."""

_BROKEN = (
    zipfile.BadZipFile,
    # Encrypted, or compressed in a way that Python does not know.
    RuntimeError,
    # Cut off inside an entry.
    EOFError,
    # A name that is not the UTF-8 it claims to be, or an entry that begins before the file does.
    ValueError,
    # Broken inside an entry, as deflate, LZMA and bzip2 say it. A full disk is an OSError too, and says so.
    zlib.error,
    lzma.LZMAError,
    OSError,
)
"""What zipfile raises for files that are damaged: found by damaging some."""


def unzip(path: Path, folder: Path, *, most_bytes: int = BYTES, most_entries: int = ENTRIES) -> int:
    """Unpacks `path` into `folder`; returns how many files. Raises InvalidValue (no zip file, or too much)."""
    count, left = 0, most_bytes
    try:
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                name = PurePosixPath(entry.filename.replace("\\", "/"))
                if (
                    entry.is_dir()
                    or name.suffix.lower() not in (*TABLES, *PICTURES, *BESIDE)
                    or name.name.startswith(".")
                ):
                    continue
                if name.is_absolute() or ".." in name.parts or "__MACOSX" in name.parts or ":" in str(name):
                    continue
                count += 1
                if count > most_entries:
                    raise InvalidValue("file", f"{path.name} holds more than {most_entries:,} files")
                target = folder.joinpath(*name.parts)
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(entry) as source, target.open("wb") as file:
                    # One byte more than may be: so an entry that lies about its size is caught.
                    shutil.copyfileobj(_Limited(source, left + 1), file)
                left -= target.stat().st_size
                if left < 0:
                    raise InvalidValue("file", f"{path.name} unpacks to more than {most_bytes >> 20:,} MB")
    except InvalidValue:
        raise
    except _BROKEN as error:
        raise InvalidValue("file", f"{path.name} cannot be unpacked: {str(error) or 'it ends too early'}") from None
    if not count:
        raise InvalidValue("file", f"{path.name} holds no table and no pictures")
    return count


class _Limited:
    """A reader that ends after so many bytes."""

    def __init__(self, source: object, left: int) -> None:
        self._source, self._left = source, left

    def read(self, n: int = -1) -> bytes:
        """At most `n` bytes."""
        n = self._left if n < 0 else min(n, self._left)
        data: bytes = self._source.read(n)  # type: ignore[attr-defined]
        self._left -= len(data)
        return data
