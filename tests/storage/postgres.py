"""A real PostgreSQL for tests: Debian's, on a temporary folder and a socket in it, for as long as the tests run."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
import sqlalchemy as sa

from storage.database import Database

ROLE = "studio"
MADE = "made"
"""The database in which all revisions ran; that of a test is a copy of it."""
SETTINGS = ("fsync=off", "listen_addresses=", "max_connections=200", "shared_buffers=32MB", "log_min_messages=fatal")


def programs() -> Path | None:
    """The folder of the newest server that is installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: float(p.parts[-3]))
    return found[-1].parent if found else None


class Server:
    """A server that runs; `database` makes an empty database, or a copy of another, and gives its URL."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._numbers = count()

    def url(self, name: str) -> str:
        """The URL of a database."""
        return f"postgresql://{ROLE}@/{name}?host={self._socket}"

    def database(self, *, like: str = "template0", name: str | None = None) -> str:
        """Makes a database; returns its URL."""
        name = name or f"test{next(self._numbers)}"
        self.execute(f'CREATE DATABASE "{name}" TEMPLATE "{like}"')
        return self.url(name)

    def drop(self, url: str) -> None:
        """Deletes a database, whoever is still connected: a test may have failed half-way."""
        self.execute(f'DROP DATABASE "{sa.make_url(url).database}" WITH (FORCE)')

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Runs one statement outside any transaction; returns its rows."""
        engine = sa.create_engine(self.url(database).replace("postgresql", "postgresql+psycopg", 1))
        try:
            with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                result = connection.exec_driver_sql(statement)
                return [tuple(row) for row in result] if result.returns_rows else []
        finally:
            engine.dispose()


@contextmanager
def running() -> Iterator[Server]:
    """A server with the database `MADE`. Skips visibly where none is installed; under CI that is a failure."""
    folder_of_programs = programs()
    if folder_of_programs is None:
        message = "no PostgreSQL server is installed (Debian: postgresql)"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    # Its own folder: the server refuses to run as root, and its user may not look into pytest's. Short, for a socket's
    # path has at most 107 characters.
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    as_server: dict[str, int] = {}
    if os.geteuid() == 0:
        user = pwd.getpwnam("postgres")
        os.chown(folder, user.pw_uid, user.pw_gid)
        as_server = {"user": user.pw_uid, "group": user.pw_gid}

    def call(program: str, *arguments: str) -> None:
        done = subprocess.run(
            [folder_of_programs / program, *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            extra_groups=[] if as_server else None,
            **as_server,
        )
        assert done.returncode == 0, done.stderr

    data = folder / "data"
    try:
        call("initdb", "--no-sync", "-A", "trust", "-U", ROLE, "-E", "UTF8", "--locale=C", "-D", str(data))
        options = " ".join(f"-c {setting}" for setting in (*SETTINGS, f"unix_socket_directories={folder}"))
        call("pg_ctl", "-w", "-D", str(data), "-l", str(folder / "log"), "-o", options, "start")
        try:
            server = Server(folder)
            url = server.database(name=MADE)
            Database.open(folder / "made", url).close()
            yield server
        finally:
            call("pg_ctl", "-w", "-D", str(data), "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
