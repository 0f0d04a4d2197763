"""A fresh database per test, and decisions to put into it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from model.answers import Answer
from model.questions import Questions, parse_questions
from model.scorer import ScorerInfo
from model.state import Cut, Tokens
from storage.database import FILE, Database
from storage.decisions import DecisionRecord
from tests.storage.postgres import MADE, Server, running

SQLITE, POSTGRESQL = "sqlite", "postgresql"
BOTH = (SQLITE, POSTGRESQL)
"""Kinds of database. A module that says `STORES = BOTH` runs all of its tests with a `database` on each, but those that
say themselves where they run (`on_sqlite`)."""
on_sqlite = pytest.mark.parametrize("store", [SQLITE], indirect=True)

QUESTIONS = {
    "refund": {"type": "noul", "instructions": "Does the customer want money back?"},
    "team": {"type": "choice", "criteria": {"2": "Second line", "billing": None, "10": "Tenth"}},
    "anger": {"type": "score", "criteria": ["calm", "annoyed", "furious"]},
}
SCORER = ScorerInfo(
    name="tiny", kind="clef", fingerprint="f" * 64, question_ids="literal", max_tokens=512, sees_pictures=True,
    details={"parameters": 12},
)  # fmt: skip

MakeRecord = Callable[..., DecisionRecord]


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of an empty database; a copy of it opens much faster than one that is migrated from nothing."""
    folder = tmp_path_factory.mktemp("empty")
    Database.open(folder).close()
    return folder / FILE


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Both kinds of database for modules that ask for them."""
    given = [mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")]
    stores = getattr(metafunc.module, "STORES", ())
    if stores and "database" in metafunc.fixturenames and "store" not in given:
        metafunc.parametrize("store", stores, indirect=True)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A server that runs."""
    with running() as server:
        yield server


@pytest.fixture
def store(request: pytest.FixtureRequest) -> str:
    """The kind of the test's database."""
    return getattr(request, "param", SQLITE)


@pytest.fixture
def address(store: str, request: pytest.FixtureRequest) -> Iterator[str | None]:
    """The URL of an empty database; None for a file in the data folder."""
    if store == SQLITE:
        yield None
        return
    server: Server = request.getfixturevalue("postgresql")
    url = server.database(like=MADE)
    yield url
    server.drop(url)


@pytest.fixture
def database(tmp_path: Path, address: str | None, request: pytest.FixtureRequest) -> Iterator[Database]:
    folder = tmp_path / "data"
    folder.mkdir()
    if address is None:
        shutil.copy(request.getfixturevalue("empty"), folder / FILE)
    with Database.open(folder, address) as opened:
        yield opened


@pytest.fixture
def questions() -> Questions:
    return parse_questions(QUESTIONS)


@pytest.fixture
def record(questions: Questions) -> MakeRecord:
    def make(**changes: Any) -> DecisionRecord:
        whole = DecisionRecord(
            id=str(uuid4()),
            source="page",
            questions=questions,
            scorer=SCORER,
            state={"text": "Geld zurück, sofort! 🙏", "n": 0.1},
            answers={
                "refund": Answer("noul", ("true", "false"), (0.1 + 0.2, 0.7 - 4e-17)),
                "team": Answer("choice", ("2", "billing", "10"), (0.25, 1 / 3, 1 - 0.25 - 1 / 3)),
                "anger": Answer("score", ("0", "1", "2"), (0.2, 0.5, 0.3), ("calm", "annoyed", "furious")),
            },
            tokens=Tokens(state=20, pictures=0, questions=30, frame=5, limit=512, read=18),
            seconds=0.025,
            cut=Cut(tokens=2, start=40),
            words=("INVOICE",),
            looked={"refund": ((0, 4), (9, 12))},
        )
        return replace(whole, **changes)

    return make
