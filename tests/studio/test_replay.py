"""Replay: each labelled case judged once under another version, whatever happens in between, and then compared."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa
from sqlmodel import col

from model.engine import Engine
from model.questions import parse_questions, schema_hash
from model.scorer import Request
from model.state import State
from storage.answered import answered, keys_of
from storage.database import FILE, Database
from storage.errors import InvalidValue
from storage.jobs import Job, get_job, list_jobs, recover, take_next, wish
from storage.privacy import redact, set_privacy
from storage.queue import arrivals, open_queue
from storage.schemas import publish
from storage.tables import RunRow
from studio import replay
from studio.calibrations import Calibrations
from studio.jobs import Worker, do
from studio.pages.calibration_data import Shelf
from studio.pages.calibration_more import more_functions
from studio.pages.calibration_replay import replay_functions
from studio.settings import Settings
from studio.studio import Studio
from tests.api.hash_scorer import HashScorer
from tests.calibration_data import QUESTIONS, seed

LABELLED = 30
BETTER = {**QUESTIONS, "next_team": {**QUESTIONS["next_team"], "instructions": "Who should take this?"}}
"""The second version: the labelled question is put in other words."""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("replay")
    with Database.open(folder) as database:
        place = seed(database, audit=20, queue=10, volunteered=8, unlabelled=5)
        publish(database, place["schema"], parse_questions(BETTER))
    return folder / FILE, place


class Bench:
    """A studio without pages, on a model that answers by hashes."""

    def __init__(self, folder: Path, filled: tuple[Path, dict[str, Any]]) -> None:
        shutil.copy(filled[0], folder / FILE)
        self.place = filled[1]
        self.database = Database.open(folder)
        self.scorer = HashScorer()
        self.engine = Engine(lambda progress: self.scorer)
        self.engine.wait_ready(30)
        self.shelf, self.calibrations = Shelf(self.database), Calibrations(self.database)
        self.handler = replay.Replay(self.shelf, self.engine, self.calibrations, portion=4)
        self.worker = Worker(self.database, {"replay": self.handler})
        studio = Studio(Settings(data=folder), self.engine, self.database, self.worker)
        self.functions = {
            f.__name__: f
            for f in (
                *more_functions(self.shelf, self.calibrations),
                *replay_functions(studio, self.shelf, self.calibrations),
            )
        }
        self.spec = replay.ReplaySpec(
            questions=self.place["questions"],
            scorer=self.place["scorer"],
            schema_id=self.place["schema"],
            version=2,
            other_questions=schema_hash(parse_questions(BETTER)),
            other_scorer=self.scorer.info.fingerprint,
        )

    def call(self, name: str, **payload: Any) -> Any:
        return json.loads(json.dumps(self.functions[name](payload), allow_nan=False))

    def do(self) -> Job:
        job = take_next(self.database, ("replay",))
        assert job is not None
        return do(self.database, job, self.handler, threading.Event())

    @property
    def judged(self) -> int:
        return len(keys_of(self.database, questions=self.spec.other_questions, scorer=self.spec.other_scorer))

    def close(self) -> None:
        self.scorer.open.set()
        self.engine.close()
        self.database.close()


@pytest.fixture
def bench(filled: tuple[Path, dict[str, Any]], tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path, filled)
    yield made
    made.close()


def test_labelled_cases_are_judged_and_compared(bench: Bench) -> None:
    given = {"questions": bench.spec.questions, "scorer": bench.spec.scorer, "schema_id": bench.spec.schema_id}
    (newer, same) = bench.call("replay_targets", **given)["targets"]
    assert (newer["version"], newer["scorer_name"], same["version"]) == (2, "hash-1", 1)
    state = bench.call("replay_state", **asdict(bench.spec))
    assert state == {"total": LABELLED, "open": LABELLED, "job": None}
    started = bench.call("start_replay", **asdict(bench.spec), id=str(uuid4()))["job"]
    assert (started["status"], started["done"], started["total"]) == ("waiting", 0, LABELLED)
    # Begun twice, by an impatient hand, it is still one.
    assert bench.call("start_replay", **asdict(bench.spec), id=str(uuid4()))["job"]["id"] == started["id"]
    done = bench.do()
    assert (done.status, done.progress["done"], done.message) == ("done", LABELLED, "")
    assert bench.call("replay_state", **asdict(bench.spec))["open"] == 0
    pair = {key: asdict(bench.spec)[key] for key in ("questions", "scorer", "other_questions", "other_scorer")}
    by_question = {c["question"]: c for c in bench.call("compare_places", **pair)["comparisons"]}
    assert {key: c["n"] for key, c in by_question.items()} == {"next_team": LABELLED, "upset": 0, "urgency": 0}
    # The answers are those that the model gives, under the version's questions.
    (one, *_) = bench.scorer.asked
    assert one.questions == parse_questions(BETTER)


def test_replayed_decisions_are_no_traffic(bench: Bench) -> None:
    replay.start(bench.shelf, bench.spec, id=str(uuid4()))
    bench.do()
    at = {"questions": bench.spec.other_questions, "scorer": bench.spec.other_scorer, "question": "next_team"}
    assert bench.judged == LABELLED
    assert answered(bench.database, **at).decisions == ()
    queue = open_queue(bench.database, **at)
    assert arrivals(bench.database, queue.serial, limit=100).decisions == ()


def test_a_cancelled_replay_goes_on_where_it_was(bench: Bench) -> None:
    job = replay.start(bench.shelf, bench.spec, id=str(uuid4()))
    bench.scorer.open.clear()
    worker = threading.Thread(target=bench.do)
    worker.start()
    assert bench.scorer.entered.acquire(timeout=30)
    wish(bench.database, job.id, "cancel")
    bench.scorer.open.set()
    worker.join(30)
    kept = get_job(bench.database, job.id)
    assert (kept.status, kept.progress["done"]) == ("cancelled", 4)
    assert bench.judged == 4
    replay.start(bench.shelf, bench.spec, id=str(uuid4()))
    again = bench.do()
    assert (again.status, again.progress["done"], bench.judged) == ("done", LABELLED, LABELLED)
    assert len(bench.scorer.asked) == LABELLED


def test_after_a_restart_nothing_is_judged_twice(bench: Bench) -> None:
    job = replay.start(bench.shelf, bench.spec, id=str(uuid4()))
    closed = threading.Event()
    # The studio ends after the first portion.
    bench.engine.finish = lambda decision: (closed.set(), decision)[1]
    taken = take_next(bench.database, ("replay",))
    assert taken is not None
    assert do(bench.database, taken, bench.handler, closed).status == "running"
    assert bench.judged == 4
    recover(bench.database)
    closed.clear()
    bench.engine.finish = None
    assert bench.do().status == "done"
    assert (bench.judged, len(bench.scorer.asked)) == (LABELLED, LABELLED)
    assert get_job(bench.database, job.id).progress["done"] == LABELLED


def test_what_cannot_be_read_is_counted_and_not_tried_again(bench: Bench) -> None:
    read = bench.scorer.score

    def refuse(requests: list[Request]) -> Any:
        if any("Ticket 3:" in str(r.state.value) for r in requests):
            return read([Request(State("x" * 100_000), r.questions) for r in requests])
        return read(requests)

    bench.scorer.score = refuse  # type: ignore[method-assign, assignment]
    replay.start(bench.shelf, bench.spec, id=str(uuid4()))
    done = bench.do()
    assert (done.status, done.progress["bad"]) == ("done", 1)
    assert done.message == f"1 of {LABELLED} cases could not be judged."
    assert bench.judged == LABELLED - 1
    with bench.database.read_session() as session:
        (problem,) = session.execute(sa.select(col(RunRow.problem)).where(col(RunRow.problem).is_not(None))).scalars()
    assert problem.startswith("state: too long")


def test_emptied_states_stay_out(bench: Bench) -> None:
    _, cases = replay.open_cases(bench.shelf, bench.spec)
    redact(bench.database, next(iter(cases.values())))
    total, left = replay.open_cases(bench.shelf, bench.spec)
    assert (total, len(left)) == (LABELLED - 1, LABELLED - 1)


def test_another_model_pauses(bench: Bench) -> None:
    spec = replay.ReplaySpec(**{**asdict(bench.spec), "other_scorer": "dd" * 32})
    replay.start(bench.shelf, spec, id=str(uuid4()))
    paused = bench.do()
    assert paused.status == "paused"
    assert "another model" in paused.message
    # Begun again, it waits again, rather than standing beside itself.
    assert bench.call("start_replay", **asdict(spec), id=str(uuid4()))["job"]["status"] == "waiting"
    assert len(list_jobs(bench.database, kind="replay")) == 1


def test_where_no_states_are_kept_nothing_can_be_paired(bench: Bench) -> None:
    set_privacy(bench.database, bench.spec.schema_id, states=False, retention=None)
    with pytest.raises(InvalidValue, match="keeps no states"):
        replay.start(bench.shelf, bench.spec, id=str(uuid4()))
