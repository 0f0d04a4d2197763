"""The labelled text that we wrote for the embedded model, read from `corpus/FAMILY/`.

Contract
--------
A family is a `questions.json` (`nouls`: phrasings and criteria; `scores` and `choices`: variants) and messages. Those
of `messages-*.jsonl` were judged on every noul of the family: `yes` are true, `unsure` nobody should answer, all others
are false. Those of `focus-*.jsonl` were written for one noul, in near pairs with opposite answers, and were judged only
on what their `yes` and `no` list. Both may have levels and options. `read_corpus` checks every name and fails on the
first that is not known. `read_open` gives texts that were asked questions of their own (`open/*.jsonl`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parent / "corpus"


class CorpusError(ValueError):
    """A file of the corpus names something that its family does not define."""


@dataclass(frozen=True)
class Message:
    """One message with its labels: nouls that are true and false (of the others nothing is known), levels, options."""

    text: str
    yes: frozenset[str]
    no: frozenset[str]
    scores: Mapping[str, int]
    choices: Mapping[str, str]


@dataclass(frozen=True)
class Family:
    """Messages and the questions that are asked about them."""

    name: str
    nouls: Mapping[str, Mapping[str, Any]]
    scores: Mapping[str, list[dict[str, Any]]]
    choices: Mapping[str, list[dict[str, Any]]]
    messages: tuple[Message, ...]


def read_corpus(folder: Path = CORPUS) -> list[Family]:
    """All families, by name."""
    return [_family(path.parent) for path in sorted(folder.glob("*/questions.json"))]


def _family(folder: Path) -> Family:
    questions = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
    nouls = questions["nouls"]
    scores = {name: body["variants"] for name, body in questions["scores"].items()}
    choices = {name: body["variants"] for name, body in questions["choices"].items()}
    messages = []
    for path in [*sorted(folder.glob("messages-*.jsonl")), *sorted(folder.glob("focus-*.jsonl"))]:
        for number, row in enumerate(_rows(path), 1):
            yes = frozenset(row["yes"])
            no = frozenset(row["no"]) if "no" in row else frozenset(nouls) - yes - {*row["unsure"]}
            unknown = {*yes, *no, *row.get("unsure", ())} - set(nouls)
            unknown |= {n for n, level in row["scores"].items() if not _is_level(scores.get(n), level)}
            unknown |= {n for n, option in row["choices"].items() if not _is_option(choices.get(n), option)}
            if unknown or yes & no:
                names = ", ".join(sorted(unknown or yes & no))
                problem = "not a question or answer here" if unknown else "said to be both true and false"
                raise CorpusError(f"{path.name}:{number}: {names} is {problem}")
            messages.append(Message(row["text"], yes, no, row["scores"], row["choices"]))
    return Family(folder.name, nouls, scores, choices, tuple(messages))


@dataclass(frozen=True)
class OpenText:
    """A text and what was asked about it: instructions and whether they are true."""

    text: str
    asks: tuple[tuple[str, bool], ...]


def read_open(folder: Path = CORPUS) -> list[OpenText]:
    """Texts with questions of their own, by file and line."""
    return [
        OpenText(row["text"], tuple((ask, answer) for ask, answer in row["asks"]))
        for path in sorted((folder / "open").glob("*.jsonl"))
        for row in _rows(path)
    ]


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def _is_level(variants: list[dict[str, Any]] | None, level: int) -> bool:
    return variants is not None and all(0 <= level < len(v["criteria"]) for v in variants)


def _is_option(variants: list[dict[str, Any]] | None, option: str) -> bool:
    return variants is not None and all(option in v["criteria"] for v in variants)
