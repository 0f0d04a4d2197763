"""The Datasets page without a browser: what goes in, frozen versions, files for trainers, and files that come in."""

from __future__ import annotations

import io
import json
import os
import shutil
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml
from fastapi import FastAPI
from fastapi.testclient import TestClient

from model.answers import Answer
from model.engine import Engine
from model.questions import Json, parse_questions, schema_hash
from model.scorer import ScorerInfo
from model.state import Tokens
from storage.database import FILE, Database
from storage.datasets.gather import Recipe, gather, labelled_schemas
from storage.datasets.registry import FORMATS
from storage.datasets.terms import JEV
from storage.decisions import DecisionRecord, record_decisions
from storage.jobs import get_job
from storage.labels import add_label
from storage.pictures import save_picture
from storage.schemas import create_schema, list_schemas, publish
from studio.api.errors import install
from studio.jobs import Worker
from studio.pages import datasets_export
from studio.pages.datasets import router
from studio.pages.datasets_bring import bring_functions
from studio.pages.datasets_choose import choose_functions
from studio.pages.datasets_export import export_functions
from studio.pages.datasets_work import Works
from studio.pages.runs import router as runs_router
from studio.runs.run import Run
from studio.runs.uploads import Uploads
from studio.settings import Settings
from studio.studio import Studio
from tests.api.hash_scorer import HashScorer
from tests.storage.datasets.examples import picture

QUESTIONS = parse_questions(
    {
        "spam": {"type": "noul", "instructions": "Is it spam?"},
        "team": {"type": "choice", "instructions": "Which team?", "criteria": {"2": None, "billing": "Money"}},
        "anger": {"type": "score", "instructions": "How angry?", "criteria": ["calm", "angry", "furious"]},
    }
)
HERE = ScorerInfo(
    name="tiny", kind="clef", fingerprint="a" * 64, question_ids="literal", max_tokens=512, sees_pictures=True
)
JEVS = ScorerInfo(
    name="jev-latest", kind="remote", fingerprint="9" * 64, question_ids="literal", max_tokens=9, sees_pictures=False
)
ANSWERS = {
    "spam": Answer("noul", ("true", "false"), (0.6, 0.4)),
    "team": Answer("choice", ("2", "billing"), (0.3, 0.7)),
    "anger": Answer("score", ("0", "1", "2"), (0.2, 0.5, 0.3), ("calm", "angry", "furious")),
}
TOPS = {"spam": "true", "team": "billing", "anger": "1"}
SPLIT = {"similar": None}


