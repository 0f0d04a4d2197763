"""The Design page: its one component, its functions, and its routes.

Contract
--------
`page` puts one `gr.HTML` with a static template into the Blocks around it; the DOM inside is made by `assets/design`.
The page's functions take and give plain JSON and never raise: what goes wrong is `{"error": {"kind", "message"}}`, in
words for a person. `router` serves pictures and examples.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from model.questions import Json, StateError
from studio import look
from studio.api.errors import ApiError
from studio.pages.calibration_data import Shelf
from studio.pages.design_ask import Asker
from studio.pages.design_badges import badge_functions
from studio.pages.design_examples import list_examples, load_example
from studio.pages.design_history import history_functions
from studio.pages.design_keep import Keeper, load_draft, save_draft
from studio.pages.design_pictures import TOO_LARGE, Gallery, read_upload
from studio.pages.design_recording import recording_functions
from studio.pages.design_schemas import schema_functions
from studio.pages.design_why import why_functions
from studio.pages.room import room
from studio.pages.scripts import FOREVER
from studio.studio import Studio


def page(studio: Studio, shelf: Shelf) -> None:
    """The page, inside `gr.Blocks`."""
    gallery = Gallery(studio.database)
    asker = Asker(studio.engine, studio.settings.limits, gallery, studio.database)
    keeper = Keeper(studio.database, asker)

    async def ask(payload: Json) -> Json:
        return await asker.ask(payload)

    async def about(_: Json) -> Json:
        status = studio.engine.status
        scorer = None if status.scorer is None else status.scorer.json()
        return {"phase": status.phase, "message": status.message, "progress": status.progress, "scorer": scorer}

    async def label(payload: Json) -> Json:
        return await keeper.label(payload)

    def unlabel(payload: Json) -> Json:
        return keeper.unlabel(payload)

    async def keep_run(payload: Json) -> Json:
        return await keeper.keep_run(payload)

    def drop_run(payload: Json) -> Json:
        return keeper.drop_run(payload)

    def keep_draft(payload: Json) -> Json:
        return save_draft(studio.database, payload)

    def newest_draft(_: Json) -> Json:
        return load_draft(studio.database)

    functions: list[Callable[..., Json | Awaitable[Json]]] = [ask, about, label, unlabel, keep_run, drop_run]
    functions += [keep_draft, newest_draft, *schema_functions(studio.database, studio.settings.limits)]
    functions += history_functions(studio.database)
    functions += recording_functions(studio.database, every=studio.settings.record)
    functions += why_functions(asker)
    functions += badge_functions(shelf)
    # How code gets in, for the code that the page gives: with a key, not at all, or just so.
    entry = "key" if studio.settings.api_key else "closed" if studio.settings.users else "open"
    room("design", functions, {"limits": asdict(studio.settings.limits), "entry": entry})


def router(studio: Studio) -> APIRouter:
    """The page's routes, all under `/studio`."""
    routes = APIRouter(prefix="/studio")
    gallery = Gallery(studio.database)

    @routes.post("/pictures")
    async def upload(request: Request) -> Response:
        data = await read_upload(request)
        if data is None:
            raise ApiError(413, "picture_too_large", TOO_LARGE)
        try:
            return JSONResponse(await gallery.add(data, request.headers.get("x-file-name", "")))
        except StateError as error:
            raise ApiError(422, "picture_refused", "; ".join(e.message for e in error.errors)) from None

    @routes.get("/pictures/{token}")
    def preview(token: str) -> Response:
        picture = gallery.preview(token)
        if picture is None:
            raise ApiError(404, "not_found", "There is no such picture.")
        headers = {**FOREVER, "Content-Disposition": "inline", "X-Content-Type-Options": "nosniff"}
        return Response(picture, media_type="image/jpeg", headers=headers)

    @routes.get("/examples")
    def examples() -> list[dict[str, Any]]:
        return list_examples(look.ASSETS / "examples")

    @routes.get("/examples/{name}")
    def example(name: str) -> dict[str, Any]:
        found = load_example(look.ASSETS / "examples", name, gallery)
        if found is None:
            raise ApiError(404, "not_found", "There is no such example.")
        return found

    return routes
