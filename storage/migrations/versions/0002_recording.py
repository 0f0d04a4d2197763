"""Revision 0002: recording of API decisions is turned on for each schema by itself."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Adds `schemas.recording`, off: nothing is kept that nobody asked to keep."""
    with op.batch_alter_table("schemas") as batch:
        batch.add_column(sa.Column("recording", sa.Boolean(), nullable=True))
    op.execute(sa.text("UPDATE schemas SET recording = false"))
    with op.batch_alter_table("schemas") as batch:
        batch.alter_column("recording", existing_type=sa.Boolean(), nullable=False)
