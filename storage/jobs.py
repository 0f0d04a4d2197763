"""Long work as rows: it outlives pages, and restarts of the studio.

Contract
--------
* A job waits, runs, is paused, and ends done, failed or cancelled. `wanted` is what a person asked last; the worker
  looks there between two portions of work, so a wish never waits for long and never tears a portion apart.
* `progress` belongs to the kind of job; it is written by the worker in the transaction that keeps the portion's work.
* After a restart what ran waits again (`recover`), and goes on from its progress.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias
from uuid import uuid4

from sqlmodel import Session, col, select

from model.questions import Json
from storage.database import Database
from storage.errors import Conflict, NotFound, checked_id, checked_json, checked_text, plain_id
from storage.tables import JobRow, now

Status: TypeAlias = Literal["waiting", "running", "paused", "done", "failed", "cancelled"]
Wish: TypeAlias = Literal["run", "pause", "cancel"]
ENDED = ("done", "failed", "cancelled")


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job as it is kept. `spec` never changes; `message` is a sentence for a person, such as why it failed."""

    serial: int
    id: str
    kind: str
    title: str
    status: str
    wanted: str
    spec: dict[str, Json]
    progress: dict[str, Json]
    message: str
    created: datetime
    changed: datetime


def create_job(
    database: Database,
    *,
    kind: str,
    title: str,
    spec: Mapping[str, Json],
    progress: Mapping[str, Json],
    id: str | None = None,
) -> Job:
    """A job that waits for the worker; the same `id` again is the job that is there. Raises InvalidValue."""
    key = checked_id(id or str(uuid4()), "id")
    with database.write_session() as session:
        row = session.exec(select(JobRow).where(JobRow.id == key)).first()
        if row is None:
            row = JobRow(
                id=key,
                kind=kind,
                title=checked_text(title, "title", limit=200),
                spec=checked_json(dict(spec), "spec"),
                progress=checked_json(dict(progress), "progress"),
            )
            session.add(row)
            session.flush()
        return _view(row)


def get_job(database: Database, job_id: str) -> Job:
    """Raises NotFound."""
    with database.read_session() as session:
        return _view(job_row(session, job_id))


def list_jobs(database: Database, *, kind: str | None = None, limit: int = 200) -> list[Job]:
    """Jobs, newest first."""
    with database.read_session() as session:
        query = select(JobRow) if kind is None else select(JobRow).where(JobRow.kind == kind)
        return [_view(row) for row in session.exec(query.order_by(col(JobRow.serial).desc()).limit(limit))]


def wish(database: Database, job_id: str, wanted: Wish) -> Job:
    """What a person wants of a job: to pause or cancel it, or to run on. Raises NotFound, Conflict (it has ended)."""
    with database.write_session() as session:
        row = job_row(session, job_id)
        if row.status in ENDED:
            if wanted == "cancel":
                return _view(row)
            raise Conflict("job", f"this job is {row.status}; start another one")
        row.wanted, row.changed = wanted, now()
        # A job that nobody works on follows at once.
        if row.status in ("waiting", "paused"):
            row.status = {"run": "waiting", "pause": "paused", "cancel": "cancelled"}[wanted]
            row.message = "" if wanted == "run" else row.message
        session.flush()
        return _view(row)


def take_next(database: Database, kinds: tuple[str, ...]) -> Job | None:
    """The job that waits longest, now running; None where none waits."""
    with database.write_session() as session:
        query = select(JobRow).where(JobRow.status == "waiting", col(JobRow.kind).in_(kinds))
        row = session.exec(query.order_by(col(JobRow.serial)).limit(1)).first()
        if row is None:
            return None
        row.status, row.wanted, row.message, row.changed = "running", "run", "", now()
        session.flush()
        return _view(row)


def take(database: Database, job_id: str) -> Job:
    """A job that waits, now running, whatever waits before it. Raises NotFound, Conflict (it does not wait)."""
    with database.write_session() as session:
        row = job_row(session, job_id)
        if row.status != "waiting":
            raise Conflict("job", f"this job is {row.status}, so it cannot be begun")
        row.status, row.wanted, row.message, row.changed = "running", "run", "", now()
        session.flush()
        return _view(row)


def end_job(database: Database, job_id: str, status: Status, message: str = "") -> Job:
    """What became of a running job. Raises NotFound."""
    with database.write_session() as session:
        row = job_row(session, job_id)
        row.status, row.message, row.changed = status, message[:2000], now()
        session.flush()
        return _view(row)


def recover(database: Database) -> int:
    """After a restart: what ran waits again, or follows what was wished of it; returns how many."""
    with database.write_session() as session:
        rows = session.exec(select(JobRow).where(JobRow.status == "running")).all()
        for row in rows:
            row.status = {"run": "waiting", "pause": "paused", "cancel": "cancelled"}[row.wanted]
        return len(rows)


def job_row(session: Session, job_id: str) -> JobRow:
    """The row of a job. Raises NotFound."""
    row = session.exec(select(JobRow).where(JobRow.id == plain_id(job_id))).first()
    if row is None:
        raise NotFound("job", f"there is no job {job_id!r}")
    return row


def _view(row: JobRow) -> Job:
    assert row.serial is not None
    return Job(
        serial=row.serial,
        id=row.id,
        kind=row.kind,
        title=row.title,
        status=row.status,
        wanted=row.wanted,
        spec=row.spec,
        progress=row.progress,
        message=row.message,
        created=row.created,
        changed=row.changed,
    )
