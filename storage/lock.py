"""One server per data folder: a lock file that the system releases however its owner ends.

Contract
--------
The lock is the system's (`flock`, on Windows a locked byte), not the file's existence: after a `kill -9` nothing stale
is left. The file holds the owner's process id, for the sentence that the second server shows. It stays there when
released, for deleting it could let two servers in.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

FAR = 1 << 30
"""Where Windows locks a byte: behind the process id, which must stay readable."""

if sys.platform == "win32":
    import msvcrt

    def _take(handle: int) -> None:
        os.lseek(handle, FAR, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _take(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


class Locked(OSError):
    """Somebody else holds the lock. `pid` is theirs, where it could be read."""

    def __init__(self, pid: int | None) -> None:
        self.pid = pid
        super().__init__(f"held by process {pid}" if pid else "held by another process")


class Lock:
    """Takes the lock at `path` or raises Locked; `release` gives it back. OSError: the file cannot be written."""

    def __init__(self, path: Path) -> None:
        self._handle: int | None = None
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _take(handle)
        except OSError as taken:
            os.lseek(handle, 0, os.SEEK_SET)
            text = os.read(handle, 20).decode("ascii", "replace").strip()
            os.close(handle)
            raise Locked(int(text) if text.isdigit() else None) from taken
        os.lseek(handle, 0, os.SEEK_SET)
        os.truncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())
        self._handle = handle

    def release(self) -> None:
        """Gives the lock back. May be called twice."""
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)
