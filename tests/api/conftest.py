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

from model.engine import Engine
from model.questions import CLEF_LIMITS
from model.scorer import Scorer
from storage.database import Database
from studio.api import routes
from studio.gate import Doors, guards
from studio.settings import Settings
from tests.api.hash_scorer import HashScorer

WAIT = 30


@dataclass
class Served:
    """A running server. `client` speaks to it without retries."""

    url: str
    engine: Engine
    client: httpx.Client
    database: Database


def app_of(engine: Engine, database: Database, *, record: bool = False, key: str | None = None) -> FastAPI:
    """The APIs behind the guards, as the studio's own server has them, without pages."""
    doors = Doors(key, pages_open=False)
    app = FastAPI(title="test", middleware=guards(Settings(), doors, routes.SHAPES))
    routes.add(app, engine=engine, limits=CLEF_LIMITS, database=database, record=record, guarded=doors.any)
    return app


@contextmanager
def serving(
    scorer: Scorer | None = None,
    *,
    engine: Engine | None = None,
    folder: Path | None = None,
    key: str | None = None,
) -> Iterator[Served]:
    """Serves `scorer`, or an engine in any phase, until the block ends.

    Parameters
    ----------
    folder : where all decisions are recorded.
    key : what clients must send; `client` does.
    """
    if engine is None:
        assert scorer is not None
        engine = Engine(lambda _: scorer)
        assert engine.wait_ready(WAIT).phase == "ready"
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    data = Path(tempfile.mkdtemp(prefix="clef-studio-test-")) if folder is None else folder
    database = Database.open(data)
    app = app_of(engine, database, record=folder is not None, key=key)
    config = uvicorn.Config(app, log_level="critical", timeout_keep_alive=75, timeout_graceful_shutdown=1)
    server = _Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    assert server.up.wait(WAIT)
    try:
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        with httpx.Client(base_url=url, timeout=WAIT, trust_env=False, headers=headers) as client:
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


KEY = "a-key-for-tests"


@pytest.fixture(scope="session")
def keyed() -> Iterator[Served]:
    """The same behind a key."""
    with serving(HashScorer(), key=KEY) as served:
        yield served


@pytest.fixture
def gated() -> Iterator[tuple[Served, HashScorer]]:
    """A server whose scorer the test may hold up (`scorer.open`)."""
    scorer = HashScorer()
    with serving(scorer) as served:
        yield served, scorer
        scorer.open.set()
