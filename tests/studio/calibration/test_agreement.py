"""Agreement: against scikit-learn, Krippendorff's own example, and cases that can be counted by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from studio.calibration.agreement import (
    NONE,
    agreement,
    anchoring,
    cohen,
    krippendorff,
    ratings_of,
    soft_labels,
)

# The data of "Computing Krippendorff's Alpha-Reliability": four observers, twelve units, values 1 to 5, 0 is missing.
EXAMPLE = (
    np.array(
        [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
            [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
        ]
    ).T
    - 1
)


@pytest.mark.parametrize(("ordered", "expected"), [(False, 0.743), (True, 0.815)])
def test_krippendorffs_own_example(ordered: bool, expected: float) -> None:
    assert krippendorff(EXAMPLE, k=5, ordered=ordered) == pytest.approx(expected, abs=0.0005)


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("k", [2, 4])
def test_kappa_is_scikit_learns(k: int, ordered: bool) -> None:
    rng = np.random.default_rng(k)
    a = rng.integers(0, k, 80)
    b = np.where(rng.random(80) < 0.6, a, rng.integers(0, k, 80))
    theirs = cohen_kappa_score(a, b, weights="quadratic" if ordered else None, labels=range(k))
    assert cohen(a, b, k=k, ordered=ordered) == pytest.approx(theirs)


def test_agreement_by_chance_is_none() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 3, (2, 4000))
    assert abs(cohen(a, b, k=3)) < 0.04
    assert abs(krippendorff(np.stack([a, b], axis=1), k=3)) < 0.04


def test_what_cannot_be_told_is_not_a_number() -> None:
    assert math.isnan(cohen([], [], k=2))
    assert math.isnan(cohen([1, 1], [1, 1], k=2))
    assert math.isnan(krippendorff([[0, NONE], [NONE, 1]], k=2))
    assert math.isnan(krippendorff([[1, 1], [1, 1]], k=2))
    nobody = agreement(np.zeros((0, 0)), k=2)
    assert (nobody.n, nobody.people, nobody.kappa, nobody.alpha) == (0, 0, None, None)
    assert math.isnan(nobody.observed)


def test_two_people_get_kappa_and_three_alpha() -> None:
    two = np.array([[0, 0], [1, 1], [0, 1], [1, 1], [0, 0], [0, NONE]] * 8)
    found = agreement(two, k=2)
    assert (found.n, found.people, found.alpha) == (40, 2, None)
    assert found.observed == pytest.approx(0.8)
    assert found.kappa is not None
    assert found.kappa.low < found.kappa.value < found.kappa.high
    assert found.kappa.n == 40
    three = agreement(np.column_stack([two, np.where(two[:, 0] == 0, 0, 1)]), k=2)
    assert (three.people, three.kappa) == (3, None)
    assert three.alpha is not None
    # A third person who judged nothing twice does not make three.
    assert agreement(np.column_stack([two, np.full(48, NONE)]), k=2).people == 2


def test_soft_labels_are_shares_of_people() -> None:
    soft = soft_labels([[0, 0, 2], [NONE, 1, NONE], [NONE, NONE, NONE]], k=3)
    assert soft.tolist() == [[2 / 3, 0, 1 / 3], [0, 1, 0], [0, 0, 0]]


def test_ratings_put_people_in_columns() -> None:
    people, rows = ratings_of([{"Bob": 1, "Ann": 0}, {"Bob": 2}])
    assert people == ("Ann", "Bob")
    assert rows.tolist() == [[0, 1], [NONE, 2]]
    assert ratings_of([])[1].shape == (0, 0)


def test_anchoring_is_seen_only_where_it_is() -> None:
    """Blind people are right with the model 70 % of the time; whoever sees the answer goes along in 90 %."""
    rng = np.random.default_rng(20261130)
    blind = rng.random(1200) < 0.5
    swayed = anchoring(rng.random(1200) < np.where(blind, 0.7, 0.9), np.ones(1200), blind)
    assert swayed.difference[1] > 0.1
    free = anchoring(rng.random(1200) < 0.8, np.ones(1200), blind)
    assert free.difference[1] < 0 < free.difference[2]
    assert free.blind.n + free.shown.n == 1200
    nothing = anchoring([], [], [])
    assert math.isnan(nothing.difference[0])


def test_weights_keep_hard_items_from_looking_like_anchoring() -> None:
    """Nobody is swayed, but what is shown is the queue's, where the model errs more: raw figures would mislead."""
    rng = np.random.default_rng(20261130)
    hard = rng.random(40_000) < 0.5
    right = rng.random(40_000) < np.where(hard, 0.6, 0.95)
    pi = np.where(hard, 0.2, 0.02)
    blind = rng.random(40_000) < 0.05
    shown = ~blind & (rng.random(40_000) < pi)
    kept = blind | shown
    weights = np.where(blind, 1 / 0.05, 1 / pi)[kept]
    fair = anchoring(right[kept], weights, blind[kept])
    assert abs(fair.difference[0]) < 0.05
    raw = anchoring(right[kept], np.ones(kept.sum()), blind[kept])
    assert raw.difference[2] < -0.05
