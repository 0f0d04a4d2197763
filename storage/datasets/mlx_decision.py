"""mlx-decision (1.0): training on Apple's chips. A dataset folder: `dataset.json` and one JSONL file per split.

Contract
--------
* Text only: a row with pictures is left out, and so is a state that looks like one (a data URI, base64 of a picture).
* Ids are texts that differ and are not blank. Every score needs two levels. Labels as for clef-finetune.
* Questions stand in `dataset.json` when all rows ask the same ones, else in each row.
* Roles: train trains, validation reports (test does where there is no validation), test evaluates.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from model.questions import Json, Questions, questions_json
from storage.datasets import rules
from storage.datasets.beside import read_beside
from storage.datasets.example import Example, from_meta, labels_of, meta_of
from storage.datasets.formats import Pictures, Plan
from storage.datasets.lines import LineFormat, LineWriter, Row, hard_labels, read_lines, split_files

DESCRIPTION = "dataset.json"
FORMAT = 1
_DATA_URI = re.compile(r"\s*data:image/", re.IGNORECASE)
_BASE64 = re.compile(r"(iVBORw0KGgo|/9j/|R0lGOD|UklGR)[A-Za-z0-9+/=]{53,}")
_PARTS = ("image_url", "image", "input_image", "base64")


class MlxDecision(LineFormat):
    """See the module's contract."""

    name = "mlx-decision"
    title = "mlx-decision"
    about = "A dataset folder for mlx-decision (training on a Mac). Text only: rows with pictures stay out."
    unique_ids = True

    def row(self, example: Example, questions: Row, images: Sequence[str]) -> Row:
        """See `LineFormat`."""
        row: Row = {"id": example.id, "state": example.state, "questions": questions, "labels": hard_labels(example)}
        return {**row, "meta": meta_of(example)}

    def problems(self, row: Json) -> list[str]:
        """See `LineFormat`."""
        found = rules.questions_of(row, rule=_rule, extra=("labels",))
        if not isinstance(row, dict):
            return found
        if not isinstance(row.get("id"), str) or not row["id"].strip():
            found.append("id: must be text that is not blank")
        if "images" in row or "videos" in row or _looks_like_picture(row.get("state")):
            found.append("state: holds a picture; mlx-decision trains on text only")
        return found + rules.labels(row, "labels", noul=(bool, str))

    def writer(self, folder: Path, plan: Plan, pictures: Pictures) -> LineWriter:
        """See `Format`."""
        return LineWriter(_Shared() if len(plan.schemas) == 1 else self, folder, plan, pictures)

    def described(self, folder: Path, plan: Plan, rows: Mapping[str, int]) -> None:
        """See `LineFormat`."""
        reports = "validation" if rows.get("validation") else "test"
        roles = {"train": "train", reports: "report"}
        body: dict[str, Json] = {"format": FORMAT}
        if len(plan.schemas) == 1:
            body["questions"] = questions_json(plan.schemas[0])
        body |= {
            "answers": {},
            "columns": {},
            "splits": {
                split: {"role": roles.get(split, "evaluate"), "split": split, "rows": n, "examples": n}
                for split, n in rows.items()
            },
            "source": {"kind": "clef-studio", "name": plan.name},
            "created": plan.created,
        }
        (folder / DESCRIPTION).write_text(json.dumps(body, indent=1) + "\n", encoding="ascii")

    def asked(self, folder: Path) -> Json | None:
        """See `LineFormat`."""
        path = folder / DESCRIPTION
        return read_beside(path).get("questions") if path.is_file() else None

    def check(self, folder: Path) -> list[str]:
        """See `Format`."""
        body = read_beside(folder / DESCRIPTION)
        found = [f"{DESCRIPTION}: format must be {FORMAT}"] if body.get("format") != FORMAT else []
        shared = body.get("questions")
        seen: dict[str, str] = {}
        for path in split_files(folder):
            if path.stem not in body.get("splits", {}):
                found.append(f"{DESCRIPTION}: split {path.stem} is not described")
            for number, row in read_lines(path):
                where = f"{path.name}:{number}"
                if isinstance(row, ValueError):
                    found.append(f"{where}: {row}")
                    continue
                whole = {"questions": shared, **row} if isinstance(row, dict) else row
                found += [f"{where}: {problem}" for problem in self.problems(whole)]
                key = f"{path.name} {row.get('id') if isinstance(row, dict) else ''}"
                if seen.setdefault(key, where) != where:
                    found.append(f"{where}: the same id as {seen[key]}")
        return found

    def example(self, row: Row, id: str, questions: Questions, pictures: Callable[[Json], tuple[str, ...]]) -> Example:
        """See `LineFormat`."""
        labels = labels_of(questions, row.get("labels"))
        return Example(id=id, state=row["state"], questions=questions, labels=labels, **from_meta(row.get("meta")))


class _Shared(MlxDecision):
    """Rows without their questions, which stand in `dataset.json`."""

    _asked: Json = None

    def row(self, example: Example, questions: Row, images: Sequence[str]) -> Row:
        row = super().row(example, questions, images)
        self._asked = row.pop("questions")
        return row

    def problems(self, row: Json) -> list[str]:
        return super().problems({"questions": self._asked, **row} if isinstance(row, dict) else row)


def _rule(key: str, question: Mapping[str, Json]) -> list[str]:
    blank = [] if key.strip() else ["questions: an id is blank"]
    return blank + rules.criteria(2 if question["type"] == "score" else 1)(key, question)


def _looks_like_picture(state: Json) -> bool:
    """Whether mlx-decision would lift a picture out of the state (or refuse the address of one)."""
    if any(_DATA_URI.match(text) or _BASE64.fullmatch(text.strip()) for text in rules.texts(state)):
        return True
    stack = [state]
    while stack:
        item = stack.pop()
        if isinstance(item, Mapping):
            if item.get("type") in _PARTS and any(
                re.match(r"\s*(https?://|data:)", text, re.IGNORECASE) for text in rules.texts(item)
            ):
                return True
            if item.get("type") == "base64" and isinstance(item.get("data"), str):
                return True
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
    return False


MLX_DECISION = MlxDecision()
