"""Public classification sets in long form (`text,label`) as a schema with one choice question.

Contract
--------
Label names become options, in the order of their first appearance, with the descriptions that a person gives them.
Labels that are numbers stay what they are. A column is the label if its name says so, else the one with few different
values. Nothing is guessed silently: the columns taken are returned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from model.questions import CLEF_LIMITS, Questions, parse_questions
from storage.errors import InvalidValue
from storage.tabular import Table, TableRow

LABEL_NAMES = (
    "label",
    "labels",
    "class",
    "category",
    "target",
    "intent",
    "sentiment",
    "topic",
    "truth",
    "answer",
    "gold",
)
TEXT_NAMES = ("text", "sentence", "message", "utterance", "content", "body", "review", "title", "state")
QUESTION = "label"
ASKED = "Which label fits?"


@dataclass(frozen=True)
class LongForm:
    """The schema and the columns that it was made of. `counts` are rows per option."""

    questions: Questions
    text: str
    label: str
    counts: Counter[str]


def long_form(
    table: Table,
    *,
    text: str | None = None,
    label: str | None = None,
    asked: str = "",
    described: Mapping[str, str] | None = None,
) -> LongForm:
    """A schema of one choice question from a table. Raises InvalidValue, naming the column that is missing.

    `described` maps labels to what they mean; others have no description.
    """
    values: dict[str, Counter[str]] = {name: Counter() for name in table.columns}
    length: Counter[str] = Counter()
    rows = 0
    for row in table.rows():
        if not isinstance(row, TableRow):
            continue
        rows += 1
        for name, cell in row.cells.items():
            if cell in (None, "") or name not in values:
                continue
            shown = name_of(cell)
            length[name] += len(shown)
            # A column with more values than a choice may have options is no label.
            if len(values[name]) <= CLEF_LIMITS.options:
                values[name][shown] += 1
    label = label or _label(values, rows)
    text = text or _text(table, length, label)
    if label is None or label not in values:
        raise InvalidValue("label", f"say which column holds the label; the file has {', '.join(table.columns[:20])}")
    if text is None or text not in values:
        raise InvalidValue("text", f"say which column holds the text; the file has {', '.join(table.columns[:20])}")
    counts = values[label]
    if not 2 <= len(counts) <= CLEF_LIMITS.options:
        few = str(len(counts)) if len(counts) <= CLEF_LIMITS.options else f"more than {CLEF_LIMITS.options}"
        raise InvalidValue(
            "label", f"column {label!r} has {few} different values; a choice has 2 to {CLEF_LIMITS.options}"
        )
    about = {name: (described or {}).get(name, "").strip() or None for name in counts}
    question = {"type": "choice", "instructions": asked.strip() or ASKED, "criteria": about}
    return LongForm(parse_questions({QUESTION: question}), text, label, counts)


def name_of(cell: object) -> str:
    """A label's name as an option id."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip() or str(cell)


def _label(values: dict[str, Counter[str]], rows: int) -> str | None:
    named = [name for name in values if name.casefold() in LABEL_NAMES]
    if named:
        return named[0]
    few = [name for name, counts in values.items() if 2 <= len(counts) <= min(CLEF_LIMITS.options, max(2, rows // 3))]
    return few[0] if len(few) == 1 else None


def _text(table: Table, length: Counter[str], label: str | None) -> str | None:
    rest = [name for name in table.columns if name != label]
    named = [name for name in rest if name.casefold() in TEXT_NAMES]
    return named[0] if named else max(rest, key=lambda name: length[name], default=None)
