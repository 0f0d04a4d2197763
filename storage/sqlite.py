"""SQLite: one file, a write-ahead log, `BEGIN IMMEDIATE`, and a copy before each upgrade.

Contract
--------
See `storage.dialects.Dialect`. The file belongs to one studio by the lock of its data folder. Readers wait for nobody;
a writer holds SQLite's own write lock from its first statement on, so that no update is lost.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from storage.errors import DatabaseError
from storage.tables import TRIGGERS

log = logging.getLogger(__name__)

FILE = "studio.db"


class Sqlite:
    """The database in the file `path`. Copies go into `backups`; a foreign lock may last `wait` seconds."""

    def __init__(self, path: Path, backups: Path, wait: float) -> None:
        self.path = path
        self.place = str(path)
        self._backups = backups
        self._wait = wait

    def reader(self) -> sa.Engine:
        """Transactions that see one moment; `query_only`."""
        return self._engine(begin="BEGIN", read_only=True)

    def writer(self) -> sa.Engine:
        """Transactions that hold the write lock from their beginning."""
        return self._engine(begin="BEGIN IMMEDIATE")

    def migrator(self) -> sa.Engine:
        """As `writer`, with foreign keys off for the while: a batch drops and renames tables. See `broken`."""
        return self._engine(begin="BEGIN IMMEDIATE", foreign_keys=False)

    @contextmanager
    def named(self) -> Iterator[None]:
        """Disk full, damaged, taken by a foreign writer: as a sentence."""
        try:
            yield
        except sa.exc.IntegrityError:
            raise
        except (sa.exc.DatabaseError, sa.exc.TimeoutError, sqlite3.Error) as error:
            reason = str(getattr(error, "orig", None) or error)
            raise DatabaseError(f"{self.place}: {reason}. {_advice(reason)}") from error

    def hold(self) -> None:
        """The lock of the data folder is enough, but a file elsewhere must be reachable. Raises DatabaseError."""
        if not self.path.parent.is_dir():
            raise DatabaseError(f"{self.path.parent} is not a folder; make it, or name another file in --database.")

    def revision(self) -> str | None:
        """See `Dialect.revision`."""
        with self._raw(self.path) as connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if not tables:
                return None
            known = "alembic_version" in tables
            rows = connection.execute("SELECT version_num FROM alembic_version").fetchall() if known else []
        if len(rows) != 1:
            raise DatabaseError(f"{self.place} is not a database of Clef Studio. Choose another --data folder.")
        return str(rows[0][0])

    def secure(self, revision: str) -> None:
        """A whole copy of the database, under `backups`."""
        self._backups.mkdir(mode=0o700, exist_ok=True)
        path = self._backups / f"studio-{revision}-{datetime.now(UTC):%Y%m%dT%H%M%S%f}.db"
        partial = path.with_suffix(".partial")
        with self._raw(self.path) as connection, self._raw(partial) as copy:
            connection.backup(copy)
        with partial.open("rb") as file:
            os.fsync(file.fileno())
        partial.replace(path)
        log.info("a copy of the database from before the upgrade is in %s", path)

    def drop_triggers(self, connection: sa.Connection) -> None:
        """All there are, whatever revision made them."""
        existing = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'trigger'").scalars().all()
        for name in existing:
            connection.exec_driver_sql(f'DROP TRIGGER "{name}"')

    def make_triggers(self, connection: sa.Connection) -> None:
        """Those of the newest revision."""
        for statement in TRIGGERS.values():
            connection.exec_driver_sql(statement)

    def broken(self, connection: sa.Connection) -> list[str]:
        """See `Dialect.broken`."""
        return [str(row[0]) for row in connection.exec_driver_sql("PRAGMA foreign_key_check")]

    def fold(self) -> None:
        """Folds the write-ahead log into the file."""
        try:
            with self._raw(self.path) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error as error:
            # Nothing is lost: the log is read again at the next opening.
            log.warning("the write-ahead log of %s stays: %s", self.path, error)

    def release(self) -> None:
        """Nothing: the folder's lock is the database's."""

    @contextmanager
    def _raw(self, path: Path) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(path, isolation_level=None, timeout=self._wait)
        try:
            yield connection
        finally:
            connection.close()

    def _engine(self, *, begin: str, read_only: bool = False, foreign_keys: bool = True) -> sa.Engine:
        engine = sa.create_engine(
            sa.URL.create("sqlite", database=str(self.path)),
            connect_args={"check_same_thread": False, "timeout": self._wait, "isolation_level": None},
            json_serializer=compact,
            # Pages ask from a pool of 40 threads; a reader must not wait for another reader.
            pool_size=8,
            max_overflow=56,
        )

        def connected(connection: Any, _: Any) -> None:
            mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
            if mode != "wal":
                raise DatabaseError(
                    f"{self.path.parent} cannot hold a write-ahead log (SQLite answers {mode!r}), as on network "
                    "shares. Choose a --data folder on a local disk."
                )
            # FULL: a label is a person's work, so an acknowledged one must outlive a power cut too. People write rarely
            # and runs write many rows at once, so the flush at every commit costs little.
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute(f"PRAGMA foreign_keys={'ON' if foreign_keys else 'OFF'}")
            # Else `INSERT OR REPLACE` would delete a label behind the triggers' back.
            connection.execute("PRAGMA recursive_triggers=ON")
            connection.execute(f"PRAGMA busy_timeout={int(self._wait * 1000)}")
            if read_only:
                connection.execute("PRAGMA query_only=ON")

        def begun(connection: sa.Connection) -> None:
            connection.exec_driver_sql(begin)

        listen(engine, "connect", connected)
        listen(engine, "begin", begun)
        return engine


def listen(engine: sa.Engine, event: str, listener: Callable[..., None]) -> None:
    """Calls `listener` at an engine's event."""
    sa.event.listen(engine, event, listener)


def compact(value: Any) -> str:
    """JSON as it is kept: strict, without blanks, and readable."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _advice(reason: str) -> str:
    if "full" in reason:
        return "Free some space; nothing of this change was written."
    if "locked" in reason or "busy" in reason:
        return "Another program has the file open; close it and try again. Nothing was written."
    if "readonly" in reason:
        return "Make the file and its folder writable."
    if "malformed" in reason or "not a database" in reason:
        return "The file is damaged or not a database: restore a copy from the folder `backups`, or choose another."
    return "Nothing of this change was written."
