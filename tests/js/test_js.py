"""The page's pure JavaScript modules, tested by Node's own runner: one test here per file there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
NODE = shutil.which("node")


@pytest.mark.skipif(NODE is None, reason="needs Node 20 or newer: the JavaScript tests run on it")
@pytest.mark.parametrize("file", sorted(HERE.glob("*.test.js")), ids=lambda path: path.name)
def test_javascript(file: Path) -> None:
    assert NODE is not None
    # The snippets' tests run the Python that runs this.
    environ = {**os.environ, "PYTHON": sys.executable}
    done = subprocess.run([NODE, "--test", str(file)], capture_output=True, text=True, timeout=240, env=environ)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]


def test_there_are_javascript_tests() -> None:
    assert list(HERE.glob("*.test.js"))
