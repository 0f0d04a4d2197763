"""Decisions: kept once, unrounded, and found again."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa

from model.answers import Answer
from model.engine import Decision
from model.questions import Questions, schema_hash
from model.state import State
from storage.database import Database
from storage.decisions import (
    DecisionRecord,
    get_decision,
    keep_decision,
    record_decision,
    record_decisions,
)
from storage.errors import Conflict, InvalidValue, NotFound
from storage.labels import add_label, undo_label
from storage.pictures import save_picture
from storage.schemas import create_schema, publish
from storage.summaries import list_decisions
from storage.tables import ScorerRow

from .conftest import BOTH, SCORER, MakeRecord

STORES = BOTH


def test_a_decision_comes_back_as_it_was(database: Database, record: MakeRecord) -> None:
    pictures = tuple(save_picture(database, d, format="png", width=1, height=1).sha256 for d in (b"b", b"a"))
    made = record(pictures=pictures, created=datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=timezone(timedelta(hours=2))))
    kept = record_decision(database, made)
    assert kept == get_decision(database, made.id.upper())
    for field in fields(DecisionRecord):
        assert getattr(kept, field.name) == getattr(made, field.name), field.name
    assert list(kept.questions["team"].option_ids()) == ["2", "billing", "10"]
    assert kept.answers["refund"].probabilities == (0.1 + 0.2, 0.7 - 4e-17)
    assert kept.created is not None
    assert kept.created.tzinfo is UTC


@pytest.mark.parametrize(
    "state", ["", "plain", ["a", {"b": None}], {"b": 1, "a": [1.0, 1, True]}], ids=["empty", "text", "list", "object"]
)
def test_states_of_every_kind(database: Database, record: MakeRecord, state: Any) -> None:
    kept = record_decision(database, record(state=state)).state
    assert repr(kept) == repr(state)


def test_a_record_of_the_engines_decision(database: Database, record: MakeRecord, questions: Questions) -> None:
    made = record()
    decision = Decision(
        state=State(made.state), questions=questions, scorer=SCORER, answers=made.answers, tokens=made.tokens,
        seconds=made.seconds, cut=made.cut, words=made.words, looked=made.looked,
    )  # fmt: skip
    assert DecisionRecord.of(decision, id=made.id, source="page") == made


def test_recorded_twice_is_kept_once_and_the_first_answers_stand(database: Database, record: MakeRecord) -> None:
    made = record()
    once = record_decision(database, made)
    again = replace(
        made, seconds=9.0, answers={**made.answers, "refund": Answer("noul", ("true", "false"), (0.3, 0.7))}
    )
    assert record_decision(database, again) == once
    assert len(list_decisions(database, show="all")) == 1


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"state": "other"}, "state"),
        ({"state": {"n": 0.1, "text": "Geld zurück, sofort! 🙏"}}, "state"),
        ({"scorer": replace(SCORER, fingerprint="e" * 64)}, "scorer"),
        ({"source": "api"}, "source"),
        ({"schema_id": str(uuid4())}, "schema version"),
        ({"pictures": ("0" * 64,)}, "pictures"),
    ],
    ids=["state", "order of keys", "scorer", "source", "schema", "pictures"],
)
def test_another_request_under_the_same_id_is_a_conflict(
    database: Database, record: MakeRecord, change: dict[str, Any], part: str
) -> None:
    made = record()
    once = record_decision(database, made)
    with pytest.raises(Conflict, match=part) as caught:
        record_decision(database, replace(made, **change))
    assert caught.value.field == "id"
    assert get_decision(database, made.id) == once


def test_other_questions_under_the_same_id_are_a_conflict(database: Database, record: MakeRecord) -> None:
    made = record()
    record_decision(database, made)
    fewer = replace(made, questions={"team": made.questions["team"]}, answers={"team": made.answers["team"]})
    with pytest.raises(Conflict, match="questions"):
        record_decision(database, fewer)


ODD = Answer("noul", ("true", "false"), (0.5, float("nan")))
SWAPPED = Answer("noul", ("false", "true"), (0.5, 0.5))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"id": "12"}, "id"),
        ({"source": "mail"}, "source"),
        ({"state": 3}, "state"),
        ({"state": {"x": float("inf")}}, "state.x"),
        ({"version": 1}, "schema_id"),
        ({"answers": {}}, "answers"),
        ({"pictures": ("0" * 64,)}, "pictures.0"),
        ({"schema_id": str(uuid4())}, "schema_id"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_kept_is_named(
    database: Database, record: MakeRecord, change: dict[str, Any], field: str
) -> None:
    with pytest.raises((InvalidValue, NotFound)) as caught:
        record_decision(database, record(**change))
    assert caught.value.field == field
    assert list_decisions(database, show="all") == []


@pytest.mark.parametrize(
    ("answer", "field"),
    [(ODD, "answers.refund.probabilities.1"), (SWAPPED, "answers.refund")],
    ids=["not a number", "order"],
)
def test_odd_answers_are_refused(database: Database, record: MakeRecord, answer: Answer, field: str) -> None:
    made = record()
    with pytest.raises(InvalidValue) as caught:
        record_decision(database, replace(made, answers={**made.answers, "refund": answer}))
    assert caught.value.field == field


def test_a_version_must_exist_and_ask_these_questions(
    database: Database, record: MakeRecord, questions: Questions
) -> None:
    key = create_schema(database, name="x").id
    with pytest.raises(NotFound, match="publish it first"):
        record_decision(database, record(schema_id=key, version=1))
    publish(database, key, {"team": questions["team"]})
    with pytest.raises(InvalidValue, match="asks other questions"):
        record_decision(database, record(schema_id=key, version=1))
    publish(database, key, questions)
    assert record_decision(database, record(schema_id=key, version=2)).version == 2
    assert record_decision(database, record(schema_id=key.upper())).schema_id == key


def test_many_at_once_are_all_or_none(database: Database, record: MakeRecord) -> None:
    with pytest.raises(NotFound):
        record_decisions(database, [record(), record(pictures=("0" * 64,))])
    assert list_decisions(database, show="all") == []
    kept = record_decisions(database, [record(), record(), record()])
    assert [d.serial for d in kept] == sorted(d.serial for d in kept)
    assert record_decisions(database, []) == []


def test_order_repeats_and_conflicts_within_one_batch(database: Database, record: MakeRecord) -> None:
    old = record_decision(database, record())
    new = [record(state=str(n)) for n in range(1050)]
    kept = record_decisions(database, [new[0], old, *new[1:], new[0]])
    assert [d.id for d in kept] == [new[0].id, old.id, *(r.id for r in new[1:]), new[0].id]
    serials = [d.serial for d in kept if d.id != old.id][:-1]
    assert serials == list(range(old.serial + 1, old.serial + 1051))
    assert get_decision(database, new[7].id).state == "7"
    assert get_decision(database, new[7].id) == kept[8]
    one = record()
    with pytest.raises(Conflict, match="another state"):
        record_decisions(database, [one, replace(one, state="other")])
    with pytest.raises(NotFound):
        get_decision(database, one.id)


def test_questions_and_scorers_are_written_once(database: Database, record: MakeRecord, questions: Questions) -> None:
    for _ in range(3):
        assert record_decision(database, record()).questions_sha256 == schema_hash(questions)
    with database.read_session() as session:
        for table in ("question_sets", "scorers"):
            assert session.execute(sa.text(f"SELECT count(*) FROM {table}")).scalar() == 1


def test_lists_show_what_was_kept_or_labelled(database: Database, record: MakeRecord) -> None:
    plain, kept, labelled, withdrawn = (record_decision(database, record(state=s)) for s in "abcd")
    keep_decision(database, kept.id)
    for decision in (labelled, withdrawn):
        label = add_label(
            database, id=str(uuid4()), decision=decision.id, question="refund", verdict="right", labeller="ann",
            source="volunteered",
        )  # fmt: skip
    undo_label(database, label.id, id=str(uuid4()))

    def shown(show: Any, **more: Any) -> list[str]:
        return [d.id for d in list_decisions(database, show=show, **more)]

    assert shown("all") == [withdrawn.id, labelled.id, kept.id, plain.id]
    assert shown("kept") == [kept.id]
    assert shown("labelled") == [labelled.id]
    assert shown("history") == [labelled.id, kept.id]
    assert shown("all", limit=2) == [withdrawn.id, labelled.id]
    assert shown("all", limit=2, before=labelled.serial) == [kept.id, plain.id]
    keep_decision(database, kept.id, kept=False)
    assert shown("kept") == []


def test_a_summary_says_the_essentials(database: Database, record: MakeRecord, questions: Questions) -> None:
    key = create_schema(database, name="x").id
    publish(database, key, questions)
    picture = save_picture(database, b"x", format="png", width=1, height=1).sha256
    made = record(schema_id=key, version=1, pictures=(picture,), state="A  long\n\nstate " + "x" * 500)
    record_decision(database, made)
    record_decision(database, record())
    for labeller in ("ann", "bo"):
        add_label(
            database, id=str(uuid4()), decision=made.id, question="team", verdict="cant_tell", labeller=labeller,
            source="audit",
        )  # fmt: skip
    (summary,) = list_decisions(database, show="all", schema_id=key.upper(), version=1)
    assert summary.preview.startswith("A long state xxx")
    assert len(summary.preview) == 160
    assert (summary.scorer, summary.pictures, summary.labels) == ("tiny", 1, 1)
    assert [(a.question, a.top, a.probability) for a in summary.answers] == [
        ("refund", "false", 0.7 - 4e-17),
        ("team", "10", 1 - 0.25 - 1 / 3),
        ("anger", "1", 0.5),
    ]
    assert summary.answers[2].expected_level == pytest.approx(1.1)
    assert list_decisions(database, show="all", schema_id=key, version=2) == []


def test_a_scorer_written_by_another_version_is_read(database: Database, record: MakeRecord) -> None:
    made = record()
    record_decision(database, made)
    with database.write_session() as session:
        row = session.get_one(ScorerRow, SCORER.fingerprint)
        row.info = {**row.info, "colour": "blue"}
    assert get_decision(database, made.id).scorer == SCORER


@pytest.mark.parametrize("ask", [get_decision, keep_decision])
def test_a_decision_that_is_not_there_is_named(database: Database, ask: Any) -> None:
    with pytest.raises(NotFound, match="record it first") as caught:
        ask(database, str(uuid4()))
    assert caught.value.field == "decision"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE decisions SET seconds = 0",
        "UPDATE decisions SET scorer = scorer",
        "UPDATE answers SET probability = 1",
    ],
)
def test_decisions_are_immutable_whoever_writes(database: Database, record: MakeRecord, statement: str) -> None:
    record_decision(database, record())
    with pytest.raises(sa.exc.IntegrityError, match="never change"), database.write_session() as session:
        session.execute(sa.text(statement))
