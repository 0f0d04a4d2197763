"""The Runs page without a browser: files in, what a run of them would be, runs and their results, files out."""

from __future__ import annotations

import csv
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

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from model.engine import Engine
from model.questions import parse_questions
from storage.database import FILE, Database
from storage.jobs import get_job
from storage.queue import arrivals, open_queue
from storage.schemas import create_schema, publish
from studio.api.errors import install
from studio.jobs import Worker
from studio.pages.runs import router
from studio.pages.runs_found import found_functions
from studio.pages.runs_list import list_functions
from studio.pages.runs_new import new_functions
from studio.runs import uploads as uploads_module
from studio.runs.run import FOLDER, Run
from studio.runs.uploads import Uploads
from studio.runs.weigh import Weighings
from studio.settings import Settings
from studio.studio import Studio
from tests.api.hash_scorer import HashScorer
from tests.storage.datasets.examples import picture

QUESTIONS = parse_questions(
    {
        "spam": {"type": "noul", "instructions": "Is it spam?"},
        "team": {"type": "choice", "criteria": {"billing": None, "Tech": None}},
        "anger": {"type": "score", "criteria": ["calm", "angry", "furious"]},
    }
)
MAIL = (
    "id,text,spam,team\n1,win money now,yes,tech\n2,hello,0,billing\nbroken\n"
    "3,win money now,true,\n4,,no,\n5,bye,maybe,x\n"
)
MAPPING = {"text": "text", "truth": {"spam": "spam", "team": "team"}}


class Bench:
    """A studio without a server: its functions by name, and its routes."""

    def __init__(self, folder: Path, empty: Path) -> None:
        folder.mkdir()
        shutil.copy(empty, folder / FILE)
        self.database = Database.open(folder)
        self.scorer = HashScorer()
        self.engine = Engine(lambda _: self.scorer)
        self.engine.wait_ready(30)
        worker = Worker(self.database, {"run": Run(self.database, self.engine)})
        self.studio = Studio(Settings(data=folder), self.engine, self.database, worker)
        worker.start()
        listed = new_functions(self.studio, Uploads(self.database), Weighings())
        listed += [*list_functions(self.studio), *found_functions(self.database)]
        self._functions = {f.__name__: f for f in listed}
        app = FastAPI()
        install(app, {})
        app.include_router(router(self.studio))
        self.http = TestClient(app)

    def publish(self, name: str = "mail") -> dict[str, Any]:
        version = publish(self.database, create_schema(self.database, name=name).id, QUESTIONS)
        return {"schema_id": version.schema_id, "version": version.number}

    def call(self, name: str, /, **payload: Any) -> Any:
        return json.loads(json.dumps(self._functions[name](payload), allow_nan=False))

    def send(self, data: bytes | str, name: str, key: str | None = None) -> str:
        key = key or str(uuid4())
        reply = self.http.post(f"/studio/runs/uploads/{key}", params={"name": name}, content=data)
        assert reply.status_code == 200, reply.text
        return key

    def weighed(self, **payload: Any) -> Any:
        wait(lambda: self.call("weigh", **payload).get("finished", True))
        return self.call("weigh", **payload)

    def run(self, data: bytes | str, name: str, mapping: dict[str, Any] = MAPPING, **more: Any) -> str:
        where = self.publish()
        payload = {"upload": self.send(data, name), "mapping": mapping, **where}
        self.weighed(**payload)
        reply = self.call("start_run", **payload, id=str(uuid4()), **more)
        assert "run" in reply, reply
        wait(lambda: get_job(self.database, reply["run"]).status == "done")
        return reply["run"]


def wait(condition: Callable[[], bool]) -> None:
    gate = threading.Event()
    for _ in range(600):
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


def excel() -> bytes:
    book = openpyxl.Workbook()
    book.active.append(["text", "spam"])
    book.active.append(["win money", True])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def parquet() -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table({"text": ["win money"], "spam": ["yes"]}), out)
    return out.getvalue()


def zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "kind", "encoding"),
    [
        ("a.csv", b"text;spam\nwin money;yes\n", "CSV with semicolons", "utf-8"),
        ("a.csv", "text,spam\nGrüße von Zoë,yes\n".encode("cp1252") * 1, "CSV", "cp125"),
        ("a.tsv", b"text\tspam\nwin money\tyes\n", "CSV with tabs", "utf-8"),
        ("a.jsonl", b'{"text": "win money", "spam": "yes"}\n', "JSONL", ""),
        ("a.json", b'[{"text": "win money", "spam": true}]', "JSON", ""),
        ("a.parquet", parquet(), "Parquet", ""),
        ("a.xlsx", excel(), "Excel", ""),
    ],
)
def test_every_kind_of_file_is_shown_and_its_columns_guessed(
    bench: Bench, name: str, data: bytes, kind: str, encoding: str
) -> None:
    seen = bench.call("look", upload=bench.send(data, name), **bench.publish())
    assert (seen["title"], seen["kind"], seen["columns"]) == (name, kind, ["text", "spam"])
    assert seen["encoding"].startswith(encoding)
    assert bool(seen["notes"]) == (encoding == "cp125")
    assert len(seen["rows"]) == 1
    assert (seen["mapping"]["text"], seen["mapping"]["truth"]) == ("text", {"spam": "spam"})


