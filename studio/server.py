"""One server: the pages, the HTTP API and the health routes, around one engine and one database.

Contract
--------
`build` makes the ASGI app without starting anything but the engine; jobs go on while it is served. `serve` runs it
until Ctrl+C and ends within seconds, with tabs open. Nothing leaves the machine: no analytics, no fonts or scripts
from elsewhere.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import FrameType

# Before gradio is imported: it looks up its makers' hosts otherwise.
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"

import gradio as gr
import uvicorn
from fastapi import FastAPI
from gradio.components.navbar import Navbar
from starlette.middleware import Middleware

from model.engine import Engine
from storage.database import Database
from studio import look, signin
from studio.api import routes
from studio.calibrations import Calibrations
from studio.canary import Canary
from studio.first_paint import FirstPaint
from studio.gate import Doors, guards
from studio.jobs import Handler, Worker
from studio.pages import calibration, datasets, design, label, label_find, runs, scripts
from studio.pages.calibration_data import Shelf
from studio.replay import Replay
from studio.runs.run import Run
from studio.scorers import opener
from studio.sessions import Sessions
from studio.settings import Settings, is_loopback
from studio.studio import Studio
from studio.sweeper import Sweeper
from studio.users import Users, UsersError

log = logging.getLogger(__name__)

GRACE_SECONDS = 2
"""How long open connections may hold up the end; together with the engine's it stays under three seconds."""


def build(settings: Settings, *, engine: Engine | None = None) -> FastAPI:
    """The ASGI app. `engine`: an engine that exists already (tests); else one is started for `settings.model`.

    Raises
    ------
    storage.database.DatabaseError : the data folder cannot be used; the message says what to do.
    studio.users.UsersError : the file of users cannot be used; likewise.
    """
    users = None if settings.users is None else Users.open(settings.users)
    database = Database.open(settings.data, settings.database)
    sessions = None if users is None else Sessions(settings.data, users)
    engine = engine or Engine(opener(settings))
    shelf, calibrations = Shelf(database), Calibrations(database)
    engine.finish = calibrations.finish
    handlers: dict[str, Handler] = {
        "run": Run(database, engine),
        "replay": Replay(shelf, engine, calibrations),
    }
    studio = Studio(settings, engine, database, Worker(database, handlers))
    canary = Canary(database, engine)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        sweeper = Sweeper(database)
        studio.worker.start()
        canary.start()
        yield
        sweeper.close()
        studio.close()

    doors = Doors(settings.api_key, sessions, pages_open=sessions is None and not settings.api_only)
    app = FastAPI(
        title="Clef Studio", docs_url=None, redoc_url=None, lifespan=lifespan,
        middleware=[*guards(settings, doors, routes.SHAPES), Middleware(FirstPaint)],
        root_path=settings.root_path,
    )  # fmt: skip
    app.state.studio = studio
    routes.add(app, engine=engine, limits=settings.limits, database=database, record=settings.record, guarded=doors.any)
    if settings.api_only:
        return app
    if users is not None and sessions is not None:
        app.include_router(signin.router(users, sessions, root_path=settings.root_path))
    app.include_router(design.router(studio))
    app.include_router(scripts.router())
    app.include_router(label_find.router(database))
    app.include_router(calibration.router(shelf, canary))
    app.include_router(runs.router(studio))
    app.include_router(datasets.router(studio))
    return gr.mount_gradio_app(
        app,
        _pages(studio, shelf, calibrations),
        path="/",
        run_history=False,
        show_error=False,
        footer_links=[],
        ssr_mode=False,
        root_path=settings.root_path or None,
        max_file_size="64mb",
        favicon_path=str(look.ASSETS / "icon.svg"),
        theme=look.theme(),
        head=look.head() + ("" if sessions is None else signin.head()),
    )


def _pages(studio: Studio, shelf: Shelf, calibrations: Calibrations) -> gr.Blocks:
    # The upload cache is not the store: kept pictures are copied by content hash, the rest goes after a day.
    with gr.Blocks(title="Clef Studio", analytics_enabled=False, delete_cache=(3600, 86400)) as demo:
        Navbar(visible=False)
        design.page(studio, shelf)
    # Each room draws its own header; Gradio's would stand above it.
    with demo.route("Label", "label"):
        Navbar(visible=False)
        label.page(studio)
    with demo.route("Calibration", "calibration"):
        Navbar(visible=False)
        calibration.page(studio, shelf, calibrations)
    with demo.route("Runs", "runs"):
        Navbar(visible=False)
        runs.page(studio)
    with demo.route("Datasets", "datasets"):
        Navbar(visible=False)
        datasets.page(studio)
    return demo


def serve(settings: Settings) -> int:
    """Runs the studio until it is told to end. Returns the exit code."""
    from storage.database import DatabaseError

    logging.basicConfig(level=settings.log_level.upper(), format="%(levelname)s %(name)s: %(message)s")
    for chatty in ("httpx", "httpcore", "multipart", "asyncio", "alembic"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    os.environ.setdefault("GRADIO_TEMP_DIR", str(settings.data / "uploads"))
    try:
        listener = _listen(settings)
    except OSError as error:
        print(f"Cannot listen on {settings.host}:{settings.port}: {error.strerror}. Choose another --port.")
        return 1
    port = listener.getsockname()[1]
    settings = Settings(**{**settings.__dict__, "port": port})
    try:
        app = build(settings)
    except DatabaseError as error:
        listener.close()
        print(f"The data folder cannot be used: {error}")
        return 1
    except UsersError as error:
        listener.close()
        print(f"The file of users cannot be used: {error}")
        return 1
    config = uvicorn.Config(
        app, log_level="warning", timeout_graceful_shutdown=GRACE_SECONDS, timeout_keep_alive=75, lifespan="on"
    )
    server = _Server(config, settings)
    server.run(sockets=[listener])
    return 0


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except OSError:
        listener.close()
        raise
    return listener


class _Server(uvicorn.Server):
    """Says where the studio is once it listens, and ends the process even when a forward pass will not."""

    def __init__(self, config: uvicorn.Config, settings: Settings) -> None:
        super().__init__(config)
        self._settings = settings

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if not self.should_exit:
            print(f"Clef Studio: {self._settings.url}   (data in {self._settings.data}; Ctrl+C ends it)", flush=True)
            if not is_loopback(self._settings.host):
                log.warning("passwords, keys and states travel unencrypted: put a proxy with TLS in front")
            if self._settings.open_browser:
                threading.Thread(target=webbrowser.open, args=(self._settings.url,), daemon=True).start()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        if sig == signal.SIGINT:
            # uvicorn raises the signal again when it is done; Ctrl+C is a normal end here, not a traceback.
            self._captured_signals.clear()
