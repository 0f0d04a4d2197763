"""The Design page's functions without a browser: what they take, what they say, what they keep."""

from __future__ import annotations

import asyncio
import io
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from model.engine import Engine
from model.questions import CLEF_LIMITS, StateError
from storage.database import Database
from storage.labels import current_labels, history
from studio import look
from studio.pages.design_ask import Asker, read_state
from studio.pages.design_examples import list_examples, load_example
from studio.pages.design_keep import Keeper, load_draft, save_draft
from studio.pages.design_pictures import Gallery
from tests.browser.bench import WordCounter


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database.open(tmp_path) as opened:
        yield opened


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = Engine(lambda _: WordCounter(says="PAY NOW"))
    assert made.wait_ready(30).phase == "ready"
    yield made
    made.close()


@pytest.fixture
def asker(database: Database, engine: Engine) -> Asker:
    return Asker(engine, CLEF_LIMITS, Gallery(database), database)


def payload(**more: Any) -> dict[str, Any]:
    """A request as the page sends it."""
    return {
        "seq": 3,
        "key": "tab",
        "run": str(uuid.uuid4()),
        "questions": [
            {"id": "spam", "type": "noul", "instructions": "Is it spam?"},
            {"id": "team", "type": "choice", "options": [["zeta", "last"], ["2", None], ["alpha", None]]},
        ],
        "state": "Hello there",
        "pictures": [],
        **more,
    }


def png(colour: str = "red") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (40, 30), colour).save(out, "PNG")
    return out.getvalue()


def test_an_answer_keeps_the_order_of_the_request(asker: Asker) -> None:
    reply = asyncio.run(asker.ask(payload()))
    assert "error" not in reply
    assert reply["seq"] == 3
    assert [a["options"] for a in reply["answers"]] == [["true", "false"], ["zeta", "2", "alpha"]]
    assert sum(reply["answers"][1]["probabilities"]) == pytest.approx(1)
    assert reply["tokens"]["limit"] == 200


@pytest.mark.parametrize(
    ("change", "kind", "loc"),
    [
        ({"questions": [{"id": "a", "type": "noul"}, {"id": "a", "type": "noul"}]}, "invalid", ["questions", "a"]),
        ({"questions": [{"id": "a", "type": "maybe"}]}, "invalid", ["questions", "a"]),
        (
            {"questions": [{"id": "a", "type": "choice", "options": [["x", None], ["x", None]]}]},
            "invalid",
            ["questions", "a", "criteria"],
        ),
        ({"state": '{"a": 1, "a": 2}'}, "invalid", ["state", "a"]),
        ({"pictures": ["0" * 64]}, "invalid", ["images", 0]),
        ({"pictures": ["../../etc/hostname"]}, "invalid", ["images", 0]),
        ({"state": "word " * 400}, "too_long", ["state"]),
    ],
    ids=["id twice", "unknown type", "option twice", "key twice", "unknown picture", "path for a picture", "too long"],
)
def test_what_cannot_be_asked_is_said_at_its_field(
    asker: Asker, change: dict[str, Any], kind: str, loc: list[Any]
) -> None:
    error = asyncio.run(asker.ask(payload(**change)))["error"]
    assert (error["kind"], error["errors"][0]["loc"]) == (kind, loc)


@pytest.mark.parametrize("nonsense", [None, [], "x", {}, {"seq": 1}, payload(run="../x"), payload(state=3)])
def test_nonsense_gets_a_sentence_and_no_exception(asker: Asker, nonsense: Any) -> None:
    assert asyncio.run(asker.ask(nonsense))["error"]["kind"] == "failed"


def test_while_loading_the_page_is_told_so(database: Database) -> None:
    engine = Engine(lambda _: (_ for _ in ()).throw(FileNotFoundError("no weights here")))
    engine.wait_ready(30)
    error = asyncio.run(Asker(engine, CLEF_LIMITS, Gallery(database), database).ask(payload()))["error"]
    assert (error["kind"], error["message"]) == ("loading", "no weights here")


@pytest.mark.parametrize(
    ("text", "plain", "value"),
    [
        ('{"a": [1, 2.5]}', False, {"a": [1, 2.5]}),
        ('{"a": 1}', True, '{"a": 1}'),
        ("[see the attachment]", False, "[see the attachment]"),
        ("[NaN]", False, "[NaN]"),
        ('[1], "state": [2]', False, '[1], "state": [2]'),
        ("[" * 5000, False, "[" * 5000),
        ("12", False, "12"),
    ],
)
def test_a_state_is_json_only_where_it_is_whole(text: str, plain: bool, value: Any) -> None:
    assert read_state(text, plain) == value


def test_json_that_would_lose_a_value_is_refused() -> None:
    with pytest.raises(StateError, match="twice"):
        read_state('{"a": 1, "b": {"c": 1, "c": 2}}')


