"""Simulated scorers with a known truth, for the tests of the statistics."""

from __future__ import annotations

import numpy as np

from studio.calibration.cases import Cases, Event

SEED = 20261130
"""The date of the first commit of these tests. It is never changed to make one pass."""


def rng(stream: int = 0) -> np.random.Generator:
    """A generator of its own for each test."""
    return np.random.default_rng([SEED, stream])


def said(generator: np.random.Generator, n: int, shape: str = "skewed") -> np.ndarray:
    """Probabilities as scorers say them, (n,)."""
    if shape == "sharp":
        return generator.beta(0.3, 0.3, n)
    if shape == "ties":
        return np.round(generator.beta(4, 1, n), 1)
    return generator.beta(4, 1, n)


def event(p: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> Event:
    """An event of plain arrays."""
    p = np.asarray(p, dtype=float)
    w = np.ones(p.size) if weights is None else np.asarray(weights, dtype=float)
    return Event(p, np.asarray(y, dtype=bool), w, np.arange(p.size))


def cases(
    probabilities: np.ndarray,
    truth: np.ndarray,
    *,
    type: str = "choice",
    weights: np.ndarray | None = None,
    audit: np.ndarray | None = None,
) -> Cases:
    """Cases of plain arrays; options are "0", "1", ... (noul: true, false)."""
    p = np.asarray(probabilities, dtype=float)
    options = ("true", "false") if type == "noul" else tuple(str(i) for i in range(p.shape[1]))
    n = p.shape[0]
    return Cases(
        type=type,
        options=options,
        probabilities=p,
        truth=np.asarray(truth, dtype=np.intp),
        weights=np.ones(n) if weights is None else np.asarray(weights, dtype=float),
        audit=np.ones(n, bool) if audit is None else np.asarray(audit, dtype=bool),
    )


def calibrated(generator: np.random.Generator, n: int, k: int, *, type: str = "choice", sharp: float = 0.5) -> Cases:
    """Answers over k options whose truth is drawn from exactly what is said."""
    p = generator.dirichlet(np.full(k, sharp), n)
    truth = np.array([generator.choice(k, p=row) for row in p], dtype=np.intp)
    return cases(p, truth, type=type)
