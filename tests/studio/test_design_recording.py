"""The switch that keeps what code decides, without a browser."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest

from model.questions import parse_questions
from storage.database import Database
from storage.schemas import create_schema, get_schema, publish
from studio.pages.design_recording import recording_functions


@pytest.mark.parametrize("every", [False, True])
def test_it_tells_what_is_and_switches(tmp_path: Path, every: bool) -> None:
    with Database.open(tmp_path) as database:
        call: dict[str, Any] = {f.__name__: f for f in recording_functions(database, every=every)}
        key = create_schema(database, name="Triage").id
        assert call["recording"]({"schema_id": key}) == {"recording": False, "latest": None, "every": every}
        publish(database, key, parse_questions({"q": {"type": "noul"}}))
        assert call["record"]({"schema_id": key, "recording": True}) == {"recording": True}
        assert get_schema(database, key).recording is True
        assert call["recording"]({"schema_id": key}) == {"recording": True, "latest": 1, "every": every}
        assert call["record"]({"schema_id": key, "recording": False}) == {"recording": False}


def test_what_is_not_there_or_not_understood(tmp_path: Path) -> None:
    with Database.open(tmp_path) as database:
        call: dict[str, Any] = {f.__name__: f for f in recording_functions(database, every=False)}
        unsaved = str(uuid.uuid4())
        assert call["recording"]({"schema_id": unsaved})["latest"] is None
        assert call["record"]({"schema_id": unsaved, "recording": True})["error"]["kind"] == "not_found"
        assert "error" in call["record"]({"schema_id": "no uuid", "recording": True})
        assert "error" in call["record"]({"schema_id": unsaved})
