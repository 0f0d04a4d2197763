"""The Calibration page: its one component, its functions, and its routes.

Contract
--------
`page` puts one `gr.HTML` with a static template into the Blocks around it; the DOM inside is made by
`assets/calibration`. Functions take and give plain JSON and never raise (`studio.pages.design_schemas.told`). `router`
serves Plotly's script from the installed wheel, what the canary found, and what is downloaded: the policy, the report.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import plotly
from fastapi import APIRouter
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, Response

from storage.errors import NotFound
from storage.policies import policy_in_force
from studio.api.errors import ApiError
from studio.calibrations import Calibrations
from studio.canary import Canary
from studio.pages.calibration_data import Shelf
from studio.pages.calibration_desk import desk_functions
from studio.pages.calibration_more import more_functions
from studio.pages.calibration_replay import replay_functions
from studio.pages.calibration_report import report
from studio.pages.calibration_review import review_functions
from studio.pages.room import room
from studio.pages.scripts import FOREVER
from studio.studio import Studio


def page(studio: Studio, shelf: Shelf, calibrations: Calibrations) -> None:
    """The page, inside its route of `gr.Blocks`."""
    functions = [*review_functions(shelf), *desk_functions(shelf), *more_functions(shelf, calibrations)]
    functions += replay_functions(studio, shelf, calibrations)
    room("calibration", functions, {"plotly": plotly.__version__})


def router(shelf: Shelf, canary: Canary) -> APIRouter:
    """The page's routes, all under `/studio/calibration`."""
    routes = APIRouter(prefix="/studio/calibration")

    @routes.get("/plotly-{version}.js")
    def script(version: str) -> Response:
        if version != plotly.__version__:
            raise ApiError(404, "not_found", "This version of Plotly is not installed.")
        return FileResponse(_plotly(), media_type="text/javascript", headers=FOREVER)

    @routes.get("/canary.json")
    def watched() -> Response:
        found = canary.found
        told = {"phase": found.phase, "asked": found.asked, "alarm": found.alarm, "note": found.note}
        return JSONResponse(told, headers={"Cache-Control": "no-store"})

    @routes.get("/policy.json")
    def policy(questions: str, scorer: str) -> Response:
        found = policy_in_force(shelf.database, questions=questions, scorer=scorer)
        headers = {"Content-Disposition": 'attachment; filename="policy.json"', "Cache-Control": "no-store"}
        return JSONResponse(found.json(), headers=headers)

    @routes.get("/report.html")
    def report_page(questions: str, scorer: str) -> Response:
        try:
            text = report(shelf, questions=questions, scorer=scorer)
        except NotFound:
            raise ApiError(404, "not_found", "Nothing was decided under these questions by this scorer.") from None
        policy = "default-src 'none'; style-src 'unsafe-inline'"
        return HTMLResponse(text, headers={"Content-Security-Policy": policy, "Cache-Control": "no-store"})

    return routes


@cache
def _plotly() -> Path:
    return Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
