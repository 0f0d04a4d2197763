"""Recalibration: one number first, more only where the labels carry it; judged on labels it has not seen.

Contract
--------
A `Calibrator` is a small JSON value and maps a distribution to a distribution. `temperature` keeps the order of the
options; `platt` adds a weight per option to it; `isotonic` is a free monotone curve per option, renormalised.
`crossfit` gives every case the probabilities of a calibrator that was fitted without it: its figures are honest, those
of a calibrator on its own labels are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from studio.calibration import needs
from studio.calibration.cases import Cases
from studio.calibration.reliability import fit as isotonic_curve

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Method: TypeAlias = Literal["temperature", "platt", "isotonic"]

METHODS: tuple[Method, ...] = ("temperature", "platt", "isotonic")
LEAST = 1e-12
"""A probability of 0 has no logarithm; nothing below this changes a rounded figure."""
PER_PARAMETER = 20
"""Labels that each parameter of `platt` needs."""
HOTTEST = 100.0
PRIOR = 1.0
"""Strength of the pull of `platt` towards doing nothing, in labels."""


@dataclass(frozen=True)
class Calibrator:
    """`values` by method: temperature {"temperature": t}; platt {"slope": a, "offsets": [k]}; isotonic {"curves":
    [[x…, …], [fitted…]] per option}."""

    method: Method
    values: dict[str, Any]

    def json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {"method": self.method, **self.values}

    @classmethod
    def parse(cls, document: dict[str, Any]) -> Calibrator:
        """Reads `json` back. Raises ValueError, naming what is wrong."""
        method = document.get("method")
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
        values = {key: value for key, value in document.items() if key != "method"}
        wanted = {"temperature": {"temperature"}, "platt": {"slope", "offsets"}, "isotonic": {"curves"}}[method]
        if set(values) != wanted:
            raise ValueError(f"a {method} calibrator has {', '.join(sorted(wanted))}, not {', '.join(sorted(values))}")
        return cls(method, values)

    def apply(self, probabilities: Array) -> Array:
        """The recalibrated distributions, (n, k)."""
        if self.method == "temperature":
            return _softmax(_log(probabilities) / self.values["temperature"])
        if self.method == "platt":
            return _softmax(self.values["slope"] * _log(probabilities) + np.asarray(self.values["offsets"]))
        mapped = np.column_stack(
            [np.interp(probabilities[:, i], x, fitted) for i, (x, fitted) in enumerate(self.values["curves"])]
        )
        total = mapped.sum(axis=1, keepdims=True)
        # Where every option was mapped to 0 the curve says nothing, and the answer stays as it was.
        return np.where(total > 0, mapped / np.where(total > 0, total, 1.0), probabilities)


def missing(method: Method, n: float, options: int) -> int:
    """How many labels are missing before `method` may be fitted for a question with so many options."""
    more = needs.missing(method, n)
    return max(more, PER_PARAMETER * options - int(n)) if method == "platt" else more


def fit(cases: Cases, method: Method) -> Calibrator:
    """The calibrator that makes the labels most likely (temperature, platt) or the Brier score least (isotonic).

    Cases of which only "the leading option is wrong" is known count with the probability of that.

    Raises
    ------
    ValueError : there are no cases.
    """
    if cases.n == 0:
        raise ValueError("there are no labels to fit a calibrator on")
    if method == "temperature":
        return Calibrator(method, {"temperature": _temperature(cases)})
    return _platt(cases) if method == "platt" else _isotonic(cases)


def crossfit(cases: Cases, method: Method, rng: np.random.Generator, *, folds: int = 5) -> Array:
    """Recalibrated probabilities (n, k), each by a calibrator that did not see its case.

    Raises
    ------
    ValueError : fewer cases than folds.
    """
    if cases.n < folds:
        raise ValueError(f"{cases.n} labels cannot be split into {folds} parts")
    fold = np.arange(cases.n) % folds
    rng.shuffle(fold)
    found = np.empty_like(cases.probabilities)
    for number in range(folds):
        held = fold == number
        found[held] = fit(cases.only(~held), method).apply(cases.probabilities[held])
    return found


def _temperature(cases: Cases) -> float:
    logs = _log(cases.probabilities)

    def loss(log_temperature: float) -> float:
        return _loss(cases, logs / np.exp(log_temperature))

    edge = float(np.log(HOTTEST))
    best = optimize.minimize_scalar(loss, bounds=(-edge, edge), method="bounded", options={"xatol": 1e-6})
    return float(np.exp(best.x))


def _platt(cases: Cases) -> Calibrator:
    logs = _log(cases.probabilities)
    options = logs.shape[1]
    total = float(cases.weights.sum())

    def loss(values: Array) -> float:
        slope, offsets = np.exp(values[0]), values[1:]
        # Offsets matter only up to a constant; the pull settles it, and keeps rare options finite.
        pull = PRIOR * (values[0] ** 2 + float(np.sum(offsets**2))) / (2 * max(total, 1.0))
        return _loss(cases, slope * logs + offsets) + pull

    best = optimize.minimize(loss, np.zeros(options + 1), method="L-BFGS-B", bounds=[(-5, 5)] + [(-20, 20)] * options)
    offsets = best.x[1:] - best.x[1:].mean()
    return Calibrator("platt", {"slope": float(np.exp(best.x[0])), "offsets": [float(o) for o in offsets]})


def _isotonic(cases: Cases) -> Calibrator:
    curves = []
    for option in cases.options:
        event = cases.event(f"option:{option}")
        steps = isotonic_curve(event.p, event.y, event.weights).steps()
        ends = [(x, s.fitted) for s in steps for x in dict.fromkeys((s.low, s.high))] or [(0.0, 0.0), (1.0, 1.0)]
        curves.append([[x for x, _ in ends], [y for _, y in ends]])
    return Calibrator("isotonic", {"curves": curves})


def _loss(cases: Cases, scores: Array) -> float:
    """Weighted mean of −ln p of what the label says."""
    log_p = special.log_softmax(scores, axis=1)
    rows = np.arange(cases.n)
    # Of a label that only says "the leading option is wrong": the probability that it is another.
    with np.errstate(divide="ignore"):
        not_lead = np.log(-np.expm1(np.minimum(log_p[rows, cases.lead], -LEAST)))
    said = np.where(cases.known, log_p[rows, np.maximum(cases.truth, 0)], not_lead)
    return float(-np.average(said, weights=cases.weights))


def _log(probabilities: Array) -> Array:
    return np.log(np.maximum(probabilities, LEAST))


def _softmax(scores: Array) -> Array:
    found: Array = special.softmax(scores, axis=1)
    return found
