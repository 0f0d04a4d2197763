"""clef-finetune (0.1): LoRA for Clef. JSONL with pictures as files beside it.

Contract
--------
Labels are booleans, option ids and levels from 0; some questions of a row may be unlabelled. Every choice needs two
options and every score two levels. Pictures are paths relative to the file. Hard labels only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from model.questions import Json, Questions
from storage.datasets import rules
from storage.datasets.example import Example, from_meta, labels_of, meta_of
from storage.datasets.lines import LineFormat, Row, hard_labels


class ClefFinetune(LineFormat):
    """See the module's contract."""

    name = "clef-finetune"
    title = "clef-finetune"
    about = "JSONL and an images folder for clef-finetune (LoRA for Clef and Clef-flash). Agreed labels only."
    pictures = 4

    def row(self, example: Example, questions: Row, images: Sequence[str]) -> Row:
        """See `LineFormat`."""
        row: Row = {"id": example.id, "state": example.state, "questions": questions}
        if images:
            row["images"] = list(images)
        return {**row, "labels": hard_labels(example), "meta": meta_of(example)}

    def problems(self, row: Json) -> list[str]:
        """See `LineFormat`."""
        found = rules.questions_of(row, rule=rules.criteria(2), extra=("labels",))
        if not isinstance(row, dict):
            return found
        images = row.get("images")
        if images is not None and not (isinstance(images, list) and all(isinstance(i, str) for i in images)):
            found.append("images: must be a list of file paths")
        if row.get("labels") == {}:
            found.append("labels: no question is labelled")
        return found + rules.labels(row, "labels")

    def example(self, row: Row, id: str, questions: Questions, pictures: Callable[[Json], tuple[str, ...]]) -> Example:
        """See `LineFormat`."""
        return Example(
            id=id,
            state=row["state"],
            questions=questions,
            labels=labels_of(questions, row.get("labels")),
            pictures=pictures(row.get("images")),
            **from_meta(row.get("meta")),
        )


CLEF_FINETUNE = ClefFinetune()
