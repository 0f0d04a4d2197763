"""Revision 0003: queues of answers to be labelled, verdicts where people differ, search, and privacy."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Adds queues with their items, steps and leases, verdicts, erasures, and the index of states for search."""
    op.create_table(
        "erasures",
        sa.Column("decision", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("decision", name=op.f("pk_erasures")),
        sa.UniqueConstraint("id", name=op.f("uq_erasures_id")),
    )
    op.create_table(
        "queues",
        sa.Column("serial", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("questions", sa.String(length=64), nullable=False),
        sa.Column("scorer", sa.String(length=64), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("measure", sa.String(length=16), nullable=False),
        sa.Column("audit_share", sa.Float(), nullable=False),
        sa.Column("overlap", sa.Float(), nullable=False),
        sa.Column("blind_queue", sa.Float(), nullable=False),
        sa.Column("blind_audit", sa.Float(), nullable=False),
        sa.Column("apart", sa.Boolean(), nullable=False),
        sa.Column("enrolled", sa.Integer(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("queue_reached", sa.Integer(), nullable=False),
        sa.Column("audit_reached", sa.Integer(), nullable=False),
        sa.CheckConstraint("measure IN ('margin', 'entropy', 'cost')", name=op.f("ck_queues_measure")),
        sa.CheckConstraint("audit_share >= 0 AND audit_share <= 1", name=op.f("ck_queues_audit_share")),
        sa.CheckConstraint("blind_audit >= 0 AND blind_audit <= 1", name=op.f("ck_queues_blind_audit")),
        sa.CheckConstraint("blind_queue >= 0 AND blind_queue <= 1", name=op.f("ck_queues_blind_queue")),
        sa.CheckConstraint("overlap >= 0 AND overlap <= 1", name=op.f("ck_queues_overlap")),
        sa.ForeignKeyConstraint(
            ["questions"], ["question_sets.sha256"], name=op.f("fk_queues_questions_question_sets")
        ),
        sa.ForeignKeyConstraint(["scorer"], ["scorers.fingerprint"], name=op.f("fk_queues_scorer_scorers")),
        sa.PrimaryKeyConstraint("serial", name=op.f("pk_queues")),
        sa.UniqueConstraint("questions", "scorer", "question", name=op.f("uq_queues_questions_scorer_question")),
    )
    op.create_table(
        "queue_steps",
        sa.Column("queue", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("stream", sa.String(length=8), nullable=False),
        sa.Column("step", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("served", sa.Float(), nullable=False),
        sa.Column("following", sa.Float(), nullable=True),
        sa.CheckConstraint("stream IN ('queue', 'audit')", name=op.f("ck_queue_steps_stream")),
        sa.ForeignKeyConstraint(
            ["queue"], ["queues.serial"], name=op.f("fk_queue_steps_queue_queues"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("queue", "stream", "step", name=op.f("pk_queue_steps")),
    )
    op.create_table(
        "queue_items",
        sa.Column("serial", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("queue", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("decision", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("u", sa.Float(), nullable=False),
        sa.Column("v", sa.Float(), nullable=False),
        sa.Column("w", sa.Float(), nullable=False),
        sa.Column("x", sa.Float(), nullable=False),
        sa.Column("place", sa.Float(), nullable=False),
        sa.Column("before", sa.Float(), nullable=False),
        sa.Column("since", sa.Integer(), nullable=False),
        sa.Column("queue_step", sa.Integer(), nullable=True),
        sa.Column("audit_step", sa.Integer(), nullable=True),
        sa.Column("first", sa.String(length=8), nullable=True),
        sa.Column("twin", sa.Integer(), nullable=True),
        sa.Column("sketch", sa.BigInteger(), nullable=True),
        sa.Column("wanted", sa.Integer(), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.CheckConstraint("first IN ('queue', 'audit')", name=op.f("ck_queue_items_first")),
        sa.ForeignKeyConstraint(
            ["decision"], ["decisions.serial"], name=op.f("fk_queue_items_decision_decisions"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["queue"], ["queues.serial"], name=op.f("fk_queue_items_queue_queues"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["twin"], ["queue_items.serial"], name=op.f("fk_queue_items_twin_queue_items"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("serial", name=op.f("pk_queue_items")),
        sa.UniqueConstraint("queue", "decision", name=op.f("uq_queue_items_queue_decision")),
    )
    with op.batch_alter_table("queue_items") as batch:
        batch.create_index(
            "ix_queue_items_audit_next",
            ["queue", "v"],
            unique=False,
            sqlite_where=sa.text("audit_step IS NULL"),
            postgresql_where=sa.text("audit_step IS NULL"),
        )
        batch.create_index("ix_queue_items_decision", ["decision"], unique=False)
        batch.create_index(
            "ix_queue_items_open",
            ["queue", "serial"],
            unique=False,
            sqlite_where=sa.text("first IS NOT NULL AND answers < wanted"),
            postgresql_where=sa.text("first IS NOT NULL AND answers < wanted"),
        )
        batch.create_index(
            "ix_queue_items_queue_next",
            ["queue", "place"],
            unique=False,
            sqlite_where=sa.text("queue_step IS NULL"),
            postgresql_where=sa.text("queue_step IS NULL"),
        )
        batch.create_index(
            "ix_queue_items_shown",
            ["queue", "serial"],
            unique=False,
            sqlite_where=sa.text("first IS NOT NULL"),
            postgresql_where=sa.text("first IS NOT NULL"),
        )

    op.create_table(
        "verdicts",
        sa.Column("serial", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("decision", sa.Integer(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("true_option", sa.Text(), nullable=True),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("labeller", sa.Text(), nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["decision", "question"],
            ["answers.decision", "answers.question"],
            name=op.f("fk_verdicts_decision_question_answers"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("serial", name=op.f("pk_verdicts")),
        sa.UniqueConstraint("id", name=op.f("uq_verdicts_id")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("verdicts") as batch:
        batch.create_index("ix_verdicts_answer", ["decision", "question", "serial"], unique=False)

    op.create_table(
        "leases",
        sa.Column("serial", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("item", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("labeller", sa.Text(), nullable=False),
        sa.Column("tab", sa.String(length=36), nullable=False),
        sa.Column("stream", sa.String(length=8), nullable=False),
        sa.Column("blind", sa.Boolean(), nullable=False),
        sa.Column("taken", sa.DateTime(), nullable=False),
        sa.Column("expires", sa.DateTime(), nullable=False),
        sa.Column("outcome", sa.String(length=16), nullable=True),
        sa.CheckConstraint("outcome IN ('labelled', 'skipped')", name=op.f("ck_leases_outcome")),
        sa.CheckConstraint("stream IN ('queue', 'audit')", name=op.f("ck_leases_stream")),
        sa.ForeignKeyConstraint(
            ["item"], ["queue_items.serial"], name=op.f("fk_leases_item_queue_items"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("serial", name=op.f("pk_leases")),
        sa.UniqueConstraint("id", name=op.f("uq_leases_id")),
    )
    with op.batch_alter_table("leases") as batch:
        batch.create_index("ix_leases_item", ["item", "labeller"], unique=False)
        batch.create_index("ix_leases_tab", ["tab", "serial"], unique=False)

    op.create_table(
        "acts",
        sa.Column("serial", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("lease", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.CheckConstraint("kind IN ('labelled', 'skipped', 'undone')", name=op.f("ck_acts_kind")),
        sa.ForeignKeyConstraint(["lease"], ["leases.serial"], name=op.f("fk_acts_lease_leases"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("serial", name=op.f("pk_acts")),
        sa.UniqueConstraint("id", name=op.f("uq_acts_id")),
    )
    with op.batch_alter_table("acts") as batch:
        batch.create_index("ix_acts_lease", ["lease", "serial"], unique=False)

    with op.batch_alter_table("decisions") as batch:
        batch.add_column(sa.Column("redacted", sa.DateTime(), nullable=True))
        batch.create_index("ix_decisions_asked", ["questions", "scorer", "serial"], unique=False)

    with op.batch_alter_table("schemas") as batch:
        batch.add_column(sa.Column("states", sa.Boolean(), nullable=True))
        batch.add_column(sa.Column("retention", sa.Integer(), nullable=True))
    op.execute(sa.text("UPDATE schemas SET states = true"))
    with op.batch_alter_table("schemas") as batch:
        batch.alter_column("states", existing_type=sa.Boolean(), nullable=False)

    # One row for each decision, its rowid the decision's serial: what the state says, and the words in its pictures.
    if op.get_bind().dialect.name == "postgresql":
        # Nothing is put in: no PostgreSQL database was ever of an earlier revision.
        op.execute(sa.text("CREATE TABLE searches (rowid integer PRIMARY KEY, text tsvector NOT NULL)"))
        op.execute(sa.text("CREATE INDEX ix_searches_text ON searches USING gin (text)"))
        return
    op.execute(sa.text("CREATE VIRTUAL TABLE searches USING fts5(text, tokenize = 'unicode61 remove_diacritics 2')"))
    op.execute(
        sa.text(
            "INSERT INTO searches(rowid, text) SELECT decision, json_extract(state, '$') || ' ' || "
            "CASE json_array_length(words) WHEN 0 THEN '' ELSE words END FROM decision_bodies"
        )
    )
