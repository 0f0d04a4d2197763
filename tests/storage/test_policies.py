"""Policies are versioned, belong to one schema version and scorer, and are never changed."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa

from model.answers import Answer
from model.questions import schema_hash
from storage.database import Database
from storage.decisions import record_decision
from storage.errors import Conflict, InvalidValue, NotFound
from storage.policies import list_policies, policy_in_force, save_policy, withdraw_policy
from tests.storage.conftest import SCORER, MakeRecord

BASIS = {"kind": "guaranteed", "budget": 0.05, "n": 120, "bound": 0.049}


@pytest.fixture
def place(database: Database, record: MakeRecord) -> dict[str, str]:
    kept = record_decision(database, record())
    return {"questions": schema_hash(kept.questions), "scorer": SCORER.fingerprint, "question": "team"}


def save(database: Database, place: dict[str, str], **more: Any) -> Any:
    given = {"id": str(uuid4()), "act": 0.9, "refuse": 0.4, "basis": BASIS, "by": "Maren", **place, **more}
    return save_policy(database, **given)


def answer(p: float) -> Answer:
    return Answer("choice", ("a", "b"), (p, 1 - p))


@pytest.mark.parametrize(
    ("act", "refuse", "p", "says"),
    [(0.9, 0.6, 0.9, "act"), (0.9, 0.6, 0.8999, "ask"), (0.9, 0.6, 0.6, "ask"), (0.9, 0.6, 0.5999, "refuse"),
     (None, 0.6, 1.0, "ask"), (None, None, 0.51, "ask"), (0.9, None, 0.51, "ask"), (0.7, 0.7, 0.7, "act"),
     (0.7, 0.7, 0.69, "refuse")],
)  # fmt: skip
def test_what_a_policy_says(
    database: Database, place: dict[str, str], act: float | None, refuse: float | None, p: float, says: str
) -> None:
    save(database, place, act=act, refuse=refuse)
    found = policy_in_force(database, questions=place["questions"], scorer=place["scorer"])
    assert found.outcome("team", answer(p)) == says
    assert found.outcome("refund", answer(p)) is None


def test_the_newest_counts_and_the_others_stay(database: Database, place: dict[str, str]) -> None:
    first, second = save(database, place), save(database, place, act=0.95)
    assert (first.number, second.number) == (1, 2)
    asked = {"questions": place["questions"], "scorer": place["scorer"]}
    assert policy_in_force(database, **asked).policies == {"team": second}
    gone = withdraw_policy(database, id=str(uuid4()), by="Maren", **place)
    assert policy_in_force(database, **asked).policies == {}
    assert [p.number for p in list_policies(database, **place)] == [3, 2, 1]
    assert gone.basis is None
    assert save(database, place).number == 4
    assert list(policy_in_force(database, **asked).policies) == ["team"]


def test_another_version_or_scorer_has_none(database: Database, place: dict[str, str]) -> None:
    save(database, place)
    for other in ({"questions": "0" * 64, "scorer": place["scorer"]}, {**place, "scorer": "0" * 64}):
        found = policy_in_force(database, questions=other["questions"], scorer=other["scorer"])
        assert found.outcome("team", answer(0.99)) is None


def test_it_may_be_sent_twice(database: Database, place: dict[str, str]) -> None:
    key = str(uuid4())
    assert save(database, place, id=key) == save(database, place, id=key)
    with pytest.raises(Conflict, match="another act"):
        save(database, place, id=key, act=0.99)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"act": 0.0}, InvalidValue, "act: must be over 0"),
        ({"act": 1.1}, InvalidValue, "act: must be over 0"),
        ({"refuse": -0.1}, InvalidValue, "refuse: must be from 0"),
        ({"refuse": 0.95}, InvalidValue, "would be both"),
        ({"question": "nobody"}, NotFound, "nobody"),
        ({"scorer": "0" * 64}, NotFound, "scorer: no decision"),
        ({"by": " "}, InvalidValue, "by: must not be empty"),
        ({"basis": {"n": float("nan")}}, InvalidValue, "finite"),
    ],
)
def test_what_is_refused(
    database: Database, place: dict[str, str], wrong: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        save(database, place, **wrong)
    assert list_policies(database, **place) == []


def test_the_file_refuses_changes(database: Database, place: dict[str, str]) -> None:
    save(database, place)
    for statement, message in (
        ("UPDATE policies SET act = 0.1", "never changed"),
        ("DELETE FROM policies", "never deleted"),
    ):
        with pytest.raises(sa.exc.IntegrityError, match=message), database.write_session() as session:
            session.execute(sa.text(statement))


def test_the_export_says_whose_it_is(database: Database, place: dict[str, str]) -> None:
    saved = save(database, place)
    found = policy_in_force(database, questions=place["questions"], scorer=place["scorer"]).json()
    assert (found["format"], found["format_version"]) == ("clef-studio/policy", 1)
    assert (found["questions_sha256"], found["scorer"]) == (place["questions"], place["scorer"])
    assert found["policies"]["team"] == {
        "id": saved.id, "number": 1, "act": 0.9, "refuse": 0.4, "basis": BASIS, "by": "Maren",
        "created": saved.created.isoformat(),
    }  # fmt: skip
