"""The leak-safe split: nothing that a test row says may have been learnt from a training row.

Contract
--------
* Pure. Rows that belong together go to one side together: the same case (state and pictures), the same group, and
  near-duplicates (`storage.datasets.near`), transitively. Such a bundle is never cut.
* Labels from the audit are for evaluation: their bundles go to `test` (switch off with `reserve_audit`). An audit is a
  random sample, and a model that learnt from it can no longer be measured by it.
* `by="random"`: bundles are dealt so that every split gets its share of every option of every question (greedy
  stratification after Sechidis 2011, over bundles). `by="time"`: the newest bundles are the test, the next newest the
  validation; so no training row is newer than the first test row's bundle.
* The same rows and the same `SplitSpec` give the same split, in whatever order the rows come.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Literal

from model.questions import Json
from storage.datasets.formats import SPLITS
from storage.datasets.near import SIMILAR, Sets, Signatures, join_near


@dataclass(frozen=True, kw_only=True)
class SplitSpec:
    """How to split. `validation` and `test` are shares of all rows. `similar` is None where texts are not compared."""

    validation: float = 0.1
    test: float = 0.1
    by: Literal["random", "time"] = "random"
    similar: float | None = SIMILAR
    reserve_audit: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("validation", "test"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name}: must be a share from 0 to below 1")
        if self.validation + self.test >= 1:
            raise ValueError("test: validation and test together leave nothing to train on")
        if self.similar is not None and not 0 < self.similar <= 1:
            raise ValueError("similar: must be over 0 and at most 1, or nothing")
        if self.by not in ("random", "time"):
            raise ValueError("by: must be random or time")

    def json(self) -> dict[str, Json]:
        """Plain JSON."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Item:
    """What a split must know of a row. `strata` are what is to be spread evenly, such as ("route=billing",)."""

    id: str
    case: str
    group: str | None = None
    time: datetime | None = None
    strata: tuple[str, ...] = ()
    audit: bool = False


@dataclass(frozen=True)
class Split:
    """`sides` holds one of `SPLITS` per item, in the items' order. `bundles` counts them; `largest` is the rows of the
    biggest one; `joined` counts rows that are not alone in their bundle. `notes` are sentences for a person."""

    sides: tuple[str, ...]
    bundles: int
    largest: int
    joined: int
    notes: tuple[str, ...] = ()


@dataclass
class _Bundle:
    key: str
    rows: list[int]
    newest: datetime
    strata: Counter[str]
    audit: bool


def split(items: Sequence[Item], spec: SplitSpec, signatures: Signatures | None = None) -> Split:
    """Splits rows. `signatures` are those of the items' states, one row each, if texts are to be compared."""
    bundles = _bundles(items, spec, signatures)
    sides = [""] * len(items)
    reserved = [bundle for bundle in bundles if bundle.audit and spec.reserve_audit]
    free = [bundle for bundle in bundles if not (bundle.audit and spec.reserve_audit)]
    _place(sides, reserved, "test")
    # What the audit gives to the test, the test need not take from the others.
    taken = sum(len(bundle.rows) for bundle in reserved)
    wanted = {
        "validation": spec.validation * len(items),
        "test": 0.0 if taken else spec.test * len(items),
    }
    if spec.by == "time":
        _by_time(sides, free, wanted)
    else:
        _deal(sides, free, wanted)
    sizes = [len(bundle.rows) for bundle in bundles]
    counts = Counter(sides)
    return Split(
        sides=tuple(sides),
        bundles=len(bundles),
        largest=max(sizes, default=0),
        joined=sum(size for size in sizes if size > 1),
        notes=tuple(_notes(items, bundles, counts, spec)),
    )


