"""The code that the Design page gives, run as it stands against a running server: by a shell, Python and Node."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from model.questions import questions_json
from tests.api.conftest import KEY, Served, serving
from tests.api.hash_scorer import HashScorer
from tests.api.requests import picture

HERE = Path(__file__).parent
NODE, CURL, SH = (shutil.which(name) for name in ("node", "curl", "sh"))
JS = os.environ.get("TYPESAFE_SDK_JS", "")
ASKED = {
    "urgent": {"type": "noul", "instructions": "Is it urgent?", "criteria": {"true": "Somebody waits"}},
    "team": {
        "type": "choice",
        "instructions": "Which team?",
        "criteria": {"billing": "Invoices and payments", "10": None, "2": 'It\'s "two"'},
    },
    "질문": {"type": "score", "instructions": "How upset?", "criteria": ["calm", "$HOME `upset`"]},
}
STATE = "It's down:\n</script> 👍"
FORMS = ["curl", "python-sdk", "python", "javascript", "workers-ai"]

pytestmark = pytest.mark.skipif(NODE is None, reason="needs Node: the page's own script makes the code")


def made(served: Served, *, keyed: bool, pictures: list[str]) -> dict[str, str]:
    """The code by form."""
    command = [str(NODE), str(HERE / "snippets.mjs"), served.url, "keyed" if keyed else "open", *pictures]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return dict(json.loads(done.stdout))


def run(form: str, text: str, folder: Path, *, key: str | None) -> subprocess.CompletedProcess[str]:
    """The code, run in `folder`."""
    if form == "curl":
        command = [str(SH), "-c", text]
    else:
        file = folder / ("code.py" if form.startswith("python") else "code.mjs")
        file.write_text(text, encoding="utf-8")
        command = [sys.executable if form.startswith("python") else str(NODE), file.name]
    if form == "javascript" and not (folder / "node_modules").exists():
        (folder / "node_modules").symlink_to(Path(JS) / "node_modules")
    environ = {k: v for k, v in os.environ.items() if k not in ("CLEF_STUDIO_API_KEY", "TYPESAFE_API_KEY")}
    if key is not None:
        environ["CLEF_STUDIO_API_KEY"] = key
    return subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False
    )


def skip_without_tools(form: str) -> None:
    if form == "curl" and None in (CURL, SH):
        pytest.skip("needs curl and a shell")
    if form == "javascript" and not JS:
        pytest.skip("TYPESAFE_SDK_JS names no folder with the SDK")


@pytest.mark.parametrize(("key", "photos"), [(None, 0), (KEY, 2)])
@pytest.mark.parametrize("form", FORMS)
def test_the_code_asks_what_the_page_asks(tmp_path: Path, form: str, key: str | None, photos: int) -> None:
    skip_without_tools(form)
    names = [f"it's {i}.png" for i in range(photos)]
    for i, name in enumerate(names):
        (tmp_path / name).write_bytes(picture((10 * i, 0, 200)))
    scorer = HashScorer()
    with serving(scorer, key=key) as served:
        text = made(served, keyed=key is not None, pictures=names)[form]
        done = run(form, text, tmp_path, key=key)
    assert done.returncode == 0, done.stderr
    (asked,) = scorer.asked
    assert asked.state.value == STATE
    # A JavaScript object puts names that look like numbers first; the order of options carries no meaning.
    assert questions_json(asked.questions) == ASKED
    assert [p.image.getpixel((0, 0)) for p in asked.state.pictures] == [(10 * i, 0, 200) for i in range(photos)]
    if form == "curl":
        assert list(json.loads(done.stdout)["answers"]) == list(ASKED)
    else:
        assert [line for line in ASKED if line in done.stdout] == list(ASKED)
    assert KEY not in text


@pytest.mark.parametrize("form", FORMS)
def test_a_wrong_key_is_said(keyed: Served, tmp_path: Path, form: str) -> None:
    skip_without_tools(form)
    done = run(form, made(keyed, keyed=True, pictures=[])[form], tmp_path, key="a-wrong-key")
    said: Any = done.stdout + done.stderr
    assert "Cannot authenticate with the server." in said or "401" in said
    assert done.returncode == 0 if form == "curl" else done.returncode != 0
