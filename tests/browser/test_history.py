"""Example states are named and run together; runs are kept, brought back, and laid side by side."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Open
from tests.browser.documents import TICKET, document
from tests.browser.test_design import settled

EXAMPLES = [
    {"name": "charged twice", "state": TICKET, "pictures": []},
    {"name": "thanks", "state": "Thank you, all is well.", "pictures": []},
    {"name": "outage", "state": "Nothing loads since this morning.", "pictures": []},
]


def kept(page: Page) -> None:
    """Keeps the run that is painted."""
    settled(page)
    button = page.get_by_role("button", name="Keep", exact=True)
    button.click()
    expect(page.get_by_role("button", name="Kept", exact=True)).to_have_attribute("aria-pressed", "true")


def history(page: Page) -> Locator:
    page.get_by_role("button", name="History").click()
    return page.get_by_role("dialog", name="History")


def test_example_states_are_named_copied_and_removed(open_page: Open) -> None:
    page = open_page(document(examples=EXAMPLES, at=0))
    pick = page.locator(".cs-pick-example")
    page.get_by_role("button", name="Next example").click()
    expect(pick).to_contain_text("thanks, 2 of 3")
    page.locator("[data-state]").fill("Thank you, all is very well.")
    pick.click()
    page.get_by_role("menuitem", name="Rename…").click()
    page.get_by_label("Name of the example").fill("kind words")
    page.get_by_label("Name of the example").press("Enter")
    expect(pick).to_contain_text("kind words, 2 of 3")
    pick.click()
    page.get_by_role("menuitem", name="Duplicate").click()
    expect(pick).to_contain_text("kind words (copy), 3 of 4")
    expect(page.locator("[data-state]")).to_have_value("Thank you, all is very well.")
    pick.click()
    page.get_by_role("menuitem", name="Remove this example").click()
    expect(pick).to_contain_text("kind words, 2 of 3")


def test_all_examples_are_asked_and_one_is_opened(open_page: Open) -> None:
    page = open_page(document(examples=EXAMPLES, at=0))
    page.get_by_role("button", name="Run 3 examples").click()
    dialog = page.get_by_role("dialog", name="3 examples")
    expect(dialog.get_by_role("status")).to_contain_text("All 3 answered")
    expect(dialog.get_by_role("columnheader")).to_have_text(["example", "asks_for_refund", "next_team", "urgency"])
    cells = dialog.get_by_role("cell").all_inner_texts()
    assert len(cells) == 9
    assert all(re.search(r"\d %$", cell) for cell in cells), cells
    dialog.get_by_role("button", name="outage").press("Enter")
    expect(page.locator("[data-state]")).to_have_value("Nothing loads since this morning.")
    expect(page.locator(".cs-pick-example")).to_contain_text("outage, 3 of 3")


def test_runs_are_kept_compared_and_restored(open_page: Open) -> None:
    page = open_page(document(name="With a history"))
    kept(page)
    page.get_by_label("Wording of question 1").fill("Does the customer ask for the money back at once?")
    page.locator("[data-state]").fill(f"{TICKET} Today, please.")
    settled(page)
    expect(page.get_by_role("button", name="Keep", exact=True)).to_be_enabled()
    kept(page)
    dialog = history(page)
    ticks = dialog.get_by_role("checkbox")
    expect(ticks).to_have_count(2)
    ticks.nth(0).check()
    expect(dialog).to_contain_text("Tick one more run")
    ticks.nth(1).check()
    comparison = dialog.get_by_label("Comparison")
    expect(comparison.locator(".cs-shifts > li")).to_have_count(3)
    expect(comparison.locator(".cs-diff-q ins").first).to_have_text("the ")
    expect(comparison.locator(".cs-state-diff ins")).to_have_text(" Today, please.")
    dialog.get_by_role("button", name=re.compile("^Restore")).nth(1).click()
    expect(page.get_by_label("Wording of question 1")).to_have_value("Does the customer ask for money back?")
    expect(page.locator("[data-state]")).to_have_value(TICKET)
    expect(page.locator(".cs-pick-example")).to_contain_text("Run of")
    page.keyboard.press("Control+z")
    expect(page.locator("[data-state]")).to_have_value(f"{TICKET} Today, please.")


def test_a_label_brings_its_run_into_the_history(open_page: Open) -> None:
    page = open_page(document(name="Labelled"))
    section = page.locator("[data-answers] > .cs-a").nth(1)
    section.get_by_role("button", name="Can't tell for answer 2").click()
    expect(section.locator("[data-label='saved']")).to_be_visible()
    dialog = history(page)
    entry = dialog.locator(".cs-entry").first
    expect(entry).to_contain_text("1 label")
    expect(entry).to_contain_text("next_team")
