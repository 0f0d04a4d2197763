"""axe-core finds nothing to object to in what keeps a schema's work: its menus, dialogs and the JSON view."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.axe import violations
from tests.browser.conftest import Open
from tests.browser.documents import document
from tests.browser.test_history import EXAMPLES, kept


def entry(page: Page, name: str) -> None:
    """Opens an entry of the schema's menu."""
    page.locator("[data-schema-menu]").click()
    page.get_by_role("menuitem", name=name).click()


def test_no_violations(open_page: Open) -> None:
    page = open_page(document(examples=EXAMPLES, at=0))
    found: dict[str, dict[str, list[str]]] = {}

    def check(state: str) -> None:
        if said := violations(page):
            found[state] = said
        page.keyboard.press("Escape")

    kept(page)
    page.locator("[data-publish]").click()
    page.get_by_role("dialog").get_by_role("button", name="Save as v1").click()
    expect(page.locator("[data-publish]")).to_have_text("Saved as v1")
    page.get_by_label("Wording of question 1").fill("Does the writer ask for money back?")
    kept(page)
    page.locator("[data-version]").click()
    check("versions")
    page.locator("[data-history]").click()
    ticks = page.get_by_role("dialog").get_by_role("checkbox")
    expect(ticks).to_have_count(2)
    for tick in ticks.all():
        tick.check()
    expect(page.locator(".cs-shifts")).to_be_visible()
    check("history")
    page.locator("[data-run-all]").click()
    expect(page.get_by_role("dialog").get_by_role("status")).to_contain_text("All 3 answered")
    check("run all")
    page.locator("[data-schema-menu]").click()
    check("menu")
    for name in ("Open…", "Name and description…", "Import…", "Export…"):
        entry(page, name)
        check(name)
    page.get_by_role("button", name="JSON view of the schema").click()
    page.get_by_label("The whole schema as JSON").fill("{")
    check("JSON")
    assert found == {}
