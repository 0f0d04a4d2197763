"""The state: text or JSON, pictures that are too large, words that take a while to read, and a network that is away."""

from __future__ import annotations

import io
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PIL import Image
from playwright.sync_api import expect

from model.scorer import Reading, Request
from tests.browser.bench import WordCounter, serving
from tests.browser.conftest import Open
from tests.browser.documents import document
from tests.browser.test_design import png, settled


class ReadsWords(WordCounter):
    """Reads the words in pictures, and waits at the gate before it does."""

    def __init__(self, gate: threading.Event) -> None:
        super().__init__(max_tokens=10_000, says="PAY 1.99 NOW")
        self.info = replace(self.info, reads_words=True)
        self._gate = gate

    def score(self, requests: Sequence[Request]) -> list[Reading]:
        """See the class."""
        if any(request.state.pictures for request in requests):
            assert self._gate.wait(120)
        return super().score(requests)


def test_while_words_are_read_in_a_picture_a_line_says_so(open_page: Open, tmp_path: Path) -> None:
    gate = threading.Event()
    with serving(tmp_path, lambda _: ReadsWords(gate)) as url:
        page = open_page(document(), url=url)
        line = page.locator("[data-reading]")
        expect(line).to_be_hidden()
        page.locator("input[type=file]").set_input_files([png("teal"), png("olive")])
        expect(line).to_have_text("Reading the words in 2 pictures…")
        # Writing goes on meanwhile.
        page.get_by_label("Wording of question 1").fill("Is it a bill?")
        gate.set()
        expect(page.locator("[data-words]")).to_contain_text("PAY 1.99 NOW")
        expect(line).to_be_hidden()
        gate.clear()
        page.get_by_label("Wording of question 1").fill("Is it a bill or a letter?")
        expect(page.locator("[data-answer-card]")).to_have_attribute("aria-busy", "true")
        # These were read before: the wait is for the answer, not for words.
        expect(line).to_be_hidden()
        gate.set()
        settled(page)


def test_json_is_tidied_on_request_and_broken_json_is_text(open_page: Open) -> None:
    page = open_page(document(state='{"amount":1.50,"items":[{"n":1}]}'))
    state = page.locator("[data-state]")
    as_json = page.get_by_role("button", name="JSON", exact=True)
    expect(as_json).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Tidy up").click()
    expect(state).to_have_value('{\n  "amount": 1.50,\n  "items": [\n    {\n      "n": 1\n    }\n  ]\n}')
    page.keyboard.press("Control+z")
    expect(state).to_have_value('{"amount":1.50,"items":[{"n":1}]}')
    state.fill('{"amount": 1.50,')
    expect(page.get_by_role("button", name="Text", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(as_json).to_be_disabled()
    expect(page.get_by_role("button", name="Tidy up")).to_be_hidden()
    settled(page)
    expect(page.locator("[data-state-error]")).to_be_hidden()


def test_a_picture_of_the_wrong_size_gets_a_sentence(open_page: Open) -> None:
    page = open_page(document())
    for size, says in (((9_000, 6_000), "54.0 megapixels"), ((6_000, 20), "too long and thin")):
        out = io.BytesIO()
        Image.new("1", size).save(out, "PNG")
        file = {"name": f"poster-{size[0]}.png", "mimeType": "image/png", "buffer": out.getvalue()}
        page.locator("input[type=file]").set_input_files([file])
        alert = page.locator("[data-picture-errors]")
        expect(alert).to_contain_text(f"poster-{size[0]}.png")
        expect(alert).to_contain_text(says)
        expect(page.locator(".cs-tile")).to_have_count(0)


def test_without_a_network_nothing_is_lost_and_it_goes_on_when_it_is_back(open_page: Open) -> None:
    page = open_page(document())
    wording = page.get_by_label("Wording of question 1")
    page.context.set_offline(True)
    try:
        wording.fill("Written without a network?")
        expect(page.locator("[data-status]")).to_have_text("the studio does not answer; trying again")
        expect(page.locator("[data-saved]")).to_have_text("kept in this tab only")
        page.locator("[data-state]").press_sequentially("PS: still here")
    finally:
        page.context.set_offline(False)
    expect(page.locator("[data-status]")).to_contain_text("live")
    expect(page.locator("[data-saved]")).to_contain_text("saved ")
    expect(wording).to_have_value("Written without a network?")
    settled(page)
    assert page.locator("[data-state]").input_value().endswith("PS: still here")
