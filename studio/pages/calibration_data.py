"""The labelled answers behind the Calibration page, read once and kept while nothing changed.

Contract
--------
`Shelf.load` gives the cases of one question of one set of questions by one scorer, never pooled. Three selections of
labels: `sampled` (audit and queue, weighted), `audit` (uniformly random, unweighted: what guarantees rest on), and
`claimed` (what labels that nobody was asked for would have claimed: shown as a warning, used for nothing).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from model.questions import Questions
from storage.cases import questions_of
from storage.database import Database
from storage.errors import NotFound
from storage.queue import find_queue
from storage.unasked import stamp, unasked_labels
from studio.calibration.cases import Cases
from studio.evidence import gather

Labels: TypeAlias = Literal["sampled", "audit", "claimed"]
KEPT = 64
"""Questions and figures that are kept in memory."""


@dataclass(frozen=True)
class Place:
    """One question of one set of questions (sha256) by one scorer (fingerprint)."""

    questions: str
    scorer: str
    question: str


@dataclass(frozen=True)
class Loaded:
    """The cases of a place. `ids` are the decisions' uuids, in the order of the cases; the `claimed` ones likewise.

    `shown` answers were reached of a `population`; `by_hand` of the judged ones were picked by somebody on the Design
    page.
    """

    place: Place
    asked: Questions
    sampled: Cases
    ids: tuple[str, ...]
    claimed: Cases
    claimed_ids: tuple[str, ...]
    shown: int
    population: int
    by_hand: int

    def select(self, labels: Labels) -> tuple[Cases, tuple[str, ...]]:
        """The cases of a selection, and their decisions."""
        if labels == "claimed":
            return self.claimed, self.claimed_ids
        if labels == "sampled":
            return self.sampled, self.ids
        kept = self.sampled.audit
        cases = replace(self.sampled.only(kept), weights=np.ones(int(kept.sum())))
        return cases, tuple(np.asarray(self.ids, dtype=object)[kept])


class Shelf:
    """See the module's contract. May be used from any thread."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._kept: OrderedDict[Hashable, tuple[tuple[int, ...], Any]] = OrderedDict()
        self._lock = threading.Lock()

    def load(self, place: Place) -> Loaded:
        """The cases of a place. Raises NotFound for questions or a question that are not kept."""
        return self.kept(("cases", place), place, lambda: self._load(place))

    def kept(self, key: Hashable, place: Place, make: Callable[[], Any]) -> Any:
        """What `make` returned for `key` the last time, if nothing that it was made of has changed."""
        queue = find_queue(self.database, questions=place.questions, scorer=place.scorer, question=place.question)
        now = stamp(self.database, None if queue is None else queue.serial)
        with self._lock:
            found = self._kept.get(key)
            if found is not None and found[0] == now:
                self._kept.move_to_end(key)
                return found[1]
        made = make()
        with self._lock:
            self._kept[key] = (now, made)
            self._kept.move_to_end(key)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return made

    def _load(self, place: Place) -> Loaded:
        asked = questions_of(self.database, place.questions)
        if place.question not in asked:
            raise NotFound("question", f"these questions have no {place.question!r}")
        question = asked[place.question]
        options = tuple(question.option_ids())
        empty = Cases(
            type=question.type,
            options=options,
            probabilities=np.empty((0, len(options))),
            truth=np.empty(0, np.intp),
            weights=np.empty(0),
            audit=np.empty(0, bool),
        )
        queue = find_queue(self.database, questions=place.questions, scorer=place.scorer, question=place.question)
        sampled, shown, population, by_hand = empty, 0, 0, 0
        ids: tuple[str, ...] = ()
        if queue is not None:
            evidence = gather(self.database, queue)
            shown, population = evidence.shown, evidence.population
            if evidence.n:
                ids, by_hand = evidence.decisions, int(evidence.by_hand.sum())
                sampled = Cases(
                    type=question.type,
                    options=options,
                    probabilities=evidence.probabilities,
                    truth=evidence.truth.astype(np.intp),
                    weights=evidence.weights,
                    audit=evidence.audit,
                )
            sampled = replace(sampled, cant_tell=evidence.cant_tell)
        unasked = unasked_labels(
            self.database,
            questions=place.questions,
            scorer=place.scorer,
            question=place.question,
            queue=None if queue is None else queue.serial,
        )
        claimed = empty
        if unasked:
            truth = [-1 if u.true_option is None else options.index(u.true_option) for u in unasked]
            claimed = replace(
                empty,
                probabilities=np.asarray([u.probabilities for u in unasked], dtype=np.float64),
                truth=np.asarray(truth, dtype=np.intp),
                weights=np.ones(len(unasked)),
                audit=np.zeros(len(unasked), bool),
            )
        return Loaded(
            place=place,
            asked=asked,
            sampled=sampled,
            ids=ids,
            claimed=claimed,
            claimed_ids=tuple(u.decision for u in unasked),
            shown=shown,
            population=population,
            by_hand=by_hand,
        )
