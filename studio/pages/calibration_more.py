"""The Calibration page's further functions: compare, recalibrate, over time, slices, missing options."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any, Literal
from uuid import UUID

import numpy as np
from pydantic import BaseModel, Field

from model.questions import Json, render
from storage.answered import answered, doubts, states_of
from storage.calibrators import KeptCalibrator, keep_calibrator, list_calibrators, switch_calibrator
from studio import person
from studio.calibration import metrics, slices
from studio.calibration.cases import Cases
from studio.calibration.clusters import clusters
from studio.calibration.compare import compare, holm, in_words
from studio.calibration.drift import periods
from studio.calibration.recalibrate import METHODS, Method, crossfit, fit, missing
from studio.calibration.sampling import effective_n
from studio.calibrations import Calibrations
from studio.pages.calibration_data import Loaded, Shelf
from studio.pages.calibration_figures import generator, plain
from studio.pages.calibration_pairs import Pairs, pair_cases, shared_questions
from studio.pages.calibration_review import Asked, Hash, Name, Where, case_states
from studio.pages.design_schemas import Told, told

WEEK = 7 * 86_400.0
NONE = re.compile(r"^(none|other|others|neither|unknown|unclear|misc)(_of_(these|the_above))?$|^none\b", re.IGNORECASE)
"""Ids of options that mean "none of these"."""
SHOWN = 50
SLICED = 20_000
"""Judged cases whose states are read for slices: the newest."""
EXAMPLES = 3


class Compared(Asked):
    """Two places: this one and another. Without a question, all that both have."""

    other_questions: Hash
    other_scorer: Hash


class ComparedCases(Compared):
    """The cases of one question that changed."""

    question: Name
    show: Literal["all", "fixes", "breaks"] = "all"


class Recalibrated(Where):
    """A method to keep a calibrator of."""

    id: UUID
    method: Literal["temperature", "platt", "isotonic"]


class Switched(BaseModel):
    """A calibrator to be switched."""

    calibrator: UUID
    on: bool


class Weekly(Where):
    """A question over time; `days` is the length of a period."""

    days: float = Field(7, ge=1, le=366, allow_inf_nan=False)


def more_functions(shelf: Shelf, calibrations: Calibrations) -> list[Told]:
    """The functions, each under its own name."""

    @told
    def compare_places(payload: Json) -> Json:
        given = Compared.model_validate(payload)
        return {"comparisons": comparisons(shelf, given)}

    @told
    def compared_cases(payload: Json) -> Json:
        given = ComparedCases.model_validate(payload)
        return changed_cases(shelf, given)

    @told
    def recalibration(payload: Json) -> Json:
        place = Where.model_validate(payload).place
        loaded = shelf.load(place)
        made = shelf.kept(("recalibration", place), place, lambda: [judged(loaded, m) for m in METHODS])
        return {"methods": made, "calibrators": _listed(shelf, payload)}

    @told
    def keep_recalibration(payload: Json) -> Json:
        given = Recalibrated.model_validate(payload)
        loaded = shelf.load(given.place)
        result = judged(loaded, given.method)
        if result["missing"] == 0:
            keep_calibrator(
                shelf.database,
                id=str(given.id),
                questions=given.questions,
                scorer=given.scorer,
                question=given.question,
                document=result["calibrator"],
                judged={key: result[key] for key in ("before", "after", "brier", "interval", "n", "folds")},
                by=person.labeller(),
            )
        return {"calibrators": _listed(shelf, payload)}

    @told
    def switch_recalibration(payload: Json) -> Json:
        given = Switched.model_validate(payload)
        kept = switch_calibrator(shelf.database, str(given.calibrator), on=given.on)
        calibrations.refresh()
        return {"calibrator": calibrator_json(kept)}

    @told
    def over_time(payload: Json) -> Json:
        given = Weekly.model_validate(payload)
        loaded = shelf.load(given.place)
        return {"periods": weeks(shelf, loaded, given.days * 86_400)}

    @told
    def error_slices(payload: Json) -> Json:
        place = Where.model_validate(payload).place
        loaded = shelf.load(place)
        return shelf.kept(("slices", place), place, lambda: error_places(shelf, loaded))

    @told
    def missing_options(payload: Json) -> Json:
        place = Where.model_validate(payload).place
        return no_option(shelf, shelf.load(place))

    return [
        compare_places, compared_cases, recalibration, keep_recalibration, switch_recalibration, over_time,
        error_slices, missing_options,
    ]  # fmt: skip


def comparisons(shelf: Shelf, given: Compared) -> list[Json]:
    """One entry per question that both have, with p-values adjusted over all of them."""
    found: list[tuple[str, Pairs]] = [(q, pair_cases(shelf, given, q)) for q in shared_questions(shelf, given)]
    results = [
        compare(p.right_a, p.right_b, p.loss_a, p.loss_b, np.random.default_rng(p.n), weights=p.weights)
        for _, p in found
    ]
    adjusted = holm([r.p_value for r in results])
    return [
        {"question": q, **plain(asdict(r)), "adjusted": p, "words": in_words(r, p)}
        for (q, _), r, p in zip(found, results, adjusted, strict=True)
    ]


def changed_cases(shelf: Shelf, given: ComparedCases) -> Json:
    """The cases that one fixes or breaks, with what both said."""
    pairs = pair_cases(shelf, given, given.question)
    fixes, breaks = ~pairs.right_a & pairs.right_b, pairs.right_a & ~pairs.right_b
    wanted = {"all": fixes | breaks, "fixes": fixes, "breaks": breaks}[given.show]
    rows = np.flatnonzero(wanted)
    states = case_states(shelf, [pairs.decisions_a[i] for i in rows[:SHOWN]], given.question)
    return {
        "n": int(rows.size),
        "cases": [
            {
                "id": pairs.decisions_a[i],
                "state": states.get(pairs.decisions_a[i], ""),
                "truth": pairs.truths[i],
                "a": pairs.said_a[i],
                "b": pairs.said_b[i],
                "fixes": bool(fixes[i]),
            }
            for i in rows[:SHOWN]
        ],
    }


def judged(loaded: Loaded, method: Method) -> dict[str, Any]:
    """What a method would do, on cases that it did not see; or how many labels are missing."""
    cases = loaded.sampled
    effective = effective_n(cases.weights)
    few = missing(method, effective, len(cases.options))
    if few:
        return {"method": method, "missing": few}
    rng = generator(loaded, "recalibrate", method)
    folds = 5
    probabilities = crossfit(cases, method, rng, folds=folds)
    before, after = cases.only(cases.comparable(probabilities)), cases.with_probabilities(probabilities)
    result = compare(
        before.right,
        after.right,
        np.square(before.top - before.right),
        np.square(after.top - after.right),
        rng,
        weights=before.weights,
    )
    return {
        "method": method,
        "missing": 0,
        "calibrator": fit(cases, method).json(),
        "before": _quality(before),
        "after": _quality(after),
        "brier": plain(result.brier),
        "interval": plain(result.interval),
        "n": result.n,
        "folds": folds,
        "helps": bool(result.interval[1] < 0),
    }


def weeks(shelf: Shelf, loaded: Loaded, seconds: float) -> list[Json]:
    """All answers by period, with what moved."""
    place, cases = loaded.place, loaded.sampled
    found = answered(shelf.database, questions=place.questions, scorer=place.scorer, question=place.question)
    at = {decision: i for i, decision in enumerate(found.decisions)}
    audited, right = np.zeros(len(at), bool), np.zeros(len(at), bool)
    for row in np.flatnonzero(cases.audit):
        if (i := at.get(loaded.ids[row])) is not None:
            audited[i], right[i] = True, bool(cases.right[row])
    index = {option: i for i, option in enumerate(cases.options)}
    listed = periods(
        np.asarray(found.times, dtype=np.float64),
        np.asarray([index[top] for top in found.tops], dtype=np.intp),
        np.asarray(found.probabilities, dtype=np.float64),
        cases.options,
        generator(loaded, "drift"),
        seconds=seconds,
        audited=audited,
        right=right,
    )
    return [plain(asdict(period)) for period in listed]


def error_places(shelf: Shelf, loaded: Loaded) -> Json:
    """Slices in which the error rate differs from the rest's."""
    ids, cases = loaded.ids[-SLICED:], loaded.sampled
    wrong = ~cases.right[-SLICED:] if cases.n else np.empty(0, bool)
    states = states_of(shelf.database, ids)
    have = np.fromiter((key in states for key in ids), bool, len(ids))
    values = [states[key] for key in ids if key in states]
    texts = [render(value) for value in values]
    masks = {**slices.length_masks([len(t) for t in texts]), **slices.field_masks(values), **slices.word_masks(texts)}
    found = slices.find(masks, wrong[have])
    return {"n": len(texts), "tested": len(masks), "slices": [plain(asdict(s)) for s in found[:20]]}


