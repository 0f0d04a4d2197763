"""One SQLite file and how it is opened, read and written.

Contract
--------
* `Database.open(folder)` takes the folder for this process, brings the file to the newest revision, and refuses with a
  `DatabaseError` that says what to do.
* `write_session` begins with `BEGIN IMMEDIATE`: what it reads stays true until it commits, so no update is lost.
  Writers of this process take turns by a lock of our own, for SQLite's only polls. On leaving the block the
  transaction is committed and on the disk; on an exception nothing of it is kept.
* `read_session` sees one moment of the database, waits for nobody, and cannot write.
* Both are short and belong to one thread: never held across a model call, a `yield` to a page or a thread. Write
  sessions do not nest.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

import sqlalchemy as sa
from sqlmodel import Session

from storage import migrations
from storage.lock import Lock, Locked
from storage.tables import TRIGGERS

log = logging.getLogger(__name__)

FILE = "studio.db"
WAIT_SECONDS = 5.0
"""How long a writer waits for its turn."""


class DatabaseError(RuntimeError):
    """The data folder or its database cannot be used; the message is for a person."""


class Database:
    """See the module's contract. Made by `open`; may be used from any thread."""

    def __init__(self, folder: Path, lock: Lock) -> None:
        self.folder = folder
        self.path = folder / FILE
        self._lock = lock
        self._turn = threading.Lock()
        self._owner: int | None = None
        self._closed = False
        self._writer = _engine(self.path, begin="BEGIN IMMEDIATE")
        self._reader = _engine(self.path, begin="BEGIN", read_only=True)

    @classmethod
    def open(cls, folder: Path) -> Database:
        """The database in `folder`, which is made where it is missing.

        Raises
        ------
        DatabaseError : the folder is in use, cannot be written or cannot hold a write-ahead log; the file is not a
            studio's, is damaged, was made by a newer studio, or could not be migrated (then it is as it was).
        """
        folder = Path(folder)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = Lock(folder / "studio.lock")
        except Locked as held:
            who = f"process {held.pid}" if held.pid else "another process"
            raise DatabaseError(
                f"{folder} is in use by another studio ({who}). End that one, or choose another --data folder."
            ) from held
        except OSError as error:
            raise DatabaseError(
                f"{folder} cannot be written ({error.strerror}). Make it writable, or choose another --data folder."
            ) from error
        database = cls(folder, lock)
        try:
            with _named(database.path):
                database._migrate()
        except BaseException:
            database._release()
            raise
        return database

    @contextmanager
    def read_session(self) -> Iterator[Session]:
        """A session that sees one moment and cannot write. Raises DatabaseError."""
        with _named(self.path), Session(self._reader, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def write_session(self) -> Iterator[Session]:
        """A session that is committed, durably, on leaving the block. Raises DatabaseError (and keeps nothing then)."""
        if self._owner == threading.get_ident():
            raise RuntimeError("write sessions do not nest: hand the session on instead")
        if not self._turn.acquire(timeout=WAIT_SECONDS):
            raise DatabaseError(f"other writers took longer than {WAIT_SECONDS:.0f} s; nothing was written, try again")
        self._owner = threading.get_ident()
        try:
            with _named(self.path), Session(self._writer, expire_on_commit=False) as session:
                yield session
                session.commit()
        finally:
            self._owner = None
            self._turn.release()

    def close(self) -> None:
        """Folds the write-ahead log into the file and gives the folder back. May be called twice."""
        if self._closed:
            return
        self._closed = True
        self._reader.dispose()
        self._writer.dispose()
        try:
            with _raw(self.path) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error as error:
            # Nothing is lost: the log is read again at the next opening.
            log.warning("the write-ahead log of %s stays: %s", self.path, error)
        self._lock.release()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _release(self) -> None:
        self._closed = True
        self._reader.dispose()
        self._writer.dispose()
        self._lock.release()

    def _migrate(self) -> None:
        with _raw(self.path) as connection:
            revision = _revision(connection, self.path)
            if revision == migrations.HEAD:
                return
            if revision is not None and revision not in migrations.REVISIONS:
                raise DatabaseError(
                    f"{self.path} was written by a newer Clef Studio (revision {revision}; this one knows up to "
                    f"{migrations.HEAD}). Update the studio, or choose another --data folder. Nothing was changed."
                )
            if revision is not None:
                log.info("a copy of the database from before the upgrade is in %s", _backup(connection, self, revision))
        # Foreign keys are off for the while (a batch drops and renames tables) and checked at the end.
        engine = _engine(self.path, begin="BEGIN IMMEDIATE", foreign_keys=False)
        try:
            with engine.begin() as transaction:
                _upgrade(transaction)
        finally:
            engine.dispose()


def _upgrade(connection: sa.Connection, revision: str = migrations.HEAD) -> None:
    """Upgrades within the caller's transaction. Raises DatabaseError when rows would point at nothing."""
    existing = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'trigger'").scalars().all()
    for name in existing:
        connection.exec_driver_sql(f'DROP TRIGGER "{name}"')
    migrations.upgrade(connection, revision)
    for statement in TRIGGERS.values():
        connection.exec_driver_sql(statement)
    if broken := connection.exec_driver_sql("PRAGMA foreign_key_check").all():
        tables = ", ".join(sorted({str(row[0]) for row in broken}))
        raise DatabaseError(f"the upgrade would leave {len(broken)} rows of {tables} that point at nothing; undone")


def _revision(connection: sqlite3.Connection, path: Path) -> str | None:
    """The revision of the file; None for an empty one. Raises DatabaseError for somebody else's."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        return None
    rows = (
        connection.execute("SELECT version_num FROM alembic_version").fetchall() if "alembic_version" in tables else []
    )
    if len(rows) != 1:
        raise DatabaseError(f"{path} is not a database of Clef Studio. Choose another --data folder.")
    return str(rows[0][0])


def _backup(connection: sqlite3.Connection, database: Database, revision: str) -> Path:
    """A whole copy of the database, under `backups/`; returns its path."""
    folder = database.folder / "backups"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"studio-{revision}-{datetime.now(UTC):%Y%m%dT%H%M%S%f}.db"
    partial = path.with_suffix(".partial")
    with _raw(partial) as copy:
        connection.backup(copy)
    with partial.open("rb") as file:
        os.fsync(file.fileno())
    return partial.replace(path)


@contextmanager
def _raw(path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(path, isolation_level=None, timeout=WAIT_SECONDS)
    try:
        yield connection
    finally:
        connection.close()


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """SQLite's own failures (disk full, damaged, taken by a foreign writer) as a sentence."""
    try:
        yield
    except sa.exc.IntegrityError:
        raise
    except (sa.exc.DatabaseError, sa.exc.TimeoutError, sqlite3.Error) as error:
        reason = str(getattr(error, "orig", None) or error)
        raise DatabaseError(f"{path}: {reason}. {_advice(reason)}") from error


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


def _engine(path: Path, *, begin: str, read_only: bool = False, foreign_keys: bool = True) -> sa.Engine:
    engine = sa.create_engine(
        sa.URL.create("sqlite", database=str(path)),
        connect_args={"check_same_thread": False, "timeout": WAIT_SECONDS, "isolation_level": None},
        json_serializer=_compact,
        # Pages ask from a pool of 40 threads; a reader must not wait for another reader.
        pool_size=8,
        max_overflow=56,
    )

    def connected(connection: Any, _: Any) -> None:
        mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
        if mode != "wal":
            raise DatabaseError(
                f"{path.parent} cannot hold a write-ahead log (SQLite answers {mode!r}), as on network shares. "
                "Choose a --data folder on a local disk."
            )
        # FULL: a label is a person's work, so an acknowledged one must outlive a power cut too. People write rarely and
        # runs write many rows at once, so the flush at every commit costs little.
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute(f"PRAGMA foreign_keys={'ON' if foreign_keys else 'OFF'}")
        # Else `INSERT OR REPLACE` would delete a label behind the triggers' back.
        connection.execute("PRAGMA recursive_triggers=ON")
        connection.execute(f"PRAGMA busy_timeout={int(WAIT_SECONDS * 1000)}")
        if read_only:
            connection.execute("PRAGMA query_only=ON")

    def begun(connection: sa.Connection) -> None:
        connection.exec_driver_sql(begin)

    _listen(engine, "connect", connected)
    _listen(engine, "begin", begun)
    return engine


def _listen(engine: sa.Engine, event: str, listener: Callable[..., None]) -> None:
    sa.event.listen(engine, event, listener)


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
