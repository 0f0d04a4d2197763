"""What two dataset versions differ in, in words: why the same recipe gave another hash.

Contract
--------
Pure. Recipes are compared without their marks (how far labels were read): those always move, and by themselves change
nothing. An empty list means the same rows, with the same answers, on the same sides.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from model.questions import Json
from storage.datasets.formats import SPLITS
from storage.datasets.gather import Recipe
from storage.tables import SAMPLED_BY

_NAMES = {
    "questions": "schema versions",
    "streams": "label sources",
    "labels": "answers on which people differ",
    "since": "decisions from",
    "until": "decisions before",
    "group_field": "group field",
    "licence": "licence",
    "validation": "share for validation",
    "test": "share for the test",
    "by": "split by",
    "similar": "near-duplicates from",
    "reserve_audit": "audit kept for evaluation",
    "seed": "seed",
}


def same_recipe(one: Recipe, other: Recipe) -> bool:
    """Whether two recipes ask for the same, whenever they were asked."""
    return _settings(one) == _settings(other)


def changes(before: tuple[str, Recipe, Mapping[str, Json]], after: tuple[str, Recipe, Mapping[str, Json]]) -> list[str]:
    """Sentences on what changed. Each side is hash, recipe and summary (`Survey.json()`)."""
    old, new = _settings(before[1]), _settings(after[1])
    found = [f"{_NAMES[key]}: {_plain(old[key])} → {_plain(new[key])}" for key in _NAMES if old[key] != new[key]]
    if before[0] == after[0]:
        return found
    counts: list[str] = []
    for name, was, now in _counts(before[2], after[2]):
        if was != now:
            counts.append(f"{name}: {was:,} → {now:,}")
    if not counts:
        counts.append("as many rows and answers as before, but not the same ones, or not on the same sides")
    return found + counts


def _settings(recipe: Recipe) -> dict[str, Any]:
    plain = recipe.json()
    # In whatever order they were chosen.
    plain |= {"streams": sorted(recipe.streams, key=SAMPLED_BY.index), "questions": sorted(recipe.questions)}
    return {**{key: plain[key] for key in _NAMES if key in plain}, **plain["split"]}


def _plain(value: Any) -> str:
    if isinstance(value, list):
        # Hashes of question sets are long; their beginning tells them apart.
        return ", ".join(str(item)[:12] for item in value) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value in (None, "") else str(value)


def _counts(before: Mapping[str, Json], after: Mapping[str, Json]) -> list[tuple[str, int, int]]:
    found = [("rows", int(before["total"]), int(after["total"]))]
    found += [(f"rows in {split}", int(before["rows"][split]), int(after["rows"][split])) for split in SPLITS]
    found.append(("rows with shared answers", int(before["divided"]), int(after["divided"])))
    was, now = _answers(before), _answers(after)
    found += [(f"{question} = {option}", was.get((question, option), 0), now.get((question, option), 0))
              for question, option in dict.fromkeys([*was, *now])]  # fmt: skip
    return found


def _answers(summary: Mapping[str, Json]) -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for by in summary["options"].values():
        for question, counts in by.items():
            for option, n in counts.items():
                found[question, option] = found.get((question, option), 0) + n
    return found
