"""What the Calibration page's functions say and keep, without a browser."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from model.answers import Answer
from model.engine import Decision
from model.questions import schema_hash
from model.state import State, Tokens
from storage.database import FILE, Database
from storage.labels import add_label
from storage.policies import policy_in_force
from studio.calibrations import Calibrations
from studio.pages.calibration_data import Place, Shelf
from studio.pages.calibration_desk import desk_functions
from studio.pages.calibration_more import more_functions
from studio.pages.calibration_report import report
from studio.pages.calibration_review import review_functions
from tests.calibration_data import OTHER, SCORER, questions, seed

EMPTY = replace(SCORER, fingerprint="00" * 32)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A database with 900 sampled labels by a scorer that is too sure, and the same cases by another scorer."""
    folder = tmp_path_factory.mktemp("calibration")
    with Database.open(folder) as database:
        place = seed(database, audit=600, queue=300, volunteered=100, cant_tell=5, unlabelled=50)
        seed(database, audit=0, unlabelled=1050, scorer=OTHER, temperature=1.0, noise=0.8)
        seed(database, audit=0, unlabelled=5, scorer=EMPTY)
    return folder / FILE, place


@pytest.fixture
def database(filled: tuple[Path, dict[str, Any]], tmp_path: Path) -> Iterator[Database]:
    shutil.copy(filled[0], tmp_path / FILE)
    with Database.open(tmp_path) as opened:
        yield opened


@pytest.fixture
def where(filled: tuple[Path, dict[str, Any]]) -> dict[str, Any]:
    return {key: filled[1][key] for key in ("questions", "scorer", "question")}


@pytest.fixture
def call(database: Database) -> Any:
    """call("review", **payload) → the reply of that function, which must be JSON."""
    shelf, calibrations = Shelf(database), Calibrations(database)
    listed = [*review_functions(shelf), *desk_functions(shelf), *more_functions(shelf, calibrations)]
    functions = {f.__name__: f for f in listed}

    def ask(name: str, /, **payload: Any) -> Any:
        return json.loads(json.dumps(functions[name](payload), allow_nan=False))

    return ask


def test_a_place_and_its_questions(call: Any, where: dict[str, Any]) -> None:
    places = call("places")["places"]
    assert [(p["scorer_name"], p["schema"], p["version"]) for p in places][-1] == ("tiny", "Support triage", 1)
    listed = call("questions", questions=where["questions"], scorer=where["scorer"])["questions"]
    assert [(q["id"], q["type"]) for q in listed] == [("next_team", "choice"), ("upset", "noul"), ("urgency", "score")]


def test_the_review_says_what_is_wrong_in_words(call: Any, where: dict[str, Any]) -> None:
    found = call("review", **where)
    assert found["title"].startswith("Too sure ")
    assert (found["n"], found["audit"], found["cant_tell"]) == (895, 595, 5)
    assert sum(row["n"] for row in found["rows"]) == 895
    assert sum(found["bars"]) == 895
    assert found["numbers"]["error"]["value"] > found["numbers"]["floor"]
    badge = call("badge", **where)["badge"]
    assert (badge["words"], badge["n"], badge["audit"]) == ("promises too much", 895, 595)
    assert call("badge", **{**where, "question": "upset"})["badge"]["words"] == "not calibrated yet"


def test_volunteered_labels_are_shown_apart_and_enter_nothing(
    call: Any, where: dict[str, Any], database: Database
) -> None:
    before = call("review", **where)
    claimed = call("review", **where, labels="claimed")
    assert claimed["n"] == before["claimed"]["n"] > 30
    assert claimed["numbers"]["share"]["value"] < 0.5 * before["numbers"]["share"]["value"]
    case = call("cases", **where, low=0, high=1, last=True)["cases"][0]
    add_label(database, id=str(uuid4()), decision=case["id"], question="next_team", verdict="right", labeller="x",
              source="volunteered")  # fmt: skip
    after = call("review", **where)
    assert (after["n"], after["numbers"]) == (before["n"], before["numbers"])


def test_audit_labels_alone_are_unweighted(call: Any, where: dict[str, Any]) -> None:
    found = call("review", **where, labels="audit")
    assert found["n"] == found["effective"] == 595
    row = found["rows"][0]
    assert row["rate"] == pytest.approx(row["right"] / row["n"])


@pytest.mark.parametrize("question", ["next_team", "upset", "urgency"])
def test_every_view_of_every_type(call: Any, where: dict[str, Any], question: str) -> None:
    for view in call("review", **{**where, "question": question})["views"]:
        found = call("review", **{**where, "question": question}, view=view["id"])
        assert found["view"] == view["id"]


