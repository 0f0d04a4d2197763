"""The Calibration page's functions about replays: which versions there are to replay, and how far a replay is."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel

from model.questions import Json
from storage.errors import NotFound
from storage.jobs import Job, get_job, list_jobs, wish
from storage.replays import KIND
from storage.schemas import list_versions
from studio.calibrations import Calibrations
from studio.pages.calibration_data import Shelf
from studio.pages.calibration_review import Asked, Hash
from studio.pages.design_schemas import Told, told
from studio.replay import ReplaySpec, open_cases, start
from studio.studio import Studio


class OfSchema(Asked):
    """What was labelled, and the schema whose versions are looked for."""

    schema_id: UUID


class Replayable(OfSchema):
    """A version, and who would answer it."""

    version: int
    other_questions: Hash
    other_scorer: Hash

    @property
    def spec(self) -> ReplaySpec:
        """The replay that is meant."""
        return ReplaySpec(
            questions=self.questions,
            scorer=self.scorer,
            schema_id=str(self.schema_id),
            version=self.version,
            other_questions=self.other_questions,
            other_scorer=self.other_scorer,
        )


class Started(Replayable):
    """A replay to begin; `id` is a uuid that the page made."""

    id: UUID


class Named(BaseModel):
    """A replay."""

    job: UUID


class Steered(Named):
    """What a person wants of it."""

    wish: Literal["run", "pause", "cancel"]


def replay_functions(studio: Studio, shelf: Shelf, calibrations: Calibrations) -> list[Told]:
    """The functions, each under its own name."""

    @told
    def replay_targets(payload: Json) -> Json:
        given = OfSchema.model_validate(payload)
        status = studio.engine.status
        if status.scorer is None:
            return {"targets": [], "loading": status.phase == "loading"}
        targets: dict[str, Json] = {}
        for version in list_versions(studio.database, str(given.schema_id)):
            scorer = calibrations.answering(status.scorer, version.sha256)
            if (version.sha256, scorer.fingerprint) != (given.questions, given.scorer):
                # Of versions that ask the same, the newest stands for all.
                targets.setdefault(
                    version.sha256,
                    {
                        "questions": version.sha256,
                        "scorer": scorer.fingerprint,
                        "scorer_name": scorer.name,
                        "version": version.number,
                    },
                )
        return {"targets": list(targets.values()), "loading": False}

    @told
    def replay_state(payload: Json) -> Json:
        spec = Replayable.model_validate(payload).spec
        total, cases = open_cases(shelf, spec)
        newest = next((j for j in list_jobs(studio.database, kind=KIND) if ReplaySpec(**j.spec) == spec), None)
        return {"total": total, "open": len(cases), "job": None if newest is None else _view(newest)}

    @told
    def start_replay(payload: Json) -> Json:
        given = Started.model_validate(payload)
        job = start(shelf, given.spec, id=str(given.id))
        if job.status == "paused":
            job = wish(studio.database, job.id, "run")
        studio.worker.wake()
        return {"job": _view(job)}

    @told
    def replay_job(payload: Json) -> Json:
        return {"job": _view(_replay(studio, Named.model_validate(payload).job))}

    @told
    def steer_replay(payload: Json) -> Json:
        given = Steered.model_validate(payload)
        job = wish(studio.database, _replay(studio, given.job).id, given.wish)
        studio.worker.wake()
        return {"job": _view(job)}

    return [replay_targets, replay_state, start_replay, replay_job, steer_replay]


def _replay(studio: Studio, key: UUID) -> Job:
    job = get_job(studio.database, str(key))
    if job.kind != KIND:
        raise NotFound("job", "there is no such replay")
    return job


def _view(job: Job) -> dict[str, Any]:
    """A replay for the page."""
    return {
        "id": job.id,
        "status": job.status,
        "wanted": job.wanted,
        "message": job.message,
        "done": job.progress["done"],
        "total": job.progress["total"],
        "bad": job.progress["bad"],
    }
