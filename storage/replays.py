"""Replays: labelled cases that a model judged again, under another schema version or by another scorer.

Contract
--------
* A replay is a job of the kind `KIND`; each case that it came to is a `RunRow` of it, whose `line` is the serial of the
  decision that was judged again. `decision` is what came of it, `problem` why nothing did.
* Replayed decisions are there to be compared. They are no traffic: their cases were chosen because they had labels,
  many of them because they were hard. So neither queues nor drift count them (`replayed`).
* Decisions, rows and progress of a portion are kept in one transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlmodel import Session, col

from storage.database import Database
from storage.decisions import DecisionRecord, StoredDecision, get_decision, record_decisions
from storage.errors import NotFound
from storage.jobs import Job, job_row
from storage.pictures import read_picture
from storage.tables import DecisionRow, JobRow, RunRow, now

KIND = "replay"


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """A case that a replay came to. `original` is the decision judged before; `record` or `problem` what came of it."""

    original: StoredDecision
    record: DecisionRecord | None = None
    problem: str = ""


def replayed() -> sa.ColumnElement[bool]:
    """Condition on decisions: made by a replay."""
    return sa.exists().where(
        col(RunRow.decision) == col(DecisionRow.serial),
        col(JobRow.serial) == col(RunRow.job),
        col(JobRow.kind) == KIND,
    )


def unreadable(database: Database, job: Job) -> set[str]:
    """Decisions (uuids) of which this replay found that they cannot be judged again."""
    query = (
        sa.select(col(DecisionRow.id))
        .join(RunRow, col(RunRow.line) == col(DecisionRow.serial))
        .where(col(RunRow.job) == job.serial, col(RunRow.problem).is_not(None))
    )
    with database.read_session() as session:
        return set(session.execute(query).scalars())


def read_original(database: Database, decision: str) -> tuple[StoredDecision, tuple[bytes, ...]] | None:
    """A decision with the bytes of its pictures; None where it, its state or a picture is gone."""
    query = sa.select(col(DecisionRow.redacted)).where(col(DecisionRow.id) == decision)
    try:
        found = get_decision(database, decision)
        pictures = tuple(read_picture(database, sha256) for sha256 in found.pictures)
    except NotFound:
        return None
    # Asked last: what was emptied meanwhile is not taken for a case that says nothing.
    with database.read_session() as session:
        emptied = session.execute(query).scalar_one_or_none() is not None
    return None if emptied else (found, pictures)


def keep_portion(database: Database, job: Job, portion: Sequence[Replayed], *, seconds: float) -> None:
    """Keeps what came of some cases. Raises as `record_decisions`."""

    def rows(session: Session, stored: Mapping[str, StoredDecision]) -> None:
        row = job_row(session, job.id)
        first = session.execute(sa.select(sa.func.count()).where(col(RunRow.job) == job.serial)).scalar_one()
        values = [
            {
                "job": job.serial,
                "row": first + i,
                "line": one.original.serial,
                "decision": None if one.record is None else stored[one.record.id].serial,
                "problem": None if one.record is not None else one.problem[:500],
                "same": None,
            }
            for i, one in enumerate(portion)
        ]
        session.execute(sa.insert(RunRow), values)
        progress = dict(row.progress)
        progress["done"] += len(portion)
        progress["bad"] += sum(one.record is None for one in portion)
        progress["seconds"] += seconds
        row.progress, row.changed = progress, now()

    record_decisions(database, [one.record for one in portion if one.record is not None], also=rows)


def set_progress(database: Database, job: Job, *, total: int, done: int, bad: int) -> None:
    """Says anew how far a replay is: labels may have come, or cases have gone, since it stopped."""
    with database.write_session() as session:
        row = job_row(session, job.id)
        row.progress, row.changed = {**row.progress, "total": total, "done": done, "bad": bad}, now()
