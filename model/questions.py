"""The typed question language: noul, choice, score.

Contract
--------
This module holds the questions of the System One wire format as immutable pydantic models, under the wire's own
names. It is the one place that validates questions. It never imports torch, gradio or a database, so every room may
import it.

* A question is `{"type": "noul" | "choice" | "score", "instructions": ..., "criteria": ...}`.
* A schema is an ordered map from question id to question; its order is the order of the answers.
* *Model order* is the order in which a scorer reads the options of a question (`options`): noul `true, false`;
  choice sorted by option id (code points); score as listed. *Request order* (`option_ids`) is the caller's.
* All errors are `QuestionsError`, which names every field that is wrong by its `loc`.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

Json: TypeAlias = Any
"""A JSON value: str, int, float, bool, None, list or dict with str keys."""

QuestionType: TypeAlias = Literal["noul", "choice", "score"]
Loc: TypeAlias = tuple[str | int, ...]

MAX_DEPTH = 64
"""JSON nested deeper than this is refused (a bomb, not a document)."""

NOUL_DEFAULTS: Mapping[str, str] = {
    "true": "The proposition is true or the answer is yes.",
    "false": "The proposition is false or the answer is no.",
}
"""What the release says of `true` and `false` when the caller does not."""


@dataclass(frozen=True)
class Limits:
    """How much one request may ask. The defaults are those that Clef's hosted service states."""

    questions: int = 64
    options: int = 255
    levels: int = 10
    images: int = 4
    id_length: int = 256


CLEF_LIMITS = Limits()


@dataclass(frozen=True)
class FieldError:
    """One thing that is wrong: where (`loc`, from the request's root), what (`message`), and pydantic's code."""

    loc: Loc
    message: str
    code: str

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.loc))}: {self.message}"


class InvalidRequest(ValueError):
    """A request that cannot be asked. `errors` names each field; `str()` is for a person."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        self.errors = list(errors)
        super().__init__("; ".join(map(str, self.errors)))


class QuestionsError(InvalidRequest):
    """The questions are not valid."""


class StateError(InvalidRequest):
    """The state or its pictures are not valid."""


@dataclass(frozen=True)
class Option:
    """One allowed answer: its id, and what the caller says it means (None: nothing is said)."""

    id: str
    description: Json | None = None


def render(value: Json) -> str:
    """Text of a JSON value as the release writes it: a string raw, all else compact JSON with sorted keys."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def check_json(value: Json, loc: Loc) -> list[FieldError]:
    """Errors of a JSON value: depth over `MAX_DEPTH`, numbers that are not finite, lone surrogates, foreign types.

    Walks without recursion, so that no input can exhaust the stack.
    """
    stack: list[tuple[Json, Loc, int]] = [(value, loc, 0)]
    while stack:
        item, at, depth = stack.pop()
        if depth > MAX_DEPTH:
            return [FieldError(loc, f"nested deeper than {MAX_DEPTH} levels; flatten it", "too_deep")]
        if isinstance(item, str):
            if not _is_text(item):
                return [FieldError(at, "holds half of a surrogate pair, which is not text", "string_unicode")]
        elif isinstance(item, float):
            if not math.isfinite(item):
                return [FieldError(at, "is not a finite number; JSON has no NaN or Infinity", "finite_number")]
        elif isinstance(item, Mapping):
            for key, inner in item.items():
                if not isinstance(key, str) or not _is_text(key):
                    return [FieldError(at, "has a key that is not text", "string_unicode")]
                stack.append((inner, (*at, key), depth + 1))
        elif isinstance(item, list | tuple):
            stack.extend((inner, (*at, i), depth + 1) for i, inner in enumerate(item))
        elif item is not None and not isinstance(item, bool | int):
            return [FieldError(at, f"{type(item).__name__} is not JSON", "json_type")]
    return []


def _is_text(text: str) -> bool:
    return text.isascii() or _SURROGATE.search(text) is None


_SURROGATE = re.compile("[\ud800-\udfff]")


def _checked(value: Json) -> Json:
    for error in check_json(value, ()):
        where = f"{'.'.join(map(str, error.loc))}: " if error.loc else ""
        raise PydanticCustomError(error.code, "{reason}", {"reason": where + error.message})
    return value


def _described(value: Json) -> Json:
    if value is not None and not isinstance(value, str | dict | list):
        raise PydanticCustomError("description_type", "must be text, an object, a list or null")
    return _checked(value)


def _limits(info: ValidationInfo) -> Limits:
    limits = (info.context or {}).get("limits", CLEF_LIMITS)
    assert isinstance(limits, Limits)
    return limits


class _Question(BaseModel):
    # Unknown keys are ignored, as the wire format asks; NaN is caught by `_checked`.
    model_config = ConfigDict(frozen=True, extra="ignore")

    instructions: Json | None = None

    @field_validator("instructions")
    @classmethod
    def _check_instructions(cls, value: Json) -> Json:
        return _described(value)


class Noul(_Question):
    """Is it true? `criteria` may describe `true`, `false` or both; null removes the release's default description."""

    type: Literal["noul"] = "noul"
    criteria: dict[Literal["true", "false"], Json] | None = None

    @field_validator("criteria")
    @classmethod
    def _check_criteria(cls, value: dict[str, Json] | None) -> dict[str, Json] | None:
        for description in (value or {}).values():
            _described(description)
        return value

    def options(self) -> list[Option]:
        """The two options in model order, with the release's descriptions where the caller gives none."""
        said: Mapping[Any, Json] = self.criteria or {}
        return [Option(side, said.get(side, default)) for side, default in NOUL_DEFAULTS.items()]

    def option_ids(self) -> list[str]:
        """Option ids in request order."""
        return ["true", "false"]


