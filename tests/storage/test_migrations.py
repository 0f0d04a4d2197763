"""Revisions: the tables are what the migrations make, old databases come along, newer ones are left alone."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from storage import migrations
from storage.database import FILE, Database, DatabaseError
from storage.decisions import get_decision
from storage.labels import current_labels, history
from storage.schemas import get_draft, get_version, list_schemas
from storage.summaries import list_decisions
from storage.tables import TRIGGERS, Row

GOLDEN = Path(__file__).parent / "golden"


def _ours(name: str | None, kind: str, _: Any) -> bool:
    """Whether a table is one of the metadata's: the index of states for search, and its parts, are the file's own."""
    return not (kind == "table" and name is not None and name.startswith("searches"))


def test_autogenerate_finds_no_difference(database: Database) -> None:
    with database._reader.connect() as connection:
        options = {"compare_type": True, "compare_server_default": True, "include_name": _ours}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, Row.metadata) == []


def test_a_difference_would_be_found(database: Database) -> None:
    more = sa.MetaData(naming_convention=Row.metadata.naming_convention)
    for table in Row.metadata.sorted_tables:
        table.to_metadata(more)
    more.tables["labels"].append_column(sa.Column("mood", sa.Text))
    with database._reader.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": _ours})
        assert len(compare_metadata(context, more)) == 1


def _made_by_metadata() -> dict[str, list[str]]:
    engine = sa.create_engine("sqlite://")
    with engine.begin() as connection:
        Row.metadata.create_all(connection)
        return _statements(connection.exec_driver_sql("SELECT name, sql FROM sqlite_master"))


def _statements(rows: Any) -> dict[str, list[str]]:
    """Parts of each table's or index's statement, order aside: columns that were added stand behind the constraints."""
    return {
        name: _parts(sql)
        for name, sql in rows
        if sql and name not in ("alembic_version", "sqlite_sequence", *TRIGGERS) and _ours(name, "table", None)
    }


def _parts(sql: str) -> list[str]:
    """What stands before, between and behind the outer brackets, split at its commas."""
    sql = sql.replace('"', "")  # A table that a migration copied carries its name in quotes.
    first, last = sql.index("("), sql.rindex(")")
    parts, depth, begun = [sql[:first], sql[last + 1 :]], 0, first + 1
    for at in range(first + 1, last + 1):
        depth += {"(": 1, ")": -1}.get(sql[at], 0)
        if (sql[at] == "," and depth == 0) or at == last:
            parts.append(sql[begun:at])
            begun = at + 1
    return sorted(" ".join(part.split()) for part in parts)


def test_checks_and_partial_indexes_are_the_same_too(database: Database) -> None:
    """What autogenerate does not compare."""
    with database.read_session() as session:
        found = _statements(session.execute(sa.text("SELECT name, sql FROM sqlite_master")))
    assert found == _made_by_metadata()


def test_revisions_are_those_of_the_folder() -> None:
    config = Config()
    config.set_main_option("path_separator", "os")
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    scripts = ScriptDirectory.from_config(config)
    assert [script.revision for script in scripts.walk_revisions()][::-1] == list(migrations.REVISIONS)


def test_triggers_are_there(database: Database) -> None:
    with database.read_session() as session:
        found = session.execute(sa.text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")).all()
    assert dict(tuple(row) for row in found) == dict(TRIGGERS)


def test_every_revision_has_a_golden_database() -> None:
    assert {path.stem for path in GOLDEN.glob("*.db")} == set(migrations.REVISIONS)


@pytest.mark.parametrize("revision", migrations.REVISIONS)
def test_a_golden_database_opens_with_all_that_it_held(tmp_path: Path, revision: str) -> None:
    shutil.copy(GOLDEN / f"{revision}.db", tmp_path / FILE)
    with Database.open(tmp_path) as database:
        (schema,) = list_schemas(database)
        assert (schema.name, schema.latest) == ("Support", 1)
        # Off where nobody was asked yet.
        assert schema.recording is (revision >= "0002")
        assert get_draft(database, schema.id).examples[0].state == {"text": "Größe?"}
        assert get_version(database, schema.id).note == "first"
        (summary,) = list_decisions(database, show="labelled")
        decision = get_decision(database, summary.id)
        assert decision.answers["refund"].probabilities == (0.1 + 0.2, 0.7 - 4e-17)
        (label,) = current_labels(database, decision.id)
        assert (label.verdict, label.true_option, label.source) == ("wrong", "true", "audit")
        assert [row.verdict for row in history(database, decision.id, "refund")] == ["right", "wrong"]
        with database.read_session() as session:
            assert session.execute(sa.text("PRAGMA integrity_check")).scalar() == "ok"


@pytest.fixture
def aged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A golden database, and a studio one revision further: its migration is `upgrade`, which a test may replace."""
    shutil.copy(GOLDEN / f"{migrations.HEAD}.db", tmp_path / FILE)
    monkeypatch.setattr(migrations, "REVISIONS", (*migrations.REVISIONS, "next"))
    monkeypatch.setattr(migrations, "HEAD", "next")
    return tmp_path


def _content(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


def test_a_backup_precedes_a_migration(aged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, revision = _content(aged / FILE), migrations.REVISIONS[-2]

    def upgrade(connection: sa.Connection, _: str) -> None:
        # Labels may be rewritten: the triggers are away for the while.
        connection.exec_driver_sql("UPDATE labels SET note = 'moved'")
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = 'next'")

    monkeypatch.setattr(migrations, "upgrade", upgrade)
    database = Database.open(aged)
    with pytest.raises(sa.exc.IntegrityError, match="never changed"), database.write_session() as session:
        session.execute(sa.text("UPDATE labels SET note = 'again'"))
    database.close()
    (backup,) = (aged / "backups").iterdir()
    assert backup.name.startswith(f"studio-{revision}-")
    assert _content(backup) == before
    Database.open(aged).close()
    assert len(list((aged / "backups").iterdir())) == 1


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("DELETE FROM scorers", "point at nothing; undone"),
        ("INSERT INTO nowhere VALUES (1)", "no such table"),
    ],
)
def test_a_failed_migration_changes_nothing(
    aged: Path, monkeypatch: pytest.MonkeyPatch, statement: str, message: str
) -> None:
    before = _content(aged / FILE)
    monkeypatch.setattr(migrations, "upgrade", lambda connection, revision: connection.exec_driver_sql(statement))
    with pytest.raises(DatabaseError, match=message):
        Database.open(aged)
    assert _content(aged / FILE) == before


def test_a_newer_database_is_refused_and_untouched(tmp_path: Path) -> None:
    Database.open(tmp_path).close()
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(DatabaseError, match=r"newer Clef Studio \(revision 9999;.*Update the studio"):
        Database.open(tmp_path)
    assert (tmp_path / FILE).read_bytes() == before
    assert not (tmp_path / "backups").exists()
