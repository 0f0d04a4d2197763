"""Failed sign-ins: free ones, doubling waits, and no way round them."""

from __future__ import annotations

import pytest

from studio import attempts
from studio.attempts import FREE, LONGEST, MEMORY, Attempts


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def fail(counted: Attempts, times: int, name: str = "Ada", address: str = "1.1.1.1") -> None:
    for _ in range(times):
        counted.begun(name, address)


def test_waits_double_and_end(clock: Clock) -> None:
    counted = Attempts(now=clock)
    fail(counted, FREE["both"] - 1)
    assert counted.wait("Ada", "1.1.1.1") == 0
    waits = []
    for _ in range(8):
        fail(counted, 1)
        waits.append(counted.wait("ada", "1.1.1.1"))
    assert waits == [1, 2, 4, 8, 16, 32, LONGEST, LONGEST]
    clock.now += LONGEST
    assert counted.wait("Ada", "1.1.1.1") == 0
    fail(counted, 1)
    assert counted.wait("Ada", "1.1.1.1") == LONGEST
    clock.now += MEMORY + 1
    assert counted.wait("Ada", "1.1.1.1") == 0
    fail(counted, 1)
    assert counted.wait("Ada", "1.1.1.1") == 0


def test_somebody_else_and_somewhere_else_do_not_wait(clock: Clock) -> None:
    counted = Attempts(now=clock)
    fail(counted, FREE["both"])
    assert counted.wait("Grace", "1.1.1.1") == 0
    assert counted.wait("Ada", "2.2.2.2") == 0


def test_many_names_from_one_address_and_one_name_from_many(clock: Clock) -> None:
    counted = Attempts(now=clock)
    for i in range(FREE["address"]):
        fail(counted, 1, name=f"name {i}")
    assert counted.wait("another", "1.1.1.1") == 1
    for i in range(FREE["name"]):
        fail(counted, 1, name="Grace", address=f"3.3.3.{i}")
    assert counted.wait("Grace", "9.9.9.9") == 1


def test_success_clears_the_person_but_is_no_way_round_for_the_address(clock: Clock) -> None:
    counted = Attempts(now=clock)
    fail(counted, FREE["both"])
    counted.succeeded("Ada", "1.1.1.1")
    assert counted.wait("Ada", "1.1.1.1") == 0
    for i in range(FREE["address"] - FREE["both"]):
        fail(counted, 1, name=f"name {i}")
        counted.begun("mine", "1.1.1.1")
        counted.succeeded("mine", "1.1.1.1")
    fail(counted, 1, name="one more")
    assert counted.wait("another", "1.1.1.1") > 0


def test_memory_is_bounded(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "MOST", 30)
    counted = Attempts(now=clock)
    for i in range(200):
        fail(counted, 1, name=f"name {i}", address=f"4.4.4.{i}")
    assert len(counted._counts) <= 30
