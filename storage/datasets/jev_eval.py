"""jev-eval (1.2): measures a decision server on labelled rows. It trains nothing.

Contract
--------
* Rows hold state, labels and meta; the questions stand in `questions.json` beside them.
* A score's label is the *text* of its level, as it stands in the questions: jev-eval looks it up there. (Its loader
  takes a number too, and then refuses to measure it.) So the levels of a score must differ.
* Text only: rows with pictures are left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from model.questions import Json, Questions, parse_questions, questions_json
from storage.datasets.example import Example, LabelError, as_object, from_meta, meta_of, option_of
from storage.datasets.formats import BadRow, Pictures, Plan, Refused, Writer
from storage.datasets.lines import LineFile, Row
from storage.datasets.schema_folders import check_cases, read_cases, schema_folder
from storage.schemas import ANY_SIZE

CONFIG = "questions.json"


class JevEval:
    """See the module's contract."""

    name = "jev-eval"
    title = "jev-eval"
    about = "Rows and a questions file for jev-eval (measuring, not training). Text only: rows with pictures stay out."
    trains = False

    def writer(self, folder: Path, plan: Plan, pictures: Pictures) -> Writer:
        """See `Format`."""
        return _Writer(folder, plan)

    def check(self, folder: Path) -> list[str]:
        """See `Format`."""
        return list(check_cases(folder, CONFIG, lambda row, config, _: _problems(row, config.get("questions"))))

    def read(self, folder: Path, pictures: Pictures, bad: Callable[[BadRow], None]) -> Iterator[tuple[str, Example]]:
        """See `Format`. A score's label may also be a level's number."""
        return read_cases(folder, CONFIG, _questions, _example, bad)


class _Writer:
    def __init__(self, folder: Path, plan: Plan) -> None:
        self._folder = folder
        self._plan = plan
        self._files: dict[tuple[int, str], LineFile] = {}
        self._questions = [questions_json(questions) for questions in plan.schemas]

    def add(self, split: str, example: Example) -> None:
        if example.pictures:
            raise Refused("jev-eval takes no pictures")
        number = self._plan.number(example.questions)
        meta = {"id": example.id, **meta_of(example)}
        labels = {key: _gold(example.questions, key, option) for key, option in example.labels.items()}
        row: Row = {"state": example.state, "labels": labels, "meta": meta}
        if not labels:
            raise Refused("no question of it has one agreed answer")
        if problems := _problems(row, self._questions[number]):
            raise Refused(problems[0])
        if (number, split) not in self._files:
            path = schema_folder(self._folder, self._plan, number) / f"{split}.jsonl"
            self._files[number, split] = LineFile(path)
        self._files[number, split].add(row)

    def close(self) -> None:
        for file in self._files.values():
            file.close()
        for number, questions in enumerate(self._questions):
            path = schema_folder(self._folder, self._plan, number) / CONFIG
            path.write_text(json.dumps({"questions": questions}, indent=1) + "\n", encoding="ascii")


def _gold(questions: Questions, key: str, option: str) -> Json:
    question = questions[key]
    if question.type == "score":
        return question.criteria[int(option)]
    return option == "true" if question.type == "noul" else option


def _problems(row: Json, questions: Json) -> list[str]:
    """Rules of jev-eval that a row breaks: labels must be found among the question's own."""
    if not isinstance(row, dict) or "state" not in row or not isinstance(row.get("labels"), dict):
        return ["must be an object with a state and labels"]
    if row.get("meta") is not None and not isinstance(row["meta"], dict):
        return ["meta: must be an object"]
    found = []
    for key, gold in row["labels"].items():
        question = questions.get(key)
        if question is None:
            continue
        criteria = question.get("criteria")
        if question["type"] == "noul":
            if not isinstance(gold, bool):
                found.append(f"labels.{key}: must be true or false")
        elif gold not in criteria:
            found.append(f"labels.{key}: {gold!r} is not among the question's criteria")
        elif question["type"] == "score" and criteria.count(gold) > 1:
            found.append(f"labels.{key}: two levels say the same, so jev-eval cannot tell them apart")
    return found


def _questions(config: dict[str, Json]) -> Questions:
    """The questions of a config. Raises QuestionsError."""
    return parse_questions(config.get("questions"), limits=ANY_SIZE)


def _example(row: Json, id: str, questions: Questions) -> Example:
    if not isinstance(row, dict) or "state" not in row:
        raise ValueError("must be an object with a state")
    meta = as_object(row.get("meta"))
    raw = row.get("labels")
    if not isinstance(raw, dict):
        raise LabelError("labels must be an object that maps questions to answers")
    labels = {}
    for key, value in raw.items():
        question = questions.get(key)
        if question is not None and question.type == "score" and value in question.criteria:
            value = question.criteria.index(value)
        labels[key] = option_of(questions, key, value)
    given = meta.get("id")
    key = given if isinstance(given, str) and given else id
    return Example(id=key, state=row["state"], questions=questions, labels=labels, **from_meta(meta))


JEV_EVAL = JevEval()