def _bundles(items: Sequence[Item], spec: SplitSpec, signatures: Signatures | None) -> list[_Bundle]:
    sets = Sets(len(items))
    for name in ("case", "group"):
        first: dict[str, int] = {}
        for index, item in enumerate(items):
            value = getattr(item, name)
            if value is not None:
                sets.join(first.setdefault(value, index), index)
    if signatures is not None and spec.similar is not None:
        join_near(sets, signatures, similar=spec.similar)
    rows: dict[int, list[int]] = {}
    for index in range(len(items)):
        rows.setdefault(sets.find(index), []).append(index)
    # Named by content, not by place: so the split does not hang on the order in which rows come.
    return [
        _Bundle(
            key=hashlib.sha256(f"{spec.seed} {min(items[i].id for i in members)}".encode()).hexdigest(),
            rows=members,
            newest=max(items[i].time or datetime.min.replace(tzinfo=UTC) for i in members),
            strata=Counter(stratum for i in members for stratum in items[i].strata),
            audit=any(items[i].audit for i in members),
        )
        for members in rows.values()
    ]


def _place(sides: list[str], bundles: Sequence[_Bundle], side: str) -> None:
    for bundle in bundles:
        for row in bundle.rows:
            sides[row] = side


def _by_time(sides: list[str], bundles: Sequence[_Bundle], wanted: dict[str, float]) -> None:
    ordered = sorted(bundles, key=lambda bundle: (bundle.newest, bundle.key), reverse=True)
    filled: Counter[str] = Counter()
    for bundle in ordered:
        side = next((s for s in ("test", "validation") if filled[s] + len(bundle.rows) / 2 < wanted[s]), "train")
        # Once something went to training, nothing older may be tested on.
        side = "train" if filled["train"] else side
        filled[side] += len(bundle.rows)
        _place(sides, [bundle], side)


def _deal(sides: list[str], bundles: Sequence[_Bundle], wanted: dict[str, float]) -> None:
    """Gives each bundle, big ones first, to the split that lacks most of what the bundle has."""
    total = sum(len(bundle.rows) for bundle in bundles)
    wanted = {**wanted, "train": total - sum(wanted.values())}
    # Nobody gets what it did not ask for, and splits are asked in a fixed order.
    shares = {side: max(0.0, wanted[side]) / total for side in SPLITS if wanted[side] > 0} if total else {}
    whole = Counter[str]()
    for bundle in bundles:
        whole.update(bundle.strata)
    lack = {side: {stratum: share * n for stratum, n in whole.items()} for side, share in shares.items()}
    room = {side: share * total for side, share in shares.items()}
    for bundle in sorted(bundles, key=lambda bundle: (-len(bundle.rows), bundle.key)):
        side = max(shares, key=lambda s: (_need(bundle, lack[s], whole, room[s], shares[s], total), s == "train"))
        room[side] -= len(bundle.rows)
        for stratum, n in bundle.strata.items():
            lack[side][stratum] -= n
        _place(sides, [bundle], side)


def _need(
    bundle: _Bundle, lack: dict[str, float], whole: Counter[str], room: float, share: float, total: int
) -> tuple[float, float]:
    """How much a split needs a bundle: what it lacks of the bundle's options, rare ones first."""
    if len(bundle.rows) > max(room, 0) + 0.5:
        return (-1.0, room / (share * total))
    need = sum(n * lack[stratum] / (share * whole[stratum]) / whole[stratum] for stratum, n in bundle.strata.items())
    weight = sum(n / whole[stratum] for stratum, n in bundle.strata.items()) or 1.0
    return (need / weight if bundle.strata else 0.0, room / (share * total))


def _notes(items: Sequence[Item], bundles: Sequence[_Bundle], counts: Counter[str], spec: SplitSpec) -> list[str]:
    notes = []
    largest = max((len(bundle.rows) for bundle in bundles), default=0)
    if len(items) >= 10 and largest > len(items) / 2:
        notes.append(
            f"{largest:,} of {len(items):,} rows belong together (same group or nearly the same text), "
            "so they stay on one side and the shares cannot be kept."
        )
    if spec.reserve_audit and any(item.audit for item in items):
        beside = sum(1 for b in bundles if b.audit for i in b.rows if not items[i].audit)
        extra = f", with {beside:,} rows that belong to them" if beside else ""
        notes.append(f"Audit labels are kept for evaluation{extra}.")
    if items and not counts["test"] and (spec.test or spec.reserve_audit):
        notes.append("Nothing is left for the test split: too few rows, or all of them belong together.")
    if items and not counts["train"]:
        notes.append("Nothing is left to train on.")
    return notes