def test_a_zip_of_pictures_and_a_folder_file_by_file(bench: Bench) -> None:
    where = bench.publish()
    files = {"album/in/a.png": picture(1), "album/list.csv": b"file,note,spam\nin/a.png,x,yes\n"}
    key = bench.send(zipped(files), "album.zip")
    seen = bench.call("look", upload=key, **where)
    assert (seen["title"], seen["kind"]) == ("album.zip", "pictures with CSV")
    assert (seen["mapping"]["images"], seen["mapping"]["truth"]) == (["file"], {"spam": "spam"})
    other = str(uuid4())
    for name, data in files.items():
        bench.send(data, name, other)
    assert bench.call("look", upload=other, **where)["mapping"] == seen["mapping"]
    bare = bench.send(picture(2), "one.png")
    assert bench.call("look", upload=bare, **where)["columns"] == ["file", "folder"]


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.zip", b"PK\x03\x04 not really", "a.zip cannot be unpacked"),
        ("a.zip", zipped({"readme.md": b"x"}), "a.zip holds no table and no pictures"),
        ("a.csv", b"", "a.csv is empty"),
        ("a.docx", b"x", ".docx is not known; use .csv"),
        ("../a.csv", b"x", "is no name for a file"),
        ("C:/a.csv", b"x", "is no name for a file"),
        (f"{'x' * 300}.csv", b"x", "is too long a name"),
    ],
)
def test_what_is_not_taken_says_why(bench: Bench, name: str, data: bytes, says: str) -> None:
    key = str(uuid4())
    reply = bench.http.post(f"/studio/runs/uploads/{key}", params={"name": name}, content=data)
    assert reply.status_code == 422
    assert says in reply.json()["detail"]["message"]
    assert not list((bench.database.folder / FOLDER).rglob("*.part"))


def test_more_than_an_upload_may_hold_is_refused_while_it_arrives(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads_module, "MOST_BYTES", 1000)
    key = bench.send(b"text\n" + b"x" * 500, "a.csv")
    reply = bench.http.post(f"/studio/runs/uploads/{key}", params={"name": "b.csv"}, content=iter([b"x" * 600]))
    assert (reply.status_code, "at most" in reply.json()["detail"]["message"]) == (422, True)
    assert [p.name for p in (bench.database.folder / FOLDER / key / "given").iterdir()] == ["a.csv"]
    monkeypatch.setattr(uploads_module, "SPARE", 1 << 62)
    assert bench.http.post(f"/studio/runs/uploads/{key}", params={"name": "c.csv"}, content=b"x").status_code == 422


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.parquet", b"text,spam\nx,yes\n", "cannot be read as parquet"),
        ("a.xlsx", b"no workbook", "is not an Excel file"),
        ("a.json", b"{broken", "is not JSON"),
        ("a.csv", b"\n\n", "has no columns"),
    ],
)
def test_a_file_that_is_not_what_its_name_says(bench: Bench, name: str, data: bytes, says: str) -> None:
    error = bench.call("look", upload=bench.send(data, name), **bench.publish())["error"]
    assert says in error["message"]


def test_an_upload_that_is_gone_and_a_schema_without_a_version(bench: Bench) -> None:
    gone = bench.call("look", upload=str(uuid4()))["error"]["message"]
    assert gone == "This file is not here any more; choose it again."
    draft = create_schema(bench.database, name="draft only")
    assert bench.call("choices")["drafts"] == 1
    assert bench.call("choices")["schemas"] == []
    key = bench.send(MAIL, "a.csv")
    asked = {"upload": key, "schema_id": draft.id, "version": 1, "mapping": MAPPING}
    assert "has no version" in bench.call("weigh", **asked)["error"]["message"]


