"""The Design page does what it is for: questions about a message and pictures become live probabilities."""

from __future__ import annotations

import io
import json
import re
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Page, Request, expect

from tests.browser.conftest import Open
from tests.browser.documents import TEAMS, TICKET, document, question

ANSWERS = "[data-answers] > .cs-a"


def bars(page: Page) -> list[float]:
    """Every painted probability, top to bottom."""
    return page.eval_on_selector_all(".cs-a .cs-bar", "all => all.map(e => Number(e.style.getPropertyValue('--p')))")


def settled(page: Page) -> None:
    """Waits until the painted answers are those of the document."""
    expect(page.locator("[data-answer-card]")).not_to_have_attribute("aria-busy", "true")


def png(colour: str, size: tuple[int, int] = (64, 48)) -> dict[str, Any]:
    """A picture file for a file input."""
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "PNG")
    return {"name": f"{colour}.png", "mimeType": "image/png", "buffer": out.getvalue()}


def test_a_ticket_and_a_screenshot_give_live_bars(open_page: Open) -> None:
    page = open_page(document(state=""), wait=False)
    expect(page.locator("[data-status]")).to_have_text("waits for a state")
    page.locator("[data-state]").focus()
    page.evaluate("text => navigator.clipboard.writeText(text)", TICKET)
    page.keyboard.press("Control+v")
    page.locator(".cs[data-run]").wait_for(state="attached")
    shown = bars(page)
    assert len(shown) == 2 + 3 + 3
    assert sum(shown) == pytest.approx(3, abs=1e-6)
    page.locator("input[type=file]").set_input_files([png("teal", (320, 200))])
    expect(page.locator(".cs-tile")).to_have_count(1)
    expect(page.locator(".cs-meter-key")).to_contain_text("pictures")
    settled(page)
    assert bars(page) != shown


def test_rewording_a_question_moves_its_bars(open_page: Open) -> None:
    page = open_page(document())
    before = bars(page)
    wording = page.get_by_label("Wording of question 1")
    wording.focus()
    page.keyboard.press("End")
    wording.press_sequentially(" Or only for an invoice?")
    settled(page)
    assert bars(page) != before


def test_seventy_keystrokes_at_thirty_milliseconds_are_all_there(open_page: Open) -> None:
    page = open_page(document())
    asked: list[dict[str, Any]] = []

    def remember(request: Request) -> None:
        if "component_server" in request.url and (body := json.loads(request.post_data or "{}"))["fn_name"] == "ask":
            asked.append(body["data"])

    page.on("request", remember)
    text = "Does the writer want the second of the two payments back by Friday, 3x?"
    assert len(text) >= 70
    wording = page.get_by_label("Wording of question 1")
    wording.fill("")
    wording.focus()
    page.keyboard.type(text, delay=30)
    expect(wording).to_have_value(text)
    expect(wording).to_be_focused()
    settled(page)
    assert asked[-1]["questions"][0]["instructions"] == text
    assert len(asked) < len(text), "a request for each letter would be answered late"


def test_two_hundred_kilobytes_can_be_pasted_and_edited(open_page: Open) -> None:
    page = open_page(document())
    big = "\n".join(f"line {i}: the parcel was not there, and nobody rang the bell" for i in range(3500))
    assert len(big) > 200_000
    state = page.locator("[data-state]")
    state.focus()
    page.keyboard.press("Control+a")
    page.evaluate("text => navigator.clipboard.writeText(text)", big)
    page.keyboard.press("Control+v")
    page.keyboard.type("!")
    expect(state).to_have_value(f"{big}!")
    expect(page.locator("[data-alert]")).to_contain_text("tokens too long")
    expect(page.locator("[data-alert]")).to_contain_text("Nothing was cut")


def test_four_pictures_and_a_fifth_is_refused_in_words(open_page: Open) -> None:
    page = open_page(document())
    page.locator("input[type=file]").set_input_files([png(c) for c in ("red", "green", "blue", "gold", "pink")])
    expect(page.locator(".cs-tile")).to_have_count(4)
    alert = page.locator("[data-picture-errors] .cs-alert")
    expect(alert).to_have_count(1)
    expect(alert).to_contain_text("pink.png was not added: at most 4 pictures")
    expect(page.get_by_role("button", name="Add a picture")).to_have_count(0)
    page.get_by_role("button", name="Move picture 2 left").click()
    expect(page.locator(".cs-tile b").first).to_have_text("1 green.png")
    page.get_by_role("button", name="Remove picture 1").click()
    expect(page.locator(".cs-tile")).to_have_count(3)
    page.get_by_role("button", name="Enlarge picture 1, red.png").click()
    expect(page.get_by_role("dialog")).to_contain_text("64 × 48")


