"""The canary: the same model stays silent, a changed one is told of with numbers, and another checkpoint is a note."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from model.engine import Engine, Progress
from model.questions import parse_questions
from model.scorer import Reading, Request, Scorer
from model.state import parse_state
from storage.database import Database
from storage.decisions import DecisionRecord, record_decision
from storage.labels import add_label
from storage.privacy import redact
from studio.canary import GOLDEN, Canary, Watched, look
from tests.api.hash_scorer import HashScorer

QUESTIONS = parse_questions({"spam": {"type": "noul"}, "team": {"type": "choice", "criteria": {"a": None, "b": None}}})


class Shifted(HashScorer):
    """Answers as ever, but for states that hold `word`: there every first option's logit is `by` greater."""

    def __init__(self, word: str, by: float) -> None:
        super().__init__()
        self.word, self.by = word, by

    def score(self, requests: Sequence[Request]) -> list[Reading]:
        return [
            replace(r, logits={k: [v[0] + self.by, *v[1:]] for k, v in r.logits.items()})
            if self.word in str(request.state.value)
            else r
            for request, r in zip(requests, super().score(requests), strict=True)
        ]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database.open(tmp_path) as opened:
        yield opened


def kept(database: Database, states: Sequence[str], *, labelled: bool = True) -> list[str]:
    ids = []
    with_engine = Engine(lambda progress: HashScorer())
    with_engine.wait_ready(30)
    for text in states:
        decision = with_engine.decide(Request(parse_state(text), QUESTIONS), timeout=30)
        ids.append(record_decision(database, DecisionRecord.of(decision, id=str(uuid4()), source="api")).id)
        if labelled:
            add_label(database, id=str(uuid4()), decision=ids[-1], question="spam", verdict="right", labeller="Maren",
                      source="volunteered")  # fmt: skip
    with_engine.close()
    return ids


def seen(database: Database, scorer: HashScorer) -> Watched:
    engine = Engine(lambda progress: scorer)
    engine.wait_ready(30)
    found = look(database, engine, scorer.info)
    engine.close()
    return found


def test_the_same_model_is_silent_on_the_newest_labelled(database: Database) -> None:
    kept(database, [f"case {i}" for i in range(GOLDEN + 4)])
    kept(database, ["nobody judged this"], labelled=False)
    scorer = HashScorer()
    found = seen(database, scorer)
    assert (found.asked, found.changed, found.largest, found.alarm, found.note) == (GOLDEN, 0, 0.0, "", "")
    assert [r.state.value for r in scorer.asked] == [f"case {i}" for i in reversed(range(4, GOLDEN + 4))]


def test_what_changed_is_told(database: Database) -> None:
    kept(database, ["odd one", "odd two", "even one", "even two"])
    found = seen(database, Shifted("odd", 9.0))
    assert (found.asked, found.changed) == (4, 2)
    assert found.largest > 0.5
    assert found.alarm.startswith("This is not the model your labels came from: 2 of 4 golden answers changed")


@pytest.mark.parametrize(("dtype", "by", "alarm"), [
    ("float32", 1e-3, False), ("float32", 2e-2, True), ("bfloat16", 2e-2, False), ("bfloat16", 0.5, True),
])  # fmt: skip
def test_tolerance_is_that_of_the_arithmetic(database: Database, dtype: str, by: float, alarm: bool) -> None:
    kept(database, ["one", "two", "three"])
    scorer = Shifted("", by)
    scorer.info = replace(scorer.info, dtype=dtype)
    assert bool(seen(database, scorer).alarm) is alarm


def test_labels_of_another_checkpoint_are_a_note(database: Database) -> None:
    ids = kept(database, ["one", "two"])
    other = HashScorer()
    other.info = replace(other.info, fingerprint="ee" * 32)
    found = seen(database, other)
    assert (found.asked, found.others, found.alarm) == (0, 2, "")
    assert found.note.startswith("2 labelled answers came from another checkpoint named hash-1")
    # What is emptied cannot be asked again.
    redact(database, ids[0])
    assert seen(database, HashScorer()).asked == 1


def test_a_model_that_does_not_load_is_not_waited_for(database: Database) -> None:
    def load(progress: Progress) -> Scorer:
        raise OSError("the folder holds no model")

    engine = Engine(load)
    canary = Canary(database, engine)
    canary.start()
    found = canary.wait(30)
    assert (found.phase, found.alarm, found.note) == ("done", "", "")
    engine.close()
