"""The engine's contract: newest wins, nothing waits unbounded, a bad request spoils no other."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError

import pytest

from model.answers import NotFinite
from model.engine import Busy, Closed, Engine, NotReady, Superseded
from model.questions import CLEF_LIMITS, FieldError, Limits, Questions, StateError, parse_questions
from model.scorer import Reading, Request, ScorerInfo
from model.state import State, Tokens

QUESTIONS = parse_questions({"q": {"type": "choice", "criteria": {"b": None, "a": None}}})
WAIT = 10


class Gate:
    """A scorer that waits until it is let through; the state's text says what to answer."""

    limits: Limits = CLEF_LIMITS
    info = ScorerInfo("gate", "clef", "0" * 64, "neutral", 100, sees_pictures=False)

    def __init__(self) -> None:
        self.open = threading.Event()
        self.entered = threading.Semaphore(0)
        self.batches: list[list[str]] = []

    def count(self, state: State, questions: Questions) -> Tokens:
        return Tokens(1, 0, 1, 0, 100, 1)

    def score(self, requests: Sequence[Request]) -> list[Reading]:
        self.batches.append([r.state.value for r in requests])
        self.entered.release()
        assert self.open.wait(WAIT)
        return [self._read(r) for r in requests]

    def _read(self, request: Request) -> Reading:
        if request.state.value == "bad":
            raise StateError([FieldError(("state",), "is bad", "bad")])
        logit = float("nan") if request.state.value == "nan" else 1.0
        return Reading({"q": [logit, 0.0]}, self.count(request.state, request.questions))


def ask(text: str) -> Request:
    return Request(State(text), QUESTIONS)


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def engine(gate: Gate) -> Iterator[Engine]:
    engine = Engine(lambda _: gate, capacity=3)
    assert engine.wait_ready(WAIT).phase == "ready"
    yield engine
    gate.open.set()
    engine.close()


def test_answers_come_in_request_order(engine: Engine, gate: Gate) -> None:
    gate.open.set()
    decision = engine.decide(ask("x"), timeout=WAIT)
    answer = decision.answers["q"]
    assert answer.options == ("b", "a")
    assert answer.top == "a"  # logits are in model order (a, b)
    assert sum(answer.probabilities) == pytest.approx(1.0, abs=1e-12)
    assert decision.seconds > 0


def test_a_newer_request_of_the_same_page_takes_the_place_of_a_waiting_one(engine: Engine, gate: Gate) -> None:
    running = engine.submit(ask("1"), key="page")
    assert gate.entered.acquire(timeout=WAIT)
    waiting = engine.submit(ask("2"), key="page")
    other = engine.submit(ask("other"), key="another page")
    newest = engine.submit(ask("3"), key="page")
    with pytest.raises(Superseded):
        waiting.result(WAIT)
    gate.open.set()
    for future in (running, other, newest):
        assert future.result(WAIT).answers["q"].top == "a"
    assert gate.batches == [["1"], ["other", "3"]]


def test_a_full_queue_refuses_and_keeps_what_waits(engine: Engine, gate: Gate) -> None:
    engine.submit(ask("running"))
    assert gate.entered.acquire(timeout=WAIT)
    waiting = [engine.submit(ask(str(i))) for i in range(3)]
    with pytest.raises(Busy, match="3 requests are waiting"):
        engine.submit(ask("one too many"))
    gate.open.set()
    assert [f.result(WAIT).answers["q"].top for f in waiting] == ["a"] * 3


def test_a_bad_request_spoils_no_other_in_its_batch(engine: Engine, gate: Gate) -> None:
    engine.submit(ask("running"))
    assert gate.entered.acquire(timeout=WAIT)
    good, bad, broken = (engine.submit(ask(text)) for text in ("good", "bad", "nan"))
    gate.open.set()
    assert good.result(WAIT).answers["q"].top == "a"
    with pytest.raises(StateError, match="state: is bad"):
        bad.result(WAIT)
    with pytest.raises(NotFinite):
        broken.result(WAIT)
    assert engine.decide(ask("after"), timeout=WAIT).answers["q"].top == "a"


def test_a_request_cancelled_while_it_waits_is_not_read(engine: Engine, gate: Gate) -> None:
    engine.submit(ask("running"))
    assert gate.entered.acquire(timeout=WAIT)
    dropped, kept = engine.submit(ask("dropped")), engine.submit(ask("kept"))
    assert dropped.cancel()
    gate.open.set()
    kept.result(WAIT)
    assert gate.batches[-1] == ["kept"]
    with pytest.raises(CancelledError):
        dropped.result(WAIT)


def test_closing_ends_what_waits(engine: Engine, gate: Gate) -> None:
    engine.submit(ask("running"))
    assert gate.entered.acquire(timeout=WAIT)
    waiting = engine.submit(ask("waits"))
    engine.close()
    with pytest.raises(Closed):
        waiting.result(WAIT)
    with pytest.raises(Closed):
        engine.submit(ask("late"))


def test_while_loading_it_refuses_and_says_how_far_it_is() -> None:
    said, go_on = threading.Event(), threading.Event()
    gate = Gate()

    def load(progress):  # type: ignore[no-untyped-def]
        progress("Reading shard 2 of 4", 0.5)
        said.set()
        assert go_on.wait(WAIT)
        return gate

    engine = Engine(load)
    assert said.wait(WAIT)
    assert (engine.status.phase, engine.status.message, engine.status.progress) == (
        "loading", "Reading shard 2 of 4", 0.5,
    )  # fmt: skip
    with pytest.raises(NotReady, match="shard 2 of 4"):
        engine.submit(ask("x"))
    go_on.set()
    assert engine.wait_ready(WAIT).scorer == gate.info
    engine.close()


def test_a_scorer_that_does_not_open_is_a_sentence_not_a_crash() -> None:
    def load(_):  # type: ignore[no-untyped-def]
        raise FileNotFoundError("joint_head.safetensors is missing in release/")

    engine = Engine(load)
    assert engine.wait_ready(WAIT).phase == "failed"
    with pytest.raises(NotReady, match="is missing in release"):
        engine.submit(ask("x"))
    engine.close()
