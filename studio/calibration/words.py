"""What a reliability says, in one sentence: for the title of the plot, the report, and people who see no plot.

Contract
--------
Sentences are made of the table's rows and the band's verdict, never of single points. Whole percents; the figures in
the sentence are those of the row in which most labels disagree with what was said.
"""

from __future__ import annotations

from studio.calibration import needs
from studio.calibration.reliability import Reliability, Row, Verdict

_BAD: dict[Verdict, str] = {"too_sure": "Too sure", "not_sure_enough": "Not sure enough"}
_BAD_PART: dict[Verdict, str] = {"too_sure": "Says too much", "not_sure_enough": "Says too little"}
"""Of one option or level: nobody is sure of it, it is only given more or less than it should be."""


def percent(p: float) -> str:
    """ "85", "0.4", ">99.9": percents without a unit; one decimal under 1 and over 99, no 0 or 100 that is none."""
    value = 100 * p
    if 0 < value < 0.05:
        return "<0.1"
    if 99.95 <= value < 100:
        return ">99.9"
    return f"{value:.1f}" if (0 < value < 1) or (99 < value < 100) else f"{value:.0f}"


def place(row: Row, rows: tuple[Row, ...]) -> str:
    """ "above 85 %", "below 40 %", "at 65–75 %"."""
    if len(rows) == 1:
        return "throughout"
    if row is rows[-1]:
        return f"above {percent(row.low)} %"
    if row is rows[0]:
        return f"below {percent(row.high)} %"
    return f"at {percent(row.low)}–{percent(row.high)} %"


def title(found: Reliability, *, n: int, effective: float, view: str = "top") -> str:
    """One sentence for a view of `n` labels: "Too sure above 85 %: says 90, is right 77"."""
    missing = needs.missing("curve", effective)
    if n == 0:
        return "Nobody has judged an answer yet"
    if missing:
        return f"Too few labels for a curve: {missing} more"
    was, bad = ("is right", _BAD) if view == "top" else ("is so", _BAD_PART)
    for verdict, words in bad.items():
        rows = [row for row in found.rows if row.verdict == verdict]
        if rows and found.verdict in (verdict, "in_band"):
            worst = max(rows, key=lambda row: row.n * abs(row.said - row.rate))
            return f"{words} {_range(rows, found.rows)}: says {percent(worst.said)}, {was} {percent(worst.rate)}"
    if found.verdict != "in_band":
        low, high = found.outside[0]
        where = f"at {percent(low)} %" if percent(low) == percent(high) else f"at {percent(low)}–{percent(high)} %"
        return f"{bad[found.verdict]} {where}: outside what chance allows"
    if needs.missing("calibrated", effective):
        return f"Within what chance allows, so far: {n:,} labels"
    return "As good as its word"


def row_words(row: Row, view: str = "top") -> str:
    """ "in band", "too sure", "not sure enough", "few labels"; of an option: "says too much", "says too little"."""
    if row.verdict is None:
        return "few labels"
    if row.verdict == "in_band":
        return "in band"
    return (_BAD if view == "top" else _BAD_PART)[row.verdict].lower()


def _range(bad: list[Row], rows: tuple[Row, ...]) -> str:
    """Where the bad rows are, if they are neighbours; else where the worst of them is."""
    at = [rows.index(row) for row in bad]
    if len(bad) == len(rows) and len(rows) > 1:
        return "throughout"
    if at[-1] - at[0] + 1 == len(at) and len(at) > 1:
        if at[-1] == len(rows) - 1:
            return f"above {percent(bad[0].low)} %"
        if at[0] == 0:
            return f"below {percent(bad[-1].high)} %"
        return f"at {percent(bad[0].low)}–{percent(bad[-1].high)} %"
    return place(max(bad, key=lambda row: row.n * abs(row.said - row.rate)), rows)
