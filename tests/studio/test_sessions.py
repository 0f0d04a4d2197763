"""Sessions: what holds, what ends them, and that nothing else gets in."""

from __future__ import annotations

import base64
import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.sessions import ENDED, LIFETIME, SECRET, Sessions
from studio.users import Users, add_user, remove_user
from tests.studio.hashes import cheap_hashes

OTHER = "Gräfin 伯爵"


@pytest.fixture(autouse=True)
def _quick() -> Iterator[None]:
    with cheap_hashes():
        yield


class Clock:
    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "users.json"
    for name in ("Ada", OTHER):
        add_user(path, name, "correct horse")
    return path


@pytest.fixture
def sessions(tmp_path: Path, file: Path, clock: Clock) -> Sessions:
    return Sessions(tmp_path, Users.open(file), now=clock)


def begun(sessions: Sessions, name: str = "Ada") -> str:
    cookie = sessions.begin(name)
    assert cookie is not None
    return cookie


@pytest.mark.parametrize("name", ["Ada", OTHER])
def test_it_holds_for_its_time(sessions: Sessions, clock: Clock, name: str) -> None:
    cookie = begun(sessions, name)
    assert cookie.isascii()
    assert not set(cookie) & set('; ,"')
    assert sessions.who(cookie) == name
    clock.now += LIFETIME - 1
    assert sessions.who(cookie) == name
    clock.now += 1
    assert sessions.who(cookie) is None
    clock.now -= 2 * LIFETIME
    assert sessions.who(cookie) is None, "from the future"


def test_no_changed_cookie_holds(sessions: Sessions) -> None:
    cookie = begun(sessions)
    # Of the last character two bits are padding; it is left alone.
    for i in range(len(cookie) - 1):
        changed = cookie[:i] + ("A" if cookie[i] != "A" else "B") + cookie[i + 1 :]
        assert sessions.who(changed) is None
    payload, _, signature = cookie.partition(".")
    said = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    forged = base64.urlsafe_b64encode(json.dumps([said[0], OTHER, *said[2:]]).encode()).decode().rstrip("=")
    deep = base64.urlsafe_b64encode(b"[" * 50_000).decode()
    bad = ["", ".", payload, f"{payload}.", f".{signature}", f"{forged}.{signature}", f"{deep}.{signature}", "é.ü"]
    assert [cookie for cookie in bad if sessions.who(cookie) is not None] == []


def test_signing_out_ends_it_after_a_restart_too(tmp_path: Path, file: Path, sessions: Sessions, clock: Clock) -> None:
    cookie, other = begun(sessions), begun(sessions)
    sessions.end(cookie)
    sessions.end("nonsense")
    assert (sessions.who(cookie), sessions.who(other)) == (None, "Ada")
    again = Sessions(tmp_path, Users.open(file), now=clock)
    assert (again.who(cookie), again.who(other)) == (None, "Ada")
    clock.now += LIFETIME
    Sessions(tmp_path, Users.open(file), now=clock)
    assert (tmp_path / ENDED).read_text() == ""


def test_a_new_password_and_removal_end_sessions(file: Path, sessions: Sessions) -> None:
    ada, other = begun(sessions), begun(sessions, OTHER)
    add_user(file, "Ada", "another horse")
    assert (sessions.who(ada), sessions.who(other)) == (None, OTHER)
    remove_user(file, OTHER)
    assert sessions.who(other) is None
    assert sessions.begin(OTHER) is None


def test_the_secret_is_the_folders_and_private(tmp_path: Path, file: Path, sessions: Sessions, clock: Clock) -> None:
    secret = tmp_path / SECRET
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    sessions.end(begun(sessions))
    assert stat.S_IMODE((tmp_path / ENDED).stat().st_mode) == 0o600
    cookie = begun(sessions)
    secret.chmod(0o644)
    again = Sessions(tmp_path, Users.open(file), now=clock)
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert again.who(cookie) == "Ada"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    other = Sessions(elsewhere, Users.open(file), now=clock)
    assert other.who(cookie) is None
    assert other.cookie != sessions.cookie
    secret.write_bytes(b"short")
    assert Sessions(tmp_path, Users.open(file), now=clock).who(cookie) is None
