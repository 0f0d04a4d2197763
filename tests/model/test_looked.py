"""Where an option looked: weights of words and tiles add up to the head's attention; the engine asks for it in turn."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import numpy as np
import pytest

from model.clef import Clef
from model.encoding import Encoded
from model.engine import Busy, Closed, Engine, Superseded
from model.looked import Looked, Looks, Tiles, Word, _words, look, looked
from model.questions import InvalidRequest, parse_questions, render
from model.scorer import Request, Scorer
from model.state import State
from tests.model.golden import CASES, request
from tests.model.test_engine import Gate, ask

WAIT = 30
(PICTURES,) = [case for case in CASES if case["images"]]


def test_words_and_tiles_hold_the_attention_of_the_tokens(clef: Clef) -> None:
    asked = request(PICTURES)
    encoded, routing = clef.routing(asked)
    for question, body in asked.questions.items():
        for row, option in zip(routing[question], body.options(), strict=True):
            found = clef.look(asked, question, option.id)
            text = row[slice(*encoded.state)]
            tiles = [row[start:end] for start, end in encoded.picture_spans]
            read = np.concatenate((text, *tiles))
            assert found.share == pytest.approx(read.sum(), abs=1e-5)
            assert [(t.rows * t.columns, len(t.weights)) for t in found.pictures] == [(len(t), len(t)) for t in tiles]
            for ours, theirs in zip(found.pictures, tiles, strict=True):
                assert ours.weights == pytest.approx(theirs / read.mean(), rel=1e-3)
            rendered = render(asked.state.value)
            assert all(rendered[w.start : w.end].strip() == rendered[w.start : w.end] != "" for w in found.words)
            assert [w.start for w in found.words] == sorted(w.start for w in found.words)


def test_even_attention_weighs_one_everywhere(clef: Clef) -> None:
    asked = request(PICTURES)

    def even() -> tuple[Encoded, Mapping[str, np.ndarray]]:
        encoded = clef.encode(asked)
        n = len(encoded.ids)
        return encoded, {q: np.full((len(b.options()), n), 1 / n) for q, b in asked.questions.items()}

    question, body = next(iter(asked.questions.items()))
    grids = [(t.rows, t.columns) for t in clef.look(asked, question, body.options()[0].id).pictures]
    found = looked(asked, question, body.options()[0].id, grids, even)
    assert found is not None
    assert {round(w.weight, 6) for w in found.words} == {1.0}
    assert {round(w, 6) for t in found.pictures for w in t.weights} == {1.0}
    encoded = clef.encode(asked)
    read = sum(end - start for start, end in (encoded.state, *encoded.picture_spans))
    assert found.share == pytest.approx(read / len(encoded.ids))


def test_tiles_stand_as_their_picture_does(clef: Clef) -> None:
    """A wide picture has more columns than rows."""
    asked = request(PICTURES)
    found = clef.look(asked, *_first(asked))
    for tiles, picture in zip(found.pictures, asked.state.pictures, strict=True):
        assert (tiles.columns >= tiles.rows) is (picture.width >= picture.height)


@pytest.mark.parametrize(
    ("text", "tokens", "words"),
    [
        ("my refund now", [(0, 2), (2, 5), (5, 9), (9, 13)], ["my", "refund", "now"]),
        ("don't", [(0, 3), (3, 4), (4, 5)], ["don't"]),
        ('{"sum":1250}', [(0, 2), (2, 5), (5, 7), (7, 9), (9, 11), (11, 12)], ['{"', "sum", '":', "1250", "}"]),
        ("退款失败", [(0, 1), (1, 2), (2, 4)], ["退", "款", "失败"]),
        ("a 🙂 b", [(0, 1), (1, 3), (2, 3), (2, 3), (3, 5)], ["a", "🙂", "b"]),
        ("नमस्ते", [(0, 2), (2, 4), (4, 6)], ["नमस्ते"]),
        ("x" * 100, [(i, i + 20) for i in range(0, 100, 20)], ["x" * 40, "x" * 40, "x" * 20]),
        ("  \n ", [(0, 2), (2, 4)], []),
    ],
)  # fmt: skip
def test_tokens_become_words(text: str, tokens: list[tuple[int, int]], words: list[str]) -> None:
    found = _words(text, tokens, np.arange(len(tokens), dtype=np.float64))
    assert [text[w.start : w.end] for w in found] == words


def test_a_words_weight_is_the_mean_of_its_tokens() -> None:
    assert _words("my refund", [(0, 2), (2, 5), (5, 9)], np.array([1.0, 2.0, 6.0])) == [
        Word(0, 2, 1.0),
        Word(3, 9, 4.0),
    ]


def test_what_was_cut_has_no_words(clef: Clef) -> None:
    text = "word " * 20_000
    questions = parse_questions({"n": {"type": "noul", "instructions": "Is it?"}})
    with pytest.raises(InvalidRequest, match="too long"):
        clef.look(Request(State(text), questions), "n", "true")
    asked = Request(State(text), questions, allow_cut=True)
    small = Clef(clef.checkpoint, backbone=clef.backbone, head=clef.head, encoder=_small(clef))
    (reading,) = small.score([asked])
    found = small.look(asked, "n", "true")
    assert reading.cut is not None
    assert found.words[-1].end <= reading.cut.start


def _small(clef: Clef):  # type: ignore[no-untyped-def]
    from model.encoding import Encoder

    return Encoder(clef.checkpoint.tokenizer_file, max_tokens=400)


def test_a_state_without_text_was_not_looked_at(clef: Clef) -> None:
    assert clef.look(Request(State(""), parse_questions({"n": {"type": "noul"}})), "n", "true") is None


@pytest.mark.parametrize(("question", "option"), [("nobody", "true"), (None, "nothing")])
def test_what_is_not_asked_is_named(clef: Clef, question: str | None, option: str) -> None:
    asked = request(CASES[0])
    with pytest.raises(InvalidRequest, match=question or "has no option 'nothing'") as told:
        clef.look(asked, question or "urgent", option)
    assert told.value.errors[0].loc == ("questions", question or "urgent")


def test_json_is_small_and_leaves_out_what_did_not_matter() -> None:
    found = Looked("q", "a", (Word(0, 2, 0.51239), Word(3, 5, 2.0)), (Tiles(1, 2, (0.25, 1.75)),), 0.123456)
    assert found.json(at_least=1.0) == {
        "question": "q", "option": "a", "words": [[3, 5, 2.0]], "share": 0.1235,
        "pictures": [{"rows": 1, "columns": 2, "weights": [0.25, 1.75]}],
    }  # fmt: skip
    assert len(found.json()["words"]) == 2


def _first(asked: Request) -> tuple[str, str]:
    question, body = next(iter(asked.questions.items()))
    return question, body.options()[0].id


def test_the_engine_looks_in_its_own_thread(clef: Clef) -> None:
    engine = Engine(lambda _: clef)
    assert engine.wait_ready(WAIT).phase == "ready"
    asked = request(CASES[0])
    found = engine.look(asked, *_first(asked)).result(WAIT)
    again = clef.look(asked, *_first(asked))
    assert found is not None
    assert [(w.start, w.end) for w in found.words] == [(w.start, w.end) for w in again.words]
    assert [w.weight for w in found.words] == pytest.approx([w.weight for w in again.words], rel=1e-4)
    assert engine.run(lambda _: threading.current_thread().name).result(WAIT) == "clef-engine"
    with pytest.raises(InvalidRequest, match="is not asked"):
        engine.look(asked, "nobody", "true").result(WAIT)
    with pytest.raises(ZeroDivisionError):
        engine.run(lambda _: 1 // 0).result(WAIT)
    assert engine.decide(asked, timeout=WAIT).answers
    engine.close()
    with pytest.raises(Closed):
        engine.look(asked, *_first(asked))


def test_a_scorer_that_cannot_tell_gives_none(clef: Clef) -> None:
    gate: Scorer = Gate()
    assert isinstance(clef, Looks)
    assert not isinstance(gate, Looks)
    assert look(gate, ask("x"), "q", "a") is None
    engine = Engine(lambda _: gate)
    engine.wait_ready(WAIT)
    assert engine.look(ask("x"), "q", "a").result(WAIT) is None
    engine.close()


def test_work_waits_in_turn_and_runs_alone() -> None:
    gate, done = Gate(), []
    engine = Engine(lambda _: gate, capacity=5)
    engine.wait_ready(WAIT)
    first = engine.submit(ask("1"))
    assert gate.entered.acquire(timeout=WAIT)
    two, old = engine.submit(ask("2")), engine.run(lambda _: done.append("old"), key="page")
    work = engine.run(lambda _: done.append(len(gate.batches)), key="page")
    three, four = engine.submit(ask("3")), engine.submit(ask("4"))
    with pytest.raises(Superseded):
        old.result(WAIT)
    engine.submit(ask("5"))
    with pytest.raises(Busy):
        engine.run(lambda _: None)
    gate.open.set()
    for future in (first, two, work, three, four):
        future.result(WAIT)
    engine.close()
    assert gate.batches[:2] == [["1"], ["2"]]
    assert done == [2]  # after the second batch, before the third
    assert gate.batches[2][:2] == ["3", "4"]
