"""Calibrators recover what was done to the probabilities, and are judged on cases that they did not see."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

from studio.calibration import metrics
from studio.calibration.recalibrate import METHODS, Calibrator, crossfit, fit, missing
from tests.studio.calibration.worlds import calibrated, cases, rng


def heated(n: int, k: int, temperature: float, *, stream: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities that are too sure by a known temperature, and truths."""
    honest = calibrated(rng(stream), n, k, sharp=1.0)
    return softmax(np.log(honest.probabilities) * temperature, axis=1), honest.truth


@pytest.mark.parametrize("k", [2, 5, 255])
@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_the_temperature_is_found(k: int, temperature: float) -> None:
    p, truth = heated(3000, k, temperature)
    found = fit(cases(p, truth), "temperature").values["temperature"]
    assert found == pytest.approx(temperature, rel=0.12)


def test_platt_of_a_noul_is_logistic_regression() -> None:
    r = rng(2)
    p = r.uniform(0.02, 0.98, 4000)
    logit = np.log(p / (1 - p))
    y = r.random(4000) < 1 / (1 + np.exp(-(0.6 * logit - 0.8)))
    oracle = LogisticRegression(C=1e9).fit(logit[:, None], y)
    c = cases(np.column_stack([p, 1 - p]), np.where(y, 0, 1), type="noul")
    calibrator = fit(c, "platt")
    np.testing.assert_allclose(
        calibrator.apply(c.probabilities)[:, 0], oracle.predict_proba(logit[:, None])[:, 1], atol=3e-3
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [2, 6])
def test_probabilities_stay_probabilities(method: str, k: int) -> None:
    p, truth = heated(400, k, 2.0, stream=3)
    p[0] = np.eye(k)[0]
    calibrator = Calibrator.parse(json.loads(json.dumps(fit(cases(p, truth), method).json())))  # type: ignore[arg-type]
    found = calibrator.apply(p)
    assert np.isfinite(found).all()
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_temperature_keeps_every_order() -> None:
    p, truth = heated(300, 5, 3.0)
    found = fit(cases(p, truth), "temperature").apply(p)
    np.testing.assert_array_equal(np.argsort(found, axis=1), np.argsort(p, axis=1))


@pytest.mark.parametrize("method", METHODS)
def test_cross_fitting_repairs_and_is_honest(method: str) -> None:
    p, truth = heated(2000, 2, 3.0, stream=5)
    c = cases(p, truth, type="noul")
    found = c.with_probabilities(crossfit(c, method, rng()))  # type: ignore[arg-type]
    before = metrics.calibration_error(c.top, c.right)
    after = metrics.calibration_error(found.top, found.right)
    assert before > 0.1
    assert after < before / 3
    # On its own labels a calibrator looks better than it is.
    own = c.with_probabilities(fit(c, "isotonic").apply(p))
    honest = c.with_probabilities(crossfit(c, "isotonic", rng()))
    assert metrics.brier(own.top, own.right) < metrics.brier(honest.top, honest.right)


def test_no_case_is_in_its_own_fit() -> None:
    """Moving one case's truth must not move its own cross-fitted probabilities."""
    p, truth = heated(100, 2, 2.0)
    before = crossfit(cases(p, truth), "temperature", rng())
    for i in range(5):
        other = truth.copy()
        other[i] = 1 - other[i]
        after = crossfit(cases(p, other), "temperature", rng())
        np.testing.assert_array_equal(after[i], before[i])
        assert not np.array_equal(after, before)


def test_wrong_without_a_truth_cools_a_scorer() -> None:
    p = np.tile([0.9, 0.06, 0.04], (100, 1))
    sure = fit(cases(p, np.array([0] * 90 + [-1] * 10)), "temperature").values["temperature"]
    less = fit(cases(p, np.array([0] * 60 + [-1] * 40)), "temperature").values["temperature"]
    assert sure == pytest.approx(1, abs=0.01)
    assert less > 1.5


def test_weights_count_as_repeated_cases() -> None:
    p, truth = heated(200, 3, 2.0)
    times = rng(8).integers(1, 4, 200)
    one = fit(cases(p, truth, weights=times.astype(float)), "temperature").values["temperature"]
    other = fit(cases(np.repeat(p, times, axis=0), np.repeat(truth, times)), "temperature").values["temperature"]
    assert one == pytest.approx(other, rel=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_one_class_stays_finite(method: str) -> None:
    p, _ = heated(60, 2, 1.0)
    found = fit(cases(p, np.zeros(60), type="noul"), method).apply(p)  # type: ignore[arg-type]
    assert np.isfinite(found).all()


@pytest.mark.parametrize(
    ("method", "n", "options", "more"),
    [("temperature", 49, 2, 1), ("temperature", 50, 255, 0), ("platt", 120, 2, 80), ("platt", 300, 20, 100),
     ("isotonic", 999, 2, 1), ("isotonic", 1000, 2, 0)],
)  # fmt: skip
def test_more_parameters_need_more_labels(method: str, n: int, options: int, more: int) -> None:
    assert missing(method, n, options) == more  # type: ignore[arg-type]


def test_nothing_to_fit() -> None:
    empty = cases(np.empty((0, 2)), np.empty(0))
    with pytest.raises(ValueError, match="no labels"):
        fit(empty, "temperature")
    with pytest.raises(ValueError, match="3 labels cannot be split into 5"):
        crossfit(calibrated(rng(), 3, 2), "temperature", rng())


@pytest.mark.parametrize("document", [{}, {"method": "magic"}, {"method": "platt", "slope": 1}])
def test_a_foreign_calibrator_is_refused(document: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"method must be|calibrator has"):
        Calibrator.parse(document)
