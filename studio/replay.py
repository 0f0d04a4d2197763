"""Replay: labelled cases judged again, by the loaded model, under a published schema version; then they are compared.

Contract
--------
* Which cases: those of one set of questions and scorer of which a sampled label names the true option of a question
  that the other set asks too (what `pair_cases` compares), whose state is still there, and which the other set and
  scorer have not judged yet. So a replay that was cut short goes on where it was, and a finished one does nothing.
* What comes out are decisions under the version and scorer, found by case; they are no traffic (`storage.replays`).
* A case that was read with a cut may be cut again; one that cannot be read under the version is counted, and stays out.
* All is judged by one scorer; where another one, or another calibrator, is loaded the replay pauses and says so.
"""

from __future__ import annotations

import time
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from functools import partial
from uuid import UUID, uuid5

import numpy as np

from model.engine import Decision, Engine
from model.images import PAGE_CAPS, read_picture
from model.questions import InvalidRequest, Json, Questions
from model.scorer import Request
from model.state import parse_state
from storage.answered import Key, keys_of
from storage.cases import questions_of
from storage.decisions import DecisionRecord, StoredDecision
from storage.errors import InvalidValue
from storage.jobs import Job, create_job, list_jobs
from storage.privacy import get_privacy
from storage.replays import KIND, Replayed, keep_portion, read_original, set_progress, unreadable
from storage.schemas import get_schema, get_version
from studio.calibrations import Calibrations
from studio.jobs import Paused, Watch
from studio.judging import PORTION, Ahead, Pace
from studio.pages.calibration_data import Place, Shelf


@dataclass(frozen=True, kw_only=True)
class ReplaySpec:
    """`questions` by `scorer` were labelled; `schema_id` and `version` ask `other_questions`, of `other_scorer`."""

    questions: str
    scorer: str
    schema_id: str
    version: int
    other_questions: str
    other_scorer: str


def open_cases(shelf: Shelf, spec: ReplaySpec) -> tuple[int, dict[Key, str]]:
    """How many labelled cases there are, and those that are not judged yet, each with the decision that was labelled.

    Raises NotFound.
    """
    database = shelf.database
    ours, theirs = (questions_of(database, sha) for sha in (spec.questions, spec.other_questions))
    labelled: set[str] = set()
    for key, question in ours.items():
        if key not in theirs or theirs[key].type != question.type:
            continue
        loaded = shelf.load(Place(spec.questions, spec.scorer, key))
        options = set(theirs[key].option_ids())
        named = np.array([option in options for option in loaded.sampled.options])
        for row in np.flatnonzero(loaded.sampled.known):
            if named[loaded.sampled.truth[row]]:
                labelled.add(loaded.ids[row])
    keys = keys_of(database, questions=spec.questions, scorer=spec.scorer)
    cases = {key: decision for decision, key in keys.items() if decision in labelled}
    judged = set(keys_of(database, questions=spec.other_questions, scorer=spec.other_scorer).values())
    return len(cases), {key: decision for key, decision in cases.items() if key not in judged}


def start(shelf: Shelf, spec: ReplaySpec, *, id: str) -> Job:
    """A replay that waits for the worker, or the one that is under way already. Raises NotFound, InvalidValue."""
    schema = get_schema(shelf.database, spec.schema_id)
    version = get_version(shelf.database, spec.schema_id, spec.version)
    if version.sha256 != spec.other_questions:
        raise InvalidValue("version", f"version {spec.version} asks other questions; reload the page")
    if not get_privacy(shelf.database, schema.id)[0]:
        raise InvalidValue("schema", f"{schema.name} keeps no states: what a replay said could not be paired")
    for job in list_jobs(shelf.database, kind=KIND):
        if job.spec == asdict(spec) and job.status in ("waiting", "running", "paused"):
            return job
    total, cases = open_cases(shelf, spec)
    progress: dict[str, Json] = {"total": total, "done": total - len(cases), "bad": 0, "seconds": 0.0}
    title = f"{schema.name} v{spec.version} over labelled cases"[:200]
    return create_job(shelf.database, kind=KIND, title=title, spec=asdict(spec), progress=progress, id=id)


class Replay:
    """Does jobs of kind `replay`; a handler for `studio.jobs.Worker`."""

    def __init__(self, shelf: Shelf, engine: Engine, calibrations: Calibrations, *, portion: int = PORTION) -> None:
        self._shelf = shelf
        self._engine = engine
        self._calibrations = calibrations
        self._portion = portion

    def __call__(self, job: Job, watch: Watch) -> str:
        """See `studio.jobs`."""
        database = self._shelf.database
        spec = ReplaySpec(**job.spec)
        questions = questions_of(database, spec.other_questions)
        self._check_scorer(spec)
        total, cases = open_cases(self._shelf, spec)
        bad = unreadable(database, job)
        todo = [decision for decision in cases.values() if decision not in bad]
        set_progress(database, job, total=total, done=total - len(todo), bad=len(bad))
        pace, start = Pace(self._portion), 0
        while portion := todo[start : start + pace.size]:
            watch.check()
            began = time.perf_counter()
            found = self._judge(job, spec, questions, portion, watch)
            seconds = time.perf_counter() - began
            keep_portion(database, job, found, seconds=seconds)
            bad.update(one.original.id for one in found if one.record is None)
            start += len(portion)
            pace.took(seconds)
        return f"{len(bad):,} of {total:,} cases could not be judged." if bad else ""

    def _check_scorer(self, spec: ReplaySpec) -> None:
        status = self._engine.wait_ready()
        if status.scorer is None:
            raise Paused(f"The model is not there: {status.message}")
        if self._calibrations.answering(status.scorer, spec.other_questions).fingerprint != spec.other_scorer:
            raise Paused(
                f"This replay was begun with another model, or another calibrator, than now. Bring that one back to go "
                f"on, or start a new replay with {status.scorer.name}."
            )

    def _judge(
        self, job: Job, spec: ReplaySpec, questions: Questions, portion: list[str], watch: Watch
    ) -> list[Replayed]:
        """What comes of a portion; cases that are gone are left out."""
        found: list[Replayed] = []
        ahead = Ahead(self._engine, watch)

        def settle(original: StoredDecision, future: Future[Decision]) -> None:
            found.append(self._settled(job, spec, original, future))

        for decision in portion:
            read = read_original(self._shelf.database, decision)
            if read is None:
                continue
            original, pictures = read
            try:
                seen = tuple(read_picture(data, caps=PAGE_CAPS) for data in pictures)
                state = parse_state(original.state, seen, limits=self._engine.scorer.limits)
            except InvalidRequest as error:
                found.append(Replayed(original=original, problem=str(error)))
                continue
            ahead.ask(Request(state, questions, allow_cut=original.cut is not None), partial(settle, original))
        ahead.rest()
        return found

    def _settled(self, job: Job, spec: ReplaySpec, original: StoredDecision, future: Future[Decision]) -> Replayed:
        try:
            decision = future.result()
        except InvalidRequest as error:
            return Replayed(original=original, problem=str(error))
        if decision.scorer.fingerprint != spec.other_scorer:
            raise Paused(
                "A calibrator was switched while this replay ran. Switch it back to go on, or start a new one."
            )
        record = DecisionRecord.of(
            decision,
            id=str(uuid5(UUID(job.id), original.id)),
            source="run",
            pictures=original.pictures,
            schema_id=spec.schema_id,
            version=spec.version,
        )
        return Replayed(original=original, record=record)
