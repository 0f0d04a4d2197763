"""The ten traps that corrupt labels silently between a labelling tool and a trainer (and three that we met later)."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from model.questions import parse_questions
from storage.datasets.example import Example
from storage.datasets.formats import Exported, export
from storage.datasets.registry import FORMATS
from tests.storage.datasets.examples import TICKETS, Album, picture, plan, ticket

BOOLEANS = {"clef-finetune": "labels", "mlx-decision": "labels", "dmtune": "expected", "sysone": "expected"}


def _out(name: str, folder: Path, *sent: Example, album: Album | None = None, split: str = "train") -> Exported:
    return export(FORMATS[name], folder / name, plan(*sent), [(split, one) for one in sent], album or Album())


def _rows(folder: Path, name: str, file: str = "train.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name / file).read_text(encoding="ascii").split("\n") if line]


def test_trap_1_parquet_holds_the_picture_itself(tmp_path: Path) -> None:
    album = Album()
    _out("hf-parquet", tmp_path, ticket(pictures=(album.save(picture()),)), album=album)
    (file,) = (tmp_path / "hf-parquet").rglob("*.parquet")
    (row,) = pq.read_table(file).to_pylist()
    assert [image["bytes"] for image in row["images"]] == [picture()]


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x1c"])
@pytest.mark.parametrize("name", [n for n, f in FORMATS.items() if n not in ("hf-parquet", "csv")])
def test_trap_2_no_separator_breaks_a_row(name: str, separator: str, tmp_path: Path) -> None:
    _out(name, tmp_path, ticket(state={"body": f"one{separator}two"}))
    text = (tmp_path / name / "train.jsonl").read_text(encoding="utf-8")
    assert [type(json.loads(line)) for line in text.splitlines()] == [dict]


@pytest.mark.parametrize(("name", "field"), BOOLEANS.items())
def test_trap_3_nouls_are_booleans_where_text_would_be_true(name: str, field: str, tmp_path: Path) -> None:
    _out(name, tmp_path, ticket())
    assert _rows(tmp_path, name)[0][field]["wants_refund"] is False


def test_trap_3_nouls_are_lower_case_text_for_nemo(tmp_path: Path) -> None:
    _out("nemo", tmp_path, ticket())
    assert _rows(tmp_path, "nemo")[0]["answers"] == {"route": "billing", "wants_refund": "false", "urgency": "1"}


@pytest.mark.parametrize(
    ("name", "field"), [("dmtune", "target"), ("sysone-soft", "gold"), ("nemo", "soft_labels"), ("jsonl", "soft")]
)
def test_traps_4_and_5_shares_name_options_and_are_never_vectors(name: str, field: str, tmp_path: Path) -> None:
    soft = {"wants_refund": {"true": 0.25, "false": 0.75}, "route": {"technical": 0.5, "billing": 0.5}}
    _out(name, tmp_path, ticket(labels={"urgency": "1"}, soft=soft))
    got = _rows(tmp_path, name)[0][field]
    unwrapped = {key: shares.get("probabilities", shares) for key, shares in got.items()}
    assert {key: unwrapped[key] for key in soft} == soft


def test_trap_4_noul_options_differ_in_order_and_no_file_says_an_index(tmp_path: Path) -> None:
    _out("laya-finetune", tmp_path, ticket())
    assert _rows(tmp_path, "laya-finetune")[0]["answers"]["wants_refund"] is False


def test_trap_5_choices_keep_the_caller_s_order(tmp_path: Path) -> None:
    for name in ("clef-finetune", "dmtune", "sysone", "nemo"):
        _out(name, tmp_path, ticket())
        assert list(_rows(tmp_path, name)[0]["questions"]["route"]["criteria"]) == [
            "technical",
            "billing",
            "none_of_these",
        ]


@pytest.mark.parametrize(
    ("name", "field", "level"),
    [
        ("clef-finetune", "labels", 1),
        ("mlx-decision", "labels", 1),
        ("dmtune", "expected", 1),
        ("sysone", "expected", 1),
        ("nemo", "answers", "1"),
        ("laya-finetune", "answers", "handle_this_week"),
        ("jev-eval", "labels", "Handle this week."),
    ],
)
def test_trap_6_levels_count_from_0_and_laya_wants_keys(name: str, field: str, level: Any, tmp_path: Path) -> None:
    _out(name, tmp_path, ticket())
    got = _rows(tmp_path, name)[0][field]["urgency"]
    assert (type(got), got) == (type(level), level)


def test_trap_6_laya_s_levels_stand_from_low_to_high(tmp_path: Path) -> None:
    _out("laya-finetune", tmp_path, ticket())
    task = yaml.safe_load((tmp_path / "laya-finetune" / "task.yaml").read_text())
    assert [level["criteria"] for level in task["questions"]["urgency"]["levels"].values()] == TICKETS[
        "urgency"
    ].criteria


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("mlx-decision", 1),
        ("nemo", 1),
        ("sysone", 1),
        ("laya-finetune", 1),
        ("jev-eval", 1),
        ("dmtune", 2),
        ("jsonl", 3),
    ],
)
def test_trap_7_rows_whose_pictures_cannot_go_along_are_counted(name: str, kept: int, tmp_path: Path) -> None:
    album = Album()
    one, two = album.save(picture(1)), album.save(picture(2))
    sent = [ticket("plain"), ticket("one", pictures=(one,)), ticket("two", pictures=(one, two))]
    done = _out(name, tmp_path, *sent, album=album)
    assert (done.total, sum(done.left_out.values())) == (kept, 3 - kept)
    assert all("picture" in reason for reason in done.left_out)
    assert "images" not in _rows(tmp_path, name)[0] or name == "jsonl"


@pytest.mark.parametrize("name", [n for n in FORMATS if n not in ("hf-parquet", "csv")])
def test_trap_8_no_row_starts_like_a_comment(name: str, tmp_path: Path) -> None:
    _out(name, tmp_path, ticket("#1", state="# heading\n# more"), ticket("#2", state="\n# x"))
    text = (tmp_path / name / "train.jsonl").read_text()
    assert [line[0] for line in text.splitlines()] == ["{", "{"]


@pytest.mark.parametrize(
    "name", ["clef-finetune", "mlx-decision", "sysone", "dmtune", "nemo", "jev-eval", "hf-parquet"]
)
def test_trap_9_partial_labels_go_where_they_are_taken(name: str, tmp_path: Path) -> None:
    assert _out(name, tmp_path, ticket(labels={"route": "billing"})).total == 1


def test_trap_9_laya_takes_partial_labels_in_the_test_split_only(tmp_path: Path) -> None:
    part = ticket(labels={"route": "billing"})
    done = _out("laya-finetune", tmp_path / "a", part)
    assert done.left_out == Counter({"laya-finetune wants every question of a training row labelled": 1})
    assert _out("laya-finetune", tmp_path / "b", part, split="test").total == 1
    answers = _rows(tmp_path / "b", "laya-finetune", "test.jsonl")[0]["answers"]
    assert answers == {"route": "billing", "wants_refund": None, "urgency": None}


@pytest.mark.parametrize("name", FORMATS)
def test_trap_10_rows_that_no_trainer_may_learn_from_stay_out_of_training(name: str, tmp_path: Path) -> None:
    why = "answered by Jev, whose terms forbid training on its output"
    done = _out(name, tmp_path, ticket("mine"), ticket("theirs", refused=why))
    if FORMATS[name].trains:
        assert (done.total, done.left_out) == (1, Counter({why: 1}))
        assert done.named == {why: ["theirs"]}
    else:
        assert done.total == 2


def test_an_option_named_probabilities_is_not_taken_for_sysone_s_wrapper(tmp_path: Path) -> None:
    asked = parse_questions(
        {"q": {"type": "choice", "instructions": "?", "criteria": {"probabilities": None, "b": None}}}
    )
    _out("sysone-soft", tmp_path, ticket(questions=asked, labels={}, soft={"q": {"probabilities": 0.5, "b": 0.5}}))
    assert _rows(tmp_path, "sysone-soft")[0]["gold"] == {"q": {"probabilities": {"probabilities": 0.5, "b": 0.5}}}


def test_text_in_a_field_that_dmtune_opens_as_a_file_is_left_out(tmp_path: Path) -> None:
    done = _out("dmtune", tmp_path, ticket(state={"image": "a photo of a cat"}), ticket("fine"))
    assert done.total == 1
    assert "rename the field" in next(iter(done.left_out))


def test_levels_that_say_the_same_are_left_out_for_jev_eval(tmp_path: Path) -> None:
    asked = parse_questions({"q": {"type": "score", "instructions": "?", "criteria": ["low", "low"]}})
    done = _out("jev-eval", tmp_path, ticket(questions=asked, labels={"q": "0"}))
    assert done.total == 0
    assert "cannot tell them apart" in next(iter(done.left_out))
