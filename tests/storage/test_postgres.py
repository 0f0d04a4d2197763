"""What is particular to PostgreSQL: who may write when, who is refused, and that its tables are as declared."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from model.questions import Questions
from storage import migrations, postgres
from storage.database import Database, DatabaseError
from storage.jobs import create_job, take_next
from storage.schemas import create_schema, list_schemas, list_versions, publish
from storage.search import Filter, find
from storage.tables import KEPT, Row, SchemaRow
from tests.storage.conftest import POSTGRESQL
from tests.storage.postgres import MADE, Server

STORES = (POSTGRESQL,)
LOCK = f"SELECT pg_advisory_xact_lock({postgres.SPACE}, {postgres.WRITE})"


@pytest.fixture
def pair(database: Database, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Database]]:
    """Two studios on one database, as no real ones may be: only the database's own lock is between their writers."""
    monkeypatch.setattr(postgres.Postgres, "hold", lambda self: None)
    with Database.open(tmp_path / "other", address) as other:
        yield [database, other]


def all_at_once(pair: list[Database], work: Callable[[Database], None]) -> None:
    """Does `work` in three threads of each."""
    start = threading.Barrier(6)
    failed: list[BaseException] = []

    def run(database: Database) -> None:
        start.wait()
        try:
            work(database)
        except (DatabaseError, sa.exc.SQLAlchemyError) as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(database,)) for database in pair * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_no_update_is_lost_between_writers(pair: list[Database]) -> None:
    key = create_schema(pair[0], name="0").id

    def count(database: Database) -> None:
        for _ in range(5):
            with database.write_session() as session:
                row = session.get_one(SchemaRow, key)
                row.name = str(int(row.name) + 1)

    all_at_once(pair, count)
    assert list_schemas(pair[1])[0].name == "30"


def test_a_job_is_taken_once_and_versions_have_their_own_numbers(pair: list[Database], questions: Questions) -> None:
    jobs = [create_job(pair[0], kind="run", title=str(i), spec={}, progress={}).serial for i in range(12)]
    key = create_schema(pair[0], name="x").id
    ids = list(questions)
    taken: list[int] = []

    def work(database: Database) -> None:
        while (job := take_next(database, ("run",))) is not None:
            taken.append(job.serial)
            # Other questions each time, for the same ones again would be the version that is there.
            fewer = {ids[job.serial % 3]: questions[ids[job.serial % 3]]}
            publish(database, key, fewer, note=str(job.serial))

    all_at_once(pair, work)
    assert sorted(taken) == jobs
    numbers = [version.number for version in list_versions(pair[0], key)]
    assert sorted(numbers) == list(range(1, len(numbers) + 1))


def test_a_writer_waits_only_so_long_and_says_so(
    database: Database, address: str, tmp_path: Path, postgresql: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres.Postgres, "hold", lambda self: None)
    monkeypatch.setattr("storage.dialects.WAIT_SECONDS", 0.2)
    with Database.open(tmp_path / "other", address) as other:
        with database.write_session() as session:
            session.execute(sa.text("SELECT 1"))
            with pytest.raises(DatabaseError, match="Other writers took too long; nothing was written"):
                create_schema(other, name="late")
            assert list_schemas(other) == []
        create_schema(other, name="in time")
    assert [schema.name for schema in list_schemas(database)] == ["in time"]


def test_a_second_studio_is_refused_till_the_first_ends(database: Database, address: str, tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="is in use by another studio"):
        Database.open(tmp_path / "second", address)
    database.close()
    Database.open(tmp_path / "second", address).close()


def test_its_tables_are_those_of_the_metadata(database: Database) -> None:
    options = {"compare_type": True, "include_name": lambda name, kind, _: not (kind == "table" and name == "searches")}
    with database._reader.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection, opts=options), Row.metadata) == []
        indexes = "SELECT indexrelid::regclass::text FROM pg_index WHERE indpred IS NOT NULL"
        partial = set(connection.exec_driver_sql(indexes).scalars())
        triggers = set(connection.exec_driver_sql("SELECT tgname FROM pg_trigger WHERE NOT tgisinternal").scalars())
    assert {"ix_decisions_kept", "ix_queue_items_open", "ix_queue_items_queue_next"} <= partial
    assert triggers == {kept.trigger for kept in KEPT}


def test_others_databases_and_newer_ones_are_refused_and_untouched(postgresql: Server, tmp_path: Path) -> None:
    theirs = postgresql.database(name="theirs")
    postgresql.execute("CREATE TABLE things (x integer)", "theirs")
    newer = postgresql.database(name="newer", like=MADE)
    postgresql.execute("UPDATE alembic_version SET version_num = '9999'", "newer")
    for url, message in ((theirs, "is not a database of Clef Studio"), (newer, r"newer Clef Studio \(revision 9999;")):
        with pytest.raises(DatabaseError, match=message):
            Database.open(tmp_path / "data", url)
    tables = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
    assert postgresql.execute(tables, "theirs") == [("things",)]
    assert postgresql.execute("SELECT version_num FROM alembic_version", "newer") == [("9999",)]


def test_a_failed_upgrade_changes_nothing(
    database: Database, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_schema(database, name="kept")
    database.close()

    def upgrade(connection: sa.Connection, _: str) -> None:
        connection.exec_driver_sql("DROP TABLE searches")
        connection.exec_driver_sql("INSERT INTO nowhere VALUES (1)")

    with monkeypatch.context() as patch:
        patch.setattr(migrations, "REVISIONS", (*migrations.REVISIONS, "next"))
        patch.setattr(migrations, "HEAD", "next")
        patch.setattr(migrations, "upgrade", upgrade)
        with pytest.raises(DatabaseError, match='"nowhere" does not exist'):
            Database.open(tmp_path / "data", address)
    with Database.open(tmp_path / "data", address) as again:
        assert [schema.name for schema in list_schemas(again)] == ["kept"]
        assert find(again, questions="", scorer="", question="", wanted=Filter(text="word")) == []


def test_failures_are_sentences_without_the_password(tmp_path: Path, postgresql: Server) -> None:
    for url, message in (
        (postgresql.url("nowhere"), "Make the database first"),
        ("postgresql://ann:secret@127.0.0.1:1/x", "Check that the server runs"),
        ("mysql://ann:secret@host/x", "keeps nothing in 'mysql', only in SQLite or PostgreSQL"),
        ("sqlite://", "names no file"),
    ):
        with pytest.raises(DatabaseError, match=message) as caught:
            Database.open(tmp_path / "data", url)
        assert "secret" not in str(caught.value)


def test_text_that_it_cannot_hold_is_kept_in_sight(database: Database) -> None:
    create_schema(database, name="x\0y", document={"a": "b\0c"})
    assert list_schemas(database)[0].name == "x␀y"


def test_states_beyond_what_a_row_indexes_are_found_by_what_fits() -> None:
    from storage.states_index import ALL_LENGTH, WORD_LENGTH, _kept

    words = _kept("É" * 3000 + " " + " ".join(f"word{i}" for i in range(200_000)))
    assert words[0] == "e" * WORD_LENGTH
    assert 0.99 * ALL_LENGTH < sum(len(word) for word in words) <= ALL_LENGTH
