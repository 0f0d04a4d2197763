"""The file of users, and the command that writes it."""

from __future__ import annotations

import json
import os
import pty
import stat
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.users import SHORTEST, Users, UsersError, add_user, command, remove_user
from tests.studio.hashes import cheap_hashes

ROOT = Path(__file__).parents[2]
PASSWORD = "correct horse"


@pytest.fixture(autouse=True)
def _quick() -> Iterator[None]:
    with cheap_hashes():
        yield


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "kept" / "users.json"
    assert add_user(path, "Ada", PASSWORD) is True
    return path


def test_the_file_is_private_and_holds_no_password(file: Path) -> None:
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert PASSWORD not in file.read_text()
    assert json.loads(file.read_text())["Ada"].startswith("$argon2id$")
    assert [path.name for path in file.parent.iterdir()] == ["users.json"]


@pytest.mark.parametrize(
    ("name", "password", "who"),
    [
        ("Ada", PASSWORD, "Ada"),
        ("Ada", "Correct horse", None),
        ("Ada", "", None),
        ("ada", PASSWORD, None),
        ("Grace", PASSWORD, None),
        ("", "", None),
        ("Ada\0", PASSWORD, None),
    ],
)
def test_verify(file: Path, name: str, password: str, who: str | None) -> None:
    assert Users.open(file).verify(name, password) == who


def test_the_way_a_letter_is_put_together_does_not_matter(file: Path) -> None:
    add_user(file, unicodedata.normalize("NFD", "Zoë"), unicodedata.normalize("NFD", "pässwörter"))
    assert Users.open(file).verify(unicodedata.normalize("NFC", "Zoë"), "pässwörter") == "Zoë"


def test_a_change_counts_without_a_restart(file: Path) -> None:
    users = Users.open(file)
    add_user(file, "Grace", PASSWORD)
    assert users.verify("Grace", PASSWORD) == "Grace"
    assert add_user(file, "Grace", "another horse") is False
    assert users.verify("Grace", PASSWORD) is None
    remove_user(file, "Grace")
    assert users.stamp("Grace") is None
    file.write_text("[]")
    assert users.verify("Ada", PASSWORD) is None, "what cannot be read lets nobody in"
    file.unlink()
    assert users.verify("Ada", PASSWORD) is None


@pytest.mark.parametrize(
    ("name", "password", "says"),
    [
        ("", PASSWORD, "A name has"),
        (" Ada", PASSWORD, "A name has"),
        ("A" * 65, PASSWORD, "A name has"),
        ("A\nB", PASSWORD, "A name has"),
        ("ADA", PASSWORD, "more than case"),
        ("local", PASSWORD, "another name"),
        ("API", PASSWORD, "another name"),
        ("Grace", "x" * (SHORTEST - 1), "A password has"),
        ("Grace", "x" * 1025, "A password has"),
    ],
)
def test_refused(file: Path, name: str, password: str, says: str) -> None:
    before = file.read_text()
    with pytest.raises(UsersError, match=says):
        add_user(file, name, password)
    assert file.read_text() == before


@pytest.mark.parametrize("content", [None, "", "[]", '{"Ada": "plain text"}', '{"Ada": 1}', "{}"])
def test_a_file_that_lets_nobody_in_is_refused_with_what_to_do(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "users.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UsersError, match=r"user add"):
        Users.open(path)


def test_the_command_reads_one_line_where_nobody_types(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with open(os.devnull) as empty:
        monkeypatch.setattr("sys.stdin", empty)
        assert command(["add", "Grace", "--users", str(file)], {}) == 1
    assert "A password has" in capsys.readouterr().err
    assert command(["remove", "Grace"], {"CLEF_STUDIO_USERS": str(file)}) == 1
    assert "has no 'Grace'" in capsys.readouterr().err
    assert command(["remove", "Ada"], {"CLEF_STUDIO_USERS": str(file)}) == 0


def test_the_password_is_asked_for_without_echo(tmp_path: Path) -> None:
    file = tmp_path / "users.json"
    keyboard, screen = pty.openpty()
    code = "import sys, app\nassert app.main(sys.argv[1:]) == 0\n"
    code += "assert not {'torch', 'gradio', 'transformers'} & set(sys.modules), 'heavy import'"
    argv = [sys.executable, "-c", code, "user", "add", "Ada", "--users", str(file)]
    with subprocess.Popen(argv, cwd=ROOT, stdin=screen, stdout=screen, stderr=screen, start_new_session=True) as asks:
        os.close(screen)
        seen = b""
        for prompt in (b"Password: ", b"Again: "):
            while prompt not in seen:
                seen += os.read(keyboard, 1000)
            os.write(keyboard, PASSWORD.encode() + b"\n")
        while b"can sign in" not in seen:
            seen += os.read(keyboard, 1000)
        assert asks.wait(60) == 0
    os.close(keyboard)
    assert PASSWORD.encode() not in seen
    assert Users.open(file).verify("Ada", PASSWORD) == "Ada"
