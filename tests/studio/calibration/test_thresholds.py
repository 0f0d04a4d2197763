"""The desk: zones and costs by hand, bounds against statsmodels, and what is promised for which budget."""

from __future__ import annotations

import math

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from studio.calibration.intervals import upper_bound, wilson
from studio.calibration.thresholds import (
    Costs,
    best_guess,
    cheapest,
    first_test,
    guarantee,
    labels_needed,
    risk_coverage,
    zones,
)
from tests.studio.calibration.worlds import rng, said

P = np.array([0.99, 0.95, 0.95, 0.9, 0.8, 0.7, 0.5, 0.4, 0.3, 0.3])
RIGHT = np.array([1, 1, 0, 1, 1, 0, 1, 0, 0, 1], bool)


@pytest.mark.parametrize("n", [1, 20, 59, 100, 300])
def test_bounds(n: int) -> None:
    wrong = np.arange(n + 1)
    ours = upper_bound(wrong, np.full(n + 1, n))
    theirs = proportion_confint(wrong, n, alpha=0.1, method="beta")[1]
    np.testing.assert_allclose(ours, theirs, atol=1e-12)
    for k in (0, n // 3, n):
        np.testing.assert_allclose(wilson(k, n), proportion_confint(k, n, method="wilson"), atol=1e-12)


def test_bounds_of_nothing() -> None:
    assert upper_bound(np.array([0]), np.array([0]))[0] == 1
    assert all(math.isnan(end) for end in wilson(0, 0))


@pytest.mark.parametrize(("wrong", "n", "bound"), [(0, 59, 0.05), (1, 100, 0.047), (3, 300, 0.026), (0, 299, 0.01)])
def test_the_bounds_that_people_are_told(wrong: int, n: int, bound: float) -> None:
    assert upper_bound(np.array([wrong]), np.array([n]))[0] == pytest.approx(bound, abs=5e-4)


def test_zones_and_their_cost() -> None:
    found = zones(P, RIGHT, act=0.9, refuse=0.4, costs=Costs(wrong_act=100, wrong_refusal=10, human=1))
    assert (found.act.n, found.act.wrong, found.act.share, found.act.error) == (4, 1, 0.4, 0.25)
    assert (found.ask.n, found.refuse.n, found.refuse.wrong) == (4, 2, 1)
    # One wrong act, one right answer refused, four looked at, of ten.
    assert found.cost == pytest.approx(1000 * (100 + 10 + 4) / 10)


def test_zones_by_weight() -> None:
    w = np.where(P >= 0.9, 3.0, 1.0)
    found = zones(P, RIGHT, w, act=0.9, refuse=0.0)
    assert found.act.share == pytest.approx(12 / 18)
    assert found.act.error == pytest.approx(0.25)
    assert found.refuse.n == 0
    assert math.isnan(found.refuse.error)
    assert math.isnan(found.cost)


def test_zones_of_nothing() -> None:
    found = zones(np.empty(0), np.empty(0, bool), act=0.9, refuse=0.1, costs=Costs(1, 1, 1))
    assert (found.act.n, found.ask.n, found.refuse.n) == (0, 0, 0)
    assert math.isnan(found.act.share)
    assert math.isnan(found.cost)


def test_thresholds_must_not_cross() -> None:
    with pytest.raises(ValueError, match=r"refuse \(0.9\) must not be over act \(0.8\)"):
        zones(P, RIGHT, act=0.8, refuse=0.9)


def test_risk_and_coverage_by_hand() -> None:
    curve = risk_coverage(P, RIGHT)
    assert list(curve.threshold) == [0.99, 0.95, 0.9, 0.8, 0.7, 0.5, 0.4, 0.3]
    np.testing.assert_allclose(curve.coverage, [0.1, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0])
    np.testing.assert_allclose(curve.risk, [0, 1 / 3, 1 / 4, 1 / 5, 2 / 6, 2 / 7, 3 / 8, 4 / 10])
    assert risk_coverage(np.empty(0), np.empty(0, bool)).coverage.size == 0


@pytest.mark.parametrize(("budget", "act", "n"), [(0.2, 0.8, 5), (0.3, 0.5, 7), (0.05, 0.99, 1), (0.4, 0.3, 10)])
def test_the_best_guess_is_the_lowest_that_fits(budget: float, act: float, n: int) -> None:
    found = best_guess(P, RIGHT, budget=budget)
    assert found is not None
    assert (found.act, found.n) == (act, n)
    assert found.error <= budget


def test_no_guess_where_nothing_fits() -> None:
    assert best_guess(P, np.zeros(10, bool), budget=0.5) is None
    assert best_guess(np.empty(0), np.empty(0, bool), budget=0.5) is None


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("costs", [Costs(100, 10, 1), Costs(1, 1, 10), Costs(5, 0, 1), Costs(0, 0, 1)])
def test_the_cheapest_pair_is_cheapest(seed: int, costs: Costs) -> None:
    r = rng(seed)
    p = np.round(said(r, 60), 3)
    right, w = r.random(60) < p, r.uniform(0.5, 4, 60)
    refuse, act = cheapest(p, right, w, costs=costs)
    found = zones(p, right, w, act=act, refuse=refuse, costs=costs).cost
    ticks = np.arange(0, 102, 3) / 100
    every = [zones(p, right, w, act=a, refuse=b, costs=costs).cost for a in ticks for b in ticks if b <= a]
    assert found <= min(every) + 1e-9


def test_costs_need_labels() -> None:
    with pytest.raises(ValueError, match="no labels"):
        cheapest(np.empty(0), np.empty(0, bool), costs=Costs(1, 1, 1))


@pytest.mark.parametrize(("budget", "n"), [(0.05, 124), (0.1, 61), (0.01, 628)])
def test_where_the_sequence_starts(budget: float, n: int) -> None:
    assert first_test(budget) == n == labels_needed(budget)[2]
    assert upper_bound(np.array([2, 2]), np.array([n - 1, n]))[1] <= budget
    assert upper_bound(np.array([2]), np.array([n - 1]))[0] > budget


def test_labels_that_so_many_wrong_ones_need() -> None:
    need = labels_needed(0.05)
    assert need[0] == 59
    for wrong in (0, 1, 7, 300):
        n = need[wrong]
        at, before = upper_bound(np.array([wrong, wrong]), np.array([n, n - 1]))
        assert at <= 0.05 < before


def test_the_sequence_stops_at_its_first_failure() -> None:
    # 200 spotless at .97, 100 half wrong at .90, 5,000 spotless at .80: over .80 the bound holds again, too late.
    p = np.repeat([0.97, 0.90, 0.80], [200, 100, 5000])
    right = np.ones(5300, bool)
    right[200:250] = False
    found = guarantee(p, right, budget=0.05)
    assert (found.act, found.n, found.wrong, found.missing) == (0.91, 200, 0, 0)
    assert found.passed[0] == 0.97
    assert found.passed[-1] == 0.91
    assert found.bound == pytest.approx(upper_bound(np.array([0]), np.array([200]))[0])
    assert upper_bound(np.array([50]), np.array([5300]))[0] < 0.05


def test_where_it_starts_depends_on_no_label() -> None:
    r = rng()
    p = said(r, 600)
    starts = {guarantee(p, r.random(600) < 0.999, budget=0.1).passed[0] for _ in range(20)}
    assert len(starts) == 1


@pytest.mark.parametrize("budget", [0, 1, -0.1, float("nan")])
def test_a_budget_is_a_share(budget: float) -> None:
    with pytest.raises(ValueError, match="budget must be a share"):
        guarantee(P, RIGHT, budget=budget)


def test_how_many_more_labels() -> None:
    none = guarantee(np.empty(0), np.empty(0, bool), budget=0.05)
    assert (none.act, none.n, none.missing) == (None, 0, 124)
    spotless = guarantee(np.full(50, 0.97), np.ones(50, bool), budget=0.05)
    assert spotless.act is None
    assert spotless.missing is not None
    # So many more spotless ones do it, and half as many do not.
    for more, enough in ((spotless.missing, True), (spotless.missing // 2, False)):
        after = guarantee(np.full(50 + more, 0.97), np.ones(50 + more, bool), budget=0.05)
        assert (after.act is not None) is enough
    hopeless = guarantee(np.full(500, 0.97), np.arange(500) % 4 > 0, budget=0.05)
    assert (hopeless.act, hopeless.missing, hopeless.n, hopeless.wrong) == (None, None, 500, 125)
