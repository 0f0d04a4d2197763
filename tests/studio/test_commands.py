"""The command line: a file in, decisions out; labels out in every format, and back in with the same labels."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from PIL import Image
from sklearn.datasets import load_digits

import app
from model.engine import Progress
from model.questions import questions_json
from model.scorer import Scorer
from storage.database import Database
from storage.datasets.formats import export
from storage.datasets.gather import Recipe, gather, labelled_schemas
from storage.datasets.registry import FORMATS
from storage.jobs import list_jobs
from storage.schemas import get_draft, get_version, list_schemas
from tests.api.hash_scorer import HashScorer
from tests.storage.datasets.examples import TICKETS, Album, picture, plan, ticket

TEXT = "route\ttext\twants_refund\turgency\n" + "\n".join(
    f"{['billing', 'technical'][i % 2]}\tticket {i} \u2028 is about {'xyz'[i % 3] * 9}\t{['yes', 'no'][i % 2]}\t{i % 3}"
    for i in range(30)
)


@pytest.fixture(autouse=True)
def _no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def opener(settings: object) -> Callable[[Progress], Scorer]:
        return lambda progress: HashScorer()

    monkeypatch.setattr("studio.scorers.opener", opener)


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    (tmp_path / "tickets.json").write_text(json.dumps(questions_json(TICKETS)))
    (tmp_path / "a.tsv").write_text(TEXT)
    return tmp_path


def _app(desk: Path, *argv: object, data: str = "data") -> int:
    return app.main([*map(str, argv), "--data", str(desk / data)])


def _labels(desk: Path, data: str = "data") -> dict[str, dict[str, str]]:
    """Labels by what the state says."""
    with Database.open(desk / data) as database:
        recipe = Recipe(name="all", questions=tuple(s.sha256 for s in labelled_schemas(database)))
        found = gather(database, recipe, lambda _, why: pytest.fail(why))
        return {json.dumps(e.state, sort_keys=True): dict(e.labels) for e in found}


def test_a_run_tells_what_it_did_and_writes_its_results(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = _app(desk, "run", desk / "a.tsv", "--schema", desk / "tickets.json", "--out", desk / "out.csv")
    out, err = capsys.readouterr()
    assert code == 0
    assert "30 rows: 30 judged, 0 repeats, 0 could not be read" in out
    assert "wants_refund: " in out
    assert "of 30 (" in out
    assert "true answers: route in route, wants_refund in wants_refund, urgency in urgency" in err
    with (desk / "out.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [rows[1][name] for name in ("route: truth", "wants_refund: truth", "urgency: truth")] == [
        "technical",
        "false",
        "1",
    ]
    with Database.open(desk / "data") as database:
        assert [schema.name for schema in list_schemas(database)] == ["tickets"]


def test_a_limit_is_followed_by_the_rest(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _app(desk, "run", desk / "a.tsv", "--schema", desk / "tickets.json", "--limit", "7", "--text", "text") == 0
    assert "7 rows: 7 judged" in capsys.readouterr().out
    with Database.open(desk / "data") as database:
        (job,) = list_jobs(database)
    assert _app(desk, "run", "--resume", job.id) == 0
    assert "30 rows: 30 judged" in capsys.readouterr().out
    assert _app(desk, "run", "--resume", job.id) == 1
    assert "has a rest" in capsys.readouterr().err


@pytest.mark.parametrize("name", FORMATS)
def test_labels_go_out_and_come_back_the_same(name: str, desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _app(desk, "run", desk / "a.tsv", "--schema", desk / "tickets.json", "--field", "text=body", "--field", "text=n")
    assert _app(desk, "export", "--schema", "tickets", "--format", name, "--out", desk / "out") == 0
    assert "tickets@1" in capsys.readouterr().out
    assert _app(desk, "import", desk / "out", data="other") == 0
    out = capsys.readouterr().out
    assert "30 rows judged, 90 labels kept" in out
    sent = _labels(desk)
    assert len(sent) == 30
    assert _labels(desk, "other") == sent
    assert _app(desk, "export", "--schema", "tickets", "--format", name, "--out", desk / "out") == 1
    assert "is not empty" in capsys.readouterr().err


def test_a_zip_with_pictures_comes_in(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import shutil

    album = Album()
    shots = [ticket(f"t{i}", state={"n": i}, pictures=(album.save(picture(i)),)) for i in range(3)]
    export(FORMATS["clef-finetune"], desk / "set", plan(*shots), [("train", shot) for shot in shots], album)
    shutil.make_archive(str(desk / "set"), "zip", desk, "set")
    assert _app(desk, "import", desk / "set.zip") == 0
    assert "read as clef-finetune" in capsys.readouterr().out
    with Database.open(desk / "data") as database:
        recipe = Recipe(name="x", questions=(labelled_schemas(database)[0].sha256,))
        found = list(gather(database, recipe, lambda _, why: pytest.fail(why)))
    assert [len(e.pictures) for e in found] == [1, 1, 1]


@pytest.mark.parametrize("name", ["clef-finetune", "hf-parquet", "dmtune"])
def test_handwritten_digits_are_run_and_go_out_as_pictures(
    name: str, desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """scikit-learn's digits (UCI, CC BY 4.0): real pictures with labels that nobody here gave."""
    digits = load_digits()
    (desk / "digits").mkdir()
    lines = ["file,digit"]
    for i in range(40):
        Image.fromarray((digits.images[i] * 15).astype("uint8")).save(desk / "digits" / f"{i}.png")
        lines.append(f"{i}.png,{digits.target[i]}")
    (desk / "digits" / "list.csv").write_text("\n".join(lines))
    asked = {"type": "choice", "instructions": "Which digit is this?", "criteria": {str(n): None for n in range(10)}}
    (desk / "digit.json").write_text(json.dumps({"digit": asked}))
    assert _app(desk, "run", desk / "digits", "--schema", desk / "digit.json", "--image", "file") == 0
    assert "40 rows: 40 judged" in capsys.readouterr().out
    assert _app(desk, "export", "--schema", "digit", "--format", name, "--out", desk / "out") == 0
    back = list(FORMATS[name].read(desk / "out", Album(), lambda row: pytest.fail(str(row))))
    got = sorted((e.pictures[0], e.labels["digit"]) for _, e in back)
    files = [(desk / "digits" / f"{i}.png").read_bytes() for i in range(40)]
    assert got == sorted((sha256(f).hexdigest(), str(t)) for f, t in zip(files, digits.target, strict=False))


