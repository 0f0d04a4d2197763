"""axe-core finds nothing to object to, in light and dark, in the states that the page can be in."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import CI, ROOT, Open
from tests.browser.documents import document, question

AXE = Path(os.environ.get("AXE", ROOT / "node_modules" / "axe-core" / "axe.min.js"))
RUN = """async () => (await axe.run(document, {resultTypes: ['violations']})).violations.map(
  (v) => v.id + ': ' + v.nodes.slice(0, 3).map((n) => n.target.join(' ') + ' ' + n.failureSummary).join(' | '))"""


def axe() -> str:
    """axe-core's script; without it the test is skipped, but not on CI."""
    if not AXE.exists():
        message = f"no axe-core at {AXE}: npm pack axe-core, unpack it, and set AXE to its axe.min.js"
        if CI:
            pytest.fail(message)
        pytest.skip(message)
    return AXE.read_text(encoding="utf-8")


def _usual(page: Page) -> None:
    expect(page.locator("[data-answers] > .cs-a").first).to_contain_text("confidence")


def _errors(page: Page) -> None:
    page.get_by_label("Id of question 3").fill("next_team")
    page.locator("input[type=file]").set_input_files(
        [{"name": "a.png", "mimeType": "image/png", "buffer": b"no picture"}]
    )
    expect(page.locator("[data-picture-errors] .cs-alert")).to_be_visible()


def _menu(page: Page) -> None:
    page.get_by_role("button", name="Examples", exact=True).click()
    expect(page.get_by_role("menu")).to_be_visible()


def _help(page: Page) -> None:
    page.get_by_role("button", name="Keys and help").click()
    expect(page.get_by_role("dialog")).to_be_visible()


def _label(page: Page) -> None:
    section = page.locator("[data-answers] > .cs-a").nth(1)
    section.get_by_role("button", name="Can't tell for answer 2").click()
    expect(section.locator("[data-label='saved']")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("bring", [_usual, _errors, _menu, _help, _label], ids=lambda f: f.__name__[1:])
def test_no_violations(open_page: Open, theme: str, bring: Callable[[Page], None]) -> None:
    source = axe()
    many = [question("which", "choice", "Which of many?", [(f"option_{i}", "") for i in range(12)])]
    page = open_page(document())
    if bring is _usual:
        page = open_page(document(many))
    page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
    bring(page)
    page.evaluate(source)
    assert page.evaluate(RUN) == []


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
