"""The people who may sign in: a file of names and hashed passwords, and the command that writes it.

Contract
--------
The file is a JSON object, name to argon2id hash, readable by its owner only, and always replaced whole. `Users` reads
it again when it changes, so that adding or removing somebody needs no restart; where it can no longer be read, nobody
gets in. A name is compared after Unicode normalisation (NFC), exactly; two names may not differ by case alone.
"""

from __future__ import annotations

import argparse
import getpass
import json
import logging
import os
import sys
import tempfile
import threading
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from studio.person import LOCAL

log = logging.getLogger(__name__)

NAME_LENGTH: Final = 64
SHORTEST: Final = 8
LONGEST: Final = 1024
"""Characters of a password."""
RESERVED: Final = (LOCAL, "api")
"""Labellers that are no person: nobody may sign in under such a name."""

_HASHER: Final = PasswordHasher()


class UsersError(Exception):
    """The file or a name cannot be used; the message is for a person."""


class Users:
    """See the module's contract. Made by `open`; may be used from any thread."""

    def __init__(self, path: Path, hashes: Mapping[str, str]) -> None:
        self.path = path
        self._hashes = hashes
        self._mark = _mark(path)
        self._turn = threading.Lock()
        # A name that nobody has takes as long to refuse as a wrong password.
        self._nobody = _HASHER.hash("")

    @classmethod
    def open(cls, path: Path) -> Users:
        """The users in `path`. Raises UsersError: it cannot be read, is no such file, or holds nobody."""
        hashes = _read(path)
        if not hashes:
            raise UsersError(f"{path} holds nobody. Add a person: python app.py user add NAME --users {path}")
        return cls(path, hashes)

    def verify(self, name: str, password: str) -> str | None:
        """The name as it is kept, if the password is right; else None. Takes some tenths of a second by design."""
        name = _plain(name)
        kept = self._now().get(name)
        try:
            right = _HASHER.verify(kept or self._nobody, _plain(password))
        except (VerificationError, InvalidHashError):
            return None
        return name if right and kept is not None else None

    def stamp(self, name: str) -> bytes | None:
        """What changes with the password of `name`, so that old sessions end; None if there is no such person."""
        kept = self._now().get(name)
        return None if kept is None else kept.encode()

    def _now(self) -> Mapping[str, str]:
        mark = _mark(self.path)
        if mark != self._mark:
            with self._turn:
                try:
                    self._hashes = _read(self.path)
                except UsersError as error:
                    log.error("nobody can sign in: %s", error)
                    self._hashes = {}
                self._mark = mark
        return self._hashes


def add_user(path: Path, name: str, password: str) -> bool:
    """Adds `name`, or gives them a new password. Returns whether they are new. Raises UsersError."""
    name, password = _plain(name), _plain(password)
    if not name or len(name) > NAME_LENGTH or not name.isprintable() or name != name.strip():
        raise UsersError(f"A name has 1 to {NAME_LENGTH} printable characters and no space at its ends.")
    if name.casefold() in RESERVED:
        raise UsersError(f"{name!r} is what labels without a person are kept under; choose another name.")
    if not SHORTEST <= len(password) <= LONGEST:
        raise UsersError(f"A password has {SHORTEST} to {LONGEST} characters.")
    hashes = dict(_read(path)) if path.exists() else {}
    twin = next((other for other in hashes if other != name and other.casefold() == name.casefold()), None)
    if twin is not None:
        raise UsersError(f"{twin!r} is there already; names must differ by more than case.")
    new = name not in hashes
    hashes[name] = _HASHER.hash(password)
    _write(path, hashes)
    return new


def remove_user(path: Path, name: str) -> None:
    """Removes `name`; their sessions end at once. Raises UsersError."""
    hashes = dict(_read(path))
    if hashes.pop(_plain(name), None) is None:
        raise UsersError(f"{path} has no {name!r}.")
    _write(path, hashes)


def command(argv: Sequence[str], environ: Mapping[str, str] = os.environ) -> int:
    """`app.py user add NAME --users FILE` and `user remove NAME --users FILE`. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="app.py user", description="Who may sign in to the studio.")
    parser.add_argument("action", choices=["add", "remove"], help="add also gives a known person a new password")
    parser.add_argument("name", metavar="NAME", help="as it will stand on their labels")
    kept = environ.get("CLEF_STUDIO_USERS") or None
    parser.add_argument("--users", type=Path, required=kept is None, default=kept, metavar="FILE", help="the file")
    given = parser.parse_args(argv)
    path = Path(given.users).expanduser()
    try:
        if given.action == "remove":
            remove_user(path, given.name)
            print(f"{given.name} can no longer sign in.")
        elif add_user(path, given.name, _ask()):
            print(f"{given.name} can sign in. Start the studio with --users {path}")
        else:
            print(f"{given.name} has a new password; their sessions have ended.")
    except UsersError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _ask() -> str:
    """The password: typed twice without echo, or one line where no person sits at the keyboard."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    first = getpass.getpass("Password: ")
    if getpass.getpass("Again: ") != first:
        raise UsersError("The two are not the same; nothing was changed.")
    return first


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _mark(path: Path) -> tuple[int, ...]:
    try:
        at = path.stat()
    except OSError:
        return ()
    return (at.st_mtime_ns, at.st_size, at.st_ino)


def _read(path: Path) -> dict[str, str]:
    try:
        hashes = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsersError(f"There is no {path}. Add a person: python app.py user add NAME --users {path}") from None
    except OSError as error:
        raise UsersError(f"{path} cannot be read: {error.strerror}.") from None
    except ValueError:
        hashes = None
    if not isinstance(hashes, dict) or not all(isinstance(h, str) and h.startswith("$argon2") for h in hashes.values()):
        raise UsersError(f"{path} is no file of users: a JSON object, name to argon2 hash, as `user add` writes it.")
    return hashes


def _write(path: Path, hashes: Mapping[str, str]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # mkstemp makes it readable by its owner only, before anything is in it.
        handle, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(hashes, file, ensure_ascii=False, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except OSError as error:
        raise UsersError(f"{path} cannot be written: {error.strerror}.") from None