class Bench:
    """A studio without a server: its functions by name, and its routes."""

    def __init__(self, folder: Path, empty: Path) -> None:
        folder.mkdir()
        shutil.copy(empty, folder / FILE)
        self.database = Database.open(folder)
        self.engine = Engine(lambda _: HashScorer())
        self.engine.wait_ready(30)
        worker = Worker(self.database, {"run": Run(self.database, self.engine)})
        self.studio = Studio(Settings(data=folder), self.engine, self.database, worker)
        worker.start()
        works = Works()
        listed = [*choose_functions(self.database, works), *export_functions(self.database, works)]
        listed += bring_functions(self.studio, Uploads(self.database), works)
        self._functions = {f.__name__: f for f in listed}
        app = FastAPI()
        install(app, {})
        app.include_router(router(self.studio))
        app.include_router(runs_router(self.studio))
        self.http = TestClient(app)
        self.page = str(uuid4())

    def call(self, name: str, /, **payload: Any) -> Any:
        return json.loads(json.dumps(self._functions[name](payload), allow_nan=False))

    def decide(self, n: int, *, scorer: ScorerInfo = HERE, pictures: tuple[str, ...] = (), start: int = 0) -> list[str]:
        records = [
            DecisionRecord(
                id=str(uuid4()),
                source="api",
                questions=QUESTIONS,
                scorer=scorer,
                state={"text": f"case {i}\u2028 {'abc'[i % 3] * 20}", "who": f"customer {i % 5}"},
                pictures=pictures,
                answers=ANSWERS,
                tokens=Tokens(state=20, pictures=0, questions=30, frame=5, limit=512, read=18),
                seconds=0.01,
            )
            for i in range(start, start + n)
        ]
        record_decisions(self.database, records)
        return [record.id for record in records]

    def label(self, decision: str, question: str, option: str, *, source: str = "queue", by: str = "ann") -> None:
        wrong = option != TOPS[question]
        add_label(
            self.database, id=str(uuid4()), decision=decision, question=question, labeller=by, source=source,
            verdict="wrong" if wrong else "right", true_option=option if wrong else None,
            propensity=0.5 if source in ("queue", "audit") else None,
        )  # fmt: skip

    def labelled(self, n: int = 20, **more: Any) -> list[str]:
        cases = self.decide(n, **more)
        for i, case in enumerate(cases):
            self.label(case, "spam", "true" if i % 2 else "false")
            self.label(case, "team", "2" if i % 3 else "billing")
            self.label(case, "anger", str(i % 3))
        return cases

    def recipe(self, **more: Any) -> dict[str, Any]:
        return {"questions": [schema_hash(QUESTIONS)], "split": SPLIT, **more}

    def survey(self, **more: Any) -> Any:
        begun = self.call("survey_recipe", page=self.page, recipe=self.recipe(**more))
        assert "token" in begun, begun
        wait(lambda: self.call("surveyed", token=begun["token"])["finished"])
        return {**self.call("surveyed", token=begun["token"]), "token": begun["token"]}

    def freeze(self, name: str = "mail", **more: Any) -> Any:
        token = self.survey(**more)["token"]
        return self.call("freeze_dataset", token=token, id=str(uuid4()), name=name)

    def files(self, dataset: str, format: str) -> Any:
        self.call("prepare", dataset=dataset, format=format)
        wait(lambda: self.call("prepared", dataset=dataset, format=format)["state"] != "working")
        return self.call("prepared", dataset=dataset, format=format)

    def send(self, data: bytes, name: str) -> str:
        key = str(uuid4())
        reply = self.http.post(f"/studio/runs/uploads/{key}", params={"name": name}, content=data)
        assert reply.status_code == 200, reply.text
        return key

    def recognise(self, upload: str, **more: Any) -> Any:
        begun = self.call("recognise", upload=upload, **more)
        assert "token" in begun, begun
        wait(lambda: self.call("recognised", token=begun["token"])["finished"])
        return self.call("recognised", token=begun["token"])

    def bring(self, upload: str, **more: Any) -> Any:
        self.call("bring_in", upload=upload, **more)
        wait(lambda: self.call("brought", upload=upload)["state"] != "working")
        reply = self.call("brought", upload=upload)
        for run in reply.get("runs", []):
            wait(lambda run=run: get_job(self.database, run["run"]).status == "done")  # type: ignore[misc]
        return self.call("brought", upload=upload)

    def truths(self, source: str) -> dict[str, dict[str, str]]:
        recipe = Recipe(name="x", questions=tuple(f.sha256 for f in labelled_schemas(self.database)), streams=(source,))
        return {
            json.dumps(e.state, sort_keys=True): dict(e.labels)
            for e in gather(self.database, recipe, lambda _, why: None)
            if e.labels
        }


def wait(condition: Callable[[], Any]) -> None:
    gate = threading.Event()
    for _ in range(1500):
        if condition():
            return
        gate.wait(0.02)
    pytest.fail("it never happened")


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("empty")
    Database.open(folder).close()
    return folder / FILE


@pytest.fixture
def bench(tmp_path: Path, empty: Path) -> Iterator[Bench]:
    made = Bench(tmp_path / "data", empty)
    yield made
    made.studio.close()


def test_what_could_go_in_is_listed_with_its_schema_and_streams(bench: Bench) -> None:
    assert bench.call("labelled")["sets"] == []
    cases = bench.labelled(6)
    bench.label(cases[0], "spam", "true", source="audit", by="bob")
    (found,) = bench.call("labelled")["sets"]
    assert (found["rows"], found["streams"]) == (6, {"queue": 6, "audit": 1})
    assert (found["schema"], found["version"]) == (None, None)
    assert [q["id"] for q in found["questions"]] == ["spam", "team", "anger"]
    publish(bench.database, create_schema(bench.database, name="Mail").id, QUESTIONS)
    (found,) = bench.call("labelled")["sets"]
    assert (found["schema"], found["version"]) == ("Mail", 1)


