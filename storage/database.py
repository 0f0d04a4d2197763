"""One database and how it is opened, read and written: SQLite's file in the data folder, or PostgreSQL by a URL.

Contract
--------
* `Database.open(folder)` takes the folder for this process, brings the database to the newest revision, and refuses
  with a `DatabaseError` that says what to do. Pictures and other files lie in the folder, wherever the rows are.
* What a `write_session` reads stays true until it commits, so no update is lost. Writers of this process take turns by
  a lock of our own; other programs are kept out by the database's (`storage.dialects`). On leaving the block the
  transaction is committed and on the disk; on an exception nothing of it is kept.
* `read_session` sees one moment of the database, waits for nobody, and cannot write.
* After `close` both are refused.
* Both are short and belong to one thread: never held across a model call, a `yield` to a page or a thread. Write
  sessions do not nest.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

import sqlalchemy as sa
from sqlmodel import Session

from storage import migrations
from storage.dialects import WAIT_SECONDS, Dialect, of
from storage.errors import DatabaseError as DatabaseError
from storage.lock import Lock, Locked
from storage.sqlite import FILE as FILE


class Database:
    """See the module's contract. Made by `open`; may be used from any thread."""

    def __init__(self, folder: Path, lock: Lock, dialect: Dialect) -> None:
        self.folder = folder
        self.dialect = dialect
        self._lock = lock
        self._turn = threading.Lock()
        self._owner: int | None = None
        self._closed = False
        self._writer = dialect.writer()
        self._reader = dialect.reader()

    @classmethod
    def open(cls, folder: Path, url: str | None = None) -> Database:
        """The database at `url`, or in `folder`, which is made where it is missing.

        Raises
        ------
        DatabaseError : the folder is in use, cannot be written or cannot hold a write-ahead log; the URL is of no kind
            that is known, or nobody answers there; the database is not a studio's, is damaged, is in use, was made by a
            newer studio, or could not be migrated (then it is as it was).
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
        try:
            database = cls(folder, lock, of(folder, url))
        except BaseException:
            lock.release()
            raise
        try:
            with database.dialect.named():
                database.dialect.hold()
                database._migrate()
        except BaseException:
            database._reader.dispose()
            database._writer.dispose()
            database._let_go()
            raise
        return database

    @contextmanager
    def read_session(self) -> Iterator[Session]:
        """A session that sees one moment and cannot write. Raises DatabaseError."""
        self._check_open()
        with self.dialect.named(), Session(self._reader, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def write_session(self) -> Iterator[Session]:
        """A session that is committed, durably, on leaving the block. Raises DatabaseError (and keeps nothing then)."""
        if self._owner == threading.get_ident():
            raise RuntimeError("write sessions do not nest: hand the session on instead")
        self._check_open()
        if not self._turn.acquire(timeout=WAIT_SECONDS):
            raise DatabaseError(f"other writers took longer than {WAIT_SECONDS:.0f} s; nothing was written, try again")
        self._owner = threading.get_ident()
        try:
            with self.dialect.named(), Session(self._writer, expire_on_commit=False) as session:
                yield session
                session.commit()
        finally:
            self._owner = None
            self._turn.release()

    def close(self) -> None:
        """Lets the database and the folder go. May be called twice."""
        if self._closed:
            return
        self._closed = True
        self._reader.dispose()
        self._writer.dispose()
        self.dialect.fold()
        self._let_go()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _let_go(self) -> None:
        self.dialect.release()
        self._lock.release()

    def _check_open(self) -> None:
        # Pools open anew what was disposed: a thread that is late would write into a folder that is somebody else's.
        if self._closed:
            raise DatabaseError(f"{self.dialect.place} is closed; nothing was written")

    def _migrate(self) -> None:
        revision = self.dialect.revision()
        if revision == migrations.HEAD:
            return
        if revision is not None and revision not in migrations.REVISIONS:
            raise DatabaseError(
                f"{self.dialect.place} was written by a newer Clef Studio (revision {revision}; this one knows up to "
                f"{migrations.HEAD}). Update the studio, or choose another --data folder. Nothing was changed."
            )
        if revision is not None:
            self.dialect.secure(revision)
        engine = self.dialect.migrator()
        try:
            with engine.begin() as transaction:
                self._upgrade(transaction)
        finally:
            engine.dispose()

    def _upgrade(self, connection: sa.Connection) -> None:
        """Upgrades within the caller's transaction. Raises DatabaseError when rows would point at nothing."""
        self.dialect.drop_triggers(connection)
        migrations.upgrade(connection, migrations.HEAD)
        self.dialect.make_triggers(connection)
        if broken := self.dialect.broken(connection):
            tables = ", ".join(sorted(set(broken)))
            raise DatabaseError(f"the upgrade would leave {len(broken)} rows of {tables} that point at nothing; undone")