class Choice(_Question):
    """Which option? `criteria` maps each option's name to its description, or to null."""

    type: Literal["choice"] = "choice"
    criteria: dict[str, Json]

    @field_validator("criteria")
    @classmethod
    def _check_criteria(cls, value: dict[str, Json], info: ValidationInfo) -> dict[str, Json]:
        limit = _limits(info).options
        if not value:
            raise PydanticCustomError("too_short", "needs at least one option")
        if len(value) > limit:
            raise PydanticCustomError(
                "too_long", "has {n} options; at most {limit} are allowed", {"n": len(value), "limit": limit}
            )
        for name, description in value.items():
            if not name:
                raise PydanticCustomError("option_name", "has an option without a name; name it")
            _checked(name)
            _described(description)
        return value

    def options(self) -> list[Option]:
        """The options in model order: sorted by name, as the release does."""
        return [Option(name, self.criteria[name]) for name in sorted(self.criteria)]

    def option_ids(self) -> list[str]:
        """Option ids in request order."""
        return list(self.criteria)


class Score(_Question):
    """Where on an ordered scale? `criteria` lists the levels from low to high; their ids are "0", "1", ..."""

    type: Literal["score"] = "score"
    criteria: list[Json]

    @field_validator("criteria")
    @classmethod
    def _check_criteria(cls, value: list[Json], info: ValidationInfo) -> list[Json]:
        limit = _limits(info).levels
        if not value:
            raise PydanticCustomError("too_short", "needs at least one level")
        if len(value) > limit:
            raise PydanticCustomError(
                "too_long", "has {n} levels; at most {limit} are allowed", {"n": len(value), "limit": limit}
            )
        for level, description in enumerate(value):
            if description is None:
                raise PydanticCustomError("level_null", "level {level} is null; describe it", {"level": level})
            _described(description)
        return value

    def options(self) -> list[Option]:
        """The levels in order."""
        return [Option(str(level), description) for level, description in enumerate(self.criteria)]

    def option_ids(self) -> list[str]:
        """Level ids "0".."n-1"."""
        return [str(level) for level in range(len(self.criteria))]


Question: TypeAlias = Annotated[Noul | Choice | Score, Field(discriminator="type")]
Questions: TypeAlias = dict[str, Noul | Choice | Score]

_ADAPTER: TypeAdapter[Questions] = TypeAdapter(dict[str, Question])

_PLAIN = {
    "missing": "is required",
    "list_type": "must be a list of levels, from low to high",
    "dict_type": "must be an object",
    "union_tag_not_found": "needs a `type`: noul, choice or score",
    "literal_error": "only `true` and `false` can be described",
}


def parse_questions(raw: Json, *, limits: Limits = CLEF_LIMITS, loc: Loc = ("questions",)) -> Questions:
    """Validated questions, in the order of `raw`.

    Parameters
    ----------
    raw : a map from question id to question (JSON, or question models).
    limits : how many questions, options and levels are allowed.
    loc : where `raw` sits in the request; every error's `loc` starts with it.

    Raises
    ------
    QuestionsError : names every field that is wrong.
    """
    if not isinstance(raw, Mapping):
        raise QuestionsError([FieldError(loc, "must be an object that maps ids to questions", "dict_type")])
    if not raw:
        raise QuestionsError([FieldError(loc, "needs at least one question", "too_short")])
    if len(raw) > limits.questions:
        message = f"has {len(raw)} questions; at most {limits.questions} are allowed"
        raise QuestionsError([FieldError(loc, message, "too_long")])
    errors = [e for key in raw for e in _check_id(key, limits, loc)]
    try:
        questions = _ADAPTER.validate_python(dict(raw), context={"limits": limits})
    except ValidationError as failure:
        errors += [_field_error(e, loc) for e in failure.errors(include_url=False, include_context=True)]
    if errors:
        raise QuestionsError(errors)
    return questions


def _check_id(key: Json, limits: Limits, loc: Loc) -> list[FieldError]:
    if not isinstance(key, str) or not key:
        return [FieldError((*loc, str(key)), "a question needs an id that is not empty", "question_id")]
    if not _is_text(key):
        return [FieldError(loc, "has an id with half of a surrogate pair, which is not text", "string_unicode")]
    if len(key) > limits.id_length:
        message = f"this id has {len(key)} characters; at most {limits.id_length} are allowed"
        return [FieldError((*loc, key[:40]), message, "question_id")]
    return []


def _field_error(error: Any, loc: Loc) -> FieldError:
    code = str(error["type"])
    if code == "union_tag_invalid":
        message = f"type {error['ctx']['tag']!r} is not known; use noul, choice or score"
    else:
        message = _PLAIN.get(code, str(error["msg"]))
    return FieldError((*loc, *(part for part in error["loc"] if part != "[key]")), message, code)


def questions_json(questions: Questions) -> dict[str, Json]:
    """The questions as plain JSON, in order, with only what was said: parses back to equal questions."""
    plain = {}
    for key, question in questions.items():
        body: dict[str, Json] = {"type": question.type}
        if question.instructions is not None:
            body["instructions"] = question.instructions
        if question.criteria is not None:
            body["criteria"] = question.criteria
        plain[key] = body
    return plain


def canonical_json(questions: Questions) -> str:
    """One text per schema: compact, order kept (the order of questions and levels carries meaning)."""
    return json.dumps(questions_json(questions), ensure_ascii=False, separators=(",", ":"))


def schema_hash(questions: Questions) -> str:
    """sha256 (hex) of `canonical_json`: the identity of a schema version."""
    return hashlib.sha256(canonical_json(questions).encode()).hexdigest()
