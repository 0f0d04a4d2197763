"""sysone (0.5): encoders and decoders with a decision head. Two flavours: hard labels, and soft ones.

Contract
--------
* Hard: `expected` holds a boolean, an option id or a level. Soft: `gold` holds shares of every labelled question (1 for
  an agreed one). A question stands in one of the two, never in both.
* Shares are wrapped in `{"probabilities": ...}`: sysone looks for that key first, and an option may have that name.
* Every question needs instructions; a choice needs two options whose names are not blank, a score two levels.
* Text only. The category of a row is the stream it was sampled by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from model.questions import Json, Questions
from storage.datasets import rules
from storage.datasets.example import Example, from_meta, labels_of, meta_of, soft_of
from storage.datasets.lines import LineFormat, Row, hard_labels

WRAP = "probabilities"


class Sysone(LineFormat):
    """See the module's contract."""

    name = "sysone"
    title = "sysone"
    about = "JSONL with agreed labels for sysone. Text only: rows with pictures stay out."

    def row(self, example: Example, questions: Row, images: Sequence[str]) -> Row:
        """See `LineFormat`."""
        row = self._base(example, questions)
        return {**row, "expected": hard_labels(example), "meta": meta_of(example)}

    def _base(self, example: Example, questions: Row) -> Row:
        row: Row = {"id": example.id, "state": example.state, "questions": questions}
        return {**row, "category": example.stream} if example.stream else row

    def problems(self, row: Json) -> list[str]:
        """See `LineFormat`."""
        found = rules.questions_of(row, rule=_RULE)
        if not isinstance(row, dict):
            return found
        expected, gold = row.get("expected") or {}, row.get("gold") or {}
        if not expected and not gold:
            found.append("expected: no question is labelled")
        if isinstance(expected, Mapping) and isinstance(gold, Mapping):
            found += [f"gold.{key}: has a label in `expected` too; give one" for key in set(expected) & set(gold)]
        if expected:
            found += rules.labels(row, "expected")
        if gold:
            found += rules.soft(row, "gold", unwrap=WRAP)
        return found

    def example(self, row: Row, id: str, questions: Questions, pictures: Callable[[Json], tuple[str, ...]]) -> Example:
        """See `LineFormat`."""
        gold = row.get("gold") or {}
        if not isinstance(gold, Mapping):
            raise ValueError("gold must be an object that maps questions to shares")
        soft = soft_of(questions, {k: v.get(WRAP, v) if isinstance(v, Mapping) else v for k, v in gold.items()})
        labels = labels_of(questions, row.get("expected"))
        # Shares that are all on one option are an agreed label.
        for key, shares in list(soft.items()):
            sure = [option for option, share in shares.items() if share == 1.0]
            if sure:
                labels[key] = sure[0]
                del soft[key]
        return Example(
            id=id, state=row["state"], questions=questions, labels=labels, soft=soft, **from_meta(row.get("meta"))
        )


class SysoneSoft(Sysone):
    """See the module's contract."""

    name = "sysone-soft"
    title = "sysone (soft)"
    about = "JSONL with shares instead of single answers for sysone. Text only: rows with pictures stay out."
    soft = True

    def row(self, example: Example, questions: Row, images: Sequence[str]) -> Row:
        """See `LineFormat`."""
        row = self._base(example, questions)
        shares = {key: {option: 1.0} for key, option in example.labels.items()} | {
            key: dict(held) for key, held in example.soft.items()
        }
        gold = {key: {WRAP: shares[key]} for key in example.questions if key in shares}
        return {**row, "gold": gold, "meta": meta_of(example)}


def _names(key: str, question: Mapping[str, Json]) -> list[str]:
    criteria = question.get("criteria")
    if question["type"] == "choice" and isinstance(criteria, Mapping) and not all(name.strip() for name in criteria):
        return [f"questions.{key}.criteria: an option's name is blank"]
    return []


_RULE = rules.both(rules.criteria(2), rules.instructions, _names)
SYSONE = Sysone()
SYSONE_SOFT = SysoneSoft()
