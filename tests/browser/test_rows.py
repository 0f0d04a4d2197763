"""Rows of a question: descriptions of several lines, names that stay readable, and heights that do not jump."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.documents import document, question
from tests.browser.test_design import ANSWERS, settled

LONG = "personal_details_of_somebody_else"
LEVELS = [
    "No pressure: nothing has to be done, and no date is given",
    "A date is given, with time to think",
    "Now or never; hours or minutes left before something bad happens",
]
ROWS = "() => [...document.querySelectorAll('.cs-a .cs-row')].map((row) => row.getBoundingClientRect().height)"


def pressure() -> list[dict[str, object]]:
    """Options and levels whose names do not fit beside a bar on one line."""
    return [
        question("asks_for", "choice", "What does it ask for?", [(LONG, ""), ("none_of_these", "")]),
        question("pressure", "score", "How strongly does it press?", LEVELS),
    ]


def clipped(page: Page) -> list[str]:
    """Names of which a part is hidden without a tooltip that has them whole."""
    return page.eval_on_selector_all(
        ".cs-a .cs-row-name",
        """all => all.filter((name) => {
          const shown = name.firstElementChild;
          const cut = shown.scrollHeight > shown.clientHeight + 1 || shown.scrollWidth > shown.clientWidth + 1;
          return cut && !name.title;
        }).map((name) => name.textContent)""",
    )


def test_long_names_are_readable(open_page: Open) -> None:
    page = open_page(document(pressure()))
    for width in (1440, 1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        _readable(page, width)


def _readable(page: Page, width: int) -> None:
    names = page.locator(f"{ANSWERS} .cs-row-name")
    first = names.first
    expect(first).to_have_text(LONG)
    lines = first.locator("> span").evaluate(
        "e => Math.round(e.getBoundingClientRect().height / parseFloat(getComputedStyle(e).lineHeight))"
    )
    assert lines <= (3 if width == 390 else 2)
    assert first.locator("> span").evaluate("e => e.scrollHeight <= e.clientHeight + 1"), "it is there whole"
    # A level is shown by its first words, and is whole for a screen reader and in the tooltip.
    level = names.nth(2)
    expect(level.locator("> span")).to_have_text("0 No pressure")
    expect(level.locator(".cs-sr")).to_have_text(f"0 {LEVELS[0]}")
    expect(level).to_have_attribute("title", f"0 {LEVELS[0]}")
    assert clipped(page) == []


def test_rows_keep_their_height_when_answers_come_and_when_the_lead_changes(open_page: Open) -> None:
    page = open_page(document(pressure(), state=""), wait=False)
    expect(page.locator("[data-status]")).to_have_text("waits for a state")
    before = page.evaluate(ROWS)
    page.locator("[data-state]").fill("Your account closes in one hour unless you send your birthday.")
    page.locator(".cs[data-run]").wait_for(state="attached")
    assert page.evaluate(ROWS) == before
    bold = "rows => rows.forEach((row) => row.classList.toggle('is-lead'))"
    page.locator(f"{ANSWERS} .cs-row").evaluate_all(bold)
    assert page.evaluate(ROWS) == before


def test_the_diamond_of_a_score_stands_among_its_rows(open_page: Open) -> None:
    page = open_page(document(pressure()))
    settled(page)
    where = page.evaluate(
        """() => {
          const middle = (e) => { const box = e.getBoundingClientRect(); return box.top + box.height / 2; };
          const section = document.querySelectorAll('[data-answers] > .cs-a')[1];
          const rows = [...section.querySelectorAll('.cs-row')].map(middle);
          const p = [...section.querySelectorAll('.cs-bar')].map((b) => Number(b.style.getPropertyValue('--p')));
          return { rows, p, at: middle(section.querySelector('.cs-expect')) };
        }"""
    )
    level = sum(i * p for i, p in enumerate(where["p"]))
    step = where["rows"][1] - where["rows"][0]
    # The page writes the expected level with one decimal.
    assert where["at"] == pytest.approx(where["rows"][0] + level * step, abs=0.06 * step + 1)


def test_a_description_has_lines_and_enter_goes_on(open_page: Open) -> None:
    page = open_page(document())
    means = page.get_by_label("What billing means")
    one = means.evaluate("e => e.getBoundingClientRect().height")
    means.press("End")
    means.press("Shift+Enter")
    page.keyboard.type("and nothing else")
    expect(means).to_have_value("Invoices and refunds\nand nothing else")
    assert means.evaluate("e => e.getBoundingClientRect().height") > one
    means.press("Enter")
    expect(page.get_by_label("Option 2, name")).to_be_focused()
    page.keyboard.type("cards")
    page.keyboard.press("Enter")
    expect(page.get_by_label("What cards means")).to_be_focused()
    page.get_by_role("button", name="JSON view of the schema").click()
    text = page.get_by_label("The whole schema as JSON").input_value()
    assert json.loads(text)["questions"]["next_team"]["criteria"]["billing"] == "Invoices and refunds\nand nothing else"


def test_a_name_has_one_line_whatever_is_pasted(open_page: Open) -> None:
    page = open_page(document())
    name = page.get_by_label("Option 1, name")
    name.fill("")
    page.evaluate("text => navigator.clipboard.writeText(text)", "bil\nling")
    name.focus()
    page.keyboard.press("Control+v")
    expect(name).to_have_value("bil ling")
    name.press("Shift+Enter")
    expect(name).to_have_value("bil ling ")


def test_what_yes_and_no_mean_by_keyboard(open_page: Open) -> None:
    page = open_page(document([question("angry", "noul", "Is the customer angry?", opened=True)]))
    page.get_by_label("What yes means").press_sequentially("insults")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("or threats")
    page.keyboard.press("Enter")
    expect(page.get_by_label("What no means")).to_be_focused()
    expect(page.get_by_label("What yes means")).to_have_value("insults\nor threats")