def test_before_the_run_it_is_weighed(bench: Bench) -> None:
    where = bench.publish()
    text = MAIL + "6,win money  NOW,yes,\n" + "7,hello there general kenobi how are you today my friend,no,\n"
    text += "8,hello there general kenobi how are you today my friend!,no,\n"
    payload = {"upload": bench.send(text, "mail.csv"), "mapping": MAPPING, **where}
    seen = bench.weighed(**payload)
    assert (seen["rows"], seen["judged"], seen["bad"]) == (9, 7, 2)
    assert seen["problems"] == [[4, "has 1 cells; the header has 4"], [6, "is empty: nothing to judge"]]
    # "win money now" again; the same in capitals, and Kenobi with an exclamation mark.
    assert (seen["repeats"], seen["near"], seen["compared"]) == (1, 2, 6)
    assert (seen["truths"], seen["odd"]) == (
        {"spam": 6, "team": 2},
        {"spam": {"n": 1, "kinds": 1, "cells": ["maybe"]}, "team": {"n": 1, "kinds": 1, "cells": ["x"]}},
    )
    assert (seen["tokens"]["counted"], seen["tokens"]["too_long"]) == (7, 0)
    assert seen["tokens"]["all"] == round(seen["tokens"]["mean"] * 7)
    assert seen["seconds_per_row"] > 0
    told = bench.http.get(f"/studio/runs/uploads/{payload['upload']}/problems.csv")
    assert told.content.decode("utf-8-sig").splitlines()[1] == "4,has 1 cells; the header has 4"
    missing = {**payload, "mapping": {"text": "body"}}
    assert bench.call("weigh", **missing)["error"]["message"].startswith("There is no column 'body'; the file has id")


def test_tokens_are_counted_of_an_even_sample(bench: Bench) -> None:
    where = bench.publish()
    rows = "".join(f"row {i} {'x' * (100_000 if i % 8 == 0 else 4)}\n" for i in range(1200))
    payload = {"upload": bench.send("text\n" + rows, "a.csv"), "mapping": {"text": "text"}, **where}
    tokens = bench.weighed(**payload)["tokens"]
    assert 128 <= tokens["counted"] <= 256
    # Every eighth row is too long, and the sample is every eighth: the sample says so of all that it has.
    assert tokens["too_long"] == tokens["counted"]
    assert tokens["most"] > tokens["limit"]


def test_a_run_is_started_once_and_its_results_are_found(bench: Bench) -> None:
    where = bench.publish()
    payload = {"upload": bench.send(MAIL, "mail.csv"), "mapping": MAPPING, **where}
    early = bench.call("start_run", **payload, id=str(uuid4()))
    assert "run" in early or "still being looked through" in early["error"]["message"]
    bench.weighed(**payload)
    key = str(uuid4())
    assert bench.call("start_run", **payload, id=key) == bench.call("start_run", **payload, id=key) == {"run": key}
    wait(lambda: get_job(bench.database, key).status == "done")
    (listed,) = [r for r in bench.call("runs")["runs"] if r["id"] == key]
    assert (listed["title"], listed["schema"], listed["version"]) == ("mail.csv", "mail", 1)
    assert (listed["done"], listed["total"], listed["decided"], listed["reused"], listed["bad"]) == (6, 6, 3, 1, 2)
    run = bench.call("run", run=key)
    assert [q["options"] for q in run["questions"]][2] == [["0", "0 calm"], ["1", "1 angry"], ["2", "2 furious"]]
    assert sum(n for _, n in run["tally"]["team"]) == 4
    assert sum(n for _, _, n in run["confusion"]["spam"]) == 3
    found = bench.call("found", run=key, question="spam")
    assert (found["count"], found["more"], len(found["rows"])) == (6, False, 6)
    assert [row["problem"] is None for row in found["rows"]] == [True, True, False, True, False, True]
    wrong = bench.call("found", run=key, question="spam", show="wrong")
    right = bench.call("found", run=key, question="spam", show="right")
    assert wrong["count"] + right["count"] == 3
    assert all(row["truth"] and row["truth"] != row["top"] for row in wrong["rows"])
    top, true, n = run["confusion"]["spam"][0]
    cell = bench.call("found", run=key, question="spam", option=top, truth=true)
    assert cell["count"] == n
    assert bench.call("found", run=key, question="spam", show="bad")["rows"][0]["line"] == 4
    assert bench.call("found", run=key, question="spam", show="repeats")["rows"][0]["same"] == 0
    whole = bench.call("row", run=key, row=0)
    assert (whole["state"], whole["line"], [a["question"] for a in whole["answers"]]) == (
        "win money now",
        2,
        ["spam", "team", "anger"],
    )
    assert bench.call("row", run=key, row=2)["problem"] == "has 1 cells; the header has 4"
    assert bench.call("row", run=key, row=99)["error"]["kind"] == "not_found"
    # Every decision is in the queue of its question.
    queue = open_queue(bench.database, questions=listed["questions"], scorer=listed["scorer"], question="spam")
    assert len(arrivals(bench.database, queue.serial, limit=100).decisions) == 3