def test_what_goes_in_and_what_stays_out_is_counted_with_its_reason(bench: Bench) -> None:
    cases = bench.labelled(20)
    bench.label(cases[0], "spam", "true", by="bob")
    volunteered, *_ = bench.decide(3, start=50)
    bench.label(volunteered, "spam", "true", source="volunteered")
    theirs = bench.decide(1, scorer=JEVS, start=60)[0]
    bench.label(theirs, "spam", "false")
    found = bench.survey(streams=["queue", "audit"], group_field="who")["survey"]
    assert (found["total"], sum(found["rows"].values())) == (21, 21)
    assert found["left_out"] == [{"reason": "labelled in streams that were not chosen (volunteered)", "rows": 1}]
    assert found["refused"] == [{"reason": JEV, "rows": 1}]
    assert found["aside"] == {"unlabelled": 2, "outside": 0}
    assert found["order"][1] == ["team", ["2", "billing"]]
    # Two people differ about one answer: it is left out, or shared.
    spam = [sum(by.get("spam", {}).values()) for by in found["options"].values()]
    assert sum(spam) == 20
    assert bench.survey(labels="soft")["survey"]["divided"] == 1


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"questions": []}, "Choose at least one schema version"),
        ({"questions": ["0" * 64]}, "o schema version with"),
        ({"since": "soon"}, "is not a date"),
        ({"split": {"test": 0.6, "validation": 0.5}}, "nothing to train on"),
    ],
)
def test_a_recipe_that_cannot_be_is_refused_in_a_sentence(change: Json, why: str, bench: Bench) -> None:
    bench.labelled(2)
    reply = bench.call("survey_recipe", page=bench.page, recipe={**bench.recipe(), **change})
    if "token" in reply:
        wait(lambda: bench.call("surveyed", token=reply["token"])["finished"])
        assert why in bench.call("surveyed", token=reply["token"])["error"]
    else:
        assert why in reply["error"]["message"]


def test_what_was_shown_is_what_is_frozen_and_the_same_again_is_the_same(bench: Bench) -> None:
    cases = bench.labelled(20)
    shown = bench.survey()
    bench.label(cases[4], "spam", "true", by="late")
    first = bench.call("freeze_dataset", token=shown["token"], id=str(uuid4()), name=" mail ", licence="CC0-1.0")
    assert (first["number"], first["same"], first["changes"]) == (1, False, [])
    whole = bench.call("dataset", dataset=first["dataset"])
    assert (whole["name"], whole["sha256"], whole["total"]) == ("mail", shown["survey"]["sha256"], 20)
    later = bench.freeze()
    assert (later["number"], later["same"]) == (2, False)
    assert "licence: CC0-1.0 → none" in later["changes"]
    assert "spam = false: 10 → 9" in later["changes"]
    again = bench.freeze()
    assert (again["dataset"], again["same"]) == (later["dataset"], True)
    assert [d["number"] for d in bench.call("datasets")["datasets"]] == [2, 1]
    assert bench.call("dataset", dataset=later["dataset"])["before"] == 1
    nothing = bench.freeze(streams=["audit"])
    assert "nothing goes in" in nothing["error"]["message"].lower()
    assert "forgotten" in bench.call("surveyed", token=shown["token"])["error"]["message"]


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_comes_as_a_checked_zip_and_goes_back_in(format: str, bench: Bench) -> None:
    bench.labelled(12)
    dataset = bench.freeze()["dataset"]
    reply = bench.files(dataset, format)
    assert reply["state"] == "done", reply
    report = reply["report"]
    assert (report["problems"], report["total"], report["left_out"]) == ([], 12, [])
    got = bench.http.get(f"/studio/datasets/{dataset}/{format}.zip")
    assert got.status_code == 200
    assert f'filename="mail-1-{format}.zip"' in got.headers["content-disposition"]
    assert len(got.content) == report["bytes"]
    with zipfile.ZipFile(io.BytesIO(got.content)) as archive:
        assert archive.testzip() is None
        assert archive.read(f"mail-1-{format}/README.md").decode() == report["card"]
    assert yaml.safe_load(report["card"].split("---")[1])["pretty_name"] == "mail (version 1)"
    upload = bench.send(got.content, "back.zip")
    found = bench.recognise(upload)["found"]
    assert (found["format"], found["refused"]) == (format if format != "sysone-soft" else found["format"], 0)
    (part,) = found["parts"]
    assert (
        (part["rows"], part["sha256"]) == (12, schema_hash(QUESTIONS))
        if format != "laya-finetune"
        else (12, part["sha256"])
    )
    done = bench.bring(upload)
    assert [(run["decided"], run["labels"], run["bad"]) for run in done["runs"]] == [(12, 36, 0)]
    assert bench.truths("import") == bench.truths("queue")


def test_pictures_that_a_trainer_does_not_take_are_named_and_zips_are_the_same_each_time(bench: Bench) -> None:
    data = picture(3)
    kept = save_picture(bench.database, data, format="png", width=8, height=8)
    bench.labelled(3, pictures=(kept.sha256,))
    bench.labelled(9, start=10)
    dataset = bench.freeze()["dataset"]
    report = bench.files(dataset, "mlx-decision")["report"]
    (left,) = report["left_out"]
    assert (left["rows"], report["total"]) == (3, 9)
    assert left["examples"][0]["text"].startswith('{"text":"case')
    first = bench.files(dataset, "clef-finetune")["report"]
    assert first["total"] == 12
    path = bench.database.folder / "exports" / dataset / "clef-finetune.zip"
    once = path.read_bytes()
    # What is an hour old goes, and is made again.
    os.utime(path, (0, 0))
    os.utime(path.with_suffix(".json"), (0, 0))
    assert bench.call("prepared", dataset=dataset, format="clef-finetune")["state"] == "none"
    assert bench.http.get(f"/studio/datasets/{dataset}/clef-finetune.zip").status_code == 404
    bench.files(dataset, "clef-finetune")
    assert path.read_bytes() == once


