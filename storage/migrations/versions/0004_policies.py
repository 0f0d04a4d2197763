"""Revision 0004: policies (thresholds) and calibrators."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Adds policies and calibrators, both for the answers to one question of one set by one scorer."""
    op.create_table(
        "policies",
        sa.Column("serial", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("questions", sa.String(length=64), nullable=False),
        sa.Column("scorer", sa.String(length=64), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("act", sa.Float(), nullable=True),
        sa.Column("refuse", sa.Float(), nullable=True),
        sa.Column("basis", sa.JSON(), nullable=True),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.CheckConstraint("act > 0 AND act <= 1", name=op.f("ck_policies_act")),
        sa.CheckConstraint("refuse >= 0 AND refuse <= 1", name=op.f("ck_policies_refuse")),
        sa.CheckConstraint("refuse <= act", name=op.f("ck_policies_order")),
        sa.ForeignKeyConstraint(
            ["questions"], ["question_sets.sha256"], name=op.f("fk_policies_questions_question_sets")
        ),
        sa.ForeignKeyConstraint(["scorer"], ["scorers.fingerprint"], name=op.f("fk_policies_scorer_scorers")),
        sa.PrimaryKeyConstraint("serial", name=op.f("pk_policies")),
        sa.UniqueConstraint("id", name=op.f("uq_policies_id")),
        sa.UniqueConstraint(
            "questions", "scorer", "question", "number", name=op.f("uq_policies_questions_scorer_question_number")
        ),
    )
    op.create_table(
        "calibrators",
        sa.Column("serial", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("questions", sa.String(length=64), nullable=False),
        sa.Column("scorer", sa.String(length=64), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("document", sa.JSON(), nullable=False),
        sa.Column("judged", sa.JSON(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["questions"], ["question_sets.sha256"], name=op.f("fk_calibrators_questions_question_sets")
        ),
        sa.ForeignKeyConstraint(["scorer"], ["scorers.fingerprint"], name=op.f("fk_calibrators_scorer_scorers")),
        sa.PrimaryKeyConstraint("serial", name=op.f("pk_calibrators")),
        sa.UniqueConstraint("id", name=op.f("uq_calibrators_id")),
    )
    with op.batch_alter_table("calibrators") as batch:
        batch.create_index("ix_calibrators_asked", ["questions", "scorer", "question"], unique=False)
