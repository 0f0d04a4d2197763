"""Finding decisions by words and by what was said of them; and that bulk labels stay apart."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from model.answers import Answer
from model.questions import schema_hash
from storage.database import Database
from storage.decisions import record_decisions
from storage.errors import InvalidLabel, InvalidValue, NotFound
from storage.labels import add_label, current_labels
from storage.search import MOST, Filter, Found, accept, find
from tests.storage.conftest import BOTH, SCORER, MakeRecord

STORES = BOTH

STATES = [
    "The café on Größe street charged me twice",
    {"subject": "Refund", "body": "Please refund the second charge"},
    "Nothing of the kind",
    'Quotes "inside" and a - minus OR not',
]


@pytest.fixture
def ids(database: Database, record: MakeRecord) -> list[str]:
    records = [
        record(
            state=state,
            words=("INVOICE",) if i == 2 else (),
            answers={
                "refund": Answer("noul", ("true", "false"), (0.5 + 0.1 * i, 0.5 - 0.1 * i)),
                "team": Answer("choice", ("2", "billing", "10"), (0.2, 0.3, 0.5)),
                "anger": Answer("score", ("0", "1", "2"), (0.2, 0.5, 0.3), ("calm", "annoyed", "furious")),
            },
        )
        for i, state in enumerate(STATES)
    ]
    record_decisions(database, records)
    return [r.id for r in records]


@pytest.fixture
def search(database: Database, record: MakeRecord) -> Any:
    """search(text=..., ...) → numbers of the states that were found, newest first."""
    questions = schema_hash(record().questions)

    def found(question: str = "refund", limit: int = 50, before: int | None = None, **wanted: Any) -> list[Found]:
        return find(
            database, questions=questions, scorer=SCORER.fingerprint, question=question, wanted=Filter(**wanted),
            limit=limit, before=before,
        )  # fmt: skip

    return found


def numbers(found: list[Found]) -> list[int]:
    return [row.serial - 1 for row in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [3, 2, 1, 0]),
        ("CHARGE", [1, 0]),
        ("cafe grosse", []),
        ("cafe große", [0]),
        ("refund sec", [1]),
        ("invoice", [2]),
        ('"inside" OR', [3]),
        ("nothing charged", []),
        ("*:( ^", [3, 2, 1, 0]),
    ],
)
def test_words(ids: list[str], search: Any, text: str, expected: list[int]) -> None:
    assert numbers(search(text=text)) == expected


def test_pages_go_on_where_they_ended(ids: list[str], search: Any) -> None:
    first = search(limit=3)
    assert numbers(first) == [3, 2, 1]
    assert numbers(search(limit=3, before=first[-1].serial)) == [0]


def test_filters(database: Database, ids: list[str], search: Any) -> None:
    def say(i: int, who: str, verdict: Any, source: Any = "volunteered") -> None:
        add_label(
            database, id=str(uuid4()), decision=ids[i], question="refund", verdict=verdict, labeller=who, source=source
        )

    say(0, "Ann", "right")
    say(0, "Bob", "wrong")
    say(1, "Ann", "right", "bulk")
    say(2, "Bob", "wrong")
    say(2, "Bob", "right")
    assert numbers(search(low=0.65)) == [3, 2]
    assert numbers(search(high=0.65)) == [1, 0]
    assert numbers(search(labelled=True)) == [2, 1, 0]
    assert numbers(search(labelled=False)) == [3]
    assert numbers(search(labeller="Bob")) == [2, 0]
    assert numbers(search(stream="bulk")) == [1]
    assert numbers(search(differs="model")) == [0]
    assert numbers(search(differs="people")) == [0]
    assert numbers(search(option="false")) == [0]
    assert numbers(search(option="true", text="charge", labelled=True)) == [1, 0]
    assert search("team", option="10")[0].top == "10"
    assert [label[:2] for label in search(text="cafe")[0].labels] == [("Ann", "right"), ("Bob", "wrong")]
    with pytest.raises(InvalidValue, match="low: must be a probability"):
        search(low=2)


def test_a_bulk_action_is_done_once_and_stays_apart(database: Database, ids: list[str]) -> None:
    key = str(uuid4())
    for _ in range(2):
        assert accept(database, id=key, decisions=ids, question="refund", choice=None, labeller="Ann") == 4
    (label,) = current_labels(database, ids[3])
    assert (label.source, label.verdict, label.propensity) == ("bulk", "right", None)
    accept(database, id=str(uuid4()), decisions=ids[:2], question="refund", choice="false", labeller="Ann")
    assert [x.verdict for i in ids for x in current_labels(database, i)] == ["wrong", "wrong", "right", "right"]


def test_a_bulk_action_is_done_whole_or_not(database: Database, ids: list[str]) -> None:
    with pytest.raises(NotFound, match="decisions:"):
        accept(database, id=str(uuid4()), decisions=[*ids, str(uuid4())], question="refund", choice=None, labeller="A")
    with pytest.raises(InvalidLabel, match="true_option"):
        accept(database, id=str(uuid4()), decisions=ids, question="refund", choice="maybe", labeller="A")
    with pytest.raises(InvalidValue, match="at most"):
        accept(database, id=str(uuid4()), decisions=[ids[0]] * (MOST + 1), question="refund", choice=None, labeller="A")
    assert not [x for i in ids for x in current_labels(database, i)]
