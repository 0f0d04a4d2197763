"""The Label page's search, bulk actions, cases, privacy and the meter, without a browser."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from storage.database import Database
from storage.labels import current_labels
from storage.schemas import create_schema, publish
from studio.evidence import Evidence
from studio.pages.label_find import PAGE, find_functions
from studio.pages.label_worth import meter, worth_functions
from tests.studio.test_label_desk import QUESTIONS, WHERE, seed


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database.open(tmp_path) as opened:
        yield opened


@pytest.fixture
def call(database: Database) -> Any:
    functions = {f.__name__: f for f in [*find_functions(database), *worth_functions(database)]}
    return lambda function, /, **payload: functions[function](payload)


def test_search_pages_and_filters(database: Database, call: Any) -> None:
    seed(database, PAGE + 10)
    first = call("search", where=WHERE)
    assert (len(first["found"]), first["more"]) == (PAGE, True)
    rest = call("search", where=WHERE, before=first["found"][-1]["serial"])
    assert (len(rest["found"]), rest["more"]) == (10, False)
    word = first["found"][0]["preview"].split()[0].split('"')[-1]
    assert [row["id"] for row in call("search", where=WHERE, text=word)["found"]] == [first["found"][0]["id"]]
    assert call("search", where=WHERE, high=0.6)["found"][0]["probability"] <= 0.6
    assert "error" in call("search", where=WHERE, stream="magic")


def test_what_is_labelled_from_here_never_measures(database: Database, call: Any) -> None:
    one, *others = seed(database, 6)
    label = call(
        "volunteer", id=str(uuid.uuid4()), decision=one, where=WHERE, choice="false", labeller="Ann", note="seen"
    )["label"]
    assert (label["source"], label["verdict"], label["note"]) == ("volunteered", "wrong", "seen")
    key = str(uuid.uuid4())
    for _ in range(2):
        reply = call("bulk", id=key, decisions=others, where=WHERE, choice=None, labeller="Ann")
        assert reply == {"labelled": 5}
    assert {x.source for i in others for x in current_labels(database, i)} == {"bulk"}
    assert call("worth", where=WHERE)["n"] == 0
    past = call("case", decision=one, where=WHERE)
    assert (past["case"]["top"], [x["verdict"] for x in past["history"]]) == ("true", ["wrong"])


def test_a_case_may_be_emptied_and_deleted(database: Database, call: Any) -> None:
    one, two, *_ = seed(database, 3)
    assert call("empty_case", decision=one, labeller="Ann") == {"emptied": one}
    assert call("case", decision=one, where=WHERE)["case"]["redacted"]
    assert call("delete_case", decision=two, labeller="Ann") == {"deleted": two}
    assert call("case", decision=two, where=WHERE)["error"]["kind"] == "not_found"
    assert call("volunteer", id=str(uuid.uuid4()), decision=two, where=WHERE, choice=None, labeller="A")["error"]


def test_a_schema_says_what_is_kept(database: Database, call: Any) -> None:
    schema = create_schema(database, name="Support")
    publish(database, schema.id, QUESTIONS)
    assert call("privacy", schema_id=schema.id) == {"states": True, "retention": None, "emptied": 0}
    seed(database, 2, schema_id=schema.id, version=1)
    changed = call("privacy", schema_id=schema.id, change=True, states=False, retention=30)
    assert changed == {"states": False, "retention": 30, "emptied": 0}
    (bare,) = seed(database, 1, schema_id=schema.id, version=1)
    assert call("case", decision=bare, where=WHERE)["case"]["state"] == ""
    assert call("privacy", schema_id=schema.id, change=True, retention=0)["error"]["kind"] == "refused"


def evidence(n: int, wrong: int, *, above: float = 1.0) -> Evidence:
    """n audit labels, of which a share lies over 0.9 and `wrong` of these are errors; and as many of the queue."""
    over = round(n * above)
    top = np.concatenate([np.full(over, 0.95), np.full(n - over, 0.6)])
    right = np.ones(n)
    right[:wrong] = 0
    audit = np.concatenate([np.ones(n, bool), np.zeros(n, bool)])
    both = np.concatenate([top, np.full(n, 0.95)])
    return Evidence(
        type="noul", options=("true", "false"), decisions=tuple(map(str, range(2 * n))),
        probabilities=np.column_stack([both, 1 - both]), truth=np.zeros(2 * n, int), soft=np.zeros((2 * n, 2)),
        right=np.concatenate([right, np.zeros(n)]), inclusion=np.ones(2 * n), weights=np.ones(2 * n), audit=audit,
        blind=audit, by_hand=np.zeros(2 * n, bool), cant_tell=0, shown=2 * n, population=2 * n,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("n", "wrong", "bound"),
    [(59, 0, 0.05), (299, 0, 0.01), (100, 1, 0.047), (200, 3, 0.038), (30, 3, 0.239)],
)
def test_the_bound_is_that_of_the_table(n: int, wrong: int, bound: float) -> None:
    found = meter(evidence(n, wrong), threshold=0.9)
    assert found["now"] == pytest.approx(bound, abs=0.0006)
    assert found["then"] < found["now"]
    assert (found["n"], found["above"], found["wrong"]) == (n, n, wrong)


def test_the_meter_says_when_more_would_hardly_matter() -> None:
    assert not meter(evidence(60, 0), threshold=0.9)["hardly"]
    assert meter(evidence(2000, 0), threshold=0.9)["hardly"]
    few = meter(evidence(100, 0, above=0.1), threshold=0.9)
    assert few["then"] == pytest.approx(1 - 0.05 ** (1 / 12), abs=1e-6)
    nothing = meter(evidence(50, 0, above=0.0), threshold=0.9)
    assert (nothing["now"], nothing["then"]) == (None, None)


def test_people_who_differ_never_lower_the_bound() -> None:
    doubtful = evidence(50, 0)
    doubtful.right[0] = 0.5
    assert meter(doubtful, threshold=0.9)["wrong"] == 1