def no_option(shelf: Shelf, loaded: Loaded) -> Json:
    """How often labels say that no option fits, and clusters of such states with their words."""
    place = loaded.place
    none_of = [option for option in loaded.sampled.options if NONE.search(option)]
    n, found = doubts(
        shelf.database, questions=place.questions, scorer=place.scorer, question=place.question, none_of=none_of
    )
    texts = [render(d.state) for d in found]
    background = [render(s) for s in states_of(shelf.database, loaded.ids[-2000:]).values()]
    grouped = clusters(texts, background)
    kinds = {kind: sum(d.kind == kind for d in found) for kind in dict.fromkeys(d.kind for d in found)}
    return {
        "labelled": n,
        "n": len(found),
        "kinds": kinds,
        "type": loaded.sampled.type,
        "clusters": [
            {"n": len(c.members), "words": list(c.words), "examples": [texts[i][:200] for i in c.members[:EXAMPLES]]}
            for c in grouped
        ],
    }


def calibrator_json(kept: KeptCalibrator) -> Json:
    """A calibrator for the page."""
    return {
        "id": kept.id,
        "method": kept.document["method"],
        "document": dict(kept.document),
        "judged": dict(kept.judged),
        "on": kept.on,
        "by": kept.by,
        "created": kept.created.isoformat(),
    }


def _listed(shelf: Shelf, payload: Json) -> list[Json]:
    given = Where.model_validate(payload)
    kept = list_calibrators(shelf.database, questions=given.questions, scorer=given.scorer, question=given.question)
    return [calibrator_json(one) for one in kept]


def _quality(cases: Cases) -> Json:
    known = cases.only(cases.known)
    return plain(
        {
            "brier": metrics.brier(cases.top, cases.right, cases.weights),
            "error": metrics.calibration_error(cases.top, cases.right, cases.weights),
            "log_score": metrics.log_score(known.probabilities, known.truth, known.weights),
            "right": metrics.mean(cases.right.astype(np.float64), cases.weights),
        }
    )
