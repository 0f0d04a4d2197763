"""Storage stays light: whoever imports it pays for neither torch nor gradio, and an open database not for alembic."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import storage

MODULES = sorted(f"storage.{path.stem}" for path in Path(storage.__path__[0]).glob("*.py") if path.stem != "__init__")
HEAVY = {"torch", "gradio", "transformers", "alembic"}


def test_importing_storage_imports_nothing_heavy() -> None:
    imports = "; ".join(f"import {module}" for module in MODULES)
    code = f"import sys; {imports}; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = set(done.stdout.split())
    assert {"storage", "sqlmodel"} <= imported
    assert not imported & HEAVY
