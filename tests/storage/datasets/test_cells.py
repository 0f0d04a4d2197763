"""Cells: no text runs in a spreadsheet, and every text comes back."""

from __future__ import annotations

import pytest
from hypothesis import given

from storage.datasets.cells import plain, safe
from tests.storage.datasets.examples import TEXT

RUNS = [
    "=1+1",
    "+1",
    "-1",
    "@sum(1)",
    " =1",
    "\t=1",
    "\r=1",
    "=cmd|' /C calc'!A0",
    "|x",
    "%x",
    "＝1",
    "＠x",
    "\n=1",
    "'=1",
]


@pytest.mark.parametrize("text", RUNS)
def test_what_would_run_is_made_text(text: str) -> None:
    assert safe(text) == f"'{text}"
    assert plain(safe(text)) == text


@pytest.mark.parametrize("text", ["", "a", "3", "it's", "a=b", "'tis", "'", " ", "#x"])
def test_foreign_cells_are_left_alone(text: str) -> None:
    assert plain(text) == text


@given(text=TEXT)
def test_every_text_comes_back(text: str) -> None:
    assert plain(safe(text)) == text
    assert not safe(text).lstrip().startswith(("=", "+", "-", "@", "＝"))
