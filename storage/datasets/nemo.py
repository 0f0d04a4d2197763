"""NeMo AutoModel's decision records: heads and LoRA of Clef, CLM and D1, then RL on rewards. Text only.

Contract
--------
* `answers` are text: "true" / "false", option ids, levels "0".."n-1". Ids are texts that differ and are not empty.
* `soft_labels` carry shares. `rewards` give every option of a labelled question its worth: the share of the options
  that it gets right; on a score a near miss earns 1 - |i - j| / (n - 1).
* `meta.group` keeps rows together in NeMo's own split.
* A record with pictures, or with a state field `image`, is not read as text: it is left out.

Not run here: the records' reader is in no released wheel. The rules are those of its documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from model.questions import Json, Questions
from storage.datasets import rules
from storage.datasets.example import Example, from_meta, labels_of, meta_of, soft_of
from storage.datasets.lines import LineFormat, Row


class Nemo(LineFormat):
    """See the module's contract."""

    name = "nemo"
    title = "NeMo AutoModel"
    about = "Decision records for NeMo AutoModel, with rewards and soft labels. Text only: rows with pictures stay out."
    soft = True
    unique_ids = True

    def row(self, example: Example, questions: Row, images: Sequence[str]) -> Row:
        """See `LineFormat`."""
        row: Row = {"id": example.id, "state": example.state, "questions": questions, "answers": dict(example.labels)}
        row["rewards"] = {
            key: rewards(example.questions, key, example.soft.get(key) or {example.labels[key]: 1.0})
            for key in example.questions
            if key in example.soft or key in example.labels
        }
        if example.soft:
            row["soft_labels"] = {key: dict(shares) for key, shares in example.soft.items()}
        return {**row, "meta": meta_of(example)}

    def problems(self, row: Json) -> list[str]:
        """See `LineFormat`."""
        found = rules.questions_of(row, rule=rules.criteria(1), extra=("id", "answers"))
        if not isinstance(row, dict):
            return found
        if not isinstance(row.get("id"), str) or not row["id"]:
            found.append("id: must be text that is not empty")
        state = row.get("state")
        if row.get("images") or row.get("videos") or (isinstance(state, Mapping) and state.get("image")):
            found.append("state: holds media (a field `image`); NeMo does not read such a record as text")
        answers = row.get("answers")
        questions = row.get("questions")
        if answers == {}:
            found.append("answers: no question of it has one agreed answer")
        if isinstance(answers, Mapping) and isinstance(questions, Mapping):
            for key, value in answers.items():
                question = questions.get(key)
                if not isinstance(question, Mapping) or value not in rules.option_names(question):
                    found.append(f"answers.{key}: {value!r} is not an option id (as text)")
        else:
            found.append("answers: must be an object that maps questions to option ids")
        for field in ("rewards", "soft_labels"):
            if row.get(field) is not None:
                found += rules.soft(row, field)
        return found

    def example(self, row: Row, id: str, questions: Questions, pictures: Callable[[Json], tuple[str, ...]]) -> Example:
        """See `LineFormat`."""
        return Example(
            id=id,
            state=row["state"],
            questions=questions,
            labels=labels_of(questions, row.get("answers")),
            soft=soft_of(questions, row.get("soft_labels")),
            **from_meta(row.get("meta")),
        )


def rewards(questions: Questions, key: str, shares: Mapping[str, float]) -> dict[str, float]:
    """What each option of a question is worth, in [0, 1], when `shares` of people hold each option for true."""
    options = questions[key].option_ids()
    span = len(options) - 1

    def close(a: str, b: str) -> float:
        if questions[key].type != "score" or span == 0:
            return float(a == b)
        return 1 - abs(int(a) - int(b)) / span

    return {option: sum(share * close(option, held) for held, share in shares.items()) for option in options}


NEMO = Nemo()
