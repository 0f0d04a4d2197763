"""docs/api.md names every path and every kind of refusal."""

from __future__ import annotations

import re
from pathlib import Path

from studio.gate import OPEN

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
DOORS = [ROOT / "studio" / f"{name}.py" for name in ("security", "gate", "signin")]
APIS = list((ROOT / "studio" / "api").glob("*.py"))
SOURCES = [*APIS, *DOORS]


def test_every_kind_of_refusal_is_documented() -> None:
    pattern = re.compile(r"(?:ApiError|Refusal|_refuse)\(\s*(?:send, )?\d{3}, \"(\w+)\"")
    kinds = {kind for source in SOURCES for kind in pattern.findall(source.read_text(encoding="utf-8"))}
    assert len(kinds) > 15
    hidden = {"client_gone", "superseded", "invalid_request"}  # nobody reads it; only pages; shape (a) has no kind
    assert {kind for kind in kinds - hidden if f"`{kind}`" not in TEXT} == set()


def test_every_path_is_documented() -> None:
    paths = {
        path
        for source in APIS
        for path in re.findall(r'routes\.(?:get|post)\("([^"]+)"', source.read_text(encoding="utf-8"))
    }
    assert len(paths) >= 6
    assert {path for path in paths - {"/health"} if path not in TEXT} == set()


def test_all_that_is_open_to_strangers_is_documented() -> None:
    assert {path for path in OPEN if f"`{path}`" not in TEXT and f" {path}`" not in TEXT} == set()
