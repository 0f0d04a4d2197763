"""The public intent sets, turned into questions: what is read from the folder, and what is left out of training.

Contract
--------
`read_public(folder)` reads CLINC150, BANKING77 and NLU++ banking (one gzipped JSON line per row: split, state, label,
and the question where it differs by row). HWU64 and SNIPS are never opened here: they are kept for measuring. Intents
that overlap a concept of the evaluation (`LEFT_OUT`) are dropped, and a few more are kept out of training to choose
hyperparameters on (`DEVELOPMENT`).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SETS = ("clinc150", "banking77")
PHRASES = Path(__file__).parent / "corpus" / "intents.json"
"""What each intent wants, in our own words ("want to ..."), by set and intent."""

LEFT_OUT = {
    # Near a held-out concept: medical_question, delivery_damage (a parcel that is broken, lost or late),
    # job_application, feature_request.
    "clinc150": ("vaccines", "order_status", "damaged_card", "lost_luggage", "application_status"),
    "banking77": ("card_arrival", "card_delivery_estimate"),
}
LEFT_OUT_QUESTIONS = ("Does the user want to ask about the arrival of something?",)

DEVELOPMENT = {
    "clinc150": (
        *("book_hotel", "carry_on", "cook_time", "credit_score", "definition", "flip_coin", "gas_type", "how_busy"),
        *("ingredients_list", "insurance", "jump_start", "make_call", "next_song", "payday", "pto_used", "recipe"),
        *("schedule_meeting", "smart_home", "spelling", "timezone", "uber", "what_are_your_hobbies"),
    ),
    "banking77": ("age_limit", "card_swallowed", "change_pin", "country_support", "failed_transfer", "exchange_charge"),
}


class PublicSetError(ValueError):
    """A public set is missing or has another form than it should."""


@dataclass(frozen=True)
class IntentSet:
    """Messages by intent, per split; intents that are left out are gone."""

    name: str
    question: Mapping[str, Any]
    phrases: Mapping[str, str]
    train: Mapping[str, list[str]]
    test: Mapping[str, list[str]]


@dataclass(frozen=True)
class YesNoRow:
    """One row of NLU++: a message, a question, its answer."""

    text: str
    instructions: str
    answer: bool


def read_rows(folder: Path, name: str) -> list[dict[str, Any]]:
    """The rows of `NAME.jsonl.gz`."""
    path = folder / f"{name}.jsonl.gz"
    if not path.is_file():
        raise PublicSetError(f"{path} is missing; --data must name the folder with the public sets")
    with gzip.open(path, "rt", encoding="utf-8") as handle:
        return [json.loads(line) for line in handle]


def read_question(folder: Path, name: str) -> dict[str, Any]:
    """The question of a set (`NAME.question.json`)."""
    path = folder / f"{name}.question.json"
    if not path.is_file():
        raise PublicSetError(f"{path} is missing; --data must name the folder with the public sets")
    question: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return question


def read_intents(folder: Path) -> list[IntentSet]:
    """CLINC150 and BANKING77 without the intents in `LEFT_OUT`."""
    phrases = json.loads(PHRASES.read_text(encoding="utf-8")) if PHRASES.is_file() else {}
    sets = []
    for name in SETS:
        question = read_question(folder, name)
        question["criteria"] = {k: v for k, v in question["criteria"].items() if k not in LEFT_OUT[name]}
        splits: dict[str, dict[str, list[str]]] = {"train": {}, "test": {}}
        for row in read_rows(folder, name):
            if row["label"] in question["criteria"]:
                splits[row["split"]].setdefault(row["label"], []).append(row["state"])
        sets.append(IntentSet(name, question, phrases.get(name, {}), splits["train"], splits["test"]))
    return sets


def read_yes_no(folder: Path) -> list[YesNoRow]:
    """The training rows of NLU++ banking."""
    return [
        YesNoRow(row["state"], row["question"]["instructions"], row["label"] == "true")
        for row in read_rows(folder, "nlupp_banking")
        if row["split"] == "train" and row["question"]["instructions"] not in LEFT_OUT_QUESTIONS
    ]
