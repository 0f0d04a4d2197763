"""Evidence, agreement and conflicts, from real rows: what counts, what does not, and what settles it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from storage.database import Database
from storage.labels import add_label
from storage.leases import Act, perform, take
from storage.queue import Queue, open_queue, set_queue
from storage.summaries import list_decisions
from storage.verdicts import conflicts, opinions, settle
from studio.evidence import gather
from studio.labelling import fill
from studio.pages.label_people import people_functions
from tests.studio.test_label_desk import WHERE, seed

ANN, BOB = "Ann", "Bob"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database.open(tmp_path) as opened:
        yield opened


@pytest.fixture
def queue(database: Database) -> Queue:
    seed(database, 60)
    made = open_queue(database, **WHERE)
    assert not fill(database, made)
    return made


def labelled(database: Database, queue: Queue, who: str, n: int, choose: Any) -> list[str]:
    """`who` labels the next n items with choose(lease); returns the decisions."""
    held = take(database, queue.serial, labeller=who, tab=str(uuid.uuid4()), want=n)
    acts = [Act(id=str(uuid.uuid4()), kind="label", lease=x.id, choice=choose(x)) for x in held]
    assert [d.error for d in perform(database, acts, labeller=who)] == [None] * n
    return [x.decision for x in held]


def test_evidence_is_what_was_asked_for(database: Database, queue: Queue) -> None:
    set_queue(database, queue.serial, overlap=0.0)
    chosen = labelled(database, queue, ANN, 20, lambda _: "true")
    held = take(database, queue.serial, labeller=ANN, tab=str(uuid.uuid4()), want=3)
    perform(database, [Act(id=str(uuid.uuid4()), kind="skip", lease=held[0].id)], labeller=ANN)
    perform(database, [Act(id=str(uuid.uuid4()), kind="label", lease=held[1].id)], labeller=ANN)
    # Volunteered on an answer that nobody was asked about, and as a correction of one that was.
    everyone = set(chosen) | {x.decision for x in held}
    unasked = next(row.id for row in list_decisions(database, show="all", limit=100) if row.id not in everyone)
    _volunteer(database, unasked, "wrong", "Cy")
    _volunteer(database, chosen[0], "wrong", ANN)
    found = gather(database, queue)
    assert (found.n, found.population, found.cant_tell) == (20, 60, 1)
    assert found.shown >= 23
    assert set(found.decisions) == set(chosen)
    at = found.decisions.index(chosen[0])
    assert found.right[at] == 0
    assert found.options[found.truth[at]] == "false"
    assert found.right.sum() == 19
    assert ((found.inclusion > 0) & (found.inclusion <= 1)).all()
    assert found.weights.mean() == pytest.approx(1)
    # What is doubted more was more likely to be shown, and weighs less.
    lead = found.probabilities.max(axis=1)
    assert np.corrcoef(lead, found.weights)[0, 1] > 0
    assert 0 < found.audit.sum() < 20
    assert gather(database, queue, sources=["page"]).n == 0


def _volunteer(database: Database, decision: str, verdict: Any, who: str) -> None:
    add_label(
        database, id=str(uuid.uuid4()), decision=decision, question="spam", verdict=verdict, labeller=who,
        source="volunteered",
    )  # fmt: skip


def test_people_who_differ_are_seen_and_settled(database: Database, queue: Queue) -> None:
    set_queue(database, queue.serial, overlap=1.0, audit_share=0.0)
    mine = labelled(database, queue, ANN, 10, lambda _: "true")
    theirs = labelled(database, queue, BOB, 10, lambda x: "false" if mine.index(x.decision) < 4 else "true")
    assert set(mine) == set(theirs)
    assert [len(one.said) for one in opinions(database, queue.serial)] == [2] * 10
    first = conflicts(database, queue.serial)[0].decision
    assert gather(database, queue).right[gather(database, queue).decisions.index(first)] == 0.5
    key = str(uuid.uuid4())
    for _ in range(2):
        settle(database, id=key, decision=first, question="spam", true_option="false", labeller=ANN, note="see line 2")
    assert len(conflicts(database, queue.serial)) == 3
    found = gather(database, queue)
    at = found.decisions.index(first)
    assert (found.right[at], found.options[found.truth[at]], found.soft[at].tolist()) == (0, "false", [0, 1])
    # A label after the verdict opens the matter again; a verdict that nobody can tell leaves the answer out.
    _volunteer(database, first, "right", BOB)
    _volunteer(database, first, "wrong", ANN)
    assert len(conflicts(database, queue.serial)) == 4
    settle(database, id=str(uuid.uuid4()), decision=first, question="spam", true_option=None, labeller=BOB)
    assert first not in gather(database, queue).decisions


def test_the_page_is_told_of_people(database: Database, queue: Queue) -> None:
    functions = {f.__name__: f for f in people_functions(database)}
    nothing = functions["agreement"](WHERE)
    assert (nothing["agreement"]["n"], nothing["conflicts"]) == (0, [])
    assert nothing["anchoring"]["difference"] == [None, None, None]
    set_queue(database, queue.serial, overlap=1.0)
    mine = labelled(database, queue, ANN, 20, lambda _: "true")
    labelled(database, queue, BOB, 20, lambda x: ["true", "false", None][mine.index(x.decision) % 3])
    reply = functions["agreement"](WHERE)
    assert (reply["agreement"]["n"], reply["agreement"]["names"]) == (20, [ANN, BOB])
    assert reply["agreement"]["kappa"]["n"] == 20
    assert reply["anchoring"]["blind"]["n"] + reply["anchoring"]["shown"]["n"] == 20
    (one, *rest) = reply["conflicts"]
    assert {o["option"] for o in one["said"]} > {"true"}
    settled = functions["settled"](
        {"id": str(uuid.uuid4()), "decision": one["decision"], "where": WHERE, "true_option": "true", "labeller": ANN}
    )
    assert settled["left"] == len(rest)
    refused = functions["settled"](
        {"id": str(uuid.uuid4()), "decision": one["decision"], "where": WHERE, "true_option": "?", "labeller": ANN}
    )
    assert "not an option" in refused["error"]["message"]
