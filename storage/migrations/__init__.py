"""The database's revisions, in order: `versions/` holds one migration for each.

Contract
--------
Run by `storage.database` only (there is no alembic.ini), inside one transaction that the caller began and ends, with
foreign keys off, on a database whose triggers are taken away for the while. A released migration never changes, nor
does it import `storage.tables`, which does.

A new one: change `storage/tables.py`, add `versions/NNNN_what.py`, append its number to `REVISIONS`, and keep a small
database of the revision before it under `tests/storage/golden/`.
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

REVISIONS = ("0001", "0002", "0003", "0004", "0005")
"""All revisions that this version of the studio knows. Kept here so that opening a database need not import alembic."""

HEAD = REVISIONS[-1]


def upgrade(connection: sa.Connection, revision: str = HEAD) -> None:
    """Brings the database behind `connection`, which is in a transaction, to `revision`."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("path_separator", "os")
    # A percent sign in a path would be read as the start of a variable.
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
