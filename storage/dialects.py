"""What the two kinds of database do differently, behind one small interface.

Contract
--------
`Dialect` is all that `storage.database` asks of a kind of database; `of` chooses one by its URL. SQLite is
`storage.sqlite`, PostgreSQL `storage.postgres`; search differs too (`storage.states_index`). Everything else in
`storage` is SQL that both read alike, and says nothing of either.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import sqlalchemy as sa

from storage.errors import DatabaseError
from storage.sqlite import FILE, Sqlite

WAIT_SECONDS = 5.0
"""How long a writer waits for its turn."""


class Dialect(Protocol):
    """One database and what is particular to its kind. `place` names it in sentences, without a password."""

    place: str

    def reader(self) -> sa.Engine:
        """Connections whose transactions see one moment and cannot write."""
        ...

    def writer(self) -> sa.Engine:
        """Connections whose transactions begin when all others have ended: what they read stays true."""
        ...

    def named(self) -> AbstractContextManager[None]:
        """Turns the database's own failures (but broken constraints) into a DatabaseError that says what to do."""
        ...

    def hold(self) -> None:
        """Takes the database for this studio. Raises DatabaseError where another has it."""
        ...

    def revision(self) -> str | None:
        """The database's revision; None where it is empty. Raises DatabaseError for somebody else's."""
        ...

    def secure(self, revision: str) -> None:
        """Before an upgrade from `revision`: a copy is made, or it is said whose task that is."""
        ...

    def migrator(self) -> sa.Engine:
        """A connection whose transaction may rebuild tables."""
        ...

    def drop_triggers(self, connection: sa.Connection) -> None:
        """Lets go of rows that never change, for a migration."""
        ...

    def make_triggers(self, connection: sa.Connection) -> None:
        """Makes `storage.tables.KEPT` hold from then on."""
        ...

    def broken(self, connection: sa.Connection) -> list[str]:
        """Tables of the rows that point at nothing, one entry for each."""
        ...

    def fold(self) -> None:
        """Leaves everything in one place, once no connection is left."""
        ...

    def release(self) -> None:
        """Gives back what `hold` took."""
        ...


def of(folder: Path, url: str | None) -> Dialect:
    """The database at `url`; without one, SQLite's file in the data folder. Raises DatabaseError: no such kind."""
    if url is None:
        return Sqlite(folder / FILE, folder / "backups", WAIT_SECONDS)
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError:
        # Never the URL itself: it may hold a password, and errors end up in logs.
        raise DatabaseError(f"--database is not a database's URL; {_SUCH}") from None
    kind = parsed.get_backend_name()
    if kind == "sqlite":
        if parsed.database in (None, "", ":memory:"):
            raise DatabaseError(f"--database names no file, so nothing would be kept; {_SUCH}")
        return Sqlite(Path(parsed.database or "").expanduser().resolve(), folder / "backups", WAIT_SECONDS)
    if kind in ("postgresql", "postgres"):
        from storage.postgres import Postgres

        return Postgres(parsed, WAIT_SECONDS)
    raise DatabaseError(f"--database: the studio keeps nothing in {kind!r}, only in SQLite or PostgreSQL; {_SUCH}")


_SUCH = "use one such as postgresql://name:password@host/studio, or leave it out for a file in --data"
