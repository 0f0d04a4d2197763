"""How the file is opened, shared, read and written."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import sqlalchemy as sa

from storage.database import FILE, Database, DatabaseError
from storage.schemas import create_schema, list_schemas
from storage.tables import SchemaRow
from tests.storage.conftest import BOTH, on_sqlite

STORES = BOTH

HOLD = """
import sys
from pathlib import Path
from storage.database import Database
database = Database.open(Path(sys.argv[1]))
print("open", flush=True)
sys.stdin.read()
"""


def test_open_makes_a_private_folder_and_opens_it_again(tmp_path: Path) -> None:
    folder = tmp_path / "a % b?c" / "deep"
    for _ in range(2):
        with Database.open(folder) as database:
            assert database.dialect.place == str(folder / FILE)
    if os.name == "posix":
        assert folder.stat().st_mode & 0o077 == 0


@on_sqlite
@pytest.mark.parametrize(
    ("pragma", "value"), [("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1), ("busy_timeout", 5000)]
)
@pytest.mark.parametrize("kind", ["read_session", "write_session"])
def test_settings_of_every_connection(database: Database, kind: str, pragma: str, value: object) -> None:
    with getattr(database, kind)() as session:
        assert session.execute(sa.text(f"PRAGMA {pragma}")).scalar() == value


def test_second_server_is_refused_by_pid_and_the_folder_is_free_after_a_kill(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(DatabaseError, match=rf"in use by another studio \(process {holder.pid}\).*--data"):
            Database.open(tmp_path)
    finally:
        holder.kill()
        holder.communicate()
    Database.open(tmp_path).close()


def test_a_failed_opening_frees_the_folder(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"not a database at all" * 100)
    for _ in range(2):
        with pytest.raises(DatabaseError, match="not a database: restore a copy"):
            Database.open(tmp_path)


def test_somebody_elses_database_is_refused_and_untouched(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(DatabaseError, match="is not a database of Clef Studio"):
        Database.open(tmp_path)
    assert (tmp_path / FILE).read_bytes() == before


def test_a_folder_that_is_a_file_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("x")
    with pytest.raises(DatabaseError, match="choose another --data folder"):
        Database.open(tmp_path / "taken")


def test_close_folds_the_log_into_the_file_and_may_be_called_twice(tmp_path: Path) -> None:
    database = Database.open(tmp_path)
    create_schema(database, name="kept")
    database.close()
    database.close()
    assert not (tmp_path / f"{FILE}-wal").exists()
    with sqlite3.connect(tmp_path / FILE) as connection:
        assert connection.execute("SELECT name FROM schemas").fetchall() == [("kept",)]
    connection.close()


def test_a_late_thread_can_neither_read_nor_write_after_the_end(tmp_path: Path) -> None:
    database = Database.open(tmp_path)
    database.close()
    with Database.open(tmp_path) as other:
        for session in (database.read_session, database.write_session):
            with pytest.raises(DatabaseError, match="is closed"), session():
                pytest.fail("it was let in")
        with other.write_session():
            pass


def test_an_exception_keeps_nothing(database: Database) -> None:
    def fail() -> None:
        with database.write_session() as session:
            session.add(SchemaRow(id="x" * 36, name="lost"))
            session.flush()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    with database.read_session() as session:
        assert session.execute(sa.text("SELECT count(*) FROM schemas")).scalar() == 0


def test_a_reader_cannot_write(database: Database) -> None:
    with pytest.raises(DatabaseError, match=r"read-?only"), database.read_session() as session:
        session.execute(sa.text("DELETE FROM schemas"))


def test_a_reader_waits_for_no_writer_and_sees_one_moment(database: Database) -> None:
    with database.write_session() as writer:
        writer.add(SchemaRow(id="x" * 36, name="half"))
        writer.flush()
        assert list_schemas(database) == []


def test_write_sessions_do_not_nest(database: Database) -> None:
    with pytest.raises(RuntimeError, match="do not nest"), database.write_session(), database.write_session():
        pass
    create_schema(database, name="still works")


@on_sqlite
def test_a_full_disk_is_said_in_words(database: Database) -> None:
    with database.write_session() as session:
        pages = session.execute(sa.text("PRAGMA page_count")).scalar()
        session.execute(sa.text(f"PRAGMA max_page_count={pages}"))
    with pytest.raises(DatabaseError, match="Free some space"):
        create_schema(database, name="x", document="x" * 100_000)
    assert list_schemas(database) == []


def test_no_update_is_lost_between_threads(database: Database) -> None:
    """8 threads x 40 read-modify-write of one counter."""
    key = create_schema(database, name="0").id
    start = threading.Barrier(8)

    def count() -> None:
        start.wait()
        for _ in range(40):
            with database.write_session() as session:
                row = session.get_one(SchemaRow, key)
                row.name = str(int(row.name) + 1)

    threads = [threading.Thread(target=count) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list_schemas(database)[0].name == "320"
