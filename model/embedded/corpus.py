"""The labelled text that we wrote for the embedded model, read from `corpus/FAMILY/`.

Contract
--------
A family is a `questions.json` (`nouls`: phrasings and criteria; `scores` and `choices`: variants) and messages
(`messages-*.jsonl`: text; the nouls that are true, `yes`; those that nobody should answer, `unsure`; levels; options).
A noul of the family that is in neither list is false. `read_corpus` checks every name and fails on the first that is
not known.
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
    """One message with its labels."""

    text: str
    yes: frozenset[str]
    unsure: frozenset[str]
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
    for path in sorted(folder.glob("messages-*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            row = json.loads(line)
            unknown = {*row["yes"], *row["unsure"]} - set(nouls)
            unknown |= {n for n, level in row["scores"].items() if not _is_level(scores.get(n), level)}
            unknown |= {n for n, option in row["choices"].items() if not _is_option(choices.get(n), option)}
            if unknown:
                raise CorpusError(
                    f"{path.name}:{number}: {', '.join(sorted(unknown))} is not a question or answer here"
                )
            messages.append(
                Message(row["text"], frozenset(row["yes"]), frozenset(row["unsure"]), row["scores"], row["choices"])
            )
    return Family(folder.name, nouls, scores, choices, tuple(messages))


def _is_level(variants: list[dict[str, Any]] | None, level: int) -> bool:
    return variants is not None and all(0 <= level < len(v["criteria"]) for v in variants)


def _is_option(variants: list[dict[str, Any]] | None, option: str) -> bool:
    return variants is not None and all(option in v["criteria"] for v in variants)
