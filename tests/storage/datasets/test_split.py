"""The split: nothing leaks, every option is spread, and it is the same each time."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from model.questions import Json
from storage.datasets.near import Sets, join_near, signature, signatures, similarity
from storage.datasets.split import Item, SplitSpec, split
from storage.datasets.terms import JEV, refusal

TEXT = "the parcel never came and nobody answers the phone so please send my money back today or tell me why"
WORDS = TEXT.split()


def _text(draw: random.Random, length: int = 40) -> str:
    return " ".join(f"{draw.choice(WORDS)}{draw.randrange(50)}" for _ in range(length))


def _items(n: int, seed: int = 0, **changes: object) -> list[Item]:
    draw = random.Random(seed)
    start = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        Item(
            id=f"d{i}",
            case=f"c{i}",
            time=start + timedelta(hours=i),
            strata=(f"q={draw.choice('aaaaaabbbc')}",),
            **changes,
        )  # type: ignore[arg-type]
        for i in range(n)
    ]


def test_minhash_estimates_the_jaccard_similarity() -> None:
    draw = random.Random(1)
    for _ in range(30):
        words = _text(draw, 60).split()
        other = [w if draw.random() > 0.1 else "other" for w in words]
        runs = [{" ".join(t)[i : i + 5] for i in range(len(" ".join(t)) - 4)} for t in (words, other)]
        exact = len(runs[0] & runs[1]) / len(runs[0] | runs[1])
        got = similarity(signature(" ".join(words)), signature(" ".join(other)))
        assert got == pytest.approx(exact, abs=4.5 * 0.0442)


@pytest.mark.parametrize("state", ["", "a", {"a": []}, "é" * 100_000, "\u2028", ["x", 10**400]])
def test_every_state_has_a_signature(state: Json) -> None:
    assert similarity(signature(state), signature(state)) == 1.0


def test_near_duplicates_are_found_among_many() -> None:
    draw = random.Random(2)
    texts = [_text(draw) for _ in range(400)]
    copies = {i: texts[i].replace(texts[i].split()[7], "changed", 1) for i in range(0, 400, 8)}
    rows = signatures([*texts, *copies.values()])
    sets = Sets(len(rows))
    join_near(sets, rows)
    assert [sets.find(400 + k) for k in range(len(copies))] == list(copies)
    assert len({sets.find(i) for i in range(400)}) == 400


def test_what_belongs_together_stays_together() -> None:
    draw = random.Random(3)
    texts = [_text(draw) for _ in range(300)]
    items = []
    for i in range(300):
        texts[i] = texts[i - 1].upper() if i % 10 == 1 else texts[i]
        case = "same" if i in (20, 250) else f"c{i}"
        items.append(Item(id=f"d{i}", case=case, group=f"g{i % 60}" if i % 2 else None, strata=(f"q={i % 3}",)))
    found = split(items, SplitSpec(validation=0.2, test=0.2), signatures(texts))
    sides = found.sides
    for i, item in enumerate(items):
        assert i % 10 != 1 or sides[i] == sides[i - 1]
        assert item.group is None or sides[i] == sides[next(j for j, o in enumerate(items) if o.group == item.group)]
    assert sides[20] == sides[250]
    assert set(sides) == {"train", "validation", "test"}


def test_options_are_spread_and_shares_are_kept() -> None:
    items = _items(2000)
    found = split(items, SplitSpec(validation=0.1, test=0.2))
    sizes = Counter(found.sides)
    assert (sizes["validation"], sizes["test"]) == (pytest.approx(200, abs=3), pytest.approx(400, abs=3))
    for side in ("train", "validation", "test"):
        inside = Counter(i.strata[0] for i, s in zip(items, found.sides, strict=True) if s == side)
        whole = Counter(i.strata[0] for i in items)
        for stratum, n in whole.items():
            assert inside[stratum] / sizes[side] == pytest.approx(n / 2000, abs=0.01), (side, stratum)


def test_a_rare_option_reaches_every_split() -> None:
    items = [Item(id=f"d{i}", case=f"c{i}", strata=("q=rare" if i % 50 == 0 else "q=common",)) for i in range(500)]
    found = split(items, SplitSpec())
    rare = Counter(s for i, s in zip(items, found.sides, strict=True) if i.strata == ("q=rare",))
    assert rare == {"train": 8, "validation": 1, "test": 1}


def test_the_order_of_rows_does_not_matter() -> None:
    items = _items(300)
    texts = {item.id: _text(random.Random(item.id)) for item in items}
    first = split(items, SplitSpec(), signatures([texts[i.id] for i in items]))
    shuffled = items[:]
    random.Random(5).shuffle(shuffled)
    again = split(shuffled, SplitSpec(), signatures([texts[i.id] for i in shuffled]))
    assert dict(zip([i.id for i in items], first.sides, strict=True)) == dict(
        zip([i.id for i in shuffled], again.sides, strict=True)
    )
    assert split(items, SplitSpec(seed=1)).sides != first.sides


def test_by_time_no_training_row_is_newer_than_a_test_row() -> None:
    items = _items(500)
    found = split(items, SplitSpec(by="time", validation=0.1, test=0.2))
    times = {
        s: [i.time for i, side in zip(items, found.sides, strict=True) if side == s and i.time] for s in found.sides
    }
    assert max(times["train"]) < min(times["validation"]) < max(times["validation"]) < min(times["test"])
    assert len(times["test"]) == 100


def test_audit_labels_are_kept_for_evaluation_with_what_belongs_to_them() -> None:
    items = [*_items(100), Item(id="a", case="c7", audit=True), Item(id="b", case="x", audit=True)]
    found = split(items, SplitSpec())
    assert [i.id for i, s in zip(items, found.sides, strict=True) if s == "test"] == ["d7", "a", "b"]
    assert "with 1 rows that belong to them" in found.notes[0]
    free = split(items, SplitSpec(reserve_audit=False))
    assert Counter(free.sides)["test"] > 5


def test_one_big_bundle_is_said() -> None:
    items = [Item(id=f"d{i}", case=f"c{i}", group="everybody") for i in range(30)]
    found = split(items, SplitSpec())
    assert (set(found.sides), found.largest) == ({"train"}, 30)
    assert "belong together" in found.notes[0]
    assert "test split" in found.notes[1]


@pytest.mark.parametrize(
    "wrong", [{"test": 1.0}, {"validation": -0.1}, {"validation": 0.5, "test": 0.5}, {"similar": 0.0}]
)
def test_shares_that_cannot_be_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(reversed(wrong))):
        SplitSpec(**wrong)  # type: ignore[arg-type]


def test_nothing_is_no_trouble() -> None:
    assert split([], SplitSpec(), np.zeros((0, 128), dtype=np.uint32)).sides == ()


@pytest.mark.parametrize(
    ("info", "why"),
    [
        ({"kind": "remote", "name": "jev-latest", "details": {}}, JEV),
        ({"kind": "remote", "name": "x", "details": {"url": "https://api.typesafe.ai/v1/systemone"}}, JEV),
        ({"kind": "remote", "name": "x", "details": {"no_training": "their terms"}}, "their terms"),
        ({"kind": "remote", "name": "clef", "details": {"url": "https://nottypesafe.ai/"}}, ""),
        ({"kind": "clef", "name": "Cloudflare/clef-flash", "details": {}}, ""),
        ({"kind": "embedded", "name": "jev-1 rebuilt", "details": None}, ""),
    ],
)
def test_terms(info: dict[str, Json], why: str) -> None:
    assert refusal(info) == why
