"""The System One wire API: `POST /v1/systemone`, `GET /v1/models`; the same body on OpenRouter's path.

Contract
--------
The same engine as the pages. Probabilities leave with six decimals; `confidence` follows TypeSafe's formulas; answers
come in request order. A state that is too long is refused with counts unless `x_truncate` is true, and then
`x_truncated` tells what was cut. `x_decision_id` is there when the decision was recorded, `x_policy` (act, ask or
refuse by question) when a policy is in force. All that this server adds to a reply begins with `x_`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from model.answers import Answer
from model.questions import FieldError, InvalidRequest, Limits, parse_questions
from model.scorer import Request as Asked
from model.scorer import ScorerInfo
from model.state import parse_state
from studio.api import wire_schema
from studio.api.bodies import Body
from studio.api.desk import Asking, Decided, Desk
from studio.api.media import decode, find_media
from studio.api.models import check_model, listing

DECIMALS = 6
OPENROUTER_MODELS = ("typesafe/jev-", "~typesafe/jev-")


def router(desk: Desk) -> APIRouter:
    """The routes, on `desk`."""
    routes = APIRouter(tags=["System One"])

    @routes.post("/v1/systemone", **wire_schema.decision)
    async def systemone(request: Request) -> Response:
        """Judges one state under a map of typed questions."""
        decided = await desk.decide(request, lambda body: read(body, desk.engine.scorer.info, desk.limits))
        return JSONResponse(write(decided), headers=timing(decided))

    @routes.post("/api/alpha/decisions", **wire_schema.decision)
    async def openrouter(request: Request) -> Response:
        """The same as /v1/systemone, under OpenRouter's path and model names."""
        decided = await desk.decide(
            request, lambda body: read(body, desk.engine.scorer.info, desk.limits, names=OPENROUTER_MODELS)
        )
        return JSONResponse(write(decided), headers=timing(decided))

    @routes.get("/v1/models", **wire_schema.models)
    async def models() -> Response:
        """The scorer that answers, under the names that it answers to."""
        return JSONResponse(listing(desk.engine.scorer.info))

    return routes


def read(body: Body, info: ScorerInfo, limits: Limits, *, names: tuple[str, ...] = ()) -> Asking:
    """The request in a System One body.

    Parameters
    ----------
    names : beginnings of further model names that are taken.

    Raises
    ------
    InvalidRequest : 422, names each field. ApiError : 400, an unknown model or an asset that fits nowhere.
    """
    fields = body.json
    absent = [FieldError((n,), "is required", "missing") for n in ("model", "state", "questions") if n not in fields]
    if absent:
        raise InvalidRequest(absent)
    check_model(fields["model"], info, more=names)
    questions = parse_questions(fields["questions"], limits=limits)
    # The text before the pictures: decoding is the dear part.
    state = parse_state(fields["state"], limits=limits)
    files = find_media(body)
    state = replace(state, pictures=decode(files, limits))
    asked = Asked(state, questions, allow_cut=fields.get("x_truncate") is True)
    return Asking(asked, tuple(data for _, data in files))


def timing(decided: Decided) -> dict[str, str]:
    """The header that tells the model's own time."""
    return {"Server-Timing": f"run;dur={decided.decision.seconds * 1000:.1f}"}


def write(decided: Decided, *, confidence: str = "typesafe") -> dict[str, Any]:
    """A decision as the wire has it; `confidence` names the formula (`model.answers.CONFIDENCE`)."""
    decision = decided.decision
    reply: dict[str, Any] = {
        "model": decision.scorer.name,
        "answers": {key: write_answer(answer, confidence=confidence) for key, answer in decision.answers.items()},
        "usage": {"input_tokens": decision.tokens.total, "output_tokens": 0},
    }
    if decision.cut is not None:
        reply["x_truncated"] = {
            "tokens": decision.cut.tokens,
            "state_tokens": decision.tokens.state,
            "from_character": decision.cut.start,
        }
    if any(decision.words):
        # A scorer that only reads words in pictures says which, one entry per picture: that is all it saw of them.
        reply["x_picture_words"] = list(decision.words)
    if decided.policy:
        reply["x_policy"] = dict(decided.policy)
    if decided.id is not None:
        reply["x_decision_id"] = decided.id
    return reply


def write_answer(answer: Answer, *, confidence: str = "typesafe") -> dict[str, Any]:
    """One answer as the wire has it."""
    rounded = {i: round(p, DECIMALS) for i, p in zip(answer.options, answer.probabilities, strict=True)}
    if answer.type == "noul":
        return {"type": "noul", "noul": rounded["true"]}
    sure = round(answer.confidence(confidence), DECIMALS)
    if answer.type == "choice":
        return {"type": "choice", "choice": answer.top, "confidence": sure, "probabilities": rounded}
    level = answer.expected_level
    assert level is not None
    return {
        "type": "score",
        "score": round(level, DECIMALS),
        "confidence": sure,
        "legend": {str(i): description for i, description in enumerate(answer.legend)},
        "probabilities": rounded,
    }
