"""Whether code's decisions are kept is switched beside the code that makes them, and survives a reload."""

from __future__ import annotations

import json
import re
import urllib.request
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.conftest import Open, Running
from tests.browser.documents import document

SWITCH = "Keep the decisions that code makes with this schema"
BODY = {"model": "clef", "state": "x", "questions": {"asks_for_refund": {"type": "noul", "instructions": "Refund?"}}}


def code(page: Page) -> Any:
    page.get_by_role("button", name="Get code").click()
    return page.get_by_role("dialog", name="Get code")


def decide(studio: Running, questions: dict[str, Any]) -> dict[str, Any]:
    data = json.dumps(BODY | {"questions": questions}).encode()
    asked = urllib.request.Request(f"{studio.url}/v1/systemone", data, {"content-type": "application/json"})
    with urllib.request.urlopen(asked, timeout=60) as reply:
        return dict(json.load(reply))


def test_a_person_turns_recording_on_and_off(open_page: Open, studio: Running) -> None:
    page = open_page(document(name="Recorded"))
    dialog = code(page)
    expect(dialog.get_by_text("Save a version first")).to_be_visible()
    expect(dialog.get_by_label(SWITCH)).to_be_disabled()
    page.keyboard.press("Escape")
    page.get_by_label("Wording of question 1").fill("Is it recorded?")
    page.get_by_role("button", name="Save as v1").click()
    page.get_by_role("dialog").get_by_role("button", name="Save as v1").click()
    expect(page.locator("[data-version]")).to_contain_text("v1")

    dialog = code(page)
    switch = dialog.get_by_label(SWITCH)
    expect(switch).to_be_enabled()
    expect(switch).not_to_be_checked()
    expect(dialog.get_by_text("Off: nothing that code sends is kept.")).to_be_visible()
    text = dialog.get_by_role("tabpanel").inner_text()
    questions = json.loads(text[text.index("{") : text.rindex("}") + 1])["questions"]
    assert "x_decision_id" not in decide(studio, questions)
    switch.check()
    expect(dialog.get_by_text(re.compile("^On: each decision"))).to_be_visible()
    assert decide(studio, questions)["x_decision_id"]
    assert "x_decision_id" not in decide(studio, BODY["questions"])  # type: ignore[arg-type]

    page.wait_for_function("new URLSearchParams(location.search).has('schema')")
    page.reload()
    page.locator("html[data-ready='1']").wait_for(state="attached")
    switch = code(page).get_by_label(SWITCH)
    expect(switch).to_be_checked()
    switch.uncheck()
    expect(page.locator("#code-record-says")).to_have_text("Off: nothing that code sends is kept.")
    assert "x_decision_id" not in decide(studio, questions)
