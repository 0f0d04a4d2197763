"""The Datasets page: its one component, its functions, and its route.

Contract
--------
`page` puts one `gr.HTML` with a static template into the Blocks around it; the DOM inside is made by `assets/datasets`.
`router` gives a version's files out, streamed from the disk; files come in by the route of the Runs page. The gate
stands before both.
"""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter
from fastapi.responses import FileResponse, Response

from storage.errors import NotFound
from studio.api.errors import ApiError
from studio.pages.datasets_bring import bring_functions
from studio.pages.datasets_choose import choose_functions
from studio.pages.datasets_export import export_functions, zip_of
from studio.pages.datasets_work import Works
from studio.pages.room import room
from studio.runs.uploads import Uploads
from studio.studio import Studio


def page(studio: Studio) -> None:
    """The page, inside its route of `gr.Blocks`."""
    works = Works()
    functions = choose_functions(studio.database, works)
    functions += export_functions(studio.database, works)
    functions += bring_functions(studio, Uploads(studio.database), works)
    room("datasets", functions)


def router(studio: Studio) -> APIRouter:
    """The page's route, under `/studio/datasets`."""
    routes = APIRouter(prefix="/studio/datasets")

    @routes.get("/{dataset}/{format}.zip")
    def files(dataset: UUID, format: str) -> Response:
        try:
            path, name = zip_of(studio.database, str(dataset), format)
        except NotFound:
            raise ApiError(404, "not_found", "This file is not here any more; have it made again.") from None
        headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
        return FileResponse(path, media_type="application/zip", filename=name, headers=headers)

    return routes
