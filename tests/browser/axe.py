"""axe-core on a page, in light and in dark: one visit shows both."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import CI, ROOT

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


def violations(page: Page) -> dict[str, list[str]]:
    """What axe objects to in the page as it is, by theme; empty if nothing. The theme is set back."""
    source = axe()
    if not page.evaluate("'axe' in window"):
        page.evaluate(source)
    was = page.evaluate("document.documentElement.dataset.theme")
    found = {}
    for theme in ("light", "dark"):
        page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        if said := page.evaluate(RUN):
            found[theme] = said
    page.evaluate("theme => { document.documentElement.dataset.theme = theme }", was)
    return found
