"""Fixes, breaks and their p-values against statsmodels; drift and slices against scipy and statsmodels; badges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from statsmodels.stats.contingency_tables import mcnemar as oracle
from statsmodels.stats.multitest import multipletests

from studio.calibration import drift, slices
from studio.calibration.badge import badge
from studio.calibration.compare import benjamini_hochberg, compare, holm, in_words, mcnemar, p_text
from tests.studio.calibration.worlds import rng


@pytest.mark.parametrize(("fixes", "breaks"), [(0, 0), (1, 0), (12, 3), (3, 12), (5, 5), (400, 351)])
def test_mcnemar(fixes: int, breaks: int) -> None:
    assert mcnemar(fixes, breaks) == pytest.approx(oracle([[9, breaks], [fixes, 9]], exact=True).pvalue)


@pytest.mark.parametrize("n", [0, 1, 7])
def test_adjusted_p_values(n: int) -> None:
    raw = list(rng(n).random(n) ** 3)
    if n:
        assert holm(raw) == pytest.approx(multipletests(raw, method="holm")[1])
        assert benjamini_hochberg(raw) == pytest.approx(multipletests(raw, method="fdr_bh")[1])
    else:
        assert holm(raw) == benjamini_hochberg(raw) == []
    tied = [0.01, 0.01, 0.2]
    assert holm(tied) == pytest.approx(multipletests(tied, method="holm")[1])


def test_a_comparison_in_numbers_and_words() -> None:
    a = np.array([True] * 600 + [False] * 40)
    b = a.copy()
    b[600:612] = True
    b[:3] = False
    found = compare(a, b, (~a).astype(float), (~b).astype(float), rng())
    assert (found.n, found.fixes, found.breaks) == (640, 12, 3)
    assert found.p_value == pytest.approx(0.0352, abs=1e-4)
    assert found.brier == pytest.approx(-9 / 640)
    assert found.interval[0] < found.brier < found.interval[1] < 0
    assert in_words(found) == "Fixes 12, breaks 3 of 640 (p = .04): better, and unlikely to be chance."
    assert in_words(found, 0.2).endswith("(p = .2): may be chance.")


def test_comparisons_of_nothing() -> None:
    none = np.empty(0)
    found = compare(none.astype(bool), none.astype(bool), none, none, rng())
    assert (found.n, found.p_value) == (0, 1.0)
    assert math.isnan(found.brier)
    assert in_words(found).startswith("No labelled case")
    same = np.ones(5, bool)
    assert in_words(compare(same, same, np.zeros(5), np.zeros(5), rng())).startswith("No answer of 5 changed")


def test_the_paired_interval_is_scipys() -> None:
    from scipy import stats

    r = rng(4)
    a, b = r.random(200), r.random(200)
    found = compare(a < 0.3, b < 0.3, a, b, r, draws=4000)
    other = stats.bootstrap((b - a,), np.mean, n_resamples=4000, method="percentile", rng=rng(5)).confidence_interval
    assert found.interval == pytest.approx((other.low, other.high), abs=0.01)


@pytest.mark.parametrize(
    ("p", "text"), [(0.0352, "p = .04"), (0.4, "p = .4"), (0.00012, "p < .001"), (0.0042, "p = .004"), (1, "p = 1")]
)
def test_p_values_in_words(p: float, text: str) -> None:
    assert p_text(p) == text


@pytest.mark.parametrize("k", [2, 5, 255])
def test_the_distance(k: int) -> None:
    a, b = rng(k).integers(0, 50, k), rng(k + 1).integers(0, 50, k)
    assert drift.distance(a, b) == pytest.approx(jensenshannon(a, b, base=2))
    assert drift.distance(a, 3 * a) == pytest.approx(0, abs=1e-7)
    assert math.isnan(drift.distance(a, np.zeros(k)))


def test_nothing_in_common_is_as_far_as_it_goes() -> None:
    assert drift.distance(np.array([5, 0]), np.array([0, 9])) == pytest.approx(1)
    assert drift.permutation(np.empty(0, int), np.zeros(3, int), 2, rng()) == 1


def test_a_permutation_p_value_is_fisher_like() -> None:
    """Two options: the distance orders tables as a two-sided exact test does (checked by full enumeration)."""
    from scipy.stats import hypergeom

    before, after = np.repeat([0, 1], [30, 10]), np.repeat([0, 1], [12, 14])
    seen = drift.distance(np.bincount(before), np.bincount(after))
    ways = hypergeom(66, 42, 26)
    splits = [(np.array([42 - x, x - 2]), np.array([x, 26 - x])) for x in range(2, 27)]
    exact = sum(ways.pmf(b[0]) for a, b in splits if drift.distance(a, b) >= seen - 1e-12)
    assert drift.permutation(before, after, 2, rng(), draws=9999) == pytest.approx(exact, abs=0.01)


DAY = 86400.0


def _weeks(shift: float) -> list[drift.Period]:
    r = rng(1)
    times = np.repeat(np.arange(4) * 7 * DAY, 200) + r.uniform(0, 7 * DAY, 800)
    lead = (r.random(800) < np.where(np.arange(800) >= 600, 0.3 + shift, 0.3)).astype(int)
    top = r.uniform(0.6, 0.99, 800)
    audited = r.random(800) < 0.2
    return drift.periods(
        times, lead, top, ("billing", "security"), r, seconds=7 * DAY, audited=audited, right=r.random(800) < 0.8
    )


def test_a_jump_raises_an_alarm_that_says_what_moved() -> None:
    weeks = _weeks(0.3)
    assert [w.alarm is None for w in weeks] == [True, True, True, False]
    assert weeks[3].alarm is not None
    assert " rose from 3" in weeks[3].alarm or " fell from 7" in weeks[3].alarm
    assert (weeks[0].option_p, weeks[0].n) == (None, 200)
    assert math.isnan(weeks[0].distance)


def test_without_a_jump_there_is_none() -> None:
    weeks = _weeks(0.0)
    assert [w.alarm for w in weeks] == [None] * 4
    assert sum(w.n for w in weeks) == 800
    for w in weeks:
        assert sum(w.shares) == pytest.approx(1)
        assert w.interval[0] <= w.right / w.audited <= w.interval[1]


def test_few_answers_are_shown_not_tested() -> None:
    r = rng()
    weeks = drift.periods(
        np.array([0.0, 8 * DAY]), np.array([0, 1]), np.array([0.9, 0.8]), ("a", "b"), r,
        seconds=7 * DAY, audited=np.zeros(2, bool), right=np.zeros(2, bool),
    )  # fmt: skip
    assert [(w.n, w.option_p, w.alarm, w.audited) for w in weeks] == [(1, None, None, 0)] * 2
    empty = np.empty(0)
    assert drift.periods(empty, empty.astype(int), empty, ("a",), r, seconds=DAY, audited=empty, right=empty) == []


def test_slices_find_where_errors_are_and_nothing_else() -> None:
    r = rng(3)
    texts = [f"refund of order {'invoice' if i % 4 == 0 else 'parcel'} please" for i in range(400)]
    invoice = np.arange(400) % 4 == 0
    wrong = r.random(400) < np.where(invoice, 0.5, 0.1)
    masks = slices.word_masks(texts)
    assert set(masks) == {"“invoice” in the state", "“parcel” in the state"}
    (found, mirror) = slices.find(masks, wrong)
    assert {found.name, mirror.name} == set(masks)
    assert found.q < 1e-6
    assert slices.find(masks, r.random(400) < 0.2) == []


def test_false_discoveries_are_few() -> None:
    r = rng(11)
    hits = 0
    for _ in range(40):
        masks = {f"field = {i}": r.random(300) < 0.3 for i in range(20)}
        hits += bool(slices.find(masks, r.random(300) < 0.2))
    # At a level of 5 %, more than 6 of 40 have a chance of 1 %.
    assert hits <= 6


def test_slices_by_length_and_field() -> None:
    lengths = slices.length_masks(list(range(100)))
    assert sorted(int(m.sum()) for m in lengths.values()) == [25, 25]
    assert slices.length_masks([]) == {}
    states = [{"channel": "mail" if i % 2 else "chat", "body": "x" * 100, "n": i} for i in range(60)]
    assert set(slices.field_masks(states)) == {"channel = mail", "channel = chat"}
    assert slices.field_masks(["text"] * 40) == {}


@pytest.mark.parametrize(
    ("n", "verdict", "words", "missing"),
    [
        (0, None, "not calibrated yet", 50),
        (12, None, "not calibrated yet", 38),
        (49, "too_sure", "not calibrated yet", 1),
        (143, "in_band", "provisional", 0),
        (143, "too_sure", "promises too much", 0),
        (640, "too_sure", "promises too much", 0),
        (640, "not_sure_enough", "promises too little", 0),
        (200, "in_band", "calibrated", 0),
    ],
)
def test_badges(n: int, verdict: str | None, words: str, missing: int) -> None:
    found = badge(n, n, verdict)  # type: ignore[arg-type]
    assert (found.words, found.n, found.missing) == (words, n, missing)


def test_a_badge_counts_by_weight() -> None:
    assert badge(300, 49.5, "in_band").kind == "none"
