"""Ctrl+C ends the studio in order: exit code 0, no traceback, the data folder free for the next start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from storage.database import Database

ROOT = Path(__file__).parents[2]


def test_ctrl_c(tmp_path: Path) -> None:
    command = [sys.executable, "app.py", "--model", "tests/golden/tiny_release", "--port", "0", "--data", str(tmp_path)]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ}
    ) as studio:
        assert studio.stdout is not None
        assert studio.stderr is not None
        assert "http://127.0.0.1:" in studio.stdout.readline()
        studio.send_signal(signal.SIGINT)
        assert studio.wait(60) == 0
        assert "Traceback" not in studio.stderr.read()
    Database.open(tmp_path).close()
