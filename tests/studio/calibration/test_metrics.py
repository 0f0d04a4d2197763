"""Every figure against an oracle that is not ours: scikit-learn, model-diagnostics, scoringrules, or a closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scoringrules
from model_diagnostics.scoring import SquaredError, decompose
from sklearn import metrics as oracle

from studio.calibration import measuring, metrics, needs
from studio.calibration.sampling import effective_n
from tests.studio.calibration.worlds import calibrated, cases, event, rng, said


@pytest.fixture(params=[1, 2, 40, 400], ids="n={}".format)
def one(request: pytest.FixtureRequest) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r = rng(request.param)
    p = said(r, request.param, "ties")
    return p, r.random(request.param) < p, r.uniform(0.3, 5, request.param)


def test_brier(one: tuple[np.ndarray, ...]) -> None:
    p, y, w = one
    assert metrics.brier(p, y) == pytest.approx(oracle.brier_score_loss(y, p, labels=[False, True]))
    assert metrics.brier(p, y, w) == pytest.approx(np.sum(w * (p - y) ** 2) / w.sum())


@pytest.mark.parametrize("weighted", [False, True])
def test_the_decomposition(one: tuple[np.ndarray, ...], weighted: bool) -> None:
    p, y, w = one
    weights = w if weighted else None
    found = metrics.decompose(p, y, weights)
    if p.size == 1:
        # Nothing to tell apart and nothing uncertain: all of the score is miscalibration.
        assert (found.miscalibration, found.discrimination, found.uncertainty) == (found.score, 0, 0)
        return
    (row,) = decompose(y.astype(float), p, weights=weights, scoring_function=SquaredError()).to_dicts()
    assert found.miscalibration == pytest.approx(row["miscalibration"], abs=1e-9)
    assert found.discrimination == pytest.approx(row["discrimination"], abs=1e-9)
    assert found.uncertainty == pytest.approx(row["uncertainty"], abs=1e-9)
    assert found.score == pytest.approx(found.miscalibration - found.discrimination + found.uncertainty)


@pytest.mark.parametrize("k", [2, 3, 10, 255])
@pytest.mark.parametrize("n", [1, 60])
def test_scores_of_whole_answers(k: int, n: int) -> None:
    c = calibrated(rng(k), n, k)
    w = rng(1).uniform(0.3, 5, n)
    labels = list(range(k))
    assert metrics.log_score(c.probabilities, c.truth, w) == pytest.approx(
        oracle.log_loss(c.truth, c.probabilities, sample_weight=w, labels=labels), rel=1e-6
    )
    # Theirs counts levels from 1.
    rps = [scoringrules.rps_score(t + 1, p) for t, p in zip(c.truth, c.probabilities, strict=True)]
    assert metrics.ranked_probability_score(c.probabilities, c.truth, w) == pytest.approx(np.average(rps, weights=w))


def test_an_impossible_truth_makes_the_log_score_infinite() -> None:
    p = np.array([[1.0, 0.0]] * 30)
    assert metrics.log_score(p, np.array([0] * 29 + [1])) == math.inf
    found = measuring.measure(cases(p, np.array([0] * 29 + [1]), type="noul"), "top", rng())
    assert (found.log_score.value, found.impossible, found.log_score.n) == (math.inf, 1, 30)
    assert found.share.value == pytest.approx(29 / 30)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("levels", [2, 5, 10])
def test_kappa(levels: int, weighted: bool) -> None:
    r = rng(levels)
    a, b = r.integers(0, levels, 300), r.integers(0, levels, 300)
    b = np.where(r.random(300) < 0.6, a, b)
    w = r.uniform(0.1, 4, 300) if weighted else None
    expected = oracle.cohen_kappa_score(a, b, weights="quadratic", sample_weight=w, labels=list(range(levels)))
    assert metrics.kappa(a, b, levels, w) == pytest.approx(expected)


def test_kappa_of_one_level_is_not_a_number() -> None:
    assert math.isnan(metrics.kappa(np.zeros(9, int), np.zeros(9, int), 3))
    assert math.isnan(metrics.kappa(np.empty(0, int), np.empty(0, int), 3))


@pytest.mark.parametrize("weighted", [False, True])
def test_aurc_is_the_mean_risk_over_coverages(one: tuple[np.ndarray, ...], weighted: bool) -> None:
    p, right, w = one
    w = w if weighted else np.ones(p.size)
    by_hand = sum(wi * np.sum(w[p >= pi] * ~right[p >= pi]) / np.sum(w[p >= pi]) for pi, wi in zip(p, w, strict=True))
    assert metrics.aurc(p, right, w if weighted else None) == pytest.approx(by_hand / w.sum())


def test_aurc_of_perfect_and_of_useless_order() -> None:
    p = np.linspace(1, 0, 100)
    assert metrics.aurc(p, np.ones(100, bool)) == 0
    # All alike: every coverage has the error rate of all.
    assert metrics.aurc(np.full(100, 0.7), np.arange(100) < 75) == pytest.approx(0.25)


def test_the_plain_error_is_that_of_equal_bins() -> None:
    r = rng()
    p = np.sort(r.random(1000))
    y = r.random(1000) < p**2
    true, mean = _calibration_curve(y, p)
    assert metrics.plain_ece(p, y) == pytest.approx(np.mean(np.abs(true - mean)))


def _calibration_curve(y: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.calibration import calibration_curve

    return calibration_curve(y, p, n_bins=10, strategy="quantile")


def test_the_debiased_error_by_hand() -> None:
    # Two bins of 20: said .2 and .8, was 4 and 12 of 20.
    p = np.repeat([0.2, 0.8], 20)
    y = np.concatenate([np.arange(20) < 4, np.arange(20) < 12])
    squared = (0.0**2 - 0.2 * 0.8 / 19) / 2 + (0.2**2 - 0.6 * 0.4 / 19) / 2
    assert metrics.calibration_error(p, y) == pytest.approx(math.sqrt(squared))


def test_equal_weights_change_nothing_and_their_scale_neither() -> None:
    r = rng(2)
    p = said(r, 300)
    y, w = r.random(300) < p - 0.1, r.uniform(0.5, 4, 300)
    assert metrics.calibration_error(p, y, np.full(300, 3.0)) == pytest.approx(metrics.calibration_error(p, y))
    assert metrics.calibration_error(p, y, w) == pytest.approx(metrics.calibration_error(p, y, 10 * w))


def test_without_labels_there_is_no_number() -> None:
    none, no = np.empty(0), np.empty(0, bool)
    for figure in (metrics.brier, metrics.aurc, metrics.calibration_error, metrics.plain_ece):
        assert math.isnan(figure(none, no))
    assert math.isnan(metrics.decompose(none, no).score)
    assert math.isnan(metrics.noise_floor(none, None, rng()))
    assert math.isnan(metrics.log_score(np.empty((0, 3)), np.empty(0, int)))


@pytest.mark.parametrize(
    ("figure", "n", "missing"),
    [
        ("share", 0, 20),
        ("share", 19.99, 1),
        ("share", 20, 0),
        ("error", 12, 38),
        ("error", 50, 0),
        ("calibrated", 143, 57),
    ],
)
def test_how_many_labels_are_missing(figure: needs.Needs, n: float, missing: int) -> None:
    assert needs.missing(figure, n) == missing


def test_effective_n() -> None:
    assert effective_n(np.full(80, 0.3)) == pytest.approx(80)
    assert effective_n(np.array([1.0, 1e-9])) == pytest.approx(1)
    assert effective_n(np.empty(0)) == 0


@pytest.mark.parametrize(("n", "shares", "errors"), [(0, 20, 50), (1, 19, 49), (19, 1, 31), (30, 0, 20), (60, 0, 0)])
def test_below_the_rules_there_is_a_count_instead_of_a_number(n: int, shares: int, errors: int) -> None:
    c = calibrated(rng(n), n, 4, type="score") if n else cases(np.empty((0, 4)), np.empty(0), type="score")
    found = measuring.measure(c, "top", rng())
    early = [(figure, shares) for figure in (found.share, found.brier, found.log_score, found.rps)]
    for figure, missing in [*early, (found.error, errors), (found.kappa, errors), (found.aurc, errors)]:
        assert figure.missing == missing
        assert math.isnan(figure.value) == bool(missing)
        assert math.isnan(figure.low) == bool(missing)
    assert math.isnan(found.floor) == bool(errors)


def test_light_weights_count_for_less() -> None:
    c = calibrated(rng(), 60, 3)
    heavy = cases(c.probabilities, c.truth, weights=np.where(np.arange(60) < 10, 50.0, 0.5))
    assert measuring.measure(heavy, "top", rng()).share.missing > 0


def test_views_of_one_option_and_of_levels() -> None:
    c = calibrated(rng(4), 200, 3, type="score")
    for view in ("level:1", "level:2"):
        k = int(view[-1])
        e = c.event(view)
        np.testing.assert_allclose(e.p, c.probabilities[:, k:].sum(axis=1))
        np.testing.assert_array_equal(e.y, c.truth >= k)
    found = measuring.measure(c, "level:2", rng())
    assert found.brier.value == pytest.approx(metrics.brier(c.probabilities[:, 2], c.truth == 2))
    with pytest.raises(ValueError, match="view 'level:3' is not one of top, level:1, level:2"):
        c.event("level:3")
    with pytest.raises(ValueError, match="option:true"):
        cases(np.array([[0.5, 0.5]]), np.array([0]), type="noul").event("level:1")


def test_a_wrong_answer_without_a_known_truth_counts_where_it_can() -> None:
    p = np.tile([0.6, 0.3, 0.1], (40, 1))
    c = cases(p, np.array([0] * 30 + [-1] * 10))
    found = measuring.measure(c, "top", rng())
    assert (found.share.value, found.share.n) == (0.75, 40)
    assert found.log_score.n == 30
    assert c.event("option:0").n == 40
    assert c.event("option:1").n == 30


def test_intervals_are_those_of_scipys_bootstrap() -> None:
    from scipy import stats

    c = calibrated(rng(9), 300, 3)
    found = measuring.measure(c, "top", rng(1), draws=4000)
    for figure, values in [(found.share, c.right), (found.brier, (c.top - c.right) ** 2)]:
        other = stats.bootstrap((values.astype(float),), np.mean, n_resamples=4000, method="percentile", rng=rng(2))
        assert figure.low == pytest.approx(other.confidence_interval.low, abs=0.006)
        assert figure.high == pytest.approx(other.confidence_interval.high, abs=0.006)


def test_the_same_seed_gives_the_same_figures() -> None:
    c = calibrated(rng(), 120, 3)
    assert measuring.measure(c, "top", rng(1)) == measuring.measure(c, "top", rng(1))


def test_nothing_is_lost_among_255_options() -> None:
    c = calibrated(rng(), 80, 255, sharp=0.05)
    found = measuring.measure(c, "top", rng())
    assert found.share.value == pytest.approx(c.right.mean())
    assert 0 <= found.error.low <= found.error.high
    assert found.aurc.low <= found.aurc.value <= found.aurc.high
    assert len(c.views()) == 256


def test_the_event_of_top_is_the_leading_option() -> None:
    c = calibrated(rng(), 50, 4)
    e = c.event("top")
    np.testing.assert_array_equal(e.p, c.probabilities.max(axis=1))
    np.testing.assert_array_equal(e.y, c.probabilities.argmax(axis=1) == c.truth)
    assert event(e.p, e.y).n == 50
