"""The sweeper empties what is due at the start and again later, and ends at once."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from storage.database import Database
from storage.decisions import get_decision
from storage.privacy import set_privacy
from storage.schemas import create_schema
from studio.sweeper import Sweeper
from tests.studio.test_label_desk import seed


def emptied(database: Database, decision: str, seconds: float = 30) -> bool:
    """Whether the decision's state is gone within `seconds`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if get_decision(database, decision).state == "":
            return True
    return False


def test_states_go_at_the_start_and_later(tmp_path: Path) -> None:
    with Database.open(tmp_path) as database:
        schema = create_schema(database, name="Short")
        (old,) = seed(database, 1, schema_id=schema.id, created=datetime.now(UTC) - timedelta(days=3))
        set_privacy(database, schema.id, states=True, retention=2)
        sweeper = Sweeper(database, every=0.05)
        try:
            assert emptied(database, old)
            (next_one,) = seed(database, 1, schema_id=schema.id, created=datetime.now(UTC) - timedelta(days=3))
            assert emptied(database, next_one)
        finally:
            begun = time.monotonic()
            sweeper.close()
        assert time.monotonic() - begun < 5


def test_an_idle_sweeper_ends_at_once(tmp_path: Path) -> None:
    with Database.open(tmp_path) as database:
        sweeper = Sweeper(database)
        begun = time.monotonic()
        sweeper.close()
        assert time.monotonic() - begun < 5
