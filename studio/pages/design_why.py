"""Why an answer came out as it did, for the page: where it looked, what moves it, whether questions stand alone.

Contract
--------
`Why` takes what the page sends and replies with plain JSON; it never raises (`{"error": {"kind", "message"}}`). Where
an option looked is one request; the others are probes (`studio.pages.design_probes`): started, then asked about until
they are done. Positions are UTF-16 units of the text as it was typed (`studio.pages.design_places`).

where    {seq, request, fingerprint, question, option}
         → {seq, how, words: [[start, end, weight]], share?, pictures?, read?}
         how: "routing" (weights are relative to even attention), "excerpts" (what was read of the state for this
         question; the scorer cannot tell where it looked in it), "whole" (all of it), "nothing"
probe    {request, what: "moves" | "stands", question?, option?} → {probe}
probed   {probe} → {phase, done, about, result, error}
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from model.asking import Ask as Asking
from model.engine import Decision
from model.evidence import Effect, occlude
from model.interference import interference
from model.looked import Looked, Looks
from model.parts import atoms
from model.questions import Json, render
from model.scorer import Request
from studio.pages.design_ask import EXPECTED, FAILED, Ask, Asker, refused
from studio.pages.design_places import Places
from studio.pages.design_probes import Probes, Work

log = logging.getLogger(__name__)

LEAST_WEIGHT = 1.5
"""Words with less than this times even attention are not told."""
MOST_PARTS = 48
"""Parts of a state that "what moves it" leaves out in turn."""
_BESIDES = 8 + 15
"""Requests beside the parts: the unchanged one and the noise, and a search for a set that flips the answer."""
GONE: dict[str, Json] = {"kind": "gone", "message": "This run is not known any more. Ask again."}


class LookAsk(BaseModel):
    """Where did `option` of `question` look?"""

    seq: int = 0
    request: Ask
    fingerprint: str
    question: str
    option: str


class ProbeAsk(BaseModel):
    """What moves `option` of `question`, or does each question stand alone?"""

    request: Ask
    what: Literal["moves", "stands"]
    question: str = ""
    option: str = ""


class Named(BaseModel):
    """A probe by its id."""

    probe: str


class Why:
    """See the module's contract."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        self._probes = Probes(asker.engine)

    async def look(self, payload: Json) -> Json:
        """Where an option looked."""
        seq = payload.get("seq", 0) if isinstance(payload, dict) else 0
        try:
            asked = LookAsk.model_validate(payload)
            if not isinstance(self._asker.engine.scorer, Looks):
                return {"seq": seq, **self._read(asked, await self._asker.decided(asked.request, asked.fingerprint))}
            request = await self._asker.request(asked.request)
            looking = self._asker.engine.look(request, asked.question, asked.option, key=f"{asked.request.key} look")
            return {"seq": seq, **_looked(asked, request, await asyncio.wrap_future(looking))}
        except EXPECTED as failure:
            return {"seq": seq, "error": refused(failure)}
        except Exception:
            log.exception("the page could not be told where an option looked")
            return {"seq": seq, "error": FAILED}

    def _read(self, asked: LookAsk, decision: Decision) -> dict[str, Json]:
        ranges = decision.looked.get(asked.question, ())
        value = decision.state.value
        length = len(render(value))
        covered = sum(end - start for start, end in ranges)
        if not ranges or covered >= length:
            return {"how": "whole" if length else "nothing", "words": []}
        places = Places(asked.request.state, value)
        words = [[a, b, 1] for start, end in ranges for a, b in places.of(start, end)]
        return {"how": "excerpts", "words": words, "read": [covered, length]}

    async def probe(self, payload: Json) -> Json:
        """Starts a probe."""
        try:
            asked = ProbeAsk.model_validate(payload)
            request = await self._asker.request(asked.request)
            # Refused at once while it loads, and not only when the probe's turn comes.
            pictures = self._asker.engine.scorer.info.sees_pictures and bool(request.state.pictures)
        except EXPECTED as failure:
            return {"error": refused(failure)}
        except Exception:
            log.exception("a probe of the page could not start")
            return {"error": FAILED}
        if asked.what == "stands":
            n = len(request.questions)
            return {"probe": self._probes.start(asked.request.key, _stands(request), about=11 + 2 * n)}
        parts = min(MOST_PARTS, len(atoms(request.state.value)) + (MOST_PARTS // 2 if pictures else 0))
        return {"probe": self._probes.start(asked.request.key, _moves(asked, request), about=parts + _BESIDES)}

    def probed(self, payload: Json) -> Json:
        """How far a probe is."""
        try:
            named = Named.model_validate(payload)
        except ValidationError as failure:
            return {"error": refused(failure)}
        return self._probes.state(named.probe) or {"phase": "failed", "error": GONE}

    def stop(self, payload: Json) -> Json:
        """Ends a probe."""
        try:
            self._probes.stop(Named.model_validate(payload).probe)
        except ValidationError as failure:
            return {"error": refused(failure)}
        return {}


def _looked(asked: LookAsk, request: Request, found: Looked | None) -> dict[str, Any]:
    if found is None:
        return {"how": "nothing", "words": []}
    places = Places(asked.request.state, request.state.value)
    told = found.json(LEAST_WEIGHT)
    words = [[a, b, weight] for start, end, weight in told["words"] for a, b in places.of(start, end)]
    return {"how": "routing", "words": words, "share": told["share"], "pictures": told["pictures"]}


def _moves(asked: ProbeAsk, request: Request) -> Work:
    def work(ask: Asking) -> dict[str, Any]:
        started = time.monotonic()
        found = occlude(ask, request, asked.question, option=asked.option or None, limit=MOST_PARTS)
        places = Places(asked.request.state, request.state.value)
        flip = None if found.flip is None else {**asdict(found.flip), "parts": list(found.flip.parts)}
        return {
            "question": found.question,
            "option": found.option,
            "lead": found.lead,
            "probability": found.probability,
            "parts": [_part(effect, places, request, found.noise.floor) for effect in found.parts],
            "floor": found.noise.floor,
            "repeats": len(found.noise.shifts),
            "shaky": found.noise.flips,
            "flip": flip,
            "asked": found.asked,
            "read": found.read,
            "left_out": list(found.left_out),
            "seconds": round(time.monotonic() - started, 2),
        }

    return work


def _part(effect: Effect, places: Places, request: Request, floor: float) -> dict[str, Any]:
    part = effect.part
    spans = [] if part.start is None or part.end is None else [list(span) for span in places.of(part.start, part.end)]
    box = None
    if part.box is not None and part.picture is not None:
        picture = request.state.pictures[part.picture]
        sides = (picture.width, picture.height) * 2
        box = [side / whole for side, whole in zip(part.box, sides, strict=True)]
    return {
        "kind": part.kind,
        "text": part.text,
        "spans": spans,
        "path": None if part.path is None else list(part.path),
        "picture": part.picture,
        "box": box,
        "probability": effect.probability,
        "change": effect.change,
        "top": effect.top,
        "top_probability": effect.top_probability,
        "flips": effect.flips,
        "counts": abs(effect.change) > floor,
    }


def _stands(request: Request) -> Work:
    def work(ask: Asking) -> dict[str, Any]:
        started = time.monotonic()
        told = interference(ask, request).json()
        standings = [
            {"question": s["question"], "alone": s["stands_alone"], "words": s["words"], "shaky": s["noise"]["flips"]}
            for s in told["standings"]
        ]
        return {
            "standings": standings,
            "tolerance": told["tolerance"],
            "asked": told["asked"],
            "left_out": list(told["left_out"]),
            "seconds": round(time.monotonic() - started, 2),
        }

    return work


def why_functions(asker: Asker) -> list[Callable[..., Json | Awaitable[Json]]]:
    """The page's functions, by their names."""
    why = Why(asker)

    async def where(payload: Json) -> Json:
        return await why.look(payload)

    async def probe(payload: Json) -> Json:
        return await why.probe(payload)

    def probed(payload: Json) -> Json:
        return why.probed(payload)

    def stop_probe(payload: Json) -> Json:
        return why.stop(payload)

    return [where, probe, probed, stop_probe]