def test_files_that_break_a_rule_are_not_given_out(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.labelled(3)
    dataset = bench.freeze()["dataset"]
    monkeypatch.setattr(FORMATS["jsonl"].__class__, "check", lambda self, folder: ["train.jsonl:2: labels: is wrong"])
    report = bench.files(dataset, "jsonl")["report"]
    assert (report["broken"], report["problems"], report["bytes"]) == (1, ["train.jsonl:2: labels: is wrong"], None)
    assert bench.http.get(f"/studio/datasets/{dataset}/jsonl.zip").status_code == 404


def test_a_table_in_long_form_becomes_a_schema_with_descriptions(bench: Bench) -> None:
    rows = "text,label\n" + "".join(f"mail number {i},{'spam' if i % 3 else '1'}\n" for i in range(12)) + "broken\n"
    upload = bench.send(rows.encode(), "mails.csv")
    found = bench.recognise(upload)["found"]
    assert (found["format"], found["text"], found["label"], found["columns"]) == (
        None,
        "text",
        "label",
        ["text", "label"],
    )
    assert found["bad"][0][1] == 14
    (part,) = found["parts"]
    assert (part["name"], part["schema"], part["labels"]) == ("mails", None, 12)
    assert part["counts"]["label"] == [["1", 4], ["spam", 8]]
    done = bench.bring(upload, names=["Mail kinds"], asked="What is it?", described={"spam": "Nobody asked for it"})
    (run,) = done["runs"]
    assert (run["labels"], run["bad"]) == (12, 1)
    assert bench.bring(upload) == done
    (schema,) = list_schemas(bench.database)
    assert (schema.name, schema.id) == ("Mail kinds", run["schema_id"])
    (known,) = labelled_schemas(bench.database)
    assert known.questions["label"].instructions == "What is it?"
    assert [(o.id, o.description) for o in known.questions["label"].options()] == [
        ("1", None), ("spam", "Nobody asked for it"),
    ]  # fmt: skip
    assert len(bench.truths("import")) == 12


@pytest.mark.parametrize(
    ("name", "data", "more", "why"),
    [
        ("a.csv", b"a,b\n1,2\n", {}, "which column holds the label; the file has a, b"),
        ("a.csv", b"text,label\n1,2\n", {"label": "mood"}, "which column holds the label"),
        ("a.csv", b"text,label\n1,2\n", {}, "'label' has 1 different values"),
        (
            "a.jsonl",
            b'{"state": 1, "questions": {}, "labels": {}}\n',
            {},
            "holds no row that can be read as clef-finetune",
        ),
        ("a.jsonl", b"{}\n", {"format": "jev-eval"}, "questions.json is missing"),
    ],
)
def test_what_is_no_labelled_data_is_refused_in_a_sentence(
    name: str, data: bytes, more: dict[str, Any], why: str, bench: Bench
) -> None:
    upload = bench.send(data, name)
    reply = bench.recognise(upload, **more)
    assert why in (reply["error"] or reply["found"]["problem"])
    assert bench.call("brought", upload=upload) == {"state": "none"}


def test_nothing_is_kept_of_what_is_only_looked_at(bench: Bench, tmp_path: Path) -> None:
    bench.labelled(2, pictures=(save_picture(bench.database, picture(4), format="png", width=8, height=8).sha256,))
    dataset = bench.freeze()["dataset"]
    bench.files(dataset, "clef-finetune")
    data = (bench.database.folder / datasets_export.EXPORTS / dataset / "clef-finetune.zip").read_bytes()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(tmp_path / "b.zip", "w") as out:
        for entry in source.infolist():
            # Another picture than any that is kept, and one that is none.
            out.writestr(entry.filename, picture(9) if "images/" in entry.filename else source.read(entry))
    before = {p for p in bench.database.folder.rglob("*") if "runs" not in p.parts}
    found = bench.recognise(bench.send((tmp_path / "b.zip").read_bytes(), "b.zip"))["found"]
    assert found["parts"][0]["pictures"] == 2
    assert {p for p in bench.database.folder.rglob("*") if "runs" not in p.parts} == before
