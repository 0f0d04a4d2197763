"""What is kept of the states, and for how long; and everything about one case, given out or deleted.

Contract
--------
* `redact` empties a decision: its state, preview, words, pictures and place in the index go; probabilities, labels and
  its mark in a queue's sample stay. Who is shown next will not be shown it.
* A schema may keep states for `retention` days (`sweep` empties what is older), or keep none at all (`states` False:
  its decisions are emptied as they are written, see `storage.decisions`).
* `export_case` is everything that is kept about a case; `erase` deletes all of it and leaves only that, when and by
  whom this was done.
* A picture's file goes when nothing points at it any more: no decision, no example, no draft.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlmodel import Session, col, select

from storage.database import Database
from storage.decisions import find_decision
from storage.errors import InvalidValue, NotFound, checked_text, plain_id
from storage.labels import LABELLER_LENGTH
from storage.pictures import drop_unused, unlink
from storage.states_index import forget
from storage.tables import (
    ActRow,
    AnswerRow,
    DecisionBodyRow,
    DecisionPictureRow,
    DecisionRow,
    ErasureRow,
    LabelRow,
    LeaseRow,
    QueueItemRow,
    Row,
    SchemaRow,
    VerdictRow,
    now,
)

PORTION = 500
"""Decisions that one transaction empties."""


def set_privacy(database: Database, schema_id: str, *, states: bool, retention: int | None) -> None:
    """Says what is kept of a schema's states from now on: whether any, and for how many days (None: for good).

    Raises NotFound, InvalidValue.
    """
    if retention is not None and not 1 <= retention <= 36_500:
        raise InvalidValue("retention", "must be from 1 to 36,500 days, or nothing to keep states for good")
    with database.write_session() as session:
        row = _schema(session, schema_id)
        row.states, row.retention = states, retention


def get_privacy(database: Database, schema_id: str) -> tuple[bool, int | None]:
    """Whether a schema's states are kept, and for how many days. Raises NotFound."""
    with database.read_session() as session:
        row = _schema(session, schema_id)
        return row.states, row.retention


def redact(database: Database, decision: str) -> None:
    """Empties a decision's state; again, it changes nothing. Raises NotFound."""
    with database.write_session() as session:
        row = find_decision(session, decision)
        gone = _empty(session, [row]) if row.redacted is None else []
    unlink(database, gone)


def sweep(database: Database, *, at: datetime | None = None) -> int:
    """Empties the states that their schemas keep no longer; returns how many. `at`: the time, now without."""
    moment = at or now()
    count = 0
    while True:
        with database.write_session() as session:
            query = (
                select(DecisionRow)
                .join(SchemaRow, col(SchemaRow.id) == col(DecisionRow.schema_id))
                .where(col(DecisionRow.redacted).is_(None), _due(session, moment))
            )
            rows = list(session.exec(query.order_by(col(DecisionRow.serial)).limit(PORTION)))
            gone = _empty(session, rows)
        unlink(database, gone)
        count += len(rows)
        if len(rows) < PORTION:
            return count


def export_case(database: Database, decision: str) -> dict[str, Any]:
    """Everything that is kept about a case, as JSON (pictures by their hashes). Raises NotFound."""
    with database.read_session() as session:
        row = find_decision(session, decision)
        serial = row.serial
        assert serial is not None
        items = session.exec(select(QueueItemRow).where(QueueItemRow.decision == serial)).all()
        leases = session.exec(select(LeaseRow).where(col(LeaseRow.item).in_([i.serial for i in items]))).all()
        acts = session.exec(select(ActRow).where(col(ActRow.lease).in_([lease.serial for lease in leases]))).all()
        pictures = select(DecisionPictureRow.sha256).where(DecisionPictureRow.decision == serial)
        return {
            "decision": _plain(row),
            "body": _plain(session.get_one(DecisionBodyRow, serial)),
            "pictures": list(session.exec(pictures.order_by(col(DecisionPictureRow.position)))),
            "answers": [_plain(r) for r in session.exec(select(AnswerRow).where(AnswerRow.decision == serial))],
            "labels": [_plain(r) for r in session.exec(select(LabelRow).where(LabelRow.decision == serial))],
            "verdicts": [_plain(r) for r in session.exec(select(VerdictRow).where(VerdictRow.decision == serial))],
            "queue_items": [_plain(r) for r in items],
            "leases": [_plain(r) for r in leases],
            "acts": [_plain(r) for r in acts],
        }


def erase(database: Database, decision: str, *, by: str) -> None:
    """Deletes everything about a case. Raises NotFound (also when it is gone already), InvalidValue."""
    who = checked_text(by, "by", limit=LABELLER_LENGTH, blank=False)
    with database.write_session() as session:
        row = find_decision(session, decision)
        serial = row.serial
        assert serial is not None
        # First that it is done: the triggers that keep labels let go of those of an erased case only.
        session.add(ErasureRow(decision=serial, id=row.id, by=who))
        session.flush()
        pictures = _pictures(session, [serial])
        forget(session, [serial])
        # Leases, acts and the item go with the item; answers, verdicts and the body with the decision.
        session.execute(sa.delete(QueueItemRow).where(col(QueueItemRow.decision) == serial))
        session.execute(sa.delete(LabelRow).where(col(LabelRow.decision) == serial))
        session.execute(sa.delete(DecisionRow).where(col(DecisionRow.serial) == serial))
        gone = drop_unused(session, pictures)
    unlink(database, gone)


def _due(session: Session, moment: datetime) -> sa.ColumnElement[bool]:
    """Condition on decisions joined with their schemas: older than the schema keeps states."""
    kept = session.exec(select(SchemaRow.id, SchemaRow.retention).where(col(SchemaRow.retention).is_not(None))).all()
    due = [
        sa.and_(col(SchemaRow.id) == key, col(DecisionRow.created) < moment - timedelta(days=days))
        for key, days in kept
        if days is not None
    ]
    return sa.or_(sa.false(), *due)


def _empty(session: Session, rows: Sequence[DecisionRow]) -> list[str]:
    """Empties decisions; returns the pictures that nothing points at any more."""
    serials = [row.serial for row in rows if row.serial is not None]
    if not serials:
        return []
    pictures = _pictures(session, serials)
    for row in rows:
        row.redacted, row.preview = now(), ""
    session.execute(
        sa.update(DecisionBodyRow)
        .where(col(DecisionBodyRow.decision).in_(serials))
        .values(state="", words=[], looked={})
    )
    session.execute(sa.delete(DecisionPictureRow).where(col(DecisionPictureRow.decision).in_(serials)))
    forget(session, serials)
    # Nobody can judge what is not there: it counts as non-response where nobody has.
    items = sa.update(QueueItemRow).where(col(QueueItemRow.decision).in_(serials))
    session.execute(items.values(wanted=0, sketch=None))
    session.flush()
    return drop_unused(session, pictures)


def _pictures(session: Session, serials: Sequence[int]) -> list[str]:
    query = select(DecisionPictureRow.sha256).where(col(DecisionPictureRow.decision).in_(serials)).distinct()
    return list(session.exec(query))


def _schema(session: Session, schema_id: str) -> SchemaRow:
    row = session.get(SchemaRow, plain_id(schema_id))
    if row is None:
        raise NotFound("schema_id", f"there is no schema {schema_id!r}")
    return row


def _plain(row: Row) -> dict[str, Any]:
    """A row as JSON."""
    return {
        name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.model_dump().items()
    }
