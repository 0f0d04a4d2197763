"""The CORP curve against scikit-learn, its table, and what the band says of sure, unsure and honest scorers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from studio.calibration import bins
from studio.calibration.reliability import ROW_LABELS, envelope, examine, fit
from tests.studio.calibration.worlds import event, rng, said


@pytest.mark.parametrize("shape", ["skewed", "sharp", "ties"])
@pytest.mark.parametrize("n", [1, 2, 3, 50, 500])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_curve_is_the_isotonic_fit(shape: str, n: int, weighted: bool) -> None:
    r = rng(n)
    p, w = said(r, n, shape), r.uniform(0.2, 9, n) if weighted else np.ones(n)
    y = r.random(n) < p**2
    oracle = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(p, y, sample_weight=w)
    curve = fit(p, y, w if weighted else None)
    np.testing.assert_array_equal(curve.x, np.unique(p))
    np.testing.assert_allclose(curve.fitted, oracle.predict(curve.x), atol=1e-12)
    np.testing.assert_allclose(curve.at(np.linspace(0, 1, 7)), oracle.predict(np.linspace(0, 1, 7)), atol=1e-12)
    assert curve.labels.sum() == n


def test_the_order_of_labels_does_not_matter() -> None:
    r = rng()
    p, w = said(r, 200, "ties"), r.uniform(0.5, 3, 200)
    y = r.random(200) < p
    mixed = r.permutation(200)
    np.testing.assert_allclose(fit(p, y, w).fitted, fit(p[mixed], y[mixed], w[mixed]).fitted)


@pytest.mark.parametrize(("y", "level"), [(True, 1.0), (False, 0.0)])
def test_one_class(y: bool, level: float) -> None:
    p = said(rng(), 60)
    assert set(fit(p, np.full(60, y)).fitted) == {level}
    found = examine(event(p, np.full(60, y)), rng())
    assert found.verdict == ("not_sure_enough" if y else "too_sure")


def test_no_labels_and_one() -> None:
    empty = examine(event(np.empty(0), np.empty(0)), rng())
    assert (empty.curve.steps(), empty.rows, empty.verdict, empty.outside) == ([], (), "in_band", ())
    assert np.isnan(empty.curve.at(np.array([0.5]))).all()
    one = examine(event(np.array([0.9]), np.array([False])), rng())
    assert one.verdict == "in_band"
    (row,) = one.rows
    assert (row.n, row.right, row.rate, row.said, row.verdict) == (1, 0, 0.0, 0.9, None)


def test_extreme_probabilities() -> None:
    p = np.concatenate([np.zeros(30), np.ones(30), np.full(5, 1e-12), np.full(5, 1 - 1e-12)])
    assert examine(event(p, p > 0.5), rng()).verdict == "in_band"
    # One that was called impossible is more than chance allows.
    y = p > 0.5
    y[0] = True
    assert examine(event(p, y), rng()).verdict == "not_sure_enough"


def test_steps_hold_all_labels_and_rise() -> None:
    r = rng()
    p = said(r, 400, "ties")
    steps = fit(p, r.random(400) < p).steps()
    assert sum(step.n for step in steps) == 400
    assert all(a.high < b.low and a.fitted < b.fitted for a, b in pairwise(steps))


@pytest.mark.parametrize(("shift", "verdict"), [(-0.15, "too_sure"), (0.0, "in_band"), (0.15, "not_sure_enough")])
def test_a_real_fault_leaves_the_band(shift: float, verdict: str) -> None:
    r = rng(7)
    p = r.uniform(0.55, 0.8, 2000)
    found = examine(event(p, r.random(2000) < p + shift), r)
    assert found.verdict == verdict
    assert bool(found.outside) == bool(shift)
    verdicts = [row.verdict for row in found.rows]
    assert set(verdicts) <= {verdict, "in_band"}
    assert verdicts.count(verdict) >= 5


def test_rows_hold_all_labels_and_no_tie_is_split() -> None:
    r = rng(3)
    p = np.round(r.beta(4, 1, 700), 2)
    y = r.random(700) < p
    found = examine(event(p, y), r)
    assert sum(row.n for row in found.rows) == 700
    assert sum(row.right for row in found.rows) == y.sum()
    for row in found.rows:
        inside = (p >= row.low) & ((p < row.high) if row is not found.rows[-1] else (p <= row.high))
        assert inside.sum() == row.n >= ROW_LABELS
        assert row.rate == pytest.approx(y[inside].mean())
        # Readable: edges are whole percents where that leaves enough labels.
        assert round(row.low, 2) == pytest.approx(row.low)


def test_weights_move_the_table_as_repeated_labels_do() -> None:
    r = rng(5)
    p = said(r, 120)
    y, times = r.random(120) < p, r.integers(1, 4, 120)
    weighted = fit(p, y, times.astype(float))
    repeated = fit(np.repeat(p, times), np.repeat(y, times))
    np.testing.assert_allclose(weighted.fitted, repeated.fitted)


def test_the_envelope_holds_the_share_it_says() -> None:
    draws = rng().binomial(200, 0.9, (999, 12)) / 200
    low, high = envelope(draws, 0.95)
    inside = np.all((draws >= low - 1e-9) & (draws <= high + 1e-9), axis=1).mean()
    assert 0.95 <= inside < 0.97


@pytest.mark.parametrize("n", [0, 1, 19, 40, 1000])
def test_bins_split_no_tie_and_are_never_small(n: int) -> None:
    p = np.round(rng(n).random(n), 1)
    number = bins.equal_mass(p, bins=10, least=20)
    assert number.shape == p.shape
    for value in np.unique(p):
        assert len(set(number[p == value])) == 1
    if n >= 40:
        assert np.bincount(number).min() >= 20
        assert number.max() >= 1


def test_all_alike_is_one_bin() -> None:
    assert set(bins.equal_mass(np.ones(500), bins=10, least=10)) == {0}


def test_sharp_scorers_get_finer_edges() -> None:
    p = 1 - rng().uniform(0, 0.01, 400)
    found = examine(event(p, np.ones(400)), rng())
    assert len(found.rows) == 8