def test_long_form_becomes_a_schema_with_one_choice(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f'"how do I, please, do {i}?",{["card_lost", "1", "true"][i % 3]}' for i in range(12)]
    (desk / "intents.csv").write_text("text,label\n" + "\n".join(rows) + "\nbroken\n")
    assert _app(desk, "import", desk / "intents.csv", "--asked", "What is it about?") == 0
    out, err = capsys.readouterr()
    assert "text: text; label: label, 3 options" in out
    assert "12 rows judged, 12 labels kept" in out
    assert "intents.csv:14: has 1 cells" in err
    with Database.open(desk / "data") as database:
        (schema,) = list_schemas(database)
        asked = get_version(database, schema.id).questions["label"]
        assert (asked.option_ids(), asked.instructions) == (["card_lost", "1", "true"], "What is it about?")
        document = get_draft(database, schema.id).document
        assert [o["name"] for o in document["doc"]["questions"][0]["options"]] == ["card_lost", "1", "true"]
    assert {labels["label"] for labels in _labels(desk).values()} == {"card_lost", "1", "true"}


@pytest.mark.parametrize(
    ("argv", "code", "why"),
    [
        (["run"], 2, "give a FILE"),
        (["run", "a.tsv"], 2, "--schema is needed"),
        (["run", "gone.csv", "--schema", "tickets.json"], 1, "gone.csv"),
        (["run", "a.tsv", "--schema", "nobody"], 1, "no schema 'nobody'"),
        (["run", "a.tsv", "--schema", "tickets.json", "--text", "mood"], 1, "no column 'mood'"),
        (["run", "a.tsv", "--schema", "tickets.json", "--truth", "x=text"], 1, "no question 'x'"),
        (["export", "--format", "csv", "--out", "x"], 2, "give --schema"),
        (["export", "--dataset", "x", "--format", "csv", "--out", "x"], 1, "no dataset 'x'"),
        (["import", "gone"], 1, "is not there"),
        (["import", "tickets.json"], 1, "label"),
        (["import", "a.tsv", "--label", "mood"], 1, "label"),
    ],
)
def test_what_goes_wrong_is_said_in_a_sentence(
    argv: list[str],
    code: int,
    why: str,
    desk: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(desk)
    assert _app(desk, *argv) == code
    err = capsys.readouterr().err
    assert why in err
    assert "Traceback" not in err


def test_unknown_arguments_are_told(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        _app(desk, "run", desk / "a.tsv", "--schema", "x", "--colour", "red")
    assert caught.value.code == 2
    assert "--colour" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["run", "export", "import"])
def test_help_answers_without_a_model(name: str) -> None:
    root = Path(app.__file__).parent
    lines = ["import sys, app", "try:", f"    app.main(['{name}', '--help'])", "except SystemExit:", "    pass"]
    code = "\n".join([*lines, "assert 'torch' not in sys.modules"])
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert f"app.py {name}" in done.stdout
