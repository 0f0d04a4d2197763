"""jevcompat, the conformance suite of the wire format, against running servers.

What it asks of a model is invariance only: a question's id, the other questions and their order should not move an
answer. Clef's released prompt holds the ids (`literal`), so a release cannot meet the first; `neutral` can. Clef's head
reads all questions jointly, so a release need not meet the other two, which the suite only recommends.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from model.clef import Clef, open_clef
from model.embedded.reader import open_embedded
from model.questions import Limits, Questions
from model.scorer import Reading, Request, ScorerInfo
from model.state import State, Tokens
from tests.api.conftest import KEY, Served, serving

RELEASE = Path(__file__).parents[1] / "golden" / "tiny_release"
JOINT = {"semantics.batching", "semantics.question-order"}


def failures(served: Served, tmp_path: Path, *more: str) -> tuple[int, set[str]]:
    """The suite's exit code, and the ids of the requirements that failed; all others passed or did not apply."""
    report = tmp_path / "report.json"
    command = [Path(sys.executable).with_name("jevcompat"), "test", served.url, "--json", report, *more]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=240, check=False)
    results = json.loads(report.read_text(encoding="utf-8"))["results"]
    assert {result["status"] for result in results} <= {"pass", "skip", "fail"}, done.stdout
    assert sum(result["status"] == "pass" for result in results) >= 40
    return done.returncode, {result["id"] for result in results if result["status"] == "fail"}


def test_the_wire(hashed: Served, tmp_path: Path) -> None:
    assert failures(hashed, tmp_path) == (0, set())


def test_the_wire_behind_a_key(keyed: Served, tmp_path: Path) -> None:
    assert failures(keyed, tmp_path, "--key", KEY) == (0, set())


def test_the_tiny_release_with_neutral_ids(tmp_path: Path) -> None:
    with serving(open_clef(RELEASE, device="cpu", question_ids="neutral")) as served:
        assert failures(served, tmp_path) == (0, set())


def test_the_embedded_model(tmp_path: Path) -> None:
    with serving(open_embedded()) as served:
        assert failures(served, tmp_path) == (0, set())


class Sharp:
    """The tiny release with logits as far apart as a trained model's; its random weights hardly prefer anything."""

    def __init__(self, clef: Clef) -> None:
        self._clef = clef

    @property
    def info(self) -> ScorerInfo:
        return self._clef.info

    @property
    def limits(self) -> Limits:
        return self._clef.limits

    def count(self, state: State, questions: Questions) -> Tokens:
        return self._clef.count(state, questions)

    def score(self, requests: Sequence[Request]) -> list[Reading]:
        readings = self._clef.score(requests)
        return [replace(r, logits={key: [40 * z for z in row] for key, row in r.logits.items()}) for r in readings]


def test_literal_ids_fail_the_one_requirement_about_ids(tmp_path: Path) -> None:
    with serving(Sharp(open_clef(RELEASE, device="cpu", question_ids="literal"))) as served:
        assert failures(served, tmp_path) == (1, {"semantics.question-id"} | JOINT)
