"""What the page says while the model loads, when it cannot load, when a state is too long, and of what was read."""

from __future__ import annotations

import io
import threading
from pathlib import Path

from PIL import Image
from playwright.sync_api import expect

from model.engine import Progress
from model.scorer import Scorer
from tests.browser.bench import WordCounter, serving
from tests.browser.conftest import Open
from tests.browser.documents import document


def test_the_page_is_usable_while_the_model_loads(open_page: Open, tmp_path: Path) -> None:
    go_on = threading.Event()

    def load(progress: Progress) -> Scorer:
        progress("Reading the weights, 3 of 4", 0.75)
        assert go_on.wait(120)
        return WordCounter()

    with serving(tmp_path, load) as url:
        page = open_page(document(), url=url, wait=False)
        loading = page.locator("[data-loading]")
        expect(loading).to_contain_text("Reading the weights, 3 of 4")
        expect(loading).to_contain_text("Go on writing")
        expect(page.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "75")
        page.get_by_label("Wording of question 1").fill("Written while it loads?")
        go_on.set()
        expect(loading).to_be_hidden()
        expect(page.locator("[data-answers] > .cs-a").first).to_contain_text("No")
        expect(page.get_by_label("Wording of question 1")).to_have_value("Written while it loads?")
        expect(page.locator("[data-notice]")).to_contain_text("small demo model; load Clef for real work")
        expect(page.locator("[data-notice]")).to_contain_text("does not read question ids")


def test_a_model_that_cannot_be_opened_says_why(open_page: Open, tmp_path: Path) -> None:
    def load(_: Progress) -> Scorer:
        raise FileNotFoundError("model.safetensors is missing in the folder")

    with serving(tmp_path, load) as url:
        page = open_page(document(), url=url, wait=False)
        expect(page.locator("[data-loading]")).to_contain_text("model.safetensors is missing")
        expect(page.locator("[data-scorer]")).to_contain_text("no model")


def test_nothing_is_cut_unless_the_person_says_so(open_page: Open, tmp_path: Path) -> None:
    words = " ".join(f"word{i}" for i in range(300))
    with serving(tmp_path, lambda _: WordCounter(max_tokens=200)) as url:
        page = open_page(document(state=words), url=url, wait=False)
        alert = page.locator("[data-alert]")
        expect(alert).to_contain_text("Not run: the state is 130 tokens too long")
        expect(alert).to_contain_text("The limit is 200")
        expect(page.locator("[data-meter]")).to_contain_text("too many 130")
        alert.get_by_role("button", name="Cut the end").click()
        expect(page.locator("[data-cutbar]")).to_contain_text("Last 130 tokens not read")
        expect(alert).to_be_hidden()
        assert page.locator(".cs-cut").inner_text().split()[0] == "word170"
        expect(page.get_by_label("When too long")).to_have_value("cut")


def test_what_was_read_is_said(open_page: Open, tmp_path: Path) -> None:
    out = io.BytesIO()
    Image.new("RGB", (40, 30), "white").save(out, "PNG")
    with serving(tmp_path, lambda _: WordCounter(looks_at=20, says="PAY 1.99 NOW")) as url:
        page = open_page(document(), url=url)
        expect(page.locator("[data-answers] > .cs-a").first).to_contain_text("read 20 of")
        file = {"name": "page.png", "mimeType": "image/png", "buffer": out.getvalue()}
        page.locator("input[type=file]").set_input_files([file])
        expect(page.locator("[data-words]")).to_contain_text("Words read in the picture")
        expect(page.locator("[data-words]")).to_contain_text("PAY 1.99 NOW")
