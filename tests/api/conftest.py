"""Real servers for the API tests: uvicorn on a free port of loopback, with the hash scorer or the tiny Clef release."""

from __future__ import annotations

import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from starlette.middleware import Middleware

from model.engine import Engine
from model.questions import CLEF_LIMITS
from model.scorer import Scorer
from storage.database import Database
from studio.api import routes
from studio.security import OriginGuard, hosts_allowed
from tests.api.hash_scorer import HashScorer

WAIT = 30


@dataclass
class Served:
    """A running server. `client` speaks to it without retries."""

    url: str
    engine: Engine
    client: httpx.Client
    database: Database


def app_of(engine: Engine, database: Database, *, record: bool = False) -> FastAPI:
    """The APIs behind the guard, as the studio's own server has them, without pages."""
    guard = Middleware(OriginGuard, allowed=hosts_allowed("127.0.0.1", ()))
    app = FastAPI(title="test", middleware=[guard])
    routes.add(app, engine=engine, limits=CLEF_LIMITS, database=database, record=record)
    return app


@contextmanager
def serving(
    scorer: Scorer | None = None, *, engine: Engine | None = None, folder: Path | None = None
) -> Iterator[Served]:
    """Serves `scorer`, or an engine in any phase, until the block ends. `folder`: where decisions are recorded."""
    if engine is None:
        assert scorer is not None
        engine = Engine(lambda _: scorer)
        assert engine.wait_ready(WAIT).phase == "ready"
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    data = Path(tempfile.mkdtemp(prefix="clef-studio-test-")) if folder is None else folder
    database = Database.open(data)
    app = app_of(engine, database, record=folder is not None)
    config = uvicorn.Config(app, log_level="critical", timeout_keep_alive=75, timeout_graceful_shutdown=1)
    server = _Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    assert server.up.wait(WAIT)
    try:
        with httpx.Client(base_url=url, timeout=WAIT, trust_env=False) as client:
            yield Served(url, engine, client, database)
    finally:
        server.should_exit = True
        thread.join(WAIT)
        engine.close()
        database.close()
        if folder is None:
            shutil.rmtree(data)


class _Server(uvicorn.Server):
    """Says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()


@pytest.fixture(scope="session", autouse=True)
def _no_proxy() -> Iterator[None]:
    # The official SDKs would send loopback requests to a proxy that the environment names.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_PROXY", "127.0.0.1,localhost")
        patch.setenv("no_proxy", "127.0.0.1,localhost")
        yield


@pytest.fixture(scope="session")
def hashed() -> Iterator[Served]:
    """One server with the hash scorer for all tests that only read answers."""
    with serving(HashScorer()) as served:
        yield served


@pytest.fixture
def gated() -> Iterator[tuple[Served, HashScorer]]:
    """A server whose scorer the test may hold up (`scorer.open`)."""
    scorer = HashScorer()
    with serving(scorer) as served:
        yield served, scorer
        scorer.open.set()
