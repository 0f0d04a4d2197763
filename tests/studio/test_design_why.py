"""The reasons of an answer without a browser: every reply is plain, and the newest probe of a tab wins."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from model.engine import Engine
from model.questions import CLEF_LIMITS
from model.scorer import Reading, Request
from storage.database import Database
from studio.pages import design_probes
from studio.pages.design_ask import Asker
from studio.pages.design_pictures import Gallery
from studio.pages.design_why import Why
from tests.browser.bench import WordCounter
from tests.studio.test_design_page import payload


class Gated(WordCounter):
    """Answers when the gate is open."""

    def __init__(self) -> None:
        super().__init__(looks_at=5)
        self.gate = threading.Event()
        self.gate.set()

    def score(self, requests: Sequence[Request]) -> list[Reading]:
        """As `WordCounter`, behind the gate."""
        assert self.gate.wait(60)
        return super().score(requests)


@pytest.fixture
def scorer() -> Gated:
    return Gated()


@pytest.fixture
def engine(scorer: Gated) -> Iterator[Engine]:
    made = Engine(lambda _: scorer)
    assert made.wait_ready(30).phase == "ready"
    yield made
    scorer.gate.set()
    made.close()


@pytest.fixture
def why(engine: Engine, tmp_path: Path) -> Iterator[Why]:
    with Database.open(tmp_path) as database:
        yield Why(Asker(engine, CLEF_LIMITS, Gallery(database), database))


def until(why: Why, probe: str, done: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The probe's state once `done`."""
    pause, end = threading.Event(), time.monotonic() + 30
    while not done(state := why.probed({"probe": probe})):
        assert time.monotonic() < end, state
        pause.wait(0.005)
    return state


def ended(state: dict[str, Any]) -> bool:
    return state["phase"] not in ("waiting", "running")


def start(why: Why, **more: Any) -> str:
    """The id of a probe that started."""
    asked = {"request": payload(), "what": "moves", "question": "spam", "option": "false", **more}
    reply = asyncio.run(why.probe(asked))
    assert "probe" in reply, reply
    return str(reply["probe"])


def test_excerpts_are_told_for_a_scorer_that_cannot_tell_where_it_looked(why: Why) -> None:
    asked = {"seq": 4, "request": payload(), "fingerprint": "0" * 64, "question": "spam", "option": "true"}
    reply = asyncio.run(why.look(asked))
    assert reply == {"seq": 4, "how": "excerpts", "words": [[0, 5, 1]], "read": [5, 11]}


def test_what_moves_an_answer_comes_with_its_noise(why: Why) -> None:
    state = until(why, start(why), ended)
    assert (state["phase"], state["error"]) == ("done", None)
    assert state["done"] == state["result"]["asked"] <= state["about"]
    assert [part["spans"] for part in state["result"]["parts"]] == [[[0, 11]]]
    assert state["result"]["repeats"] == 7


def test_whether_questions_stand_alone(why: Why) -> None:
    result = until(why, start(why, what="stands"), ended)["result"]
    assert [(s["question"], s["alone"]) for s in result["standings"]] == [("spam", True), ("team", True)]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"question": "nobody"}, "is not asked"),
        ({"option": "perhaps"}, "is no option"),
        ({"request": payload(state="word " * 300)}, "too long"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_words(why: Why, more: dict[str, Any], said: str) -> None:
    state = until(why, start(why, **more), ended)
    assert state["phase"] == "failed"
    assert said in state["error"]["message"]


@pytest.mark.parametrize("bad", [None, {}, {"request": {}}, {"probe": 3}, []])
def test_nothing_is_raised_at_the_page(why: Why, bad: Any) -> None:
    replies = [asyncio.run(why.look(bad)), asyncio.run(why.probe(bad)), why.probed(bad), why.stop(bad)]
    assert all("error" in reply for reply in replies)
    assert why.probed({"probe": "unknown"})["error"]["kind"] == "gone"


def test_the_newest_probe_of_a_tab_wins(why: Why, scorer: Gated) -> None:
    scorer.gate.clear()
    first = start(why)
    until(why, first, lambda state: state["phase"] == "running")
    second = start(why, what="stands")
    scorer.gate.set()
    assert until(why, first, ended)["phase"] == "stopped"
    assert until(why, second, ended)["phase"] == "done"


def test_a_probe_stops_when_it_is_told_to_and_when_its_page_is_gone(
    why: Why, scorer: Gated, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer.gate.clear()
    told = start(why)
    until(why, told, lambda state: state["phase"] == "running")
    assert why.stop({"probe": told}) == {}
    scorer.gate.set()
    assert until(why, told, ended)["phase"] == "stopped"
    monkeypatch.setattr(design_probes, "FORGOTTEN", -1.0)
    assert until(why, start(why), ended)["phase"] == "stopped"


def test_it_says_that_the_model_loads(tmp_path: Path) -> None:
    go_on = threading.Event()

    def load(_: Any) -> WordCounter:
        assert go_on.wait(30)
        return WordCounter()

    engine = Engine(load)
    with Database.open(tmp_path) as database:
        why = Why(Asker(engine, CLEF_LIMITS, Gallery(database), database))
        asked = {"request": payload(), "what": "stands", "fingerprint": "", "question": "spam", "option": "true"}
        for reply in (asyncio.run(why.look(asked)), asyncio.run(why.probe(asked))):
            assert reply["error"]["kind"] == "loading"
    go_on.set()
    engine.close()
