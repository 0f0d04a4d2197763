"""Probes: `/healthz` (and `/health`) says that the process lives, `/readyz` that it can answer. They need no key.

Contract
--------
`/healthz` is always 200. `/readyz` is 503 with the loader's own words until the scorer is ready, then 200 with its name
and fingerprint. Where others must show a key or sign in, probes say the phase and no more.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from model.engine import Engine


def router(engine: Engine, *, terse: bool = False) -> APIRouter:
    """The routes, on `engine`. `terse`: for strangers, without names and reasons."""
    routes = APIRouter(tags=["Health"])

    @routes.get("/health", include_in_schema=False)
    @routes.get("/healthz")
    async def healthz() -> dict[str, str]:
        status = engine.status
        if terse:
            return {"status": "ok"}
        return {"status": "ok", "model": status.scorer.name if status.scorer else status.phase}

    @routes.get("/readyz", responses={503: {"description": "The scorer is loading, or could not be opened"}})
    async def readyz() -> Response:
        status = engine.status
        if status.scorer is None or status.phase != "ready":
            body: dict[str, Any] = {"status": status.phase}
            if not terse:
                body |= {"message": status.message, "progress": status.progress}
            return JSONResponse(body, status_code=503, headers={"Retry-After": "2"})
        if terse:
            return JSONResponse({"status": "ok"})
        return JSONResponse({"status": "ok", "model": status.scorer.name, "fingerprint": status.scorer.fingerprint})

    return routes
