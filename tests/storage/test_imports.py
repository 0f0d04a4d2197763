"""Storage stays light: whoever imports it pays for neither torch nor gradio, and an open database not for alembic."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import storage

MODULES = sorted(f"storage.{path.stem}" for path in Path(storage.__path__[0]).glob("*.py") if path.stem != "__init__")


@pytest.mark.parametrize("heavy", ["torch", "gradio", "transformers", "alembic"])
def test_importing_storage_does_not_import(heavy: str) -> None:
    imports = "; ".join(f"import {module}" for module in MODULES)
    code = f"import sys; {imports}; print([name for name in sys.modules if name.split('.')[0] == {heavy!r}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_all_modules_are_covered() -> None:
    assert {"storage.database", "storage.schemas", "storage.decisions", "storage.labels"} <= set(MODULES)
