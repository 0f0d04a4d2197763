"""Alembic's entry: runs migrations on the connection that `storage.migrations.upgrade` hands over."""

from __future__ import annotations

from alembic import context

from storage.tables import Row

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Row.metadata,
    # SQLite cannot alter a column in place: a batch copies the table.
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
