"""dmtune (0.1): fine-tunes several open decision models, one with a picture. Hard labels and soft targets.

Contract
--------
* The picture stands in the state, as the field `image`: a path relative to the file. At most one. A state that is not
  an object becomes `{"text": ...}` then, and the row's `meta.state` says so, to undo it.
* `target` wins over `expected` where a question has both. Rows with text where dmtune expects a file (state fields
  `image`, `video`, `audio`) would be read as paths: they are left out.
* Nouls are booleans: dmtune reads the text "false" as true. Lines that start with `#` are comments; ours never do.
* Every question needs instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from model.questions import Json, Questions
from storage.datasets import rules
from storage.datasets.example import Example, as_object, from_meta, labels_of, meta_of, soft_of
from storage.datasets.lines import LineFormat, Row, hard_labels

MEDIA = ("image", "video", "audio")


class Dmtune(LineFormat):
    """See the module's contract."""

    name = "dmtune"
    title = "dmtune"
    about = "JSONL for dmtune, with soft targets where people disagree. One picture per row."
    pictures = 1
    soft = True

    def reason(self, example: Example) -> str | None:
        """See `LineFormat`."""
        if isinstance(example.state, dict) and (taken := [name for name in MEDIA if name in example.state]):
            return f"dmtune reads the state's field {taken[0]!r} as a file; rename the field"
        return super().reason(example)

    def row(self, example: Example, questions: Row, images: Sequence[str]) -> Row:
        """See `LineFormat`."""
        state, meta = example.state, meta_of(example)
        if images:
            meta["state"] = "object" if isinstance(state, dict) else "text"
            state = {**(state if isinstance(state, dict) else {"text": state}), "image": images[0]}
        row: Row = {"id": example.id, "state": state, "questions": questions, "expected": hard_labels(example)}
        if example.soft:
            row["target"] = {key: dict(shares) for key, shares in example.soft.items()}
        return {**row, "tags": [example.stream] if example.stream else [], "meta": meta}

    def images(self, row: Row) -> list[str]:
        """See `LineFormat`."""
        state = row.get("state")
        return [state["image"]] if isinstance(state, dict) and isinstance(state.get("image"), str) else []

    def problems(self, row: Json) -> list[str]:
        """See `LineFormat`."""
        found = rules.questions_of(row, rule=rules.both(rules.criteria(1), rules.instructions))
        if not isinstance(row, dict):
            return found
        if row.get("expected") is None and row.get("target") is None:
            found.append("expected: a row needs `expected` or `target`")
        state = row.get("state")
        for name in MEDIA:
            if isinstance(state, Mapping) and name in state and not isinstance(state[name], str):
                found.append(f"state.{name}: must be a path")
        if row.get("expected") is not None:
            found += rules.labels(row, "expected")
        if row.get("target") is not None:
            found += rules.soft(row, "target")
        return found

    def example(self, row: Row, id: str, questions: Questions, pictures: Callable[[Json], tuple[str, ...]]) -> Example:
        """See `LineFormat`."""
        state, paths = row["state"], self.images(row)
        meta = as_object(row.get("meta"))
        if paths:
            state = {key: value for key, value in state.items() if key != "image"}
            state = state["text"] if meta.get("state") == "text" else state
        return Example(
            id=id,
            state=state,
            questions=questions,
            labels=labels_of(questions, row.get("expected")),
            soft=soft_of(questions, row.get("target")),
            pictures=pictures(paths),
            **from_meta(meta),
        )


DMTUNE = Dmtune()
