"""Runs: every row judged once, whatever happens in between; bad rows told; what was found, as rows and as a file."""

from __future__ import annotations

import csv
import json
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pyarrow.parquet as pq
import pytest

from model.engine import Engine
from model.questions import parse_questions, schema_hash
from storage.database import FILE, Database
from storage.decisions import get_decision
from storage.errors import Conflict, InvalidValue
from storage.jobs import Job, end_job, get_job, list_jobs, recover, take_next, wish
from storage.labels import current_labels
from storage.runs import confusion, results, tally, write_results
from storage.schemas import create_schema, publish
from storage.summaries import list_decisions
from storage.tabular import TableRow, open_table
from studio.jobs import Worker, do
from studio.runs.mapping import RowMapping, case_of, guess, parse_mapping, read_truth
from studio.runs.run import Run, RunSpec, run_rest, start
from tests.api.hash_scorer import HashScorer
from tests.storage.datasets.examples import picture

QUESTIONS = parse_questions(
    {
        "spam": {"type": "noul", "instructions": "Is it spam?"},
        "team": {"type": "choice", "criteria": {"billing": None, "Tech": None}},
        "anger": {"type": "score", "criteria": ["calm", "angry", "furious"]},
    }
)


class Bench:
    """A database, an engine without a model, and files to run."""

    def __init__(self, folder: Path, empty: Path) -> None:
        folder.mkdir()
        shutil.copy(empty, folder / FILE)
        self.folder = folder
        self.database = Database.open(folder)
        self.scorer = HashScorer()
        self.engine = Engine(lambda progress: self.scorer)
        self.engine.wait_ready(30)
        schema = create_schema(self.database, name="tickets")
        self.version = publish(self.database, schema.id, QUESTIONS)

    def spec(
        self, text: str | bytes, name: str = "a.csv", mapping: RowMapping | None = None, **changes: Any
    ) -> RunSpec:
        (self.folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
        table = open_table(self.folder / name)
        return RunSpec(
            **{
                "file": name,
                "name": name,
                "questions": schema_hash(QUESTIONS),
                "scorer": self.scorer.info.fingerprint,
                "mapping": mapping or guess(table, QUESTIONS),
                "schema_id": self.version.schema_id,
                "version": self.version.number,
                **changes,
            }
        )

    def run(self, spec: RunSpec, **options: Any) -> Job:
        job = start(self.database, spec)
        assert take_next(self.database, ("run",)) is not None
        return do(
            self.database, get_job(self.database, job.id), Run(self.database, self.engine, **options), threading.Event()
        )

    def close(self) -> None:
        self.scorer.open.set()
        self.engine.close()
        self.database.close()


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("empty")
    Database.open(folder).close()
    return folder / FILE


@pytest.fixture
def bench(tmp_path: Path, empty: Path) -> Iterator[Bench]:
    made = Bench(tmp_path / "data", empty)
    yield made
    made.close()


def _wait(condition: Callable[[], bool]) -> None:
    """Waits for another thread, a second at most per look of the clock."""
    gate = threading.Event()
    for _ in range(600):
        if condition():
            return
        gate.wait(0.05)
    pytest.fail("it never happened")


def test_a_file_goes_in_and_decisions_come_out(bench: Bench) -> None:
    text = (
        "id,text,spam,team\n1,win money now,yes,tech\n2,hello,0,billing\nbroken\n"
        "3,win money now,true,\n4,,no,\n5,bye,maybe,x\n"
    )
    mapping = RowMapping(text="text", truth={"spam": "spam", "team": "team"})
    job = bench.run(bench.spec(text, mapping=mapping))
    assert (job.status, job.message) == ("done", "")
    progress = {key: job.progress[key] for key in ("done", "decided", "reused", "bad", "truths", "unread")}
    assert progress == {"done": 6, "decided": 3, "reused": 1, "bad": 2, "truths": 4, "unread": 2}
    rows = results(bench.database, job)
    assert [(r.row, r.line, r.same, r.problem) for r in rows] == [
        (0, 2, None, None),
        (1, 3, None, None),
        (2, 4, None, "has 1 cells; the header has 4"),
        (3, 5, 0, None),
        (4, 6, None, "is empty: nothing to judge"),
        (5, 7, None, None),
    ]
    assert rows[3].decision == rows[0].decision
    assert (rows[0].answers["spam"].truth, rows[0].answers["team"].truth) == ("true", "Tech")
    assert rows[5].answers["spam"].truth is None
    kept = get_decision(bench.database, rows[0].decision or "")
    assert (kept.source, kept.state, kept.version) == ("run", "win money now", 1)
    labels = current_labels(bench.database, kept.id)
    assert {(label.question, label.true_option, label.source) for label in labels} == {
        ("spam", "true", "import"),
        ("team", "Tech", "import"),
    }


def test_rows_are_found_by_what_they_are(bench: Bench) -> None:
    lines = [f"message number {i},{'yes' if i % 2 else 'no'}" for i in range(80)]
    job = bench.run(bench.spec("text,spam\n" + "\n".join(lines)))
    everything = results(bench.database, job, limit=100)
    wrong = [r.row for r in everything if r.answers["spam"].top != r.answers["spam"].truth]
    assert 10 < len(wrong) < 70
    assert [r.row for r in results(bench.database, job, show="wrong", question="spam", limit=100)] == wrong
    right = [r.row for r in results(bench.database, job, show="right", limit=100)]
    assert sorted(right + wrong) == list(range(80))
    unsure = results(bench.database, job, show="unsure", question="spam", below=0.6, limit=100)
    assert [r.row for r in unsure] == [r.row for r in everything if r.answers["spam"].probability < 0.6]
    tech = results(bench.database, job, question="team", option="Tech", after=40, limit=3)
    assert [r.row for r in tech] == [r.row for r in everything if r.row > 40 and r.answers["team"].top == "Tech"][:3]
    counts = confusion(bench.database, job, "spam")
    assert sum(counts.values()) == 80
    assert sum(n for (top, true), n in counts.items() if top != true) == len(wrong)
    assert sum(tally(bench.database, job)["anger"].values()) == 80


def test_results_become_files_that_run_no_formula(bench: Bench, tmp_path: Path) -> None:
    job = bench.run(bench.spec('text,spam\n"=1+1, hello",yes\nbroken\nbye,no\n'))
    table = open_table(bench.folder / "a.csv")
    assert write_results(bench.database, job, table, QUESTIONS, tmp_path / "out.csv") == 3
    with (tmp_path / "out.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["text"] for row in rows] == ["'=1+1, hello", "", "bye"]
    assert rows[1]["problem"] == "has 1 cells; the header has 2"
    assert rows[0]["spam: truth"] == "true"
    assert sum(json.loads(rows[0]["team: probabilities"]).values()) == pytest.approx(1)
    write_results(bench.database, job, table, QUESTIONS, tmp_path / "out.parquet")
    (first, *_) = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert (first["text"], first["spam: probability"]) == ("=1+1, hello", float(rows[0]["spam: probability"]))


def _file(n: int) -> str:
    return "text,spam\n" + "\n".join(f"row {i} of many,{'yes' if i % 3 else 'no'}" for i in range(n))


def test_a_run_of_2000_rows_goes_on_after_a_restart(bench: Bench, tmp_path: Path, empty: Path) -> None:
    spec = bench.spec(_file(2000))
    job = start(bench.database, spec)
    worker = Worker(bench.database, {"run": Run(bench.database, bench.engine)})
    worker.start()
    _wait(lambda: get_job(bench.database, job.id).progress["done"] >= 300)
    worker.close()
    stopped = get_job(bench.database, job.id)
    assert stopped.status == "running"
    assert 300 <= stopped.progress["done"] < 2000
    bench.database.close()
    bench.database = Database.open(bench.folder)
    again = Worker(bench.database, {"run": Run(bench.database, bench.engine)})
    again.start()
    _wait(lambda: get_job(bench.database, job.id).status == "done")
    again.close()
    done = get_job(bench.database, job.id)
    assert (done.progress["done"], done.progress["decided"], done.progress["truths"]) == (2000, 2000, 2000)
    assert len({r.decision for r in results(bench.database, done, limit=3000)}) == 2000
    # At most the portion that was under way was judged twice.
    assert len(bench.scorer.asked) <= 2064


def test_a_power_cut_between_decisions_and_rows_loses_and_doubles_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = start(bench.database, bench.spec(_file(8)))

    def cut(*_: object) -> int:
        raise KeyError("power cut")

    run = Run(bench.database, bench.engine)
    with monkeypatch.context() as patch:
        patch.setattr("studio.runs.run._keep_truths", cut)
        taken = take_next(bench.database, ("run",))
        assert taken is not None
        assert do(bench.database, taken, run, threading.Event()).status == "failed"
    assert len(list_decisions(bench.database, show="all")) == 8
    assert results(bench.database, job) == []
    end_job(bench.database, job.id, "running")
    recover(bench.database)
    taken = take_next(bench.database, ("run",))
    assert taken is not None
    done = do(bench.database, taken, run, threading.Event())
    assert (done.progress["done"], done.progress["truths"]) == (8, 8)
    assert len(list_decisions(bench.database, show="all")) == 8


def test_pause_resume_and_cancel(bench: Bench) -> None:
    bench.scorer.open.clear()
    job = start(bench.database, bench.spec(_file(500)))
    worker = Worker(bench.database, {"run": Run(bench.database, bench.engine, portion=50)})
    worker.start()
    _wait(lambda: get_job(bench.database, job.id).status == "running")
    assert wish(bench.database, job.id, "pause").status == "running"
    bench.scorer.open.set()
    _wait(lambda: get_job(bench.database, job.id).status == "paused")
    paused = get_job(bench.database, job.id)
    assert paused.progress["done"] < 500
    assert wish(bench.database, job.id, "run").status == "waiting"
    worker.wake()
    _wait(lambda: get_job(bench.database, job.id).progress["done"] > paused.progress["done"])
    wish(bench.database, job.id, "cancel")
    _wait(lambda: get_job(bench.database, job.id).status in ("cancelled", "done"))
    worker.close()
    with pytest.raises(Conflict, match="start another one"):
        wish(bench.database, job.id, "run")
    assert [j.id for j in list_jobs(bench.database, kind="run")] == [job.id]


def test_a_run_ends_at_its_limit_and_goes_on_with_the_rest(bench: Bench) -> None:
    first = bench.run(bench.spec(_file(100), limit=10))
    assert (first.status, first.progress["done"]) == ("done", 10)
    assert run_rest(bench.database, first.id).status == "waiting"
    taken = take_next(bench.database, ("run",))
    assert taken is not None
    done = do(bench.database, taken, Run(bench.database, bench.engine), threading.Event())
    assert (done.progress["done"], done.progress["decided"]) == (100, 100)
    with pytest.raises(Conflict, match="has a rest"):
        run_rest(bench.database, first.id)


@pytest.mark.parametrize("end", ["failed", "cancelled"])
def test_what_a_run_that_broke_off_has_left_is_run_later(bench: Bench, end: Literal["failed", "cancelled"]) -> None:
    job = bench.run(bench.spec(_file(20), limit=10))
    end_job(bench.database, job.id, end, "out of memory")
    again = run_rest(bench.database, job.id)
    assert (again.status, again.message, again.progress["limit"]) == ("waiting", "", 10)


def test_a_run_waits_for_its_own_model(bench: Bench) -> None:
    job = bench.run(bench.spec(_file(5), scorer="0" * 64))
    assert job.status == "paused"
    assert "another model than hash-1" in job.message


def test_what_the_model_cannot_read_is_the_row_s_problem(bench: Bench) -> None:
    job = bench.run(bench.spec(f"text\n{'long ' * 20_000}\nshort\n"))
    rows = results(bench.database, job)
    assert "too long" in (rows[0].problem or "")
    assert rows[1].decision is not None
    cut = bench.run(bench.spec(f"text\n{'long ' * 20_000}\n", name="b.csv", allow_cut=True))
    assert cut.progress["decided"] == 1


def test_a_model_that_breaks_fails_the_run_and_not_the_worker(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(requests: object) -> list[Any]:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(bench.scorer, "score", broken)
    job = bench.run(bench.spec(_file(3)))
    assert (job.status, job.message) == ("failed", "out of memory")


def test_pictures_of_a_folder_are_judged(bench: Bench) -> None:
    album = bench.folder / "album"
    (album / "in").mkdir(parents=True)
    (album / "in" / "a.png").write_bytes(picture(1))
    (album / "b.png").write_bytes(picture(2))
    (album / "list.csv").write_text(
        "file,note,spam\nin/a.png,first,yes\nb.png,second,no\n../a.csv,third,no\ngone.png,x,no\n"
    )
    (bench.folder / "a.csv").write_text("secret")
    table = open_table(album)
    raw = {"images": ["file"], "fields": {"note": "note"}, "truth": {"spam": "spam"}}
    mapping = parse_mapping(raw, table.columns, QUESTIONS)
    spec = bench.spec("x\n", name="unused.csv", mapping=mapping)
    job = bench.run(RunSpec(**{**spec.__dict__, "file": "album"}))
    rows = results(bench.database, job)
    assert [row.problem is None for row in rows] == [True, True, False, False]
    assert "no picture '../a.csv'" in (rows[2].problem or "")
    assert len(get_decision(bench.database, rows[0].decision or "").pictures) == 1


@pytest.mark.parametrize(
    ("question", "cell", "option"),
    [
        ("spam", "Yes", "true"), ("spam", 0, "false"), ("spam", False, "false"), ("spam", 1.0, "true"),
        ("spam", "perhaps", None),
        ("team", " tech ", "Tech"), ("team", "Billing", "billing"), ("team", "sales", None),
        ("anger", 2, "2"), ("anger", 2.0, "2"), ("anger", "Angry", "1"), ("anger", 3, None), ("anger", "-1", None),
    ],
)  # fmt: skip
def test_true_answers_are_read_and_never_guessed(question: str, cell: Any, option: str | None) -> None:
    assert read_truth(QUESTIONS, question, cell) == option


@pytest.mark.parametrize(
    ("header", "row", "text", "fields", "truth"),
    [
        ("text,label", "hi,billing", "text", {}, {"team": "label"}),
        ("message,spam", "hi,yes", "message", {}, {"spam": "spam"}),
        ("subject,body,n", "a,b,1", None, {"subject": "subject", "body": "body", "n": "n"}, {}),
        ("id,body", "1,b", "body", {}, {}),
        ("label", "hello", "label", {}, {}),
        ("text,spam", "a,yes\nb,no\nc,no\nd,yes\ne,n/a", "text", {}, {"spam": "spam"}),
        ("text,spam", "a,yes\nb,perhaps", "text", {}, {}),
    ],
)
def test_a_mapping_is_guessed(
    header: str, row: str, text: str | None, fields: dict[str, str], truth: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text(f"{header}\n{row}\n")
    found = guess(open_table(tmp_path / "a.csv"), QUESTIONS)
    assert (found.text, dict(found.fields), dict(found.truth)) == (text, fields, truth)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ({"text": "gone"}, "no column 'gone'"),
        ({"text": "a", "truth": {"mood": "a"}}, "no question 'mood'"),
        ({"text": "a", "fields": {"a": "a"}}, "not both"),
        ({"fields": {"a": "x", "b": "x"}}, "same name"),
        ({}, "choose which columns"),
        ([], "must be an object"),
    ],
)
def test_a_mapping_that_cannot_be_is_refused(raw: Any, why: str) -> None:
    with pytest.raises(InvalidValue, match=why):
        parse_mapping(raw, ["a", "b"], QUESTIONS)


def test_a_state_of_fields_keeps_what_the_cells_are() -> None:
    row = TableRow(0, 1, {"a": 1.5, "b": None, "c": [1, {"x": True}]})
    case = case_of(row, RowMapping(fields={"a": "n", "b": "b", "c": "deep.c"}), QUESTIONS, Path())
    assert case.state == {"n": 1.5, "b": None, "deep.c": [1, {"x": True}]}


def test_a_watch_stops_a_job_whose_studio_ends(bench: Bench) -> None:
    job = start(bench.database, bench.spec(_file(3)))
    closed = threading.Event()
    closed.set()
    taken = take_next(bench.database, ("run",))
    assert taken is not None
    assert do(bench.database, taken, Run(bench.database, bench.engine), closed).status == "running"
    assert get_job(bench.database, job.id).progress["done"] == 0
    assert recover(bench.database) == 1
