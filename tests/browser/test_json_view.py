"""The JSON view and the form are two hands on one schema: in step, without losing a caret, and undo covers both."""

from __future__ import annotations

import json
import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Open
from tests.browser.documents import document


def opened(page: Page) -> Locator:
    """The view's text, after opening it."""
    page.get_by_role("button", name="JSON view of the schema").click()
    text = page.get_by_label("The whole schema as JSON")
    expect(text).to_be_focused()
    return text


def put_caret(text: Locator, before: str) -> None:
    text.evaluate("(e, find) => { const at = e.value.indexOf(find); e.setSelectionRange(at, at); }", before)


def test_form_and_json_are_in_step(open_page: Open) -> None:
    page = open_page(document(name="In step"))
    text = opened(page)
    whole = json.loads(text.input_value())
    assert whole["name"] == "In step"
    assert list(whole["questions"]) == ["asks_for_refund", "next_team", "urgency"]
    page.get_by_label("Wording of question 1").fill("Is money asked for?")
    expect(text).to_have_value(re.compile("Is money asked for"))
    text.focus()
    put_caret(text, "asked for?")
    page.keyboard.type("really ", delay=20)
    expect(page.get_by_label("Wording of question 1")).to_have_value("Is money really asked for?")
    expect(text).to_be_focused()
    value, caret = text.evaluate("e => [e.value, e.selectionStart]")
    assert value[caret:].startswith("asked for?")
    expect(page.locator("[data-answers] > .cs-a").first).to_contain_text("confidence")
    page.keyboard.press("Control+z")
    expect(page.get_by_label("Wording of question 1")).to_have_value("Is money asked for?")
    expect(text).to_have_value(re.compile("Is money asked for"))
    page.keyboard.press("Control+Shift+z")
    expect(page.get_by_label("Wording of question 1")).to_have_value("Is money really asked for?")


def test_json_that_cannot_be_read_leaves_the_form_alone(open_page: Open) -> None:
    page = open_page(document())
    text = opened(page)
    good = text.input_value()
    text.evaluate("e => e.setSelectionRange(1, 1)")
    page.keyboard.type("\nx")
    note = page.locator("#json-note")
    expect(note).to_contain_text("Line 2, column 1: A name in double quotes belongs here, not “x”.")
    expect(text).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Wording of question 1")).to_have_value("Does the customer ask for money back?")
    text.evaluate("e => e.setSelectionRange(0, 0)")
    note.get_by_role("button", name="Go there").click()
    assert text.evaluate("e => e.selectionStart") == 2
    # The form goes on meanwhile, and the text is not taken away from under the hands.
    page.get_by_label("Wording of question 1").fill("Changed in the form")
    expect(text).to_have_value(re.compile("^{\nx"))
    note.get_by_role("button", name="Show the form's").click()
    expect(text).to_have_value(good.replace("Does the customer ask for money back?", "Changed in the form"))
    text.evaluate("e => e.setSelectionRange(1, 1)")
    page.keyboard.type(",")
    expect(text).to_have_attribute("aria-invalid", "true")
    page.keyboard.press("Control+z")
    expect(text).not_to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Wording of question 1")).to_have_value("Changed in the form")


def test_the_view_is_still_open_after_a_reload_and_closes_by_keyboard(open_page: Open) -> None:
    page = open_page(document())
    opened(page)
    page.reload()
    text = page.get_by_label("The whole schema as JSON")
    expect(text).to_have_value(re.compile("asks_for_refund"))
    page.get_by_role("button", name="Close the JSON view").press("Enter")
    expect(text).to_be_hidden()
    expect(page.get_by_role("button", name="JSON view of the schema")).to_be_focused()
