"""laya-finetune (0.1): specialises Laya for one task. A task YAML beside JSONL cases.

Contract
--------
* The questions stand in `task.yaml`: `options` of a choice, `levels` of a score (under keys of our making, from low to
  high), so a score's answer is a level's *key*.
* A case's `fields` are texts, the same for all cases of a task. States that are objects with the same plain field names
  become these fields; all others one field, `state`. `meta` says how to undo it.
* In training every question must be answered: other rows are left out. In the test split an answer may be null.
* Laya reads braces in instructions as names of fields, so a question that has them is refused where they would clash.
* Text only. Rows with the same `group` stay together in laya-finetune's own split. One folder per schema.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from string import Formatter
from typing import IO

import yaml

from model.questions import Json, Option, Question, Questions, Score, parse_questions, render
from storage.datasets.beside import read_beside
from storage.datasets.example import Example, LabelError, as_object, from_meta, meta_of
from storage.datasets.formats import BadRow, Pictures, Plan, Refused, Writer
from storage.datasets.lines import LineFile, Row, dump
from storage.datasets.schema_folders import check_cases, read_cases, schema_folder, schema_folders
from storage.errors import InvalidValue
from storage.schemas import ANY_SIZE

TASK = "task.yaml"
WHOLE = "state"
MANY_FIELDS = 40
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class LayaFinetune:
    """See the module's contract."""

    name = "laya-finetune"
    title = "laya-finetune"
    about = "A task YAML and cases for laya-finetune. Text only; every question of a training row must be labelled."
    trains = True

    def writer(self, folder: Path, plan: Plan, pictures: Pictures) -> Writer:
        """See `Format`."""
        return _Writer(folder, plan)

    def check(self, folder: Path) -> list[str]:
        """See `Format`."""
        found = []
        for inner in schema_folders(folder, TASK):
            found += _task_problems(read_beside(inner / TASK))
        return found + list(check_cases(folder, TASK, lambda row, task, split: _problems(row, task, split != "test")))

    def read(self, folder: Path, pictures: Pictures, bad: Callable[[BadRow], None]) -> Iterator[tuple[str, Example]]:
        """See `Format`. The task file must lie beside the cases."""
        return read_cases(folder, TASK, _loaded, _example, bad)


class _Writer:
    """Keeps rows aside until all are known, for only then is it known which fields they share."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self._folder = folder
        self._plan = plan
        self._tasks = [_task_questions(questions) for questions in plan.schemas]
        self._aside: dict[int, IO[str]] = {}
        self._fields: dict[int, tuple[str, ...] | None] = {}

    def add(self, split: str, example: Example) -> None:
        if example.pictures:
            raise Refused("laya-finetune takes no pictures")
        number = self._plan.number(example.questions)
        task = self._tasks[number]
        if problem := _refusal(example.questions):
            raise Refused(problem)
        if not example.labels:
            raise Refused("no question of it has one agreed answer")
        if split != "test" and len(example.labels) < len(example.questions):
            raise Refused("laya-finetune wants every question of a training row labelled")
        answers = {key: _answer(task[key], example.labels.get(key)) for key in example.questions}
        fields = _field_names(example.state, example.questions)
        if self._fields.setdefault(number, fields) != fields:
            self._fields[number] = None
        row = {"split": split, "id": example.id, "state": example.state, "answers": answers, "meta": meta_of(example)}
        if number not in self._aside:
            self._aside[number] = tempfile.TemporaryFile("w+", encoding="ascii")  # noqa: SIM115 - closed in `close`
        self._aside[number].write(dump(row) + "\n")

    def close(self) -> None:
        for number, aside in sorted(self._aside.items()):
            folder = schema_folder(self._folder, self._plan, number)
            whole = _whole_name(self._plan.schemas[number])
            names = self._fields[number] or (whole,)
            files: dict[str, LineFile] = {}
            aside.seek(0)
            for line in aside:
                row = json.loads(line)
                split = row.pop("split")
                if split not in files:
                    files[split] = LineFile(folder / f"{split}.jsonl")
                files[split].add(_case(row, names, apart=self._fields[number] is not None))
            aside.close()
            for file in files.values():
                file.close()
            task = {
                "name": re.sub(r"[^A-Za-z0-9_-]+", "-", self._plan.name).strip("-") or "task",
                "fields": {name: {"required": False} for name in names},
                "state": {name: f"{{{name}}}" for name in names},
                "questions": self._tasks[number],
                "data": {"train": "train.jsonl", "test": "test.jsonl"},
            }
            text = yaml.safe_dump(task, sort_keys=False, allow_unicode=False, width=10**9)
            (folder / TASK).write_text(text, encoding="ascii")


def _field_names(state: Json, questions: Questions) -> tuple[str, ...] | None:
    """The fields that a state can be split into; None where it must stay whole."""
    if not isinstance(state, dict) or not state or len(state) > MANY_FIELDS:
        return None
    named = {name for key in questions for name in _braces(render(questions[key].instructions))}
    fits = all(_NAME.fullmatch(name) and name not in questions and name not in named for name in state)
    return tuple(state) if fits else None


def _whole_name(questions: Questions) -> str:
    """The one field's name: not that of a question, nor one that instructions mention in braces."""
    taken = set(questions) | {name for q in questions.values() for name in _braces(render(q.instructions))}
    name = WHOLE
    while name in taken:
        name += "_"
    return name