def test_rows_come_by_the_page(bench: Bench) -> None:
    key = bench.run("text\n" + "".join(f"row {i}\n" for i in range(120)), "a.csv", {"text": "text"})
    pages, after = [], -1
    while True:
        found = bench.call("found", run=key, question="spam", after=after)
        pages.append(len(found["rows"]))
        after = found["rows"][-1]["row"]
        if not found["more"]:
            break
    assert pages == [50, 50, 20]


def test_a_limit_and_the_rest(bench: Bench) -> None:
    key = bench.run("text\n" + "".join(f"row {i}\n" for i in range(40)), "a.csv", {"text": "text"}, limit=10)
    (run,) = bench.call("runs")["runs"]
    assert (run["done"], run["total"], run["rows"], run["rest"]) == (10, 10, 40, True)
    assert bench.call("steer", run=key, wish="rest")["run"]["total"] == 40
    wait(lambda: get_job(bench.database, key).progress["done"] == 40)
    assert bench.call("steer", run=key, wish="rest")["error"]["message"].startswith("Only a run that ended")


def test_pause_resume_and_cancel(bench: Bench) -> None:
    where = bench.publish()
    payload = {"upload": bench.send("text\n" + "".join(f"row {i}\n" for i in range(300)), "a.csv"), **where}
    payload["mapping"] = {"text": "text"}
    bench.weighed(**payload)
    bench.scorer.open.clear()
    key = bench.call("start_run", **payload, id=str(uuid4()))["run"]
    wait(lambda: get_job(bench.database, key).status == "running")
    assert bench.call("steer", run=key, wish="pause")["run"]["wanted"] == "pause"
    bench.scorer.open.set()
    wait(lambda: bench.call("run", run=key)["run"]["status"] == "paused")
    assert bench.call("steer", run=key, wish="resume")["run"]["status"] == "waiting"
    bench.call("steer", run=key, wish="cancel")
    wait(lambda: bench.call("run", run=key)["run"]["status"] in ("cancelled", "done"))
    assert "start another one" in bench.call("steer", run=key, wish="pause")["error"]["message"]


def test_results_leave_as_files_that_no_spreadsheet_runs(bench: Bench) -> None:
    text = "text,team\n=cmd|' /C calc'!A0,billing\nplain,tech\nbroken\n"
    key = bench.run(text, "=evil.csv", {"text": "text", "truth": {"team": "team"}})
    reply = bench.http.get(f"/studio/runs/{key}/results.csv")
    assert reply.headers["content-disposition"].endswith("evil-results.csv")
    rows = list(csv.DictReader(io.StringIO(reply.content.decode("utf-8-sig"))))
    assert (len(rows), rows[0]["text"], rows[1]["team: truth"]) == (3, "'=cmd|' /C calc'!A0", "Tech")
    assert rows[2]["problem"] == "has 1 cells; the header has 2"
    table = pq.read_table(io.BytesIO(bench.http.get(f"/studio/runs/{key}/results.parquet").content))
    assert table.column("text").to_pylist()[0] == "=cmd|' /C calc'!A0"
    aside = bench.http.get(f"/studio/runs/{key}/problems.csv").content.decode("utf-8-sig")
    assert aside.splitlines() == ["line,reason,text,team", "4,has 1 cells; the header has 2"]
    assert bench.http.get(f"/studio/runs/{key}/results.exe").status_code == 404
    assert bench.http.get(f"/studio/runs/{uuid4()}/results.csv").status_code == 404
    # Nothing of what was written to be sent is left.
    assert not list((bench.database.folder / FOLDER).glob("results-*"))


def test_uploads_that_nobody_ran_are_swept(bench: Bench) -> None:
    run = bench.run(MAIL, "kept.csv")
    key = bench.send(MAIL, "left.csv")
    folders = {folder.name for folder in (bench.database.folder / FOLDER).iterdir()}
    for folder in (bench.database.folder / FOLDER).iterdir():
        os.utime(folder, (0, 0))
    bench.send(MAIL, "new.csv")
    left = {folder.name for folder in (bench.database.folder / FOLDER).iterdir()}
    assert folders - left == {key}
    assert bench.http.get(f"/studio/runs/{run}/results.csv").status_code == 200


def test_a_model_that_is_not_there_yet_is_told(tmp_path: Path, empty: Path) -> None:
    bench = Bench(tmp_path / "data", empty)
    key = bench.send(MAIL, "a.csv")
    payload = {"upload": key, "mapping": MAPPING, **bench.publish()}
    assert bench.weighed(**payload)["tokens"]["counted"] == 4
    bench.engine.close()
    assert "can be started once it is there" in bench.call("start_run", **payload, id=str(uuid4()))["error"]["message"]
    bench.studio.close()
