"""The file that some formats keep beside their rows: JSON or YAML that says what the rows leave out.

Contract
--------
It may come from anywhere, so it is only read as data, and what it is not is said in a sentence that names it.
"""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from model.questions import Json
from storage.errors import InvalidValue


def read_beside(path: Path) -> dict[str, Json]:
    """An object from a JSON or YAML file. Raises InvalidValue (not there, not readable, no object)."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        value = json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
    except FileNotFoundError:
        raise InvalidValue("file", f"the file {path.name} is missing beside the rows; its format needs it") from None
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise InvalidValue(
            "file", f"the file {path.name} cannot be read: {' '.join(str(error).split())[:200]}"
        ) from None
    if not isinstance(value, dict):
        raise InvalidValue("file", f"the file {path.name} must hold an object")
    return value
