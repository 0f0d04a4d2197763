"""OpenAI's Decisions API: `POST /v1/decisions`, the same decisions as arrays.

Contract
--------
`input` (text, or messages and tool calls) becomes the state, `questions` (an array of predicate, choice and score)
becomes a map whose ids are the questions' names, or their numbers where they have none. Pictures in messages and
instructions (`input_image`, as data URLs) are taken out and shown to the model in the order in which they stand. A
choice's values keep their JSON type: `true` and `"true"` are two options. Confidence is TypeSafe's, for OpenAI does not
say what theirs is. Refusals are OpenAI's error objects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from model.answers import Answer
from model.questions import FieldError, InvalidRequest, Json, Limits, Loc, parse_questions
from model.scorer import Request as Asked
from model.scorer import ScorerInfo
from model.state import State, parse_state
from studio.api import wire_schema
from studio.api.bodies import Body
from studio.api.desk import Asking, Decided, Desk
from studio.api.errors import Refusal
from studio.api.media import decode, from_text
from studio.api.models import check_model
from studio.api.systemone import DECIMALS, timing

PATH = "/v1/decisions"
MODELS = ("gpt-",)


@dataclass(frozen=True)
class _Named:
    """One question as it was asked: its id inside, and its name, values or labels outside."""

    id: str
    name: str | None
    values: tuple[str | bool, ...] = ()


def router(desk: Desk) -> APIRouter:
    """The route, on `desk`."""
    routes = APIRouter(tags=["OpenAI Decisions"])

    @routes.post(PATH, **wire_schema.arrays)
    async def decisions(request: Request) -> Response:
        """Judges one input under a list of typed questions."""
        named: list[_Named] = []

        def asked(body: Body) -> Asking:
            asking, names = read(body, desk.engine.scorer.info, desk.limits)
            named.extend(names)
            return asking

        decided = await desk.decide(request, asked)
        return JSONResponse(write(decided, named), headers=timing(decided))

    return routes


def read(body: Body, info: ScorerInfo, limits: Limits) -> tuple[Asking, list[_Named]]:
    """The request in a Decisions body, and how to name its answers. Raises InvalidRequest or ApiError."""
    fields = body.json
    absent = [FieldError((n,), "is required", "missing") for n in ("model", "input", "questions") if n not in fields]
    if absent:
        raise InvalidRequest(absent)
    check_model(fields["model"], info, more=MODELS)
    raw = fields["questions"]
    if not isinstance(raw, list):
        raise _invalid(("questions",), "must be a list", "list_type")
    pictures: list[tuple[Loc, bytes]] = []
    state = _without_pictures(fields["input"], ("input",), pictures)
    if not isinstance(state, str | list):
        raise _invalid(("input",), "must be text or a list", "input_type")
    plain: dict[str, Json] = {}
    named = []
    for i, question in enumerate(raw):
        one, body_of = _question(question, ("questions", i), plain, pictures)
        plain[one.id] = body_of
        named.append(one)
    try:
        questions = parse_questions(plain, limits=limits)
    except InvalidRequest as error:
        raise InvalidRequest([_numbered(e, named) for e in error.errors]) from None
    try:
        checked = parse_state(state, limits=limits)
    except InvalidRequest as error:
        raise InvalidRequest([FieldError(("input", *e.loc[1:]), e.message, e.code) for e in error.errors]) from None
    asked = Asked(State(checked.value, decode(pictures, limits)), questions)
    return Asking(asked, tuple(data for _, data in pictures)), named


def _without_pictures(value: Json, loc: Loc, out: list[tuple[Loc, bytes]], depth: int = 0) -> Json:
    """`value` with each `input_image` part emptied and its file appended to `out`. No part stands deeper than 8."""
    if depth > 8:
        return value
    if isinstance(value, list):
        return [_without_pictures(item, (*loc, i), out, depth + 1) for i, item in enumerate(value)]
    if not isinstance(value, dict) or value.get("type") == "input_json":
        return value
    if value.get("type") == "input_image":
        at = (*loc, "image_url")
        out.append((at, from_text(value.get("image_url"), at)))
        return {"type": "input_image"}
    return {key: _without_pictures(item, (*loc, key), out, depth + 1) for key, item in value.items()}


def _question(
    raw: Json, loc: Loc, taken: dict[str, Json], pictures: list[tuple[Loc, bytes]]
) -> tuple[_Named, dict[str, Json]]:
    if not isinstance(raw, dict):
        raise _invalid(loc, "must be an object", "dict_type")
    name = raw.get("name")
    if name is not None and not isinstance(name, str):
        raise _invalid((*loc, "name"), "must be text", "string_type")
    ident = _free(name or str(loc[-1]), taken)
    plain: dict[str, Json] = {
        "instructions": _without_pictures(raw.get("instructions"), (*loc, "instructions"), pictures)
    }
    match raw.get("type"):
        case "predicate":
            return _Named(ident, name), {**plain, "type": "noul"}
        case "choice":
            values, options = _choices(raw.get("choices"), (*loc, "choices"))
            return _Named(ident, name, values), {**plain, "type": "choice", "criteria": options}
        case "score":
            levels = [_level(item, (*loc, "levels", i)) for i, item in enumerate(_list(raw, "levels", loc))]
            labels = tuple(label for label, _ in levels)
            return _Named(ident, name, labels), {**plain, "type": "score", "criteria": [said for _, said in levels]}
    raise _invalid((*loc, "type"), "must be predicate, choice or score", "union_tag_invalid")


def _choices(raw: Json, loc: Loc) -> tuple[tuple[str | bool, ...], dict[str, Json]]:
    """The values in order, and options whose names are the values' texts, told apart where two read the same."""
    if not isinstance(raw, list):
        raise _invalid(loc, "must be a list of choices", "list_type")
    values: list[str | bool] = []
    options: dict[str, Json] = {}
    for i, item in enumerate(raw):
        value = item.get("value") if isinstance(item, dict) else None
        if not isinstance(value, str | bool):
            raise _invalid((*loc, i, "value"), "must be text, true or false", "value_type")
        if any(value == other and type(value) is type(other) for other in values):
            raise _invalid((*loc, i, "value"), "stands twice", "duplicate_value")
        values.append(value)
        name = value if isinstance(value, str) else str(value).lower()
        options[_free(name, options) if name else name] = item.get("description")
    return tuple(values), options


