"""Revision 0001: the first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Makes schemas, drafts, decisions, answers and labels."""
    op.create_table(
        "pictures",
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("format", sa.Text(), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.Integer(), nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("sha256", name=op.f("pk_pictures")),
    )
    op.create_table(
        "question_sets",
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("sha256", name=op.f("pk_question_sets")),
    )
    op.create_table(
        "schemas",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("archived", sa.Boolean(), nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_schemas")),
    )
    op.create_table(
        "scorers",
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("info", sa.JSON(), nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("fingerprint", name=op.f("pk_scorers")),
    )
    op.create_table(
        "drafts",
        sa.Column("schema_id", sa.String(length=36), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("document", sa.JSON(), nullable=False),
        sa.Column("saved", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(["schema_id"], ["schemas.id"], name=op.f("fk_drafts_schema_id_schemas")),
        sa.PrimaryKeyConstraint("schema_id", name=op.f("pk_drafts")),
    )
    op.create_table(
        "examples",
        sa.Column("serial", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("schema_id", sa.String(length=36), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("state", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["schema_id"], ["schemas.id"], name=op.f("fk_examples_schema_id_schemas")),
        sa.PrimaryKeyConstraint("serial", name=op.f("pk_examples")),
        sa.UniqueConstraint("schema_id", "position", name=op.f("uq_examples_schema_id_position")),
    )
    op.create_table(
        "schema_versions",
        sa.Column("schema_id", sa.String(length=36), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(["schema_id"], ["schemas.id"], name=op.f("fk_schema_versions_schema_id_schemas")),
        sa.ForeignKeyConstraint(
            ["sha256"], ["question_sets.sha256"], name=op.f("fk_schema_versions_sha256_question_sets")
        ),
        sa.PrimaryKeyConstraint("schema_id", "number", name=op.f("pk_schema_versions")),
    )
    op.create_table(
        "decisions",
        sa.Column("serial", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("schema_id", sa.String(length=36), nullable=True),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.Column("questions", sa.String(length=64), nullable=False),
        sa.Column("scorer", sa.String(length=64), nullable=False),
        sa.Column("source", sa.String(length=16), nullable=False),
        sa.Column("kept", sa.Boolean(), nullable=False),
        sa.Column("preview", sa.Text(), nullable=False),
        sa.Column("tokens", sa.JSON(), nullable=False),
        sa.Column("cut", sa.JSON(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.CheckConstraint("source IN ('page', 'api', 'run', 'import')", name=op.f("ck_decisions_source")),
        sa.ForeignKeyConstraint(
            ["questions"], ["question_sets.sha256"], name=op.f("fk_decisions_questions_question_sets")
        ),
        sa.ForeignKeyConstraint(
            ["schema_id", "version"],
            ["schema_versions.schema_id", "schema_versions.number"],
            name=op.f("fk_decisions_schema_id_version_schema_versions"),
        ),
        sa.ForeignKeyConstraint(["schema_id"], ["schemas.id"], name=op.f("fk_decisions_schema_id_schemas")),
        sa.ForeignKeyConstraint(["scorer"], ["scorers.fingerprint"], name=op.f("fk_decisions_scorer_scorers")),
        sa.PrimaryKeyConstraint("serial", name=op.f("pk_decisions")),
        sa.UniqueConstraint("id", name=op.f("uq_decisions_id")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("decisions") as batch:
        batch.create_index(
            "ix_decisions_kept",
            ["serial"],
            unique=False,
            sqlite_where=sa.text("kept = 1"),
            postgresql_where=sa.text("kept"),
        )
        batch.create_index("ix_decisions_schema", ["schema_id", "serial"], unique=False)

    op.create_table(
        "example_pictures",
        sa.Column("example", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["example"], ["examples.serial"], name=op.f("fk_example_pictures_example_examples"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["sha256"], ["pictures.sha256"], name=op.f("fk_example_pictures_sha256_pictures")),
        sa.PrimaryKeyConstraint("example", "position", name=op.f("pk_example_pictures")),
    )
    op.create_table(
        "answers",
        sa.Column("decision", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("type", sa.String(length=8), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("probabilities", sa.JSON(), nullable=False),
        sa.Column("top", sa.Text(), nullable=False),
        sa.Column("probability", sa.Float(), nullable=False),
        sa.Column("expected_level", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(
            ["decision"], ["decisions.serial"], name=op.f("fk_answers_decision_decisions"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("decision", "question", name=op.f("pk_answers")),
    )
    op.create_table(
        "decision_bodies",
        sa.Column("decision", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("state", sa.JSON(), nullable=False),
        sa.Column("words", sa.JSON(), nullable=False),
        sa.Column("looked", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["decision"], ["decisions.serial"], name=op.f("fk_decision_bodies_decision_decisions"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("decision", name=op.f("pk_decision_bodies")),
    )
    op.create_table(
        "decision_pictures",
        sa.Column("decision", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["decision"], ["decisions.serial"], name=op.f("fk_decision_pictures_decision_decisions"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["sha256"], ["pictures.sha256"], name=op.f("fk_decision_pictures_sha256_pictures")),
        sa.PrimaryKeyConstraint("decision", "position", name=op.f("pk_decision_pictures")),
    )
    op.create_table(
        "labels",
        sa.Column("serial", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("decision", sa.Integer(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("verdict", sa.String(length=16), nullable=False),
        sa.Column("true_option", sa.Text(), nullable=True),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("labeller", sa.Text(), nullable=False),
        sa.Column("source", sa.String(length=16), nullable=False),
        sa.Column("propensity", sa.Float(), nullable=True),
        sa.Column("blind", sa.Boolean(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("supersedes", sa.Integer(), nullable=True),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.CheckConstraint(
            "source IN ('volunteered', 'queue', 'audit', 'bulk', 'import')", name=op.f("ck_labels_source")
        ),
        sa.CheckConstraint("verdict IN ('right', 'wrong', 'cant_tell', 'withdrawn')", name=op.f("ck_labels_verdict")),
        sa.CheckConstraint("propensity > 0 AND propensity <= 1", name=op.f("ck_labels_propensity")),
        sa.ForeignKeyConstraint(
            ["decision", "question"],
            ["answers.decision", "answers.question"],
            name=op.f("fk_labels_decision_question_answers"),
        ),
        sa.ForeignKeyConstraint(["supersedes"], ["labels.serial"], name=op.f("fk_labels_supersedes_labels")),
        sa.PrimaryKeyConstraint("serial", name=op.f("pk_labels")),
        sa.UniqueConstraint("id", name=op.f("uq_labels_id")),
        sa.UniqueConstraint("supersedes", name=op.f("uq_labels_supersedes")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("labels") as batch:
        batch.create_index("ix_labels_answer", ["decision", "question", "labeller", "serial"], unique=False)
