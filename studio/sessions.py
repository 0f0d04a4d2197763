"""Sessions: a signed cookie that says who signed in, and when.

Contract
--------
A cookie holds a random id, the name, the time and a mark of the person's password hash, under an HMAC-SHA256 whose key
is the data folder's secret (32 random bytes, readable by its owner only). A new password, or their removal, ends a
person's sessions. So does signing out, also after a restart, and `LIFETIME`. Nothing else is kept of a session.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import secrets
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from studio.users import Users

LIFETIME: Final = 14 * 24 * 3600
"""Seconds for which a session holds."""
SECRET: Final = "session.key"
ENDED: Final = "sessions-ended.txt"
"""File of the ids that signed out and of when they began: one a line, until they would have ended anyway."""


class _Said(NamedTuple):
    id: str
    name: str
    began: int
    mark: str


class Sessions:
    """See the module's contract. `now`: the time in seconds since 1970."""

    def __init__(self, folder: Path, users: Users, *, now: Callable[[], float] = time.time) -> None:
        self._users = users
        self._now = now
        self._secret = _secret(folder / SECRET)
        self._file = folder / ENDED
        self._turn = threading.Lock()
        self._ended = self._recall()
        # Browsers do not tell ports apart: two studios on one machine must not overwrite each other's cookie.
        self.cookie: Final = f"clef_studio_{hashlib.sha256(self._secret).hexdigest()[:8]}"

    def begin(self, name: str) -> str | None:
        """The cookie of a new session; None if there is no such person (any more)."""
        mark = self._mark(name)
        if mark is None:
            return None
        said = _Said(secrets.token_hex(8), name, int(self._now()), mark)
        payload = json.dumps(said, ensure_ascii=False).encode()
        return f"{_text(payload)}.{_text(self._sign(payload))}"

    def who(self, cookie: str) -> str | None:
        """The name in a cookie that holds; else None."""
        said = self._read(cookie)
        return None if said is None or said.id in self._ended else said.name

    def end(self, cookie: str) -> None:
        """Ends the session of a cookie, if it has one."""
        said = self._read(cookie)
        if said is None:
            return
        with self._turn:
            self._ended[said.id] = said.began
            handle = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(f"{said.id} {said.began}\n")

    def _read(self, cookie: str) -> _Said | None:
        left, _, right = cookie.partition(".")
        try:
            payload, signature = _bytes(left), _bytes(right)
        except ValueError:
            return None
        if not hmac.compare_digest(self._sign(payload), signature):
            return None
        # Only what was signed is parsed.
        said = _Said(*json.loads(payload))
        if said.mark != self._mark(said.name):
            return None
        return said if 0 <= self._now() - said.began < LIFETIME else None

    def _sign(self, payload: bytes) -> bytes:
        return hmac.digest(self._secret, payload, "sha256")

    def _mark(self, name: str) -> str | None:
        stamp = self._users.stamp(name)
        return None if stamp is None else self._sign(b"stamp\0" + stamp).hex()[:16]

    def _recall(self) -> dict[str, int]:
        """The sessions that signed out, without those that would have ended by now."""
        if not self._file.exists():
            return {}
        lines = [line.split() for line in self._file.read_text(encoding="ascii").splitlines()]
        ended = {line[0]: int(line[1]) for line in lines if len(line) == 2 and line[1].isdigit()}
        ended = {key: began for key, began in ended.items() if self._now() - began < LIFETIME}
        partial = self._file.with_suffix(".partial")
        partial.write_text("".join(f"{key} {began}\n" for key, began in ended.items()), encoding="ascii")
        partial.chmod(0o600)
        partial.replace(self._file)
        return ended


def _secret(path: Path) -> bytes:
    """The secret in `path`, made there where it is missing or damaged (which ends all sessions)."""
    if path.exists() and len(secret := path.read_bytes()) == 32:
        path.chmod(0o600)
        return secret
    secret = secrets.token_bytes(32)
    partial = path.with_suffix(".partial")
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(secret)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    return secret


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
