"""The Runs page's runs: which there are, how far they are, and what a person wants of them.

Contract
--------
Functions take and give plain JSON and never raise (`studio.pages.design_schemas.told`). A run is known by its job's id,
so a page that is opened again finds it as it is. Times are in seconds.
"""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel

from model.questions import Choice, Json, Noul, Question, render
from storage.cases import questions_of
from storage.database import Database
from storage.errors import NotFound
from storage.jobs import Job, get_job, list_jobs, wish
from storage.runs import confusion, tally
from storage.schemas import get_schema
from studio.pages.design_schemas import Told, told
from studio.runs.run import KIND, run_rest
from studio.studio import Studio


class Named(BaseModel):
    """One run."""

    run: UUID


class Steered(Named):
    """What a person wants of it."""

    wish: Literal["pause", "resume", "cancel", "rest"]


def list_functions(studio: Studio) -> list[Told]:
    """The page's functions about runs, each under its own name."""
    database = studio.database

    @told
    def runs(_: Json) -> Json:
        names: dict[str | None, str] = {}
        return {"runs": [_view(database, job, names) for job in list_jobs(database, kind=KIND)]}

    @told
    def run(payload: Json) -> Json:
        job = run_of(database, str(Named.model_validate(payload).run))
        questions = questions_of(database, job.spec["questions"])
        counts = tally(database, job)
        return {
            "run": _view(database, job, {}),
            "questions": [
                {"id": key, "type": question.type, "options": options_of(question)}
                for key, question in questions.items()
            ],
            "tally": {key: list(counts.get(key, {}).items()) for key in questions},
            "confusion": {
                key: [[top, true, n] for (top, true), n in confusion(database, job, key).items()]
                for key in job.spec["mapping"]["truth"]
            },
        }

    @told
    def steer(payload: Json) -> Json:
        given = Steered.model_validate(payload)
        job = run_of(database, str(given.run))
        if given.wish == "rest":
            job = run_rest(database, job.id)
        else:
            job = wish(database, job.id, "run" if given.wish == "resume" else given.wish)
        studio.worker.wake()
        return {"run": _view(database, job, {})}

    return [runs, run, steer]


def run_of(database: Database, key: str) -> Job:
    """A run's job. Raises NotFound."""
    job = get_job(database, key)
    if job.kind != KIND:
        raise NotFound("run", "there is no such run")
    return job


def options_of(question: Question) -> list[list[str]]:
    """The options as [id, name] in request order."""
    if isinstance(question, Noul):
        return [["true", "Yes"], ["false", "No"]]
    if isinstance(question, Choice):
        return [[name, name] for name in question.criteria]
    return [[str(i), f"{i} {render(level)}" if level else f"Level {i}"] for i, level in enumerate(question.criteria)]


def _view(database: Database, job: Job, names: dict[str | None, str]) -> dict[str, Any]:
    """A run for the page. `left`: about how long it still takes; None where nobody can tell yet. `names` of schemas
    are looked up once."""
    progress, spec = job.progress, job.spec
    total = progress["limit"] if progress["limit"] is not None else spec["rows"]
    done, seconds = int(progress["done"]), float(progress["seconds"])
    left = seconds / done * max(total - done, 0) if total is not None and done else None
    schema = spec["schema_id"]
    if schema not in names:
        names[schema] = _schema_name(database, schema)
    return {
        "id": job.id,
        "title": job.title,
        "status": job.status,
        "wanted": job.wanted,
        "message": job.message,
        "created": job.created.isoformat(),
        "changed": job.changed.isoformat(),
        "done": done,
        "total": total,
        "rows": spec["rows"],
        "decided": progress["decided"],
        "reused": progress["reused"],
        "bad": progress["bad"],
        "truths": progress["truths"],
        "unread": progress["unread"],
        "seconds": seconds,
        "left": left,
        "rest": job.status in ("failed", "cancelled") or (job.status == "done" and progress["limit"] is not None),
        "truth": list(spec["mapping"]["truth"]),
        "schema_id": schema,
        "schema": names[schema],
        "version": spec["version"],
        "questions": spec["questions"],
        "scorer": spec["scorer"],
    }


def _schema_name(database: Database, schema_id: str | None) -> str:
    if schema_id is None:
        return "questions of a file"
    try:
        return get_schema(database, schema_id).name
    except NotFound:
        return "a schema that is gone"
