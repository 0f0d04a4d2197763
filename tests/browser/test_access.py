"""axe-core finds nothing to object to, in light and dark, in the states that the page can be in."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.axe import violations
from tests.browser.conftest import Open
from tests.browser.documents import document, question


def test_no_violations_with_many_options(open_page: Open) -> None:
    many = [question("which", "choice", "Which of many?", [(f"option_{i}", "") for i in range(12)])]
    page = open_page(document(many))
    expect(page.locator("[data-answers] > .cs-a").first).to_contain_text("confidence")
    assert violations(page) == {}


def test_no_violations_in_what_opens_and_what_goes_wrong(open_page: Open) -> None:
    page = open_page(document())
    page.get_by_role("button", name="Examples", exact=True).click()
    expect(page.get_by_role("menu")).to_be_visible()
    assert violations(page) == {}
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Keys and help").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert violations(page) == {}
    page.keyboard.press("Escape")
    section = page.locator("[data-answers] > .cs-a").nth(1)
    section.get_by_role("button", name="Can't tell for answer 2").click()
    expect(section.locator("[data-label='saved']")).to_be_visible()
    assert violations(page) == {}
    page.get_by_label("Id of question 3").fill("next_team")
    page.locator("input[type=file]").set_input_files(
        [{"name": "a.png", "mimeType": "image/png", "buffer": b"no picture"}]
    )
    expect(page.locator("[data-picture-errors] .cs-alert")).to_be_visible()
    assert violations(page) == {}


def test_the_theme_is_kept_and_there_before_the_page(open_page: Open) -> None:
    page = open_page(document())
    page.evaluate("localStorage.removeItem('clef-studio-theme')")
    was = page.evaluate("document.documentElement.dataset.theme")
    page.get_by_role("button", name="Switch between light and dark").click()
    other = "dark" if was == "light" else "light"
    assert page.evaluate("document.documentElement.dataset.theme") == other
    page.reload(wait_until="commit")
    page.locator("html[data-ready='1']").wait_for(state="attached")
    assert page.evaluate("[document.documentElement.dataset.theme, document.body.classList.contains('dark')]") == [
        other,
        other == "dark",
    ]
    page.evaluate("localStorage.removeItem('clef-studio-theme')")
