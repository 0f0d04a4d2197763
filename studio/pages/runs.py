"""The Runs page: its one component, its functions, and its routes.

Contract
--------
`page` puts one `gr.HTML` with a static template into the Blocks around it; the DOM inside is made by `assets/runs`.
`router` takes files in, streamed to the disk, and gives results out, streamed from it; the gate stands before both.
"""

from __future__ import annotations

import os
from pathlib import Path

from anyio import to_thread
from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, JSONResponse, Response
from starlette.background import BackgroundTask

from storage.errors import NotFound, StorageError
from storage.jobs import Job
from studio.api.errors import ApiError
from studio.pages.design_keep import sentence
from studio.pages.room import room
from studio.pages.runs_found import found_functions, write_all, write_problems
from studio.pages.runs_list import list_functions, run_of
from studio.pages.runs_new import new_functions, problems_path
from studio.runs.uploads import MOST_BYTES, Uploads
from studio.runs.weigh import Weighings
from studio.studio import Studio

CHUNK = 1 << 20
MEDIA = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}


def page(studio: Studio) -> None:
    """The page, inside its route of `gr.Blocks`."""
    functions = new_functions(studio, Uploads(studio.database), Weighings())
    functions += list_functions(studio)
    functions += found_functions(studio.database)
    room("runs", functions)


def router(studio: Studio) -> APIRouter:
    """The page's routes, all under `/studio/runs`."""
    routes = APIRouter(prefix="/studio/runs")
    uploads = Uploads(studio.database)

    @routes.post("/uploads/{key}")
    async def upload(request: Request, key: str, name: str) -> Response:
        announced = request.headers.get("content-length", "")
        size = int(announced) if announced.isdigit() else None
        if size is not None and size > MOST_BYTES:
            raise ApiError(413, "file_too_large", f"A file may have at most {MOST_BYTES >> 30} GB.")
        try:
            received = await _receive(request, uploads, key, name, size)
        except StorageError as error:
            raise ApiError(422, "file_refused", sentence(error)) from None
        return JSONResponse({"bytes": received})

    @routes.get("/uploads/{key}/problems.csv")
    def set_aside(key: str) -> Response:
        try:
            path = problems_path(uploads, key)
        except StorageError:
            raise ApiError(404, "not_found", "This file is not here, or was not looked through yet.") from None
        return _file(path, f"{uploads.title(key)}-problems.csv", "csv")

    @routes.get("/{run}/problems.csv")
    def problems(run: str) -> Response:
        job = _job(run)
        path = write_problems(studio.database, job)
        return _file(path, f"{job.title}-problems.csv", "csv", once=True)

    @routes.get("/{run}/results.{ending}")
    def results(run: str, ending: str) -> Response:
        job = _job(run)
        try:
            path = write_all(studio.database, job, f".{ending}")
        except StorageError as error:
            raise ApiError(404, "not_found", sentence(error)) from None
        return _file(path, f"{Path(job.title).stem}-results.{ending}", ending, once=True)

    def _job(run: str) -> Job:
        try:
            return run_of(studio.database, run)
        except NotFound:
            raise ApiError(404, "not_found", "There is no such run.") from None

    return routes


async def _receive(request: Request, uploads: Uploads, key: str, name: str, size: int | None) -> int:
    receiving = await to_thread.run_sync(uploads.receive, key, name, size)
    buffer = bytearray()
    received = 0
    try:
        async for chunk in request.stream():
            buffer += chunk
            received += len(chunk)
            if len(buffer) >= CHUNK:
                await to_thread.run_sync(receiving.add, bytes(buffer))
                buffer.clear()
        await to_thread.run_sync(receiving.add, bytes(buffer))
        await to_thread.run_sync(receiving.done)
    except BaseException:
        # Whatever ended it, such as a browser that went away: half a file must not look like one.
        receiving.drop()
        raise
    return received


def _file(path: Path, name: str, ending: str, *, once: bool = False) -> Response:
    gone = BackgroundTask(os.unlink, path) if once else None
    headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    return FileResponse(path, media_type=MEDIA[ending], filename=name, headers=headers, background=gone)