def _level(raw: Json, loc: Loc) -> tuple[str, str]:
    label = raw.get("label") if isinstance(raw, dict) else None
    if not isinstance(label, str):
        raise _invalid((*loc, "label"), "must be text", "string_type")
    description = raw.get("description")
    if description is None:
        return label, label
    if not isinstance(description, str):
        raise _invalid((*loc, "description"), "must be text", "string_type")
    return label, f"{label}: {description}"


def _list(raw: dict[str, Json], name: str, loc: Loc) -> list[Json]:
    value = raw.get(name)
    if not isinstance(value, list):
        raise _invalid((*loc, name), "must be a list", "list_type")
    return value


def _free(name: str, taken: dict[str, Any]) -> str:
    """`name`, or with the first number behind it that is not taken."""
    if name not in taken:
        return name
    number = 2
    while f"{name} ({number})" in taken:
        number += 1
    return f"{name} ({number})"


_OUTSIDE = {
    ("choice", "criteria"): ("choices",),
    ("score", "criteria"): ("levels",),
    ("choice",): (),
    ("score",): (),
    ("noul",): (),
}
"""Parts of a `loc` inside, and what the Decisions API calls them."""


def _numbered(error: FieldError, named: list[_Named]) -> FieldError:
    """An error of the map inside, with its place in the array outside."""
    if len(error.loc) < 2:
        return error
    index = next((i for i, one in enumerate(named) if one.id == error.loc[1]), 0)
    rest = error.loc[2:]
    for inside, outside in _OUTSIDE.items():
        if rest[: len(inside)] == inside:
            rest = (*outside, *rest[len(inside) :])
    return FieldError(("questions", index, *rest), error.message, error.code)


def write(decided: Decided, named: list[_Named]) -> dict[str, Any]:
    """A decision as the Decisions API has it."""
    decision = decided.decision
    total = decision.tokens.total
    reply: dict[str, Any] = {
        "model": decision.scorer.name,
        "answers": [_answer(decision.answers[one.id], one) for one in named],
        "usage": {
            "input_tokens": total,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 0,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": total,
        },
    }
    if decided.policy:
        # As the answers: a list in the order of the questions, for they need no names here.
        reply["x_policy"] = [decided.policy.get(one.id) for one in named]
    if decided.id is not None:
        reply["x_decision_id"] = decided.id
    return reply


def _answer(answer: Answer, one: _Named) -> dict[str, Any]:
    rounded = [round(p, DECIMALS) for p in answer.probabilities]
    if answer.type == "noul":
        return {"type": "predicate", "name": one.name, "probability": rounded[0]}
    sure = round(answer.confidence(), DECIMALS)
    pairs = list(zip(one.values, rounded, strict=True))
    if answer.type == "choice":
        spread = [{"value": value, "probability": p} for value, p in pairs]
        return {
            "type": "choice", "name": one.name, "choice": one.values[answer.lead], "confidence": sure,
            "probabilities": spread,
        }  # fmt: skip
    level = answer.expected_level
    assert level is not None
    levels = [{"value": i, "label": label, "probability": p} for i, (label, p) in enumerate(pairs)]
    return {
        "type": "score", "name": one.name, "score": round(level, DECIMALS), "confidence": sure, "probabilities": levels,
    }  # fmt: skip


def shape(refusal: Refusal) -> tuple[int, Any]:
    """OpenAI's error object. `param` is the path of the first field that is wrong."""
    kind = "invalid_request_error" if refusal.status < 500 else "server_error"
    first = refusal.fields[0] if refusal.fields else None
    param = _path(first.loc) if first else None
    status = 400 if first else refusal.status
    code = first.code if first else refusal.kind
    return status, {"error": {"message": refusal.message, "type": kind, "param": param, "code": code}}


def _path(loc: Loc) -> str:
    """`questions[0].choices[1].value` for the parts of a `loc`."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc)
    return "".join(parts).lstrip(".")[:200]


def _invalid(loc: Loc, message: str, code: str) -> InvalidRequest:
    return InvalidRequest([FieldError(loc, message, code)])
