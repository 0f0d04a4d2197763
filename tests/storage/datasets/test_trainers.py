"""The trainers' own loaders read our files, and understand the labels that people gave.

Each trainer lives in an environment of its own (`.ci/trainers` makes them). Its Python is named by an environment
variable; where that is missing the test is skipped here, and fails where CI is set.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from model.questions import parse_questions
from storage.datasets.example import Example
from storage.datasets.formats import export
from storage.datasets.registry import FORMATS
from tests.storage.datasets.examples import LABELS, NASTY, TICKETS, Album, picture, plan, ticket

LOADERS = Path(__file__).with_name("loaders.py")
MANY = "TRAINERS_PYTHON"
CASES = {
    "clef-finetune": ("clef_finetune", "CLEF_FINETUNE_PYTHON"),
    "dmtune": ("dmtune", MANY),
    "sysone": ("sysone", MANY),
    "sysone-soft": ("sysone", MANY),
    "jev-eval": ("jev_eval", MANY),
    "hf-parquet": ("datasets", MANY),
    "mlx-decision": ("mlx_decision", MANY),
    "laya-finetune": ("laya_finetune", "LAYA_FINETUNE_PYTHON"),
}
NAMES = dict.fromkeys(["b", "a", *filter(str.strip, NASTY)])
MANY_NAMES = parse_questions(
    {
        "true": {"type": "choice", "instructions": "Which {of these}?", "criteria": NAMES},
        "#1": {"type": "noul", "instructions": "Really?", "criteria": {"false": "No\u2028no.", "true": "= yes"}},
        "s": {"type": "score", "instructions": "How far?", "criteria": ["", "=2", {"text": "far"}, "# 4"]},
    }
)


def _python(variable: str) -> str:
    found = os.environ.get(variable)
    if not found:
        message = f"{variable} names no Python with this trainer (.ci/trainers makes one)"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return found


def _load(name: str, folder: Path) -> dict[str, Any]:
    loader, variable = CASES[name]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "PYTHONPATH": "", "LC_ALL": "C"}
    done = subprocess.run(
        [_python(variable), str(LOADERS), loader, str(folder)],
        env=environment, cwd=folder.parent, capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def _many() -> list[Example]:
    """Rows with hard names in every place where a loader could stumble."""
    draw = random.Random(6)
    sent = []
    for number, text in enumerate(NASTY):
        labels = {key: draw.choice(asked.option_ids()) for key, asked in MANY_NAMES.items()}
        state: Any = text if number % 3 else {"subject": text, "n": 10**30 + number}
        sent.append(ticket(f"{number} {text}", state=state, questions=MANY_NAMES, labels=labels, group=text))
    return [*sent, ticket("plain"), ticket("part", labels={"route": "billing"})]


@pytest.mark.parametrize("name", CASES)
def test_the_trainer_s_own_loader_understands_the_labels(name: str, tmp_path: Path) -> None:
    sent = _many()
    soft = {"route": {"technical": 0.25, "billing": 0.75}}
    sent.append(ticket("divided", labels={"wants_refund": "true", "urgency": "2"}, soft=soft))
    album = Album()
    shot = ticket("shot", pictures=(album.save(picture()),), state="see picture")
    splits = ["test" if one.id == "part" else "train" for one in [*sent, shot]]
    done = export(FORMATS[name], tmp_path / "out", plan(*sent), zip(splits, [*sent, shot], strict=True), album)
    assert done.problems == []
    read = _load(name, tmp_path / "out")
    assert len(read) == done.total
    left_out = {one for ids in done.named.values() for one in ids}
    # mlx-decision would lift a data URI out of a state as a picture.
    as_picture = {one.id for one in sent if name == "mlx-decision" and "data:" in one.id}
    assert left_out <= {"shot", "divided"} | as_picture
    for one in sent:
        if one.id in left_out:
            continue
        wanted = {key: {option: 1.0} for key, option in one.labels.items()}
        if one.id == "divided" and name in ("dmtune", "sysone-soft", "hf-parquet"):
            wanted |= soft
        assert read[one.id]["labels"] == wanted, one.id
        if name != "laya-finetune":
            assert read[one.id]["state"] == one.state
    if "shot" not in left_out:
        (seen,) = read["shot"]["images"]
        assert seen == ([6, 4, 120, 30, 200] if name == "hf-parquet" else len(picture()))


def test_laya_reads_the_fields_of_a_state_apart(tmp_path: Path) -> None:
    export(FORMATS["laya-finetune"], tmp_path / "out", plan(ticket()), [("train", ticket())], Album())
    read = _load("laya-finetune", tmp_path / "out")
    assert read["dec_1"]["state"] == {"subject": "Charged twice", "body": "Please look."}
    assert read["dec_1"]["labels"] == {key: {option: 1.0} for key, option in LABELS.items()}
    assert set(read["dec_1"]["labels"]) == set(TICKETS)