def test_pictures_by_paste_and_by_drop(open_page: Open) -> None:
    page = open_page(document())
    page.evaluate(
        """async () => {
          const canvas = Object.assign(document.createElement('canvas'), {width: 80, height: 60});
          canvas.getContext('2d').fillRect(10, 10, 30, 20);
          const blob = await new Promise((done) => canvas.toBlob(done, 'image/png'));
          await navigator.clipboard.write([new ClipboardItem({'image/png': blob})]);
        }"""
    )
    page.locator("[data-state]").focus()
    page.keyboard.press("Control+v")
    expect(page.locator(".cs-tile")).to_have_count(1)
    page.evaluate(
        """async () => {
          const canvas = Object.assign(document.createElement('canvas'), {width: 90, height: 60});
          const blob = await new Promise((done) => canvas.toBlob(done, 'image/png'));
          const data = new DataTransfer();
          data.items.add(new File([blob], 'dropped.png', {type: 'image/png'}));
          const at = document.querySelector('[data-tiles]');
          for (const kind of ['dragenter', 'dragover', 'drop'])
            at.dispatchEvent(new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: data}));
        }"""
    )
    expect(page.locator(".cs-tile b").nth(1)).to_have_text("2 dropped.png")


def test_a_file_that_is_no_picture_gets_a_sentence(open_page: Open) -> None:
    page = open_page(document())
    for name, content, says in (
        ("notes.png", b"this is no picture", "notes.png was not added"),
        ("vector.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "SVG"),
        ("half.png", png("navy")["buffer"][:70], "half.png was not added"),
    ):
        page.locator("input[type=file]").set_input_files([{"name": name, "mimeType": "image/png", "buffer": content}])
        expect(page.locator("[data-picture-errors]")).to_contain_text(says)
        expect(page.locator(".cs-tile")).to_have_count(0)


def test_heic_is_accepted_and_seen(open_page: Open) -> None:
    heif = pytest.importorskip("pillow_heif")
    out = io.BytesIO()
    heif.from_pillow(Image.new("RGB", (96, 64), "purple")).save(out, format="HEIF")
    page = open_page(document())
    file = {"name": "photo.heic", "mimeType": "image/heic", "buffer": out.getvalue()}
    page.locator("input[type=file]").set_input_files([file])
    shown = page.locator(".cs-tile img")
    expect(shown).to_have_count(1)
    page.wait_for_function("() => document.querySelector('.cs-tile img').naturalWidth === 96")


def test_reloading_in_the_middle_of_an_edit_loses_nothing(open_page: Open) -> None:
    page = open_page(document())
    page.locator("input[type=file]").set_input_files([png("olive")])
    expect(page.locator(".cs-tile")).to_have_count(1)
    page.get_by_role("button", name="noul", exact=True).click()
    page.keyboard.type("Is it polite? ")
    page.locator("[data-state]").press_sequentially("PS: one more line")
    page.reload()
    page.locator("html[data-ready='1']").wait_for(state="attached")
    expect(page.get_by_label("Wording of question 4")).to_have_value("Is it polite? ")
    assert page.locator("[data-state]").input_value().endswith("PS: one more line")
    expect(page.locator(".cs-tile")).to_have_count(1)


def test_a_new_tab_finds_the_draft_that_was_saved_last(open_page: Open) -> None:
    first = open_page(document(name="Found again"))
    first.get_by_label("Wording of question 1").fill("Is this the newest draft?")
    expect(first.locator("[data-saved]")).to_contain_text(re.compile(r"saved \d\d:\d\d"))
    second = open_page()
    expect(second.get_by_label("Name of the schema")).to_have_value("Found again")
    expect(second.get_by_label("Wording of question 1")).to_have_value("Is this the newest draft?")


def test_two_tabs_do_not_overwrite_each_other(open_page: Open) -> None:
    first = open_page(document(name="Shared"))
    first.get_by_label("Wording of question 1").fill("The first tab's words")
    expect(first.locator("[data-saved]")).to_contain_text("saved")
    second = open_page()
    second.get_by_label("Wording of question 1").fill("The second tab's words")
    expect(second.locator("[data-saved]")).to_contain_text(re.compile(r"saved \d"))
    first.get_by_label("Wording of question 2").fill("The first tab goes on")
    conflict = first.locator("[data-conflict]")
    expect(conflict).to_contain_text("Another tab changed this schema")
    conflict.get_by_role("button", name="Take the other").click()
    expect(first.get_by_label("Wording of question 1")).to_have_value("The second tab's words")


def test_seven_tabs_are_all_answered(open_page: Open) -> None:
    pages = [open_page(document()) for _ in range(7)]
    pages[0].get_by_label("Wording of question 1").fill("Is the first tab still alive?")
    settled(pages[0])


def test_an_error_sits_on_its_field_and_the_others_are_answered(open_page: Open) -> None:
    page = open_page(document())
    third = page.get_by_label("Id of question 3")
    third.fill("next_team")
    expect(third).to_have_attribute("aria-invalid", "true")
    card = page.locator(".cs-q").nth(2)
    expect(card.locator(".cs-error").first).to_contain_text("taken by a question above")
    expect(page.locator(ANSWERS).nth(2)).to_contain_text("Not asked.")
    expect(page.locator(ANSWERS).nth(0)).to_contain_text("confidence")
    card.get_by_role("button", name="Use next_team_2").click()
    expect(third).to_have_value("next_team_2")
    expect(page.locator(ANSWERS).nth(2)).to_contain_text("confidence")


def test_json_that_would_lose_something_is_refused_at_the_state(open_page: Open) -> None:
    page = open_page(document())
    page.locator("[data-state]").fill('{"amount": 1, "amount": 2}')
    expect(page.get_by_role("button", name="JSON", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(page.locator("[data-state-error]")).to_contain_text("twice")
    page.get_by_role("button", name="Text", exact=True).click()
    expect(page.locator("[data-state-error]")).to_be_hidden()


def test_editing_by_keyboard_and_undo(open_page: Open) -> None:
    page = open_page(document())
    names = page.get_by_label(re.compile(r"^Option \d+, name$"))
    page.get_by_label("What technical means").press("Enter")
    page.keyboard.type("none_of_these")
    expect(names).to_have_count(4)
    expect(page.locator(ANSWERS).nth(1)).to_contain_text("none_of_these")
    page.keyboard.press("Alt+ArrowUp")
    expect(names.nth(2)).to_have_value("none_of_these")
    expect(names.nth(2)).to_be_focused()
    page.keyboard.press("Control+z")
    expect(names.nth(3)).to_have_value("none_of_these")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    expect(names).to_have_count(3)
    for _ in range(3):
        page.keyboard.press("Control+Shift+z")
    expect(names.nth(2)).to_have_value("none_of_these")
    page.get_by_role("button", name=re.compile("^Move question 1")).press("ArrowDown")
    expect(page.get_by_label("Id of question 2")).to_have_value("asks_for_refund")
    page.get_by_label("Wording of question 2").press("Control+d")
    expect(page.get_by_label("Id of question 3")).to_have_value("asks_for_refund_2")
    page.get_by_label("More for question 3").click()
    page.get_by_role("menuitem", name="Remove").click()
    expect(page.locator(".cs-q")).to_have_count(3)


def test_sixty_four_questions_stay_fluent(open_page: Open) -> None:
    options = [(f"option_{i}", f"what it means, number {i}") for i in range(10)]
    many = [question(f"q{i}", "choice", f"Which one, number {i}?", options, opened=True) for i in range(64)]
    page = open_page(document(many), wait=False)
    wording = page.get_by_label("Wording of question 33")
    wording.focus()
    page.keyboard.press("End")
    times = page.evaluate(
        """async () => {
          const box = document.activeElement, times = [];
          for (const letter of 'is it the thirty-third of all') {
            const start = performance.now();
            document.execCommand('insertText', false, letter);
            await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
            times.push(performance.now() - start);
          }
          return times.sort((a, b) => a - b);
        }"""
    )
    expect(wording).to_have_value("Which one, number 32?is it the thirty-third of all")
    # The aim is 60 ms on a machine of one's own; this catches what is wrong by an order of magnitude.
    assert times[len(times) // 2] < 400, times


def test_the_gallery_and_help_are_reached_and_left_by_keyboard(open_page: Open) -> None:
    page = open_page(document())
    page.get_by_role("button", name="Examples", exact=True).press("Enter")
    expect(page.get_by_role("menuitem").first).to_be_focused()
    page.get_by_role("menuitem", name=re.compile("^Tool-call guardrail")).press("Enter")
    expect(page.get_by_label("Name of the schema")).to_have_value("Tool-call guardrail")
    page.keyboard.press("Control+z")
    page.locator("h2").first.click()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Keys, buttons and words")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.locator("[data-state]").press("?")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_texts_are_never_read_as_html(open_page: Open) -> None:
    attack = "<img src=x onerror=\"document.title='run'\">${document.title='run'}{{7*7}}"
    evil = [question(attack, "choice", attack, [(attack, attack), *TEAMS], opened=True)]
    page = open_page(document(evil, state=attack, name=attack))
    expect(page.locator(ANSWERS).first).to_contain_text("<img src=x")
    assert page.title() != "run"
    assert page.locator(".cs img").count() == 0


def test_a_phone_has_no_sideways_scrolling(open_page: Open) -> None:
    page = open_page(document())
    page.set_viewport_size({"width": 390, "height": 844})
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390
