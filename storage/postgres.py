"""PostgreSQL, for teams that outgrow a file: one database, one studio, many connections.

Contract
--------
See `storage.dialects.Dialect`. Needs the driver psycopg (the extra `postgres`).

* Every write transaction first takes one advisory lock, which it holds to its end: it is to this database what
  `BEGIN IMMEDIATE` is to a file. It reads committed rows (not a snapshot from before it had the lock), so what it reads
  is what the last writer left, stays true till it commits, and serials arrive in the order in which they are kept.
* Read transactions are REPEATABLE READ and READ ONLY: one moment, and no waiting.
* A studio holds another advisory lock while it lives; a second studio on the same database is refused. It is bound to a
  connection: where the server restarts, it is lost, and nothing else is.
* An upgrade is one transaction, so one that fails changes nothing. Copies are the administrator's (`pg_dump`).
* Text in PostgreSQL cannot hold the character U+0000; it is kept as "␀". In JSON it stays what it was.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from storage.errors import DatabaseError
from storage.sqlite import compact, listen
from storage.tables import KEPT, Kept

log = logging.getLogger(__name__)

SPACE = 0x436C6566
"""First key of our advisory locks ("Clef"), so that they meet no other program's."""
STUDIO, WRITE = 1, 2
DRIVER = "postgresql+psycopg"


class Postgres:
    """The database at `url`. `wait`: seconds that a writer waits for the others."""

    def __init__(self, url: sa.URL, wait: float) -> None:
        self._url = url.set(drivername=DRIVER)
        self.place = self._url.set(drivername="postgresql", query={}).render_as_string(hide_password=True)
        self._wait = wait
        self._held: sa.Connection | None = None
        try:
            import psycopg
        except ImportError:
            raise DatabaseError(
                "PostgreSQL needs the driver psycopg: install the studio with its extra `postgres`, "
                'as in pip install "clef-studio[postgres]".'
            ) from None
        self._isolation = psycopg.IsolationLevel

    def reader(self) -> sa.Engine:
        """Transactions that see one moment."""
        engine = self._engine(pool_size=8, max_overflow=32)

        def connected(connection: Any, _: Any) -> None:
            connection.isolation_level = self._isolation.REPEATABLE_READ
            connection.read_only = True

        listen(engine, "connect", connected)
        return engine

    def writer(self) -> sa.Engine:
        """Transactions that hold the advisory lock from their beginning."""
        engine = self._engine(pool_size=1, max_overflow=1)

        def begun(connection: sa.Connection) -> None:
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({SPACE}, {WRITE})")

        listen(engine, "begin", begun)
        return engine

    def migrator(self) -> sa.Engine:
        """As `writer`; nothing needs to be off, for a table is altered in place."""
        return self.writer()

    @contextmanager
    def named(self) -> Iterator[None]:
        """No connection, no permission, a lock that others hold: as a sentence."""
        try:
            yield
        except sa.exc.IntegrityError:
            raise
        except (sa.exc.DatabaseError, sa.exc.InterfaceError, sa.exc.TimeoutError) as error:
            cause = getattr(error, "orig", None) or error
            reason = " ".join(str(cause).split()).rstrip(".?")
            raise DatabaseError(f"{self.place}: {reason}. {_advice(error, cause)}") from error

    def hold(self) -> None:
        """Takes the studio's lock on a connection of its own. Raises DatabaseError."""
        engine = self._engine(poolclass=sa.NullPool)
        self._held = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        taken = self._held.exec_driver_sql(f"SELECT pg_try_advisory_lock({SPACE}, {STUDIO})").scalar_one()
        if not taken:
            query = (
                "SELECT client_addr FROM pg_stat_activity JOIN pg_locks USING (pid) WHERE locktype = 'advisory' "
                f"AND classid = {SPACE} AND objid = {STUDIO} AND granted AND pg_locks.database = "
                "(SELECT oid FROM pg_database WHERE datname = current_database())"
            )
            whose = self._held.exec_driver_sql(query).scalar()
            self.release()
            who = f"at {whose}" if whose else "on the server's own machine"
            raise DatabaseError(
                f"{self.place} is in use by another studio ({who}). End that one, or name another --database."
            )

    def revision(self) -> str | None:
        """See `Dialect.revision`. Only the schema that tables would be made in counts."""
        engine = self._engine(poolclass=sa.NullPool)
        with engine.connect() as connection:
            tables = sa.inspect(connection).get_table_names()
            if not tables:
                return None
            known = "alembic_version" in tables
            rows = connection.exec_driver_sql("SELECT version_num FROM alembic_version").all() if known else []
        if len(rows) != 1:
            raise DatabaseError(f"{self.place} is not a database of Clef Studio. Name another, empty one.")
        return str(rows[0][0])

    def secure(self, revision: str) -> None:
        """A server's copies are its administrator's."""
        log.warning(
            "%s is upgraded from revision %s, in one transaction; the studio makes no copy of a PostgreSQL database, "
            "pg_dump does",
            self.place,
            revision,
        )

    def drop_triggers(self, connection: sa.Connection) -> None:
        """All of ours, whatever revision made them; with its function each goes."""
        query = (
            "SELECT p.proname FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace "
            "AND p.proname LIKE 'keep\\_%'"
        )
        for name in connection.execute(sa.text(query)).scalars().all():
            connection.exec_driver_sql(f'DROP FUNCTION "{name}" CASCADE')

    def make_triggers(self, connection: sa.Connection) -> None:
        """Those of the newest revision: a function and a trigger of the same name for each."""
        for kept in KEPT:
            for statement in _trigger(kept):
                connection.exec_driver_sql(statement)

    def broken(self, connection: sa.Connection) -> list[str]:
        """None: foreign keys hold at every statement."""
        return []

    def fold(self) -> None:
        """Nothing: the server does."""

    def release(self) -> None:
        """Gives the studio's lock back."""
        held, self._held = self._held, None
        if held is not None:
            held.close()

    def _engine(self, **pool: Any) -> sa.Engine:
        # A server may restart or drop an idle connection: each is tried before it is used.
        engine = sa.create_engine(self._url, json_serializer=compact, pool_pre_ping=True, **pool)

        def connected(connection: Any, _: Any) -> None:
            from psycopg.types.string import StrDumper

            class Text(StrDumper):
                """Text as PostgreSQL can hold it."""

                def dump(self, obj: str) -> Any:
                    return super().dump(obj.replace("\0", "␀") if "\0" in obj else obj)

            connection.adapters.register_dumper(str, Text)
            connection.execute(f"SET lock_timeout = {int(self._wait * 1000)}")
            # A label is a person's work: an acknowledged one must outlive a power cut, whatever the server's default.
            connection.execute(
                "SELECT set_config('synchronous_commit', 'on', false) "
                "WHERE current_setting('synchronous_commit') = 'off'"
            )
            connection.commit()

        listen(engine, "connect", connected)
        return engine


