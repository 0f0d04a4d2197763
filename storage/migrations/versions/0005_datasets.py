"""Revision 0005: frozen datasets, jobs that outlive a restart, and the rows of runs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Adds datasets, jobs and run_rows."""
    op.create_table(
        "datasets",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("recipe", sa.JSON(), nullable=False),
        sa.Column("summary", sa.JSON(), nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_datasets")),
        sa.UniqueConstraint("name", "number", name=op.f("uq_datasets_name_number")),
    )
    op.create_table(
        "jobs",
        sa.Column("serial", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("wanted", sa.String(length=16), nullable=False),
        sa.Column("spec", sa.JSON(), nullable=False),
        sa.Column("progress", sa.JSON(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.Column("changed", sa.DateTime(), nullable=False),
        sa.CheckConstraint(
            "status IN ('waiting', 'running', 'paused', 'done', 'failed', 'cancelled')", name=op.f("ck_jobs_status")
        ),
        sa.CheckConstraint("wanted IN ('run', 'pause', 'cancel')", name=op.f("ck_jobs_wanted")),
        sa.PrimaryKeyConstraint("serial", name=op.f("pk_jobs")),
        sa.UniqueConstraint("id", name=op.f("uq_jobs_id")),
    )
    op.create_table(
        "run_rows",
        sa.Column("job", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("row", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("decision", sa.Integer(), nullable=True),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("same", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["decision"], ["decisions.serial"], name=op.f("fk_run_rows_decision_decisions"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["job"], ["jobs.serial"], name=op.f("fk_run_rows_job_jobs"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("job", "row", name=op.f("pk_run_rows")),
    )
    with op.batch_alter_table("run_rows") as batch:
        batch.create_index("ix_run_rows_decision", ["decision"], unique=False)
        batch.create_index("ix_run_rows_problem", ["job", "problem"], unique=False)
