"""The load script against a running server: it tells errors and differences, and there are none."""

from __future__ import annotations

import pytest

from benchmarks.api import CLIENTS, TOLERANCE, measure
from tests.api.conftest import KEY, Served


def test_many_clients_get_what_one_gets(hashed: Served) -> None:
    rounds = measure(hashed.url, 12)
    assert [r.clients for r in rounds] == list(CLIENTS)
    assert [(r.errors, len(r.seconds)) for r in rounds] == [(0, 12)] * len(CLIENTS)
    assert max(r.distance for r in rounds) <= TOLERANCE
    assert min(min(r.seconds) for r in rounds) > 0


def test_errors_are_counted_and_a_key_is_sent(keyed: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLEF_STUDIO_API_KEY", raising=False)
    assert [r.errors for r in measure(keyed.url, 3)] == [3, 3, 3]
    monkeypatch.setenv("CLEF_STUDIO_API_KEY", KEY)
    assert [r.errors for r in measure(keyed.url, 3)] == [0, 0, 0]
