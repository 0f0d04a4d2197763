"""The largest schemas: nothing that is typed, pasted, deleted or composed is lost, and what is shut weighs nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import CDPSession, Locator, Page, expect

from tests.browser.conftest import Open
from tests.browser.documents import document, question
from tests.browser.test_design import settled

HALVES = [f"what it means, number {i}" for i in range(255)]


def schema(questions: int, options: int, *, opened: bool = True) -> list[dict[str, Any]]:
    """Choices of so many options."""
    rows = [(f"option_{i}", HALVES[i]) for i in range(options)]
    return [question(f"q{i}", "choice", f"Which one, number {i}?", rows, opened=opened) for i in range(questions)]


def kept(page: Page) -> dict[str, Any]:
    """The document as the page keeps it."""
    page.evaluate("() => window.dispatchEvent(new Event('pagehide'))")
    return dict(json.loads(page.evaluate("sessionStorage.getItem('clef-studio-draft')"))["doc"])


def compose(keyboard: CDPSession, *steps: str) -> None:
    """An input method's steps towards a text, which the last one commits."""
    for step in steps:
        keyboard.send("Input.imeSetComposition", {"text": step, "selectionStart": len(step), "selectionEnd": len(step)})
    keyboard.send("Input.insertText", {"text": steps[-1]})


def caret(field: Locator) -> int:
    """Where the caret is."""
    return int(field.evaluate("e => e.selectionStart"))


@pytest.mark.parametrize(("questions", "options"), [(64, 10), (1, 255)])
def test_large_schemas_are_edited_without_losing_a_keystroke(open_page: Open, questions: int, options: int) -> None:
    page = open_page(document(schema(questions, options)), wait=False)
    q, o = (questions + 1) // 2, (options + 1) // 2
    card = page.locator(".cs-q").nth(q - 1)
    keyboard = page.context.new_cdp_session(page)
    name = card.get_by_label(f"Option {o}, name")
    name.focus()
    page.keyboard.press("End")
    page.keyboard.type("_typed_without_a_pause", delay=15)
    expect(name).to_have_value(f"option_{o - 1}_typed_without_a_pause")
    expect(name).to_be_focused()
    means = card.get_by_label(f"What option_{o - 1}_typed_without_a_pause means")
    means.focus()
    # In the middle of the text, where a caret that jumps to the end would be seen.
    means.evaluate("e => e.setSelectionRange(4, 4)")
    compose(keyboard, "に", "にほ", "日本", "日本語")
    expect(means).to_have_value(f"what日本語 it means, number {o - 1}")
    assert caret(means) == 7
    page.keyboard.press("Backspace")
    page.keyboard.press("Delete")
    expect(means).to_have_value(f"what日本it means, number {o - 1}")
    assert caret(means) == 6
    page.evaluate("text => navigator.clipboard.writeText(text)", "[pasted]")
    page.keyboard.press("Control+v")
    expect(means).to_have_value(f"what日本[pasted]it means, number {o - 1}")
    assert caret(means) == 14
    expect(means).to_be_focused()
    wording = page.get_by_label(f"Wording of question {q}")
    wording.focus()
    wording.evaluate("e => e.setSelectionRange(0, 5)")
    compose(keyboard, "哪", "哪一", "哪一个")
    page.keyboard.type("!")
    expect(wording).to_have_value(f"哪一个! one, number {q - 1}?")
    expect(wording).to_be_focused()
    doc = kept(page)
    changed = doc["questions"][q - 1]
    assert changed["instructions"] == f"哪一个! one, number {q - 1}?"
    assert changed["options"][o - 1]["name"] == f"option_{o - 1}_typed_without_a_pause"
    assert changed["options"][o - 1]["description"] == f"what日本[pasted]it means, number {o - 1}"
    others = [x for i, x in enumerate(changed["options"]) if i != o - 1]
    assert [x["description"] for x in others] == [HALVES[i] for i in range(options) if i != o - 1]


def test_enter_while_a_character_is_composed_adds_no_row(open_page: Open) -> None:
    page = open_page(document())
    keyboard = page.context.new_cdp_session(page)
    means = page.get_by_label("What billing means")
    means.fill("")
    means.focus()
    keyboard.send("Input.imeSetComposition", {"text": "せい", "selectionStart": 2, "selectionEnd": 2})
    # 229 is what browsers report for a key that the input method takes.
    enter = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 229, "nativeVirtualKeyCode": 229}
    keyboard.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **enter})
    keyboard.send("Input.insertText", {"text": "請求"})
    expect(means).to_have_value("請求")
    expect(means).to_be_focused()
    expect(page.locator(".cs-opts .cs-opt:not(.cs-opt-head)")).to_have_count(3)


def test_the_largest_schema_opens_folded_and_over_the_budget(open_page: Open) -> None:
    page = open_page(document(schema(64, 255)), wait=False)
    cards = page.locator(".cs-q")
    expect(cards).to_have_count(64)
    # Of 16,320 options none is in the page until its question is opened.
    assert page.locator(".cs-opt").count() == 0
    expect(page.locator("[data-alert]")).to_contain_text("the questions and pictures are", timeout=90_000)
    expect(page.locator("[data-meter]")).to_contain_text("too many")
    page.get_by_role("button", name="Open question 40").click()
    expect(cards.nth(39).locator(".cs-opt:not(.cs-opt-head)")).to_have_count(255)
    assert page.locator(".cs-opt:not(.cs-opt-head)").count() == 255
    field = cards.nth(39).get_by_label("Option 200, name")
    field.focus()
    page.keyboard.press("End")
    page.keyboard.type("_still_quick")
    expect(field).to_have_value("option_199_still_quick")
    page.get_by_role("button", name="Fold question 40").click()
    expect(page.locator(".cs-opt")).to_have_count(0)
    assert kept(page)["questions"][39]["options"][199]["name"] == "option_199_still_quick"


def test_a_question_over_the_limit_is_told_how_far(open_page: Open) -> None:
    rows = [(f"option_{i}", "") for i in range(256)]
    page = open_page(document([question("q", "choice", "Which?", rows)]), wait=False)
    expect(page.locator(".cs-q .cs-q-sum")).to_contain_text("At most 255 options are allowed; this has 256.")
    settled(page)
