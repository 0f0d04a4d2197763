"""Weights repair the queue: with a known truth the weighted estimates are unbiased, and the raw ones are not."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import numpy as np
import pytest

from storage.queue import next_stream
from studio.calibration import sampling

SEED = 20261130
"""The date of this test's first commit."""
REPEATS = 400


@dataclass
class World:
    """Answers to a yes/no question, of which the last third arrives half way; `right` is what people would say."""

    p: np.ndarray
    right: np.ndarray
    x: np.ndarray
    u: np.ndarray
    v: np.ndarray
    since: np.ndarray


TRUTH = 0.5 + 0.5 * 2.2 / 3.2 - 0.05
"""The mean of the top probability below, less what the model is too sure by."""


def world(rng: np.random.Generator, n: int = 1500) -> World:
    p = 0.5 + 0.5 * rng.beta(2.2, 1.0, n)
    right = (rng.random(n) < p - 0.05).astype(float)
    x = sampling.target(sampling.doubt(np.column_stack([p, 1 - p]), measure="margin"))
    return World(p, right, x, rng.random(n), rng.random(n), np.zeros(n, dtype=int))


@dataclass
class Served:
    """Who was reached by which stream, and how far each stream was after each serving."""

    queue: np.ndarray
    audit: np.ndarray
    steps: dict[str, list[int]]
    served: dict[str, list[float]]
    following: dict[str, list[float]]


def serve(w: World, shown: int, share: float, *, late: int = 500) -> Served:
    """Shows `shown` answers one after the other, as the storage does; the last `late` arrive half way."""
    n = len(w.p)
    keys = {"queue": (w.u / w.x).tolist(), "audit": w.v.tolist()}
    heaps = {s: [(k, i) for i, k in enumerate(ks[: n - late])] for s, ks in keys.items()}
    for heap in heaps.values():
        heapq.heapify(heap)
    reached = {"queue": np.zeros(n, bool), "audit": np.zeros(n, bool)}
    seen: set[int] = set()
    counts = {"queue": 0, "audit": 0}
    steps: dict[str, list[int]] = {"queue": [], "audit": []}
    last: dict[str, list[float]] = {"queue": [], "audit": []}
    following: dict[str, list[float]] = {"queue": [], "audit": []}
    for step in range(1, shown + 1):
        before = len(seen)
        while len(seen) == before:
            # What the other stream has shown already costs nobody time, but counts as reached by this one.
            stream = next_stream(counts["queue"], counts["audit"], share)
            if not heaps[stream]:
                break
            key, i = heapq.heappop(heaps[stream])
            reached[stream][i] = True
            counts[stream] += 1
            seen.add(i)
            steps[stream].append(step)
            last[stream].append(key)
            following[stream].append(heaps[stream][0][0] if heaps[stream] else math.inf)
        if step == shown // 2:
            w.since[n - late :] = step
            for s, other in heaps.items():
                for i in range(n - late, n):
                    heapq.heappush(other, (keys[s][i], i))
    return Served(reached["queue"], reached["audit"], steps, last, following)


def inclusions(w: World, served: Served) -> np.ndarray:
    reach = [
        sampling.frontier(served.steps[s], served.served[s], served.following[s], w.since, reached)
        for s, reached in (("queue", served.queue), ("audit", served.audit))
    ]
    return sampling.union(sampling.inclusion(w.x, reach[0]), sampling.inclusion(np.ones_like(w.x), reach[1]))


@pytest.fixture(scope="module")
def runs() -> dict[str, list[sampling.Estimate]]:
    """Each way to estimate the accuracy, in every repeat."""
    rng = np.random.default_rng(SEED)
    found: dict[str, list[sampling.Estimate]] = {"weighted": [], "raw": [], "audit": [], "with volunteers": []}
    for _ in range(REPEATS):
        w = world(rng)
        served = serve(w, 300, 0.2)
        # A tenth of what was shown is skipped or expires, whatever the truth.
        answered = rng.random(len(w.p)) > 0.1
        sampled = (served.queue | served.audit) & answered
        pi = inclusions(w, served)
        found["weighted"].append(sampling.share(w.right[sampled], sampling.weights(pi[sampled])))
        found["raw"].append(sampling.share(w.right[sampled]))
        found["audit"].append(sampling.share(w.right[served.audit & answered]))
        # People volunteer what is wrong far more often than what is right.
        volunteered = rng.random(len(w.p)) < np.where(w.right > 0, 0.05, 0.6)
        found["with volunteers"].append(sampling.share(w.right[sampled | volunteered]))
    return found


def coverage(estimates: list[sampling.Estimate]) -> float:
    return float(np.mean([e.low <= TRUTH <= e.high for e in estimates]))


def bias(estimates: list[sampling.Estimate]) -> tuple[float, float]:
    """The mean error and its standard error."""
    errors = np.array([e.value for e in estimates]) - TRUTH
    return float(errors.mean()), float(errors.std(ddof=1) / math.sqrt(len(errors)))