def test_what_is_not_there(call: Any, where: dict[str, Any]) -> None:
    assert call("review", **{**where, "question": "nobody"})["error"]["kind"] == "not_found"
    assert "no questions" in call("review", **{**where, "questions": "0" * 64})["error"]["message"].lower()
    assert call("review", **where, view="option:gone")["view"] == "top"
    assert call("cases", **where, low="x", high=1)["error"]
    empty = call("review", **{**where, "scorer": EMPTY.fingerprint})
    assert (empty["n"], empty["title"], empty["rows"]) == (0, "Nobody has judged an answer yet", [])
    desk = call("thresholds", **{**where, "scorer": EMPTY.fingerprint})
    assert [b["guess"] for b in desk["budgets"]] == [None] * 5
    assert [b["guarantee"]["missing"] for b in desk["budgets"]][2] == 124


def test_the_cases_behind_a_point_are_those_of_its_row(call: Any, where: dict[str, Any]) -> None:
    review = call("review", **where)
    for i, row in enumerate(review["rows"]):
        last = i == len(review["rows"]) - 1
        found = call("cases", **where, low=row["low"], high=row["high"], last=last)
        assert found["n"] == row["n"]
        assert all(row["low"] <= case["probability"] for case in found["cases"])
    wrong = [case["right"] for case in found["cases"]]
    assert wrong == sorted(wrong)
    more = call("cases", **where, low=row["low"], high=row["high"], last=True, start=50)
    assert len(found["cases"]) == 50
    assert not {c["id"] for c in more["cases"]} & {c["id"] for c in found["cases"]}


def test_the_desk_holds_every_label_once(call: Any, where: dict[str, Any]) -> None:
    desk = call("thresholds", **where)
    cells = np.asarray(desk["cells"])
    assert cells[:, 0].sum() == desk["n"] == 895
    assert np.asarray(desk["audit"])[:, 0].sum() == desk["audit_n"] == 595
    assert cells[:, 2].sum() == pytest.approx(1)
    loose = desk["budgets"][-1]
    over = cells[round(100 * loose["guess"]["act"]) :]
    assert (over[:, 0].sum(), over[:, 1].sum()) == (loose["guess"]["n"], loose["guess"]["wrong"])
    assert over[:, 3].sum() / over[:, 2].sum() <= 0.2


def test_a_policy_says_what_it_rests_on(call: Any, where: dict[str, Any], database: Database) -> None:
    (option,) = [b for b in call("thresholds", **where)["budgets"] if b["budget"] == 0.2]
    act = option["guarantee"]["act"]
    assert act is not None
    saved = call("keep_policy", **where, id=str(uuid4()), budget=0.2, act=act, refuse=0.4)["policy"]
    assert (saved["number"], saved["basis"]["kind"]) == (1, "guaranteed")
    assert saved["basis"]["labels"]["audit"] == 595
    by_hand = call("keep_policy", **where, id=str(uuid4()), budget=0.01, act=act, refuse=None)["policy"]
    assert by_hand["basis"]["kind"] == "by hand"
    never = call("keep_policy", **where, id=str(uuid4()), budget=0.01, act=None, refuse=None)["policy"]
    assert never["basis"]["kind"] == "never acts"
    found = policy_in_force(database, questions=where["questions"], scorer=where["scorer"])
    assert found.policies["next_team"].number == 3
    call("drop_policy", **where, id=str(uuid4()))
    assert [p["number"] for p in call("policies", **where)["policies"]] == [4, 3, 2, 1]
    crossed = call("keep_policy", **where, id=str(uuid4()), budget=0.1, act=0.5, refuse=0.6)
    assert "ust not be over act" in crossed["error"]["message"]


def test_costs_choose_thresholds(call: Any, where: dict[str, Any]) -> None:
    dear = {"wrong_act": 1000, "wrong_refusal": 1000, "minute": 1, "minutes": 1}
    cheap = {"wrong_act": 0.1, "wrong_refusal": 1000, "minute": 5, "minutes": 1}
    assert call("cheapest_thresholds", **where, costs=dear)["act"] > 0.95
    assert call("cheapest_thresholds", **where, costs=cheap)["act"] < 0.5
    assert call("cheapest_thresholds", **where, costs={**dear, "minute": -1})["error"]


def test_two_scorers_on_the_same_cases(call: Any, where: dict[str, Any]) -> None:
    pair = {"questions": where["questions"], "scorer": where["scorer"], "other_questions": where["questions"],
            "other_scorer": OTHER.fingerprint}  # fmt: skip
    found = {c["question"]: c for c in call("compare_places", **pair)["comparisons"]}
    team = found["next_team"]
    assert team["n"] == 895
    assert team["breaks"] > team["fixes"] > 0
    assert team["words"].endswith("worse, and unlikely to be chance.")
    assert found["upset"]["n"] == 0
    fixes = call("compared_cases", **pair, question="next_team", show="fixes")
    assert fixes["n"] == team["fixes"]
    assert all(c["fixes"] and c["b"][0] == c["truth"] != c["a"][0] for c in fixes["cases"])
    every = call("compared_cases", **pair, question="next_team")
    assert every["n"] == team["fixes"] + team["breaks"]