def _braces(text: str) -> list[str]:
    return [name for _, name, _, _ in Formatter().parse(text) if name]


def _refusal(questions: Questions) -> str | None:
    """Why no row of a schema can go to laya-finetune."""
    for key, question in questions.items():
        text = render(question.instructions) if question.instructions is not None else ""
        if not text:
            return f"questions.{key}.instructions: is empty; this trainer wants every question in words"
        try:
            list(Formatter().parse(text))
        except ValueError:
            return f"questions.{key}.instructions: laya-finetune reads braces as fields, and these do not pair"
        if question.type != "noul" and len(question.criteria or ()) < 2:
            return f"questions.{key}.criteria: needs at least 2 answers"
    return None


def _task_questions(questions: Questions) -> dict[str, Row]:
    return {key: _task_question(question) for key, question in questions.items()}


def _task_question(question: Question) -> Row:
    body: Row = {"type": question.type, "instructions": render(question.instructions)}
    if question.type == "noul":
        # Only what was said: Laya has its own words for the rest.
        said = {side: render(text) for side, text in (question.criteria or {}).items() if text is not None}
        return {**body, "criteria": said} if said else body
    if isinstance(question, Score):
        levels = [render(level) for level in question.criteria]
        body["levels"] = {key: {"criteria": text} for key, text in zip(_level_keys(levels), levels, strict=True)}
        return body
    # Always an object: a bare text is fine too, but a description that is an object would be read as settings.
    body["options"] = {
        o.id: {"criteria": o.id if o.description is None else render(o.description)} for o in _listed(question)
    }
    return body


def _listed(question: Question) -> list[Option]:
    by_id = {option.id: option for option in question.options()}
    return [by_id[key] for key in question.option_ids()]


def _level_keys(levels: list[str]) -> list[str]:
    """Keys that differ: the levels' first words, or their numbers where words are not enough."""
    slugs = ["_".join(re.findall(r"[a-z0-9]+", text.lower())[:4]) for text in levels]
    readable = all(slugs) and len(set(slugs)) == len(slugs)
    return slugs if readable else [f"level_{level}" for level in range(len(levels))]


def _answer(task: Row, option: str | None) -> Json:
    """An answer as the task names it."""
    if option is None:
        return None
    if task["type"] == "noul":
        return option == "true"
    return list(task["levels"])[int(option)] if task["type"] == "score" else option


def _case(row: Row, names: tuple[str, ...], *, apart: bool) -> Row:
    """A case from a row that was kept aside."""
    state = row["state"]
    # Which fields are not text as they stand, to read them back as what they were.
    parts = state if apart else {names[0]: state}
    coded = [name for name in names if not isinstance(parts[name], str)]
    meta = {**row["meta"], "json": coded, "whole": not apart}
    case: Row = {"id": row["id"], "fields": {name: _text(parts[name]) for name in names}, "answers": row["answers"]}
    if group := meta.get("group"):
        case["group"] = group
    return {**case, "meta": meta}


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _task_problems(task: Json) -> list[str]:
    found = [f"{TASK}: {name}: is required" for name in ("name", "fields", "state", "questions") if not task.get(name)]
    clash = set(task.get("fields") or {}) & set(task.get("questions") or {})
    return found + ([f"{TASK}: {sorted(clash)[0]!r} is both a field and a question"] if clash else [])