@pytest.mark.parametrize("way", ["weighted", "audit"])
def test_sound_estimates_hold_the_truth(runs: dict[str, list[sampling.Estimate]], way: str) -> None:
    assert coverage(runs[way]) >= 0.92
    mean, error = bias(runs[way])
    assert abs(mean) <= 3 * error + 0.003


@pytest.mark.parametrize("way", ["raw", "with volunteers"])
def test_raw_estimates_fail_the_same_test(runs: dict[str, list[sampling.Estimate]], way: str) -> None:
    assert coverage(runs[way]) < 0.5
    assert bias(runs[way])[0] < -0.03


def test_the_queue_makes_the_audit_better(runs: dict[str, list[sampling.Estimate]]) -> None:
    """Five times the labels must buy a narrower interval, or nobody should label the queue for calibration."""
    width = {way: np.mean([e.high - e.low for e in runs[way]]) for way in ("weighted", "audit")}
    assert width["weighted"] < 0.8 * width["audit"]


def test_inclusions_are_those_that_occur() -> None:
    """How often each answer is reached is what `inclusion` says, for early and late arrivals."""
    rng = np.random.default_rng(SEED)
    base = world(rng, 60)
    hits, said = np.zeros(60), np.zeros(60)
    repeats = 3000
    for _ in range(repeats):
        w = World(base.p, base.right, base.x, rng.random(60), rng.random(60), np.zeros(60, dtype=int))
        served = serve(w, 20, 0.2, late=20)
        reached = served.queue | served.audit
        hits += reached
        # Weights sum to the number of answers where inclusions are right.
        said += np.where(reached, 1 / np.maximum(inclusions(w, served), 1e-9), 0.0)
    early, late = slice(0, 40), slice(40, 60)
    for part in (early, late):
        assert said[part].sum() / repeats == pytest.approx(said[part].size, rel=0.03)
    assert hits.min() > 0


@pytest.mark.parametrize(
    ("measure", "ordered", "row", "expected"),
    [
        ("margin", False, [0.7, 0.2, 0.1], 0.5),
        ("margin", False, [0.5, 0.5], 1.0),
        ("entropy", False, [0.25, 0.25, 0.25, 0.25], 1.0),
        ("entropy", False, [1.0, 0.0], 0.0),
        ("cost", False, [0.5, 0.5], 1.0),
        ("cost", False, [0.7, 0.2, 0.1], 0.45),
        # A score that is torn between the ends costs more than one torn between neighbours.
        ("cost", True, [0.6, 0.0, 0.4], 0.4),
        ("cost", True, [0.6, 0.4, 0.0], 0.2),
    ],
)
def test_doubt(measure: sampling.Measure, ordered: bool, row: list[float], expected: float) -> None:
    assert sampling.doubt([row], measure=measure, ordered=ordered)[0] == pytest.approx(expected)


def test_one_option_leaves_no_doubt_and_an_unknown_measure_is_named() -> None:
    assert sampling.doubt([[1.0], [1.0]], measure="entropy").tolist() == [0, 0]
    with pytest.raises(ValueError, match=r"measure: 'guess'.*margin, entropy, cost"):
        sampling.doubt([[0.5, 0.5]], measure="guess")  # type: ignore[arg-type]


def test_frontier_is_the_furthest_since_arrival() -> None:
    steps, served, following = [2, 5, 9], [0.3, 0.05, 0.6], [0.4, 0.1, math.inf]
    since = [0, 2, 5, 9]
    reached = sampling.frontier(steps, served, following, since, [True] * 4)
    assert reached.tolist() == [math.inf, math.inf, math.inf, 0]
    assert sampling.frontier(steps, served, following, since, [False] * 4).tolist() == [0.6, 0.6, 0.6, 0]
    assert sampling.frontier(steps[:2], served[:2], following[:2], [0, 2], [True, False]).tolist() == [0.4, 0.05]
    assert sampling.frontier([], [], [], [0], [False]).tolist() == [0]


def test_weights_are_clipped_and_refuse_what_cannot_have_been_sampled() -> None:
    assert sampling.weights([0.5, 0.25]).tolist() == pytest.approx([2 / 3, 4 / 3])
    w = sampling.weights([1.0] * 99 + [1e-4])
    assert w[-1] / w[0] == pytest.approx(20 * (99 + 1e4) / 100)
    assert sampling.effective_n(np.ones(7)) == 7
    with pytest.raises(ValueError, match="not sampled"):
        sampling.weights([0.5, 0.0])


def test_nothing_is_estimated_from_nothing() -> None:
    none = sampling.share([])
    assert math.isnan(none.value)
    assert none.n == 0
    spotless = sampling.share([1.0] * 20)
    assert spotless.value == 1
    assert 0.8 < spotless.low < 0.9
    assert spotless.high == 1