def label(asked: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "uuid": str(uuid.uuid4()),
        "verdict": "wrong",
        "truth": "alpha",
        "note": "",
        "question": "team",
        "fingerprint": "0" * 64,
        "schema_id": str(uuid.uuid4()),
        "request": asked,
        **more,
    }


def test_a_label_keeps_its_decision_once(database: Database, asker: Asker) -> None:
    asked = payload()
    reply = asyncio.run(asker.ask(asked))
    keeper = Keeper(database, asker)
    given = label(asked)
    first = asyncio.run(keeper.label(given))
    assert first == {"label": given["uuid"], "decision": asked["run"]}
    assert asyncio.run(keeper.label(given)) == first, "sent twice, kept once"
    (kept,) = current_labels(database, asked["run"])
    assert (kept.verdict, kept.true_option, kept.source, kept.propensity) == ("wrong", "alpha", "volunteered", None)
    assert reply["run"] == asked["run"]
    taken = {"uuid": given["uuid"], "id": str(uuid.uuid4())}
    assert keeper.unlabel(taken) == {"taken": given["uuid"]}
    assert keeper.unlabel(taken) == {"taken": given["uuid"]}
    assert current_labels(database, asked["run"]) == []
    assert [row.verdict for row in history(database, asked["run"], "team")] == ["wrong", "withdrawn"]


def test_a_label_of_an_answer_that_nobody_remembers_is_decided_again(
    database: Database, engine: Engine, asker: Asker
) -> None:
    asked = payload()
    forgetful = Keeper(database, Asker(engine, CLEF_LIMITS, Gallery(database), database))
    assert "label" in asyncio.run(forgetful.label(label(asked)))
    other = asyncio.run(forgetful.label(label(payload(), fingerprint="1" * 64)))
    assert other["error"]["message"].startswith("Another model answers now")


@pytest.mark.parametrize(
    "change",
    [{"truth": "no such option"}, {"question": "no such question"}, {"verdict": "maybe"}, {"uuid": "x"}],
    ids=lambda c: next(iter(c)),
)
def test_a_label_that_does_not_fit_is_refused_in_words(
    database: Database, asker: Asker, change: dict[str, str]
) -> None:
    asked = payload()
    assert asyncio.run(Keeper(database, asker).label(label(asked, **change)))["error"]["message"]
    assert (
        Keeper(database, asker).unlabel({"uuid": str(uuid.uuid4())})["error"]["message"].startswith("There is no label")
    )


def test_drafts_are_kept_and_never_overwritten_silently(database: Database) -> None:
    assert load_draft(database) == {"draft": None}
    draft = {"schema_id": str(uuid.uuid4()), "revision": 0, "name": " ", "document": {"doc": 1}}
    assert save_draft(database, draft) == {"revision": 1}
    assert save_draft(database, {**draft, "revision": 1, "document": {"doc": 2}, "name": "Named"}) == {"revision": 2}
    stale = save_draft(database, {**draft, "revision": 1, "document": {"doc": 3}})
    assert stale == {"conflict": {"revision": 2, "document": {"doc": 2}}}
    assert load_draft(database)["draft"] == {"schema_id": draft["schema_id"], "revision": 2, "document": {"doc": 2}}
    assert save_draft(database, {"schema_id": "x"})["error"]["kind"] == "failed"


def test_a_picture_is_known_by_its_bytes(database: Database) -> None:
    gallery = Gallery(database)
    first = gallery.add_now(png(), "caf%C3%A9.png")
    assert (first["name"], first["width"], first["height"]) == ("café.png", 40, 30)
    assert gallery.add_now(png(), "again.png")["token"] == first["token"]
    preview = gallery.preview(first["token"])
    assert preview is not None
    assert Image.open(io.BytesIO(preview)).format == "JPEG"
    assert gallery.preview("0" * 64) is None
    assert not gallery.ready([first["token"]])
    (picture,) = gallery.pictures([first["token"]])
    assert gallery.ready([first["token"]])
    assert picture.image.getpixel((5, 5)) == (255, 0, 0)


def test_words_in_pictures_come_back(database: Database, asker: Asker) -> None:
    token = Gallery(database).add_now(png(), "page.png")["token"]
    assert asyncio.run(asker.ask(payload(pictures=[token])))["words"] == ["PAY NOW"]


def test_every_example_loads_with_its_pictures(database: Database) -> None:
    folder = look.ASSETS / "examples"
    listed = list_examples(folder)
    assert len(listed) >= 3
    gallery = Gallery(database)
    for entry in listed:
        example = load_example(folder, entry["id"], gallery)
        assert example is not None
        assert [s["name"] for s in example["states"]] == [s["name"] for s in entry["states"]]
        assert all(p["token"] for s in example["states"] for p in s["pictures"])
    assert load_example(folder, "../css/tokens", gallery) is None