def test_a_calibrator_is_judged_kept_and_switched(call: Any, where: dict[str, Any], database: Database) -> None:
    methods = {m["method"]: m for m in call("recalibration", **where)["methods"]}
    assert methods["isotonic"]["missing"] > 0
    temperature = methods["temperature"]
    assert temperature["calibrator"]["temperature"] == pytest.approx(1.6, rel=0.15)
    assert temperature["helps"]
    assert temperature["after"]["error"] < temperature["before"]["error"] / 2
    (kept,) = call("keep_recalibration", **where, id=str(uuid4()), method="temperature")["calibrators"]
    assert kept["on"] is False
    call("switch_recalibration", calibrator=kept["id"], on=True)

    calibrations = Calibrations(database)
    decision = _decision(SCORER)
    done = calibrations.finish(decision)
    before, after = decision.answers["next_team"], done.answers["next_team"]
    assert after.top == before.top
    assert max(after.probabilities) < max(before.probabilities)
    assert sum(after.probabilities) == pytest.approx(1)
    assert done.answers["upset"] == decision.answers["upset"]
    assert done.scorer.fingerprint != SCORER.fingerprint
    assert done.scorer.details["base"] == SCORER.fingerprint
    # Neither another scorer nor one that is recalibrated already is touched.
    other = _decision(OTHER)
    assert calibrations.finish(other) is other
    assert calibrations.finish(done) is done

    (second,) = [
        c for c in call("keep_recalibration", **where, id=str(uuid4()), method="platt")["calibrators"]
        if c["method"] == "platt"
    ]  # fmt: skip
    call("switch_recalibration", calibrator=second["id"], on=True)
    assert [c["on"] for c in call("recalibration", **where)["calibrators"]] == [True, False]
    call("switch_recalibration", calibrator=second["id"], on=False)
    calibrations.refresh()
    assert calibrations.finish(decision) is decision


def test_too_few_labels_keep_no_calibrator(call: Any, where: dict[str, Any]) -> None:
    none = {**where, "scorer": EMPTY.fingerprint}
    assert [m["missing"] for m in call("recalibration", **none)["methods"]] == [50, 200, 1000]
    assert call("keep_recalibration", **none, id=str(uuid4()), method="temperature")["calibrators"] == []


def _decision(scorer: Any) -> Decision:
    answers = {
        "next_team": Answer("choice", ("billing", "delivery", "security", "none_of_these"), (0.7, 0.2, 0.06, 0.04)),
        "upset": Answer("noul", ("true", "false"), (0.6, 0.4)),
        "urgency": Answer("score", ("0", "1", "2"), (0.2, 0.5, 0.3), ("a", "b", "c")),
    }
    tokens = Tokens(state=1, pictures=0, questions=1, frame=1, limit=512, read=1)
    return Decision(State("x"), questions(), scorer, answers, tokens, 0.01)


def test_over_time_counts_every_answer(call: Any, where: dict[str, Any]) -> None:
    periods = call("over_time", **where)["periods"]
    assert sum(p["n"] for p in periods) == 1050
    assert sum(p["audited"] for p in periods) == 595
    assert [p["alarm"] for p in periods] == [None] * len(periods)


def test_slices_and_missing_options(call: Any, where: dict[str, Any]) -> None:
    found = call("error_slices", **where)
    assert (found["n"], found["slices"]) == (895, [])
    assert found["tested"] > 5
    missing = call("missing_options", **where)
    assert missing["kinds"]["cant_tell"] == 5
    assert missing["kinds"]["none_of_these"] > 50
    assert missing["clusters"]
    assert all(c["words"] and "help" not in c["words"] for c in missing["clusters"])


def test_the_report_stands_alone_and_escapes(database: Database, where: dict[str, Any]) -> None:
    text = report(Shelf(database), questions=where["questions"], scorer=where["scorer"])
    assert "Calibration of Support triage v1" in text
    assert "It promises too much" in text
    assert "http" not in text.replace("http-equiv", "")
    assert "<script" not in text
    assert text.count("<section>") == 4
    name = "<img src=x onerror=alert(1)>"
    seed(database, audit=3, scorer=replace(SCORER, fingerprint="cc" * 32, name=name), name=name, salt=9)
    hostile = report(Shelf(database), questions=where["questions"], scorer="cc" * 32)
    assert "<img" not in hostile
    assert "&lt;img" in hostile


def test_figures_are_kept_until_a_label_comes(database: Database, where: dict[str, Any]) -> None:
    shelf = Shelf(database)
    place = Place(**where)
    assert shelf.load(place) is shelf.load(place)
    first = shelf.load(place)
    add_label(database, id=str(uuid4()), decision=first.ids[0], question="next_team", verdict="right"
              if first.sampled.right[0] else "wrong", true_option=None if first.sampled.right[0] else
              first.sampled.options[int(first.sampled.truth[0])], labeller="Maren", source="audit")  # fmt: skip
    assert shelf.load(place) is not first


def test_questions_are_known_by_their_hash(where: dict[str, Any]) -> None:
    assert schema_hash(questions()) == where["questions"]
