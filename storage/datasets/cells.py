"""Cells of tables for people: text that a spreadsheet would take for a formula is made harmless, and can be undone.

Contract
--------
`safe` puts an apostrophe before a text that starts (after blanks) with one of `TRIGGERS`, or with an apostrophe; a
spreadsheet then shows text. `plain` takes it away again. `plain(safe(x)) == x` for every text, and a foreign text that
merely starts with an apostrophe is left as it is.
"""

from __future__ import annotations

TRIGGERS = "=+-@|%＝＋－＠"
"""What starts a formula or a command in some spreadsheet; the wide ones are folded to the narrow ones."""


def safe(text: str) -> str:
    """The text as a cell that no spreadsheet runs."""
    return f"'{text}" if _risky(text) else text


def plain(cell: str) -> str:
    """The text of a cell that `safe` made."""
    return cell[1:] if cell.startswith("'") and _risky(cell[1:]) else cell


def _risky(text: str) -> bool:
    start = text.lstrip()
    return text[:1] in ("\t", "\r", "\n") or (start[:1] in (*TRIGGERS, "'") and start != "")
