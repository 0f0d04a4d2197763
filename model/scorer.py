"""The protocol that every scorer follows: a state and questions in, logits out.

Contract
--------
A scorer is a model checkpoint (with adapter and calibrator), known by a fingerprint. It may hold torch or be remote;
this module imports neither. A scorer is used by one thread at a time (`model.engine` sees to that).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol

from model.questions import Limits, Questions
from model.state import Cut, State, Tokens

QuestionIds = Literal["literal", "neutral"]
"""Whether the model reads question ids as they are, or one constant in place of each (so that a name cannot matter)."""


@dataclass(frozen=True)
class ScorerInfo:
    """What a person must know about who answers. `fingerprint` is a sha256 (hex) over all that decides a number."""

    name: str
    kind: Literal["clef", "embedded", "remote"]
    fingerprint: str
    question_ids: QuestionIds
    max_tokens: int
    sees_pictures: bool
    reads_words: bool = False
    """Reads the words in pictures (OCR) as part of the state, and tells which (`Reading.words`); does not see them."""
    device: str = "cpu"
    dtype: str = "float32"
    notice: str = ""
    """One sentence that the page shows beside the name, such as "small demo model; load Clef for real work"."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Further facts: parameters, tokenizer pipeline in use, paths, revision, OCR available, ..."""

    def json(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Request:
    """One state under one set of questions."""

    state: State
    questions: Questions
    allow_cut: bool = False


@dataclass(frozen=True)
class Reading:
    """What a scorer says of one request.

    `logits` per question id, in model order (`question.options()`), float64 values.
    `words` is text that the scorer found in the pictures and read as part of the state (OCR); one entry per picture.
    `looked` per question: character ranges of the rendered state that were read, where a scorer reads only part of it.
    `reused` tokens of the request had been read before and cost nothing this time.
    """

    logits: Mapping[str, Sequence[float]]
    tokens: Tokens
    cut: Cut | None = None
    words: tuple[str, ...] = ()
    looked: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    reused: int = 0


class Scorer(Protocol):
    """Anything that can answer questions."""

    @property
    def info(self) -> ScorerInfo:
        """Who answers."""
        ...

    @property
    def limits(self) -> Limits:
        """How much one request may ask."""
        ...

    def count(self, state: State, questions: Questions) -> Tokens:
        """How the request divides, without running the model (fast: tokenizer only)."""
        ...

    def score(self, requests: Sequence[Request]) -> list[Reading]:
        """One reading per request, in order.

        Raises
        ------
        TooLong : a request does not fit and allows no cut.
        InvalidRequest : a request that this scorer cannot read (named field).
        """
        ...
