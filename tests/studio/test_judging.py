"""Portions follow the machine; a job keeps few requests in the engine, and waits where others fill its queue."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from pathlib import Path

import pytest

from model.engine import Decision, Engine
from model.questions import parse_questions
from model.scorer import Request
from model.state import State
from storage.database import Database
from storage.jobs import create_job, wish
from studio.jobs import Stopped, Watch
from studio.judging import AHEAD, QUICK, SLOW, Ahead, Pace
from tests.api.hash_scorer import HashScorer

QUESTIONS = parse_questions({"spam": {"type": "noul"}})


def request(text: str) -> Request:
    return Request(State(text), QUESTIONS)


def test_quick_portions_grow_and_slow_ones_shrink() -> None:
    pace = Pace(20)
    assert pace.size == AHEAD
    sizes = []
    for seconds in (QUICK / 2, QUICK / 2, (QUICK + SLOW) / 2, SLOW * 2, SLOW * 2, SLOW * 2, SLOW * 2, SLOW * 2):
        pace.took(seconds)
        sizes.append(pace.size)
    assert sizes == [16, 20, 20, 10, 5, 2, 1, 1]
    assert Pace(3).size == 3


def test_few_are_ahead_and_all_are_settled_in_order(tmp_path: Path) -> None:
    scorer = HashScorer()
    engine = Engine(lambda _: scorer)
    assert engine.wait_ready(30).phase == "ready"
    with Database.open(tmp_path) as database:
        job = create_job(database, kind="run", title="a", spec={}, progress={})
        ahead = Ahead(engine, Watch(database, job, threading.Event()))
        settled: list[str] = []

        def settle(future: Future[Decision]) -> None:
            settled.append(str(future.result().state.value))
            assert engine.waiting < AHEAD

        for i in range(3 * AHEAD):
            ahead.ask(request(str(i)), settle)
            assert len(settled) == max(0, i + 1 - AHEAD)
        ahead.rest()
    engine.close()
    assert settled == [str(i) for i in range(3 * AHEAD)]


def test_a_full_queue_is_waited_for_until_the_job_is_to_stop(tmp_path: Path) -> None:
    scorer = HashScorer()
    engine = Engine(lambda _: scorer, capacity=1)
    assert engine.wait_ready(30).phase == "ready"
    scorer.open.clear()
    running = engine.submit(request("runs"))
    assert scorer.entered.acquire(timeout=30)
    others = engine.submit(request("waits"))
    with Database.open(tmp_path) as database:
        job = create_job(database, kind="run", title="a", spec={}, progress={})
        ahead = Ahead(engine, Watch(database, job, threading.Event()))
        wish(database, job.id, "cancel")
        with pytest.raises(Stopped):
            ahead.ask(request("ours"), lambda future: pytest.fail("it was asked"))
    scorer.open.set()
    assert [f.result(30).state.value for f in (running, others)] == ["runs", "waits"]
    engine.close()
