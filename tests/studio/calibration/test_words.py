"""Sentences about a reliability say where it fails and by how much, and nothing that the labels cannot carry."""

from __future__ import annotations

import numpy as np
import pytest

from studio.calibration import words
from studio.calibration.clusters import clusters
from studio.calibration.reliability import Band, Curve, Reliability, Row, Verdict


def row(low: float, high: float, said: float, rate: float, verdict: Verdict | None, n: int = 100) -> Row:
    return Row(low, high, said, rate, (rate - 0.05, rate + 0.05), n, round(n * rate), verdict)


def reliability(*rows: Row, verdict: Verdict = "in_band", outside: tuple[tuple[float, float], ...] = ()) -> Reliability:
    none = np.empty(0)
    return Reliability(Curve(none, none, none.astype(int)), Band(none, none, none), rows, verdict, outside)


GOOD = row(0.25, 0.65, 0.5, 0.52, "in_band")
MIDDLE = row(0.65, 0.85, 0.76, 0.75, "in_band")
SURE = row(0.85, 0.93, 0.90, 0.77, "too_sure", 156)
SUREST = row(0.93, 1.0, 0.97, 0.92, "too_sure", 159)


@pytest.mark.parametrize(
    ("found", "n", "title"),
    [
        (reliability(), 0, "Nobody has judged an answer yet"),
        (reliability(GOOD), 12, "Too few labels for a curve: 8 more"),
        (reliability(GOOD, MIDDLE), 143, "Within what chance allows, so far: 143 labels"),
        (reliability(GOOD, MIDDLE), 640, "As good as its word"),
        (
            reliability(GOOD, MIDDLE, SURE, SUREST, verdict="too_sure"), 640,
            "Too sure above 85 %: says 90, is right 77",
        ),
        (reliability(GOOD, MIDDLE, SURE, GOOD, verdict="too_sure"), 640, "Too sure at 85–93 %: says 90, is right 77"),
        (reliability(SURE, SUREST, verdict="too_sure"), 640, "Too sure throughout: says 90, is right 77"),
        (
            reliability(row(0.3, 0.5, 0.4, 0.6, "not_sure_enough"), MIDDLE, verdict="not_sure_enough"), 640,
            "Not sure enough below 50 %: says 40, is right 60",
        ),
        (
            reliability(GOOD, MIDDLE, verdict="too_sure", outside=((0.81, 0.84),)), 640,
            "Too sure at 81–84 %: outside what chance allows",
        ),
    ],
)  # fmt: skip
def test_titles(found: Reliability, n: int, title: str) -> None:
    assert words.title(found, n=n, effective=n) == title


def test_titles_of_one_option() -> None:
    found = reliability(GOOD, SURE, verdict="too_sure")
    assert (
        words.title(found, n=640, effective=640, view="option:billing") == "Says too much above 85 %: says 90, is so 77"
    )
    assert words.row_words(SURE, "option:billing") == "says too much"


@pytest.mark.parametrize(
    ("verdict", "text"),
    [(None, "few labels"), ("in_band", "in band"), ("too_sure", "too sure"), ("not_sure_enough", "not sure enough")],
)
def test_rows(verdict: Verdict | None, text: str) -> None:
    assert words.row_words(row(0.1, 0.2, 0.15, 0.15, verdict)) == text


@pytest.mark.parametrize(
    ("p", "text"),
    [(0, "0"), (0.0001, "<0.1"), (0.004, "0.4"), (0.855, "86"), (0.996, "99.6"), (0.99999, ">99.9"), (1, "100")],
)
def test_percents(p: float, text: str) -> None:
    assert words.percent(p) == text


def test_clusters_find_what_texts_have_in_common() -> None:
    usual = [f"please help with ticket {i} invoice" for i in range(200)]
    seats = [f"please change the seat on flight {i}" for i in range(12)]
    pets = [f"please may my dog travel, help {i}" for i in range(9)]
    found = clusters([*seats, *pets], usual)
    assert [len(c.members) for c in found] == [12, 9]
    assert {"seat", "flight"} <= set(found[0].words)
    assert "dog" in found[1].words
    assert "please" not in found[0].words
    assert set(found[0].members) == set(range(12))


@pytest.mark.parametrize("texts", [[], ["one"], ["", "", "", ""], ["a b", "c d", "e f", "g h"]])
def test_nothing_in_common_is_no_cluster(texts: list[str]) -> None:
    assert clusters(texts, texts) == []