def _keys(question: Json) -> list[Json]:
    if question["type"] == "noul":
        return [False, True]
    return list(question["options" if question["type"] == "choice" else "levels"])


def _problems(row: Json, task: Json, graded: bool) -> list[str]:
    """Rules of laya-finetune that a case breaks. `graded`: whether every question must be answered."""
    if not isinstance(row, dict) or not isinstance(row.get("fields"), dict) or not isinstance(row.get("answers"), dict):
        return ["must be an object with fields and answers"]
    found = []
    if set(row["fields"]) != set(task["fields"]):
        found.append(f"fields: the task expects exactly {', '.join(task['fields'])}")
    found += [f"fields.{name}: must be text" for name, value in row["fields"].items() if not isinstance(value, str)]
    for key, question in task["questions"].items():
        value = row["answers"].get(key)
        if value is None and not graded:
            continue
        # True is 1 for Python, not for the trainer.
        if (type(value), value) not in {(type(k), k) for k in _keys(question)}:
            found.append(f"answers.{key}: {value!r} is not an answer of this {question['type']}")
    return found


def _loaded(task: dict[str, Json]) -> tuple[Questions, dict[str, Json]]:
    """The questions of a task file, and the file. Raises QuestionsError, InvalidValue."""
    if not isinstance(task.get("questions"), dict):
        raise InvalidValue("file", f"{TASK} holds no questions")
    raw = {}
    for key, question in task["questions"].items():
        if not isinstance(question, dict):
            raise InvalidValue("file", f"{TASK}: question {key} must be an object")
        body = {"type": question.get("type"), "instructions": question.get("instructions")}
        if question.get("type") == "noul":
            body["criteria"] = question.get("criteria")
        else:
            named = question.get("options" if question.get("type") == "choice" else "levels")
            if not isinstance(named, dict):
                raise InvalidValue("file", f"{TASK}: question {key} must name its answers")
            said = {str(k): v.get("criteria") if isinstance(v, dict) else v for k, v in named.items()}
            body["criteria"] = said if question.get("type") == "choice" else list(said.values())
        raw[key] = body
    return parse_questions(raw, limits=ANY_SIZE), task


def _example(row: Json, id: str, loaded: tuple[Questions, dict[str, Json]]) -> Example:
    questions, task = loaded
    if not isinstance(row, dict) or not isinstance(row.get("fields"), dict):
        raise ValueError("must be an object with fields and answers")
    if not isinstance(row.get("answers") or {}, dict):
        raise ValueError("answers: must be an object that maps questions to answers")
    meta = as_object(row.get("meta"))
    coded = list(meta["json"]) if isinstance(meta.get("json"), list) else []
    fields = {
        name: json.loads(text) if name in coded and isinstance(text, str) else text
        for name, text in row["fields"].items()
    }
    state = next(iter(fields.values())) if meta.get("whole") is True and len(fields) == 1 else fields
    labels = {}
    for key, value in (row.get("answers") or {}).items():
        if value is None:
            continue
        if key not in questions:
            raise LabelError(f"there is no question {key!r}; its label cannot be read")
        keys = _keys(task["questions"][key])
        place = [i for i, known in enumerate(keys) if type(known) is type(value) and known == value]
        if not place:
            raise LabelError(f"{key}: {value!r} is not one of {', '.join(map(str, keys[:10]))}")
        kind = questions[key].type
        labels[key] = str(value).lower() if kind == "noul" else str(place[0]) if kind == "score" else str(value)
    given = row.get("id")
    known = {**from_meta({"group": row.get("group")}), **from_meta(meta)}
    name = given if isinstance(given, str) and given else id
    return Example(id=name, state=state, questions=questions, labels=labels, **known)


LAYA_FINETUNE = LayaFinetune()
