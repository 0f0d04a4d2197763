"""The Calibration page's figures as plain JSON: the plot, the table, the numbers, the badge and the desk.

Contract
--------
Loaded cases in, JSON out, the same each time (the generator is seeded by what is looked at). NaN and infinity
become null and "infinite": JSON has neither.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model.questions import Json
from studio.calibration import needs, words
from studio.calibration.badge import Badge, badge
from studio.calibration.cases import Cases, Event
from studio.calibration.measuring import Figure, Numbers, measure
from studio.calibration.reliability import Reliability, Row, examine
from studio.calibration.sampling import effective_n
from studio.calibration.thresholds import CONFIDENCE, best_guess, first_test, guarantee
from studio.pages.calibration_data import Labels, Loaded, Shelf

BUDGETS = (0.01, 0.02, 0.05, 0.1, 0.2)
"""Shares of acted answers that may be wrong, to choose from."""
BARS = 50
"""Bars of the histogram over the whole axis."""


def generator(loaded: Loaded, *more: object) -> np.random.Generator:
    """Seeded by what is looked at, so that the same page shows the same figures."""
    place = loaded.place
    text = repr((place.questions, place.scorer, place.question, *more))
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big"))


def looked(shelf: Shelf, loaded: Loaded, view: str, labels: Labels) -> Reliability:
    """The reliability of a view, computed once for all who show it. Raises ValueError for a view that is not there."""

    def make() -> Reliability:
        cases, _ = loaded.select(labels)
        return examine(cases.event(view), generator(loaded, view, labels))

    found: Reliability = shelf.kept(("reliability", loaded.place, view, labels), loaded.place, make)
    return found


def question_badge(shelf: Shelf, loaded: Loaded) -> Badge:
    """The badge of a question: of the leading option's probability, on sampled labels."""
    cases = loaded.sampled
    effective = effective_n(cases.weights)
    if needs.missing("error", effective):
        return badge(cases.n, effective, None)
    return badge(cases.n, effective, looked(shelf, loaded, "top", "sampled").verdict)


def figures(shelf: Shelf, loaded: Loaded, view: str, labels: Labels) -> Json:
    """All of a view but the desk, kept while no label comes. Raises ValueError for a view that is not there."""
    return shelf.kept(
        ("figures", loaded.place, view, labels),
        loaded.place,
        lambda: _figures(loaded, view, labels, looked(shelf, loaded, view, labels)),
    )


def _figures(loaded: Loaded, view: str, labels: Labels, found: Reliability) -> Json:
    cases, _ = loaded.select(labels)
    event = cases.event(view)
    numbers = measure(cases, view, generator(loaded, view, labels, "numbers"))
    return {
        "n": event.n,
        "effective": plain(numbers.effective),
        "audit": int(cases.audit[event.rows].sum()),
        "cant_tell": cases.cant_tell if labels == "sampled" else 0,
        "shown": loaded.shown,
        "population": loaded.population,
        "by_hand": loaded.by_hand,
        "claimed": _claimed(loaded),
        "views": [{"id": name, "name": view_name(cases, name)} for name in cases.views()],
        "view": view,
        "title": words.title(found, n=event.n, effective=numbers.effective, view=view),
        "verdict": found.verdict,
        "curve_missing": needs.missing("curve", numbers.effective),
        "error_missing": needs.missing("error", numbers.effective),
        **plot(event, found, numbers.effective),
        "rows": [_row(row, view) for row in found.rows],
        "numbers": _numbers(numbers),
    }


def plot(event: Event, found: Reliability, effective: float) -> dict[str, Any]:
    """What is drawn: the curve's steps and the band (nothing under 20 labels), and the histogram."""
    drawn = not needs.missing("curve", effective)
    counts = np.bincount(np.minimum((event.p * BARS).astype(int), BARS - 1), minlength=BARS)
    band = found.band
    return {
        "steps": [[s.low, s.high, s.fitted, s.n] for s in found.curve.steps()] if drawn else [],
        "band": {"x": _list(band.x), "low": _list(band.low), "high": _list(band.high)} if drawn else None,
        "outside": [list(pair) for pair in found.outside] if drawn else [],
        "bars": counts.tolist(),
    }


def desk(loaded: Loaded) -> Json:
    """The threshold desk: cells by whole percent of the leading probability, and what each budget allows.

    `cells` are 101 rows [n, wrong, weight, wrong weight]; cell i holds probabilities from i to under i + 1 percent.
    Weights sum to 1. `audit` are the same counts of audit labels alone: [n, wrong].
    """
    cases = loaded.sampled
    whole = np.floor(cases.top * 100 + 1e-9).astype(int).clip(0, 100)
    weights = cases.weights / cases.weights.sum() if cases.n else cases.weights
    wrong = ~cases.right
    sums = [
        np.bincount(whole, weights=values, minlength=101)
        for values in (np.ones(cases.n), wrong.astype(float), weights, weights * wrong)
    ]
    audit = cases.only(cases.audit)
    cells = whole[cases.audit]
    spread = [np.bincount(cells, weights=v, minlength=101) for v in (np.ones(audit.n), (~audit.right).astype(float))]
    return {
        "n": cases.n,
        "audit_n": audit.n,
        "confidence": CONFIDENCE,
        "cells": np.column_stack(sums).tolist(),
        "audit": np.column_stack(spread).astype(int).tolist(),
        "budgets": [budget_options(cases, budget) for budget in BUDGETS],
    }


def budget_options(cases: Cases, budget: float) -> dict[str, Any]:
    """For one budget: the best guess (sampled labels, whole percents) and what is guaranteed (audit labels)."""
    floor = np.floor(cases.top * 100 + 1e-9) / 100
    enough = not needs.missing("curve", effective_n(cases.weights)) if cases.n else False
    guess = best_guess(floor, cases.right, cases.weights, budget=budget) if enough else None
    audit = cases.only(cases.audit)
    safe = guarantee(audit.top, audit.right, budget=budget)
    return {
        "budget": budget,
        "guess": None if guess is None else plain(asdict(guess)),
        "guess_missing": needs.missing("curve", effective_n(cases.weights)),
        "guarantee": {**plain(asdict(safe)), "first_test": first_test(budget)},
    }


def view_name(cases: Cases, view: str) -> str:
    """A view in words."""
    kind, _, name = view.partition(":")
    if kind == "level":
        return f"level {name} or higher"
    if kind == "option":
        return "yes" if cases.type == "noul" and name == "true" else name
    return "the answer given"


def plain(value: Any) -> Json:
    """JSON of figures: NaN as null, infinity as "infinite", tuples as lists."""
    if isinstance(value, float | np.floating):
        number = float(value)
        return "infinite" if math.isinf(number) else None if math.isnan(number) else number
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return int(value) if isinstance(value, np.integer) else value


def badge_json(found: Badge, loaded: Loaded) -> Json:
    """A badge for the list."""
    return {**asdict(found), "audit": int(loaded.sampled.audit.sum()), "claimed": loaded.claimed.n}


def _row(row: Row, view: str) -> Json:
    return {**plain(asdict(row)), "words": words.row_words(row, view)}


def _numbers(numbers: Numbers) -> Json:
    return {
        name: plain(asdict(value)) if isinstance(value, Figure) else plain(value)
        for name, value in {**vars(numbers), "parts": asdict(numbers.parts)}.items()
    }


def _claimed(loaded: Loaded) -> Json:
    n = loaded.claimed.n
    return {"n": n, "right": float(loaded.claimed.right.mean()) if n else None}


def _list(values: NDArray[np.float64]) -> list[float]:
    return [round(float(v), 6) for v in values]
