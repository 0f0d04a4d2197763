"""The record that every dataset format writes and reads: one state, its questions, and what people hold for true.

Contract
--------
* An `Example` is immutable and holds no pictures, only their sha256, in order.
* Labels name options, never positions: trainers order options differently (noul, and choices that Clef sorts). So
  `labels` maps a question's id to an option id ("true"/"false" for a noul, "0".."n-1" for a score).
* `soft` maps a question's id to the shares of its options, which are finite, not negative and sum to 1. A question may
  have a hard label, soft shares, both, or neither.
* Knows no format and no database.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from model.questions import Json, Questions

Hard = Mapping[str, str]
Soft = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, kw_only=True)
class Example:
    """One labelled state.

    `group` is what must stay together in a split (a customer, a case). `source` says where the decision came from,
    `stream` why a person saw it (`storage.tables.SAMPLED_BY`), `scorer` who answered, `licence` under what terms the
    state may be passed on. `refused` is why no trainer may learn from it; empty where one may.
    """

    id: str
    state: Json
    questions: Questions
    labels: Hard = field(default_factory=dict)
    soft: Soft = field(default_factory=dict)
    pictures: tuple[str, ...] = ()
    group: str | None = None
    time: datetime | None = None
    source: str = ""
    stream: str = ""
    scorer: str = ""
    licence: str = ""
    refused: str = ""


class LabelError(ValueError):
    """A label that its question does not allow; the message says which is allowed."""


def wire_label(kind: str, option: str) -> str | bool | int:
    """A label as most trainers want it: a boolean for a noul, an integer level for a score, else the option's id.

    Never the text "false" for a noul: dmtune reads every text that is not empty as true.
    """
    if kind == "noul":
        return option == "true"
    if kind == "score":
        return int(option)
    return option


def option_of(questions: Questions, question: str, value: Json) -> str:
    """The option id that a written label means: a boolean, a level, or an id. Raises LabelError."""
    if question not in questions:
        raise LabelError(f"there is no question {question!r}; its label cannot be read")
    asked = questions[question]
    text = value
    if asked.type == "noul":
        text = {True: "true", False: "false"}[value] if isinstance(value, bool) else value
        text = text.lower() if isinstance(text, str) else text
    elif asked.type == "score" and isinstance(value, int) and not isinstance(value, bool):
        text = str(value)
    options = asked.option_ids()
    if not isinstance(text, str) or text not in options:
        some = ", ".join(options[:10]) + (", ..." if len(options) > 10 else "")
        raise LabelError(f"{question}: {value!r} is not one of {some}")
    return text


def shares(questions: Questions, question: str, value: Json) -> dict[str, float]:
    """Soft shares over the question's options, in its order, normalised. Raises LabelError."""
    if question not in questions:
        raise LabelError(f"there is no question {question!r}; its shares cannot be read")
    if not isinstance(value, Mapping) or not value:
        raise LabelError(f"{question}: shares must be an object that maps options to numbers")
    options = questions[question].option_ids()
    for option, share in value.items():
        if option not in options:
            raise LabelError(f"{question}: {option!r} is not an option")
        if isinstance(share, bool) or not isinstance(share, int | float) or not math.isfinite(share) or share < 0:
            raise LabelError(f"{question}: the share of {option!r} must be a number that is not negative")
    total = math.fsum(value.values())
    if total <= 0:
        raise LabelError(f"{question}: the shares sum to nothing")
    # Shares that sum to 1 already are kept to the last digit, so that they come back as they went out.
    scale = 1.0 if math.isclose(total, 1.0, rel_tol=0, abs_tol=1e-9) else total
    return {option: float(value[option]) / scale for option in options if option in value}


def labels_of(questions: Questions, raw: Json) -> dict[str, str]:
    """Option ids of a written map of labels; null means no label. Raises LabelError."""
    if raw is None:
        return {}
    if not isinstance(raw, Mapping):
        raise LabelError("labels must be an object that maps questions to answers")
    return {key: option_of(questions, key, value) for key, value in raw.items() if value is not None}


def soft_of(questions: Questions, raw: Json) -> dict[str, dict[str, float]]:
    """Shares of a written map of soft labels; null means none. Raises LabelError."""
    if raw is None:
        return {}
    if not isinstance(raw, Mapping):
        raise LabelError("soft labels must be an object that maps questions to shares")
    return {key: shares(questions, key, value) for key, value in raw.items() if value is not None}


META = ("group", "source", "stream", "scorer", "licence", "refused")


def meta_of(example: Example) -> dict[str, Json]:
    """What is known beside state and labels, without what is empty: for formats that carry or ignore such a field."""
    meta: dict[str, Json] = {name: getattr(example, name) for name in META if getattr(example, name)}
    if example.time is not None:
        meta["time"] = example.time.astimezone(UTC).isoformat()
    return meta


def from_meta(raw: Json) -> dict[str, Any]:
    """Keyword arguments for `Example` from what `meta_of` wrote; foreign fields are ignored."""
    if not isinstance(raw, Mapping):
        return {}
    known: dict[str, Any] = {name: raw[name] for name in META if isinstance(raw.get(name), str)}
    if isinstance(raw.get("group"), int) and not isinstance(raw["group"], bool):
        known["group"] = str(raw["group"])
    if (moment := parse_time(raw.get("time"))) is not None:
        known["time"] = moment
    return known


def as_object(raw: Json) -> dict[str, Json]:
    """A JSON object as it is; an empty one for anything else."""
    return raw if isinstance(raw, dict) else {}


def parse_time(raw: Json) -> datetime | None:
    """An aware time from ISO 8601 text (UTC where it names no zone); None for anything else."""
    if not isinstance(raw, str):
        return None
    try:
        moment = datetime.fromisoformat(raw)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
