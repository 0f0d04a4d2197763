"""The question language and the pictures' decoder come without torch: the page, storage and `--help` start fast."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    "module",
    ["model.questions", "model.state", "model.answers", "model.scorer", "model.images", "model.encoding"],
)
def test_importing_it_brings_neither_torch_nor_gradio(module: str) -> None:
    check = (
        f"import sys, {module}; print(sorted({{'torch', 'transformers', 'gradio', 'sqlmodel'}} & sys.modules.keys()))"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout.strip() == "[]"
