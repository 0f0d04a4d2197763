"""Schemathesis: what the server says of itself in /openapi.json is true of what it does. Prints the number of cases."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from model.engine import Engine
from storage.database import Database
from tests.api.conftest import WAIT, app_of
from tests.api.hash_scorer import HashScorer

EXAMPLES = int(os.environ.get("CLEF_STUDIO_CASES", "20"))
"""Of each operation. More for a longer search."""
HOST = {"host": "127.0.0.1"}
ENGINE = Engine(lambda _: HashScorer())
assert ENGINE.wait_ready(WAIT).phase == "ready"
FOLDER = tempfile.TemporaryDirectory(prefix="clef-studio-test-")
DATABASE = Database.open(Path(FOLDER.name))
schema = schemathesis.openapi.from_asgi("/openapi.json", app_of(ENGINE, DATABASE), headers=HOST)
SENT: Counter[int] = Counter()
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@schema.parametrize()
@settings(
    max_examples=EXAMPLES, deadline=None, database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)  # fmt: skip
def test_the_server_keeps_its_own_word(case: schemathesis.Case) -> None:
    SENT[case.call_and_validate(headers=HOST, checks=CHECKS).status_code] += 1


def test_the_document_lists_the_api() -> None:
    paths = set(schema.raw_schema["paths"])
    assert {"/v1/systemone", "/v1/models", "/v1/decisions", "/api/alpha/decisions", "/healthz", "/readyz"} <= paths


@pytest.fixture(scope="module", autouse=True)
def _close() -> object:
    yield
    print(f"\nschemathesis: {sum(SENT.values())} cases, statuses {dict(sorted(SENT.items()))}")
    ENGINE.close()
    DATABASE.close()
    FOLDER.cleanup()
