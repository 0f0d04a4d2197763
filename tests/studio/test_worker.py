"""The worker inside the studio: jobs go on while it is served, and what ran at the end goes on at the next start."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from model.engine import Engine
from model.questions import parse_questions
from storage.database import Database
from storage.jobs import Job, create_job, get_job, take_next
from storage.schemas import create_schema, publish
from studio.jobs import Paused, Watch, do
from studio.runs.mapping import RowMapping
from studio.runs.run import RunSpec, start
from studio.server import build
from studio.settings import Settings
from tests.api.hash_scorer import HashScorer

QUESTIONS = parse_questions({"spam": {"type": "noul"}})


def _studio(folder: Path, scorer: HashScorer) -> FastAPI:
    engine = Engine(lambda _: scorer)
    engine.wait_ready(30)
    return build(Settings(data=folder), engine=engine)


def _run(database: Database, scorer: HashScorer, rows: int) -> Job:
    (database.folder / "a.csv").write_text("text\n" + "".join(f"row {i}\n" for i in range(rows)))
    version = publish(database, create_schema(database, name="mail").id, QUESTIONS)
    mapping = RowMapping(text="text")
    spec = RunSpec(
        file="a.csv", name="a.csv", questions=version.sha256, scorer=scorer.info.fingerprint, mapping=mapping
    )
    return start(database, spec)


def _wait(condition: Callable[[], bool]) -> None:
    gate = threading.Event()
    for _ in range(600):
        if condition():
            return
        gate.wait(0.05)
    pytest.fail("it never happened")


def test_a_run_goes_on_while_the_studio_serves_and_after_it_is_started_again(tmp_path: Path) -> None:
    scorer = HashScorer()
    app = _studio(tmp_path, scorer)
    database = app.state.studio.database
    job = _run(database, scorer, 300)
    assert get_job(database, job.id).status == "waiting"
    with TestClient(app, base_url="http://localhost"):
        _wait(lambda: get_job(database, job.id).progress["done"] > 0)
        scorer.open.clear()
    scorer.open.set()
    with Database.open(tmp_path) as looked_at:
        stopped = get_job(looked_at, job.id)
    assert (stopped.status, stopped.progress["done"] < 300) == ("running", True)
    again = _studio(tmp_path, scorer)
    with TestClient(again, base_url="http://localhost"):
        _wait(lambda: get_job(again.state.studio.database, job.id).status == "done")
        assert get_job(again.state.studio.database, job.id).progress["decided"] == 300


def test_a_model_that_the_end_takes_away_pauses_no_job(tmp_path: Path) -> None:
    def handler(job: Job, watch: Watch) -> str:
        closed.set()
        raise Paused("The model is not there: the engine is closed")

    closed = threading.Event()
    with Database.open(tmp_path) as database:
        create_job(database, kind="run", title="a", spec={}, progress={})
        job = take_next(database, ("run",))
        assert job is not None
        assert do(database, job, handler, closed).status == "running"
