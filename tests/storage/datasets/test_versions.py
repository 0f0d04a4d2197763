"""Dataset versions: who gets in, who stays out and why, frozen and made again; the card says it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml

from model.scorer import ScorerInfo
from storage.database import Database
from storage.datasets.changes import changes
from storage.datasets.detect import detect
from storage.datasets.gather import (
    DELETED,
    DISAGREE,
    UNNAMED,
    Aside,
    Recipe,
    count_aside,
    gather,
    labelled_schemas,
    other_stream,
    parse_recipe,
)
from storage.datasets.registry import FORMATS
from storage.datasets.split import SplitSpec
from storage.datasets.terms import JEV
from storage.datasets.versions import export_version, freeze, get_dataset, list_datasets, open_version, survey
from storage.decisions import find_decision, record_decision
from storage.errors import Conflict, InvalidValue, NotFound
from storage.labels import add_label
from storage.tables import DecisionBodyRow, VerdictRow
from tests.storage.conftest import MakeRecord
from tests.storage.datasets.examples import Album


class Desk:
    """Records and labels decisions."""

    def __init__(self, database: Database, record: MakeRecord) -> None:
        self.database, self.record = database, record

    def decide(self, text: str, **changes: Any) -> str:
        made = self.record(state={"text": text, "customer": {"id": 7}}, id=str(uuid4()), **changes)
        return record_decision(self.database, made).id

    def label(
        self, decision: str, question: str, option: str | None, by: str = "ana", source: str = "volunteered"
    ) -> None:
        top = {"refund": "false", "team": "10", "anger": "1"}[question]
        verdict = "right" if option == top else "wrong"
        add_label(
            self.database, id=str(uuid4()), decision=decision, question=question, labeller=by, source=source,
            verdict=verdict, true_option=option if verdict == "wrong" else None,
        )  # fmt: skip

    def recipe(self, **changes: Any) -> Recipe:
        (asked,) = labelled_schemas(self.database)
        return replace(Recipe(name="tickets", questions=(asked.sha256,)), **changes)


@pytest.fixture
def desk(database: Database, record: MakeRecord) -> Desk:
    return Desk(database, record)


def _gathered(desk: Desk, recipe: Recipe) -> tuple[dict[str, Any], Counter[str]]:
    out: Counter[str] = Counter()
    return {e.id: e for e in gather(desk.database, recipe, lambda _, why: out.update([why]))}, out


def test_agreed_answers_go_in_and_the_others_are_told(desk: Desk) -> None:
    agreed, divided, settled, unnamed, bulk, plain = (desk.decide(f"case {i}") for i in range(6))
    for by in ("ana", "bob"):
        desk.label(agreed, "refund", "true", by)
    desk.label(divided, "team", "2", "ana")
    desk.label(divided, "team", "billing", "bob")
    desk.label(settled, "team", "2", "ana")
    desk.label(settled, "team", "billing", "bob")
    with desk.database.write_session() as session:
        serial = find_decision(session, settled).serial
        session.add(VerdictRow(id=str(uuid4()), decision=serial, question="team", true_option="10", labeller="chief"))
    desk.label(unnamed, "team", None)
    desk.label(bulk, "refund", "true", source="bulk")
    recipe = desk.recipe(streams=("volunteered", "audit"))
    found, out = _gathered(desk, recipe)
    assert {key: dict(e.labels) for key, e in found.items()} == {agreed: {"refund": "true"}, settled: {"team": "10"}}
    assert out == {DISAGREE: 1, UNNAMED: 1, other_stream(["bulk"]): 1}
    assert plain not in found
    soft, _ = _gathered(desk, replace(recipe, labels="soft"))
    assert soft[divided].soft == {"team": {"2": 0.5, "billing": 0.5}}


def test_a_label_that_was_replaced_counts_no_more(desk: Desk) -> None:
    case = desk.decide("case")
    desk.label(case, "refund", "true")
    before = parse_recipe({**survey(desk.database, desk.recipe()).recipe.json()})
    desk.label(case, "refund", "false")
    assert dict(_gathered(desk, desk.recipe())[0][case].labels) == {"refund": "false"}
    # The frozen marks still give what stood then.
    assert dict(_gathered(desk, before)[0][case].labels) == {"refund": "true"}


def test_states_that_were_emptied_stay_out(desk: Desk) -> None:
    case = desk.decide("secret")
    desk.label(case, "refund", "true")
    with desk.database.write_session() as session:
        row = find_decision(session, case)
        row.redacted = datetime.now(UTC)
        session.delete(session.get_one(DecisionBodyRow, row.serial))
    found, out = _gathered(desk, desk.recipe())
    assert (found, out) == ({}, {DELETED: 1})


def test_dates_groups_and_audit_are_read(desk: Desk) -> None:
    start = datetime(2026, 5, 1, tzinfo=UTC)
    old, new = (desk.decide(f"case {i}", created=start + timedelta(days=30 * i)) for i in range(2))
    for case in (old, new):
        desk.label(case, "refund", "true", source="volunteered")
    desk.label(new, "anger", "2", by="bob", source="audit")
    found, _ = _gathered(desk, desk.recipe(since=start + timedelta(days=1), group_field="customer.id"))
    assert list(found) == [new]
    assert (found[new].group, found[new].stream) == ("7", "audit")
    assert list(_gathered(desk, desk.recipe(until=start + timedelta(days=1)))[0]) == [old]


def test_what_jev_answered_is_marked_and_refused_by_trainers_only(desk: Desk, tmp_path: Path) -> None:
    jev = ScorerInfo(
        name="jev-latest",
        kind="remote",
        fingerprint="9" * 64,
        question_ids="literal",
        max_tokens=9,
        sees_pictures=False,
    )
    mine, theirs = desk.decide("mine"), desk.decide("theirs", scorer=jev)
    for case in (mine, theirs):
        desk.label(case, "refund", "true")
    version = freeze(desk.database, desk.recipe())
    assert version.summary["refused"] == [{"reason": JEV, "rows": 1}]
    done = export_version(desk.database, version, FORMATS["clef-finetune"], tmp_path / "a")
    assert (done.total, done.left_out) == (1, Counter({JEV: 1}))
    assert export_version(desk.database, version, FORMATS["csv"], tmp_path / "b").total == 2


def _many(desk: Desk, n: int = 40) -> list[str]:
    cases = [desk.decide(f"parcel {i} {'abcdefghij'[i % 10] * 30} {i * 7919}") for i in range(n)]
    for i, case in enumerate(cases):
        desk.label(case, "refund", "true" if i % 3 else "false", source="audit" if i % 10 == 0 else "volunteered")
        for question, option in (("team", "2"), ("anger", "0")):
            desk.label(case, question, option, source="audit" if i % 10 == 0 else "volunteered")
    return cases


def test_a_version_is_the_same_each_time_and_says_when_it_cannot_be(desk: Desk) -> None:
    cases = _many(desk)
    recipe = desk.recipe(split=SplitSpec(similar=None))
    version = freeze(desk.database, recipe, id=str(uuid4()))
    assert freeze(desk.database, recipe, id=version.id) == version
    assert version.summary["rows"] == {"train": 32, "validation": 4, "test": 4}
    assert version.summary["streams"] == {"audit": 4, "volunteered": 36}
    desk.label(cases[1], "refund", "false", by="late")
    assert open_version(desk.database, get_dataset(desk.database, "tickets@1")).sha256 == version.sha256
    newer = freeze(desk.database, recipe)
    assert (newer.number, newer.sha256 == version.sha256) == (2, False)
    assert [v.number for v in list_datasets(desk.database)] == [2, 1]
    assert get_dataset(desk.database, "tickets").number == 2
    with desk.database.write_session() as session:
        row = find_decision(session, cases[5])
        row.redacted = datetime.now(UTC)
    with pytest.raises(Conflict, match="1 of its rows were deleted"):
        open_version(desk.database, version)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_exports_a_version_with_its_card(name: str, desk: Desk, tmp_path: Path) -> None:
    _many(desk, 20)
    version = freeze(desk.database, desk.recipe(licence="CC0-1.0", split=SplitSpec(similar=None)))
    done = export_version(desk.database, version, FORMATS[name], tmp_path / "out")
    # The test schema gives two questions no instructions, which some trainers want.
    assert done.problems == []
    assert done.total == (0 if name in ("dmtune", "sysone", "sysone-soft", "laya-finetune") else 20)
    text = (tmp_path / "out" / "README.md").read_text()
    head = yaml.safe_load(text.split("---")[1])
    assert (head["license"], head["license_name"]) == ("other", "CC0-1.0")
    assert version.sha256 in text
    assert "were not sampled at random" in text
    with pytest.raises(FileExistsError):
        export_version(desk.database, version, FORMATS[name], tmp_path / "out")


def test_a_card_shows_the_words_of_people_as_words(desk: Desk, tmp_path: Path) -> None:
    _many(desk, 4)
    name = "# <img src=x onerror=alert(1)> [a](b)\n## x"
    version = freeze(desk.database, desk.recipe(name=name))
    export_version(desk.database, version, FORMATS["jsonl"], tmp_path / "out")
    text = (tmp_path / "out" / "README.md").read_text()
    assert "<img" not in text.split("---", 2)[2].replace("\\<", "")
    assert "\n## x" not in text


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ({"questions": ["x"]}, "name"),
        ({"name": "a"}, "questions"),
        ({"name": "a", "questions": ["x"], "streams": ["rumour"]}, "streams"),
        ({"name": "a", "questions": ["x"], "labels": "best"}, "labels"),
        ({"name": "a", "questions": ["x"], "since": "yesterday"}, "since"),
        ({"name": "a", "questions": ["x"], "split": {"test": 2}}, "split"),
        ({"name": "a", "questions": ["x"], "split": {"tset": 0.1}}, "split"),
    ],
)
def test_a_recipe_that_cannot_be_names_its_field(raw: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        parse_recipe(raw)
    assert caught.value.field == field


def test_recipes_come_back_from_json(desk: Desk) -> None:
    desk.label(desk.decide("x"), "refund", "true")
    recipe = desk.recipe(since=datetime(2026, 1, 1, tzinfo=UTC), split=SplitSpec(by="time"), streams=("audit",))
    assert parse_recipe(recipe.json()) == recipe


def test_unknown_schemas_and_datasets_are_refused(database: Database) -> None:
    with pytest.raises(InvalidValue, match="no schema version"):
        survey(database, Recipe(name="x", questions=("0" * 64,)))
    with pytest.raises(NotFound):
        get_dataset(database, "x@1")


def test_the_same_again_is_the_version_that_is_there_and_else_what_changed_is_said(desk: Desk) -> None:
    cases = _many(desk)
    recipe = desk.recipe(split=SplitSpec(similar=None))
    found = survey(desk.database, recipe)
    version = freeze(desk.database, recipe, found=found)
    again = freeze(desk.database, replace(recipe, marks=None))
    assert (again.id, again.number) == (version.id, 1)
    assert changes(*((v.sha256, v.recipe, v.summary) for v in (version, again))) == []
    desk.label(cases[3], "refund", "true", by="late")
    desk.label(desk.decide("one more"), "refund", "true")
    later = freeze(desk.database, replace(recipe, group_field="customer.id", streams=("audit", "volunteered")))
    assert later.number == 2
    said = changes(*((v.sha256, v.recipe, v.summary) for v in (version, later)))
    assert "group field: none → customer.id" in said
    assert "label sources: volunteered, queue, audit, bulk, import → volunteered, audit" in said
    # Two people differ about one case; another case came.
    assert "refund = false: 14 → 13" in said
    assert "refund = true: 26 → 27" in said


def test_decisions_that_a_recipe_never_sees_are_counted(desk: Desk) -> None:
    start = datetime(2026, 5, 1, tzinfo=UTC)
    cases = [desk.decide(f"case {i}", created=start + timedelta(days=i)) for i in range(6)]
    for case in cases[:4]:
        desk.label(case, "refund", "true")
    recipe = desk.recipe(since=start + timedelta(days=2))
    assert count_aside(desk.database, recipe) == Aside(unlabelled=2, outside=2)
    assert count_aside(desk.database, desk.recipe()) == Aside(unlabelled=2, outside=0)
    (asked,) = labelled_schemas(desk.database)
    assert (asked.rows, asked.streams, asked.first, asked.last) == (
        4, {"volunteered": 4}, start, start + timedelta(days=3),
    )  # fmt: skip


def test_parquet_that_lies_alone_is_found(desk: Desk, tmp_path: Path) -> None:
    _many(desk, 4)
    export_version(desk.database, freeze(desk.database, desk.recipe()), FORMATS["hf-parquet"], tmp_path / "out")
    assert detect(tmp_path / "out" / "data") is FORMATS["hf-parquet"]


@pytest.mark.parametrize(
    ("name", "file", "text", "why"),
    [
        ("laya-finetune", "task.yaml", "a: [", "task.yaml cannot be read"),
        ("laya-finetune", "task.yaml", "- a", "task.yaml must hold an object"),
        ("laya-finetune", "task.yaml", "questions: {a: 1}", "question a must be an object"),
        ("jev-eval", "questions.json", "{", "questions.json cannot be read"),
        ("jev-eval", "questions.json", "[]", "questions.json must hold an object"),
        ("mlx-decision", "dataset.json", "no", "dataset.json cannot be read"),
        ("csv", "schemas.json", "{}", "schemas.json must hold a list"),
    ],
)
def test_what_lies_beside_rows_and_is_broken_is_said(name: str, file: str, text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / file).write_text(text)
    (tmp_path / "train.jsonl").write_text("{}\n")
    with pytest.raises(InvalidValue, match=why):
        list(FORMATS[name].read(tmp_path, Album(), lambda _: None))
