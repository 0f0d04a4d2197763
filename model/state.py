"""What is judged: a state, its pictures, and how much of it is read.

Contract
--------
`State` is validated once, at the edge (`parse_state`), and immutable. Pictures are already decoded and checked
(`model.images`); this module only carries them. `Tokens` and `Cut` are what a scorer says about the size of a request:
a state that is too long is refused (`TooLong`, with counts) unless the caller allowed a cut, and then the reading
tells what was cut. No torch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from model.questions import CLEF_LIMITS, FieldError, InvalidRequest, Json, Limits, StateError, check_json

if TYPE_CHECKING:
    from model.images import Picture


@dataclass(frozen=True)
class State:
    """Text or JSON (object or list) with 0-4 pictures, in order."""

    value: Json
    pictures: tuple[Picture, ...] = field(default=())


def parse_state(value: Json, pictures: tuple[Picture, ...] = (), *, limits: Limits = CLEF_LIMITS) -> State:
    """A validated state.

    Raises
    ------
    StateError : `loc` is ("state",) or ("images",).
    """
    if not isinstance(value, str | dict | list):
        raise StateError([FieldError(("state",), "must be text, an object or a list", "state_type")])
    if errors := check_json(value, ("state",)):
        raise StateError(errors)
    if len(pictures) > limits.images:
        message = f"has {len(pictures)} pictures; at most {limits.images} are allowed"
        raise StateError([FieldError(("images",), message, "too_long")])
    return State(value, tuple(pictures))


@dataclass(frozen=True)
class Tokens:
    """How the input of one request divides, in tokens of the scorer.

    `state` counts the whole state, before any cut; `read` what of it the scorer reads. `questions` holds the schema,
    `frame` the fixed words around it. `limit` is the most that one request may hold.
    """

    state: int
    pictures: int
    questions: int
    frame: int
    limit: int
    read: int

    @property
    def total(self) -> int:
        """Tokens that the scorer reads."""
        return self.read + self.pictures + self.questions + self.frame

    @property
    def needed(self) -> int:
        """Tokens that the request needs to be read whole."""
        return self.state + self.pictures + self.questions + self.frame


@dataclass(frozen=True)
class Cut:
    """What of the state was not read, because the caller allowed a cut.

    `tokens` of the state were left out, from character `start` of its rendered text (`model.questions.render`) on.
    """

    tokens: int
    start: int


class TooLong(InvalidRequest):
    """The request does not fit, and no cut was allowed (or the questions alone do not fit). Carries the counts.

    `cut` is what a cut would leave out if it were allowed; None where none helps, or where the scorer does not tell.
    `at_least`: the state was not counted to its end; `tokens.state` is then a lower bound, which is too long already.
    """

    def __init__(self, tokens: Tokens, cut: Cut | None = None, *, at_least: bool = False) -> None:
        self.tokens = tokens
        self.cut = cut
        self.at_least = at_least
        over = tokens.needed - tokens.limit
        least = "at least " if at_least else ""
        asked = tokens.questions + tokens.frame
        parts = f"state {least}{tokens.state:,}, pictures {tokens.pictures:,}, questions {asked:,}"
        if tokens.needed - tokens.state > tokens.limit:
            loc, advice = "questions", "ask less, or raise the limit (--max-tokens)"
        else:
            loc, advice = "state", "shorten it, allow a cut, or raise the limit (--max-tokens)"
        message = f"too long by {least}{over:,} tokens ({parts}; limit {tokens.limit:,}): {advice}"
        super().__init__([FieldError((loc,), message, "too_long")])
