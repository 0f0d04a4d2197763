"""Run by a trainer's own Python: reads a folder with that trainer's own loader and prints what it understood.

Prints one JSON object: per file and row the label of every question by *name*, in the trainer's own option order turned
back into names, with its weight. Imports nothing of the studio. `python loaders.py LOADER FOLDER`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def clef_finetune(folder: Path) -> dict[str, Any]:
    from clef_finetune.data import iter_labelled, load_jsonl, option_ids, validate_file

    out: dict[str, Any] = {}
    for path in folder.glob("*.jsonl"):
        report = validate_file(path)
        assert report["ok"], report["errors"]
        for record in load_jsonl(path):
            names = {key: {option_ids(q)[index]: 1.0} for key, q, index in iter_labelled(record)}
            images = [(path.parent / image).stat().st_size for image in record.get("images", [])]
            out[record["id"]] = {"split": path.stem, "labels": names, "state": record["state"], "images": images}
    return out


def dmtune(folder: Path) -> dict[str, Any]:
    from dmtune.data import load_jsonl, option_keys, target

    out: dict[str, Any] = {}
    for path in folder.glob("*.jsonl"):
        for row in load_jsonl(path):
            labels = {}
            for key, question in row["questions"].items():
                vector = target(question, row.get("expected", {}).get(key), row.get("target", {}).get(key))
                if vector is not None:
                    labels[key] = {o: float(p) for o, p in zip(option_keys(question), vector, strict=True) if p}
            state = row["state"]
            images = []
            if "images" in path.parent.name or (isinstance(state, dict) and row["meta"].get("state")):
                images = [Path(state.pop("image")).stat().st_size]
                state = state["text"] if row["meta"]["state"] == "text" else state
            out[row["id"]] = {"split": path.stem, "labels": labels, "state": state, "images": images}
    return out


def sysone(folder: Path) -> dict[str, Any]:
    from sysone.data import _read_path, examples_from

    out: dict[str, Any] = {}
    for path in folder.glob("*.jsonl"):
        rows = _read_path(path)
        for row in rows:
            out[row["id"]] = {"split": path.stem, "labels": {}, "state": row["state"], "images": []}
        for example in examples_from(path)[0]:
            keys = [str(k).lower() if isinstance(k, bool) else str(k) for k in example.question.keys]
            shares = {key: p for key, p in zip(keys, example.target, strict=True) if p}
            out[rows[example.row]["id"]]["labels"][example.qid] = shares
    return out


def jev_eval(folder: Path) -> dict[str, Any]:
    from jev_eval.dataset import check_labels, load_config, load_rows

    out: dict[str, Any] = {}
    for config in folder.rglob("questions.json"):
        questions, _ = load_config(config)
        for path in config.parent.glob("*.jsonl"):
            rows = load_rows(path)
            check_labels(rows, questions)
            for row in rows:
                labels = {}
                for key, gold in row.labels.items():
                    kind = questions[key]["type"]
                    name = list(questions[key]["criteria"]).index(gold) if kind == "score" else gold
                    labels[key] = {str(name).lower() if kind == "noul" else str(name): 1.0}
                out[row.meta["id"]] = {"split": path.stem, "labels": labels, "state": row.state, "images": []}
    return out


def laya_finetune(folder: Path) -> dict[str, Any]:
    from layaft.task import Task

    out: dict[str, Any] = {}
    for file in folder.rglob("task.yaml"):
        task = Task.load(file)
        for path in file.parent.glob("*.jsonl"):
            for case in task.read_cases(path, graded=path.stem != "test"):
                labels = {}
                for key, question in task.questions.items():
                    value = case["answers"].get(key)
                    if value is not None:
                        place = question.index(value)
                        name = {"noul": str(value).lower(), "score": str(place)}.get(question.type, value)
                        labels[key] = {name: 1.0}
                task.laya_for(case)
                out[case["id"]] = {"split": path.stem, "labels": labels, "state": task.state(case), "images": []}
    return out


def mlx_decision(folder: Path) -> dict[str, Any]:
    from mlx_decision.data.dataset import read_for

    out: dict[str, Any] = {}
    for path in folder.glob("*.jsonl"):
        for example in read_for(path).examples:
            labels = {key: {option: 1.0} for key, option in example.labels.items()}
            out[example.id] = {"split": path.stem, "labels": labels, "state": example.request["state"], "images": []}
    return out


def datasets(folder: Path) -> dict[str, Any]:
    from datasets import load_dataset

    out: dict[str, Any] = {}
    loaded = load_dataset(str(folder), cache_dir=str(folder.parent / "cache"))
    for split, rows in loaded.items():
        for row in rows:
            labels = {}
            for key, value in json.loads(row["labels"]).items():
                labels[key] = {str(value).lower() if isinstance(value, bool) else str(value): 1.0}
            labels |= json.loads(row["soft"])
            images = [[*image.size, *image.convert("RGB").getpixel((0, 0))] for image in row["images"]]
            out[row["id"]] = {"split": split, "labels": labels, "state": json.loads(row["state"]), "images": images}
    return out


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](Path(sys.argv[2]))))