def _trigger(kept: Kept) -> Iterator[str]:
    """The statements that make one of `storage.tables.KEPT` hold."""
    let_go = f"IF {kept.unless} THEN RETURN OLD; END IF; " if kept.unless else ""
    yield (
        f"CREATE FUNCTION {kept.trigger}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {let_go}"
        f"RAISE EXCEPTION '{kept.reason}' USING ERRCODE = 'integrity_constraint_violation'; END $$"
    )
    yield (
        f"CREATE TRIGGER {kept.trigger} BEFORE {kept.event} ON {kept.table} FOR EACH ROW "
        f"EXECUTE FUNCTION {kept.trigger}()"
    )


def _advice(error: Exception, cause: object) -> str:
    """What to do, by the class of the SQLSTATE (PostgreSQL's manual, appendix A).

    Where no connection came about there is no SQLSTATE, only what the server says, in English or not.
    """
    state = str(getattr(cause, "sqlstate", None) or "")
    text = str(cause)
    if state == "55P03":
        return "Other writers took too long; nothing was written, try again."
    if state.startswith("53"):
        return "The server is short of disk, memory or connections; nothing of this change was written."
    if state.startswith("28") or state == "42501" or "authentication failed" in text:
        return "Check the name, the password and what that role may do; nothing was written."
    if state == "3D000" or ("connection failed" in text and "does not exist" in text):
        return "Make the database first, as with createdb."
    if isinstance(error, sa.exc.OperationalError):
        return "Check that the server runs and can be reached; nothing of this change was written."
    return "Nothing of this change was written."
