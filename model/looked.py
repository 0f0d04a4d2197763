"""Where an option looked: the parts of the state that its evidence routing attended to. Not proof of why it won.

Contract
--------
`Looked` tells it for one option of one question: words of the rendered state (`model.questions.render`) and tiles of
the pictures, each with a weight. A weight is relative to even attention over all that was read of the state (its text
and its pictures): 1 is no more than anything else, 3 is three times as much. A scorer that can tell follows `Looks`;
`look` asks any scorer and gives None for one that cannot. No torch.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from model.encoding import Encoded, Span
from model.questions import FieldError, InvalidRequest, render
from model.scorer import Request, Scorer

LONGEST_WORD = 40
"""Characters of a word at most: text without blanks is no word."""


@dataclass(frozen=True)
class Word:
    """Characters `start` to `end` of the rendered state. `weight` is the mean of its tokens' weights."""

    start: int
    end: int
    weight: float


@dataclass(frozen=True)
class Tiles:
    """A picture cut into rows × columns; `weights` row by row."""

    rows: int
    columns: int
    weights: tuple[float, ...]


@dataclass(frozen=True)
class Looked:
    """Where one option looked.

    `words` in the order of the text, without blanks; one `Tiles` per picture, in order. `share` is the part of the
    attention (0 to 1) that fell on the state and its pictures; the rest fell on the questions and fixed words.
    """

    question: str
    option: str
    words: tuple[Word, ...]
    pictures: tuple[Tiles, ...]
    share: float

    def json(self, at_least: float = 0.0) -> dict[str, Any]:
        """Plain JSON, weights to 3 places; words below `at_least` are left out."""
        words = [[w.start, w.end, round(w.weight, 3)] for w in self.words if w.weight >= at_least]
        pictures = [
            {"rows": t.rows, "columns": t.columns, "weights": [round(w, 3) for w in t.weights]} for t in self.pictures
        ]
        share = round(self.share, 4)
        return {"question": self.question, "option": self.option, "words": words, "pictures": pictures, "share": share}


@runtime_checkable
class Looks(Protocol):
    """A scorer that can tell where an option looked."""

    def look(self, request: Request, question: str, option: str) -> Looked | None:
        """See `Looked`; None if nothing of the state was read.

        Raises
        ------
        InvalidRequest : the request does not ask this question with this option, or cannot be read.
        """
        ...


def look(scorer: Scorer, request: Request, question: str, option: str) -> Looked | None:
    """Where the option looked; None from a scorer that cannot tell. Raises as `Looks.look`."""
    return scorer.look(request, question, option) if isinstance(scorer, Looks) else None


def looked(
    request: Request,
    question: str,
    option: str,
    grids: Sequence[tuple[int, int]],
    routing: Callable[[], tuple[Encoded, Mapping[str, np.ndarray]]],
) -> Looked | None:
    """Attention over tokens, told in words and tiles.

    Parameters
    ----------
    grids : rows and columns of each picture, in tokens.
    routing : makes the encoded request and per question [options in model order, tokens]; not called for an option
        that the request does not have.

    Raises
    ------
    InvalidRequest : the request does not ask this question with this option.
    """
    asked = request.questions.get(question)
    if asked is None:
        raise InvalidRequest([FieldError(("questions", question), "is not asked", "not_asked")])
    ids = [o.id for o in asked.options()]
    if option not in ids:
        raise InvalidRequest([FieldError(("questions", question), f"has no option {option!r}", "no_option")])
    encoded, looks = routing()
    row = looks[question][ids.index(option)].astype(np.float64)
    text = row[slice(*encoded.state)]
    tiles = [row[slice(*span)] for span in encoded.picture_spans]
    read = np.concatenate((text, *tiles))
    if not len(read) or not read.sum():
        return None
    even = read.mean()
    return Looked(
        question,
        option,
        tuple(_words(render(request.state.value), encoded.offsets, text / even)),
        tuple(Tiles(*grid, tuple((t / even).tolist())) for grid, t in zip(grids, tiles, strict=True)),
        float(read.sum()),
    )


def _words(text: str, offsets: Sequence[Span], weights: np.ndarray) -> list[Word]:
    """Tokens put together to words; signs stand alone, and so does each character of scripts without blanks."""
    words: list[tuple[int, int, list[float]]] = []
    for (start, end), weight in zip(offsets, weights.tolist(), strict=True):
        piece = text[start:end]
        start, end = start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())
        if start >= end:
            continue  # blanks
        if words and _goes_on(text, words[-1][0], words[-1][1], start):
            first, last, seen = words[-1]
            words[-1] = (first, max(last, end), [*seen, weight])
        else:
            words.append((start, end, [weight]))
    return [Word(start, end, sum(seen) / len(seen)) for start, end, seen in words]


def _goes_on(text: str, first: int, last: int, start: int) -> bool:
    """Whether the token at `start` belongs to the word from `first` to `last`."""
    if start < last:
        return True  # a character of several tokens
    if start > last or start - first >= LONGEST_WORD:
        return False
    return _of_word(text[start - 1]) and _of_word(text[start])


def _of_word(character: str) -> bool:
    kind = unicodedata.category(character)[0]
    narrow = unicodedata.east_asian_width(character) not in "WF"
    return narrow and (kind in "LNM" or character in "_'’")
