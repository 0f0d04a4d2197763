"""The System One wire API: `POST /v1/systemone`, `GET /v1/models`, `/healthz`, `/readyz`.

Contract
--------
The same `engine.decide` as the pages. Probabilities leave with six decimals; `confidence` follows TypeSafe's formulas;
answers come in request order. A state that is too long is refused with counts unless `x_truncate` is true, and then
`x_truncated` tells what was cut. A picture that the scorer cannot see is never silently ignored.
"""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from model.answers import Answer
from model.engine import Decision, Engine
from model.questions import FieldError, InvalidRequest, Json, Limits, parse_questions
from model.scorer import Request as Asked
from model.scorer import ScorerInfo
from model.state import parse_state
from studio.api.bodies import read_json, read_pictures
from studio.api.errors import ApiError

DECIMALS = 6
ALIASES = ("clef", "clef-flash", "cloudflare/clef", "cloudflare/clef-flash")


def router(engine: Engine, limits: Limits) -> APIRouter:
    """The routes, on `engine`."""
    routes = APIRouter()

    @routes.post("/v1/systemone")
    async def systemone(request: Request) -> Response:
        asked = _asked(await read_json(request), engine, limits)
        decision = await asyncio.wrap_future(engine.submit(asked))
        timing = {"Server-Timing": f"run;dur={decision.seconds * 1000:.1f}"}
        return JSONResponse(wire(decision), headers=timing)

    @routes.get("/v1/models")
    async def models() -> dict[str, Any]:
        info = engine.scorer.info
        description = f"{info.kind} on {info.device}, fingerprint {info.fingerprint[:12]}. {info.notice}".strip()
        names = [info.name, "jev-latest"]
        return {"models": [{"name": n, "description": description, "release_date": "2026-10-01"} for n in names]}

    @routes.get("/healthz")
    async def healthz() -> dict[str, Any]:
        return {"status": "ok", "model": engine.status.phase}

    @routes.get("/readyz")
    async def readyz() -> Response:
        status = engine.status
        if status.scorer is None or status.phase != "ready":
            body = {"status": status.phase, "message": status.message, "progress": status.progress}
            return JSONResponse(body, status_code=503, headers={"Retry-After": "2"})
        return JSONResponse({"status": "ok", "model": status.scorer.name, "fingerprint": status.scorer.fingerprint})

    return routes


def _asked(body: dict[str, Json], engine: Engine, limits: Limits) -> Asked:
    missing = [
        FieldError((name,), "is required", "missing") for name in ("model", "state", "questions") if name not in body
    ]
    if missing:
        raise InvalidRequest(missing)
    _check_model(body["model"], engine.scorer.info)
    for media in ("audio", "videos"):
        if body.get(media):
            raise InvalidRequest([FieldError((media,), "this model takes text and pictures only", "unsupported")])
    questions = parse_questions(body["questions"], limits=limits)
    state = parse_state(body["state"], read_pictures(body.get("images"), limits), limits=limits)
    return Asked(state, questions, allow_cut=body.get("x_truncate") is True)


def _check_model(name: Json, info: ScorerInfo) -> None:
    if not isinstance(name, str):
        raise InvalidRequest([FieldError(("model",), "must be text", "string_type")])
    plain = name.strip().lower()
    own = info.name.lower()
    if plain not in (own, own.rsplit("/", 1)[-1], *ALIASES) and not plain.startswith("jev-"):
        raise ApiError(400, "api_usage_error", f"Unknown model: {name[:80]}. This studio serves {info.name}.")


def wire(decision: Decision) -> dict[str, Any]:
    """A decision as the wire has it."""
    reply: dict[str, Any] = {
        "model": decision.scorer.name,
        "answers": {key: wire_answer(answer) for key, answer in decision.answers.items()},
        "usage": {"input_tokens": decision.tokens.total, "output_tokens": 0},
    }
    if decision.cut is not None:
        reply["x_truncated"] = {
            "tokens": decision.cut.tokens,
            "state_tokens": decision.tokens.state,
            "from_character": decision.cut.start,
        }
    return reply


def wire_answer(answer: Answer) -> dict[str, Any]:
    """One answer as the wire has it."""
    rounded = {i: round(p, DECIMALS) for i, p in zip(answer.options, answer.probabilities, strict=True)}
    if answer.type == "noul":
        return {"type": "noul", "noul": rounded["true"]}
    confidence = round(answer.confidence("typesafe"), DECIMALS)
    if answer.type == "choice":
        return {"type": "choice", "choice": answer.top, "confidence": confidence, "probabilities": rounded}
    level = answer.expected_level
    assert level is not None
    return {
        "type": "score",
        "score": round(level, DECIMALS),
        "confidence": confidence,
        "legend": {str(i): description for i, description in enumerate(answer.legend)},
        "probabilities": rounded,
    }
