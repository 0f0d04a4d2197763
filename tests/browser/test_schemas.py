"""Schemas are named, opened, copied, archived, exchanged and published, and a version can be compared and restored."""

from __future__ import annotations

import json
import re
import uuid
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.documents import document, question

NAME = "Name of the schema"


def saved(page: Page) -> None:
    """Waits until the draft is on the server."""
    expect(page.locator("[data-saved]")).to_have_text(re.compile(r"^saved \d\d:\d\d$"))


def menu(page: Page, item: str) -> None:
    """Chooses an entry of the schema's menu by keyboard."""
    page.get_by_role("button", name=re.compile("^Schema: open")).press("Enter")
    page.get_by_role("menuitem", name=item, exact=True).press("Enter")


def reword(page: Page, n: int, text: str) -> None:
    page.get_by_label(f"Wording of question {n}").fill(text)


def test_a_schema_is_named_described_and_found_at_its_address(open_page: Open) -> None:
    page = open_page(document(name="Before"))
    menu(page, "Name and description…")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("Parcel desk")
    dialog.get_by_label(re.compile("^Description")).fill("Who takes a parcel message")
    dialog.get_by_role("button", name="Done").click()
    expect(page.get_by_label(NAME)).to_have_value("Parcel desk")
    saved(page)
    page.wait_for_function("new URLSearchParams(location.search).has('schema')")
    address = page.url.split("/?")[1]
    # Another tab works on something else, and finds this one by its address alone.
    other = open_page(document(name="Something else"))
    reword(other, 1, "Is it something else?")
    saved(other)
    other.goto(f"{other.url.split('/?')[0]}/?{address}")
    expect(other.get_by_label(NAME)).to_have_value("Parcel desk")
    other.goto(f"{other.url.split('/?')[0]}/?schema={uuid.uuid4()}")
    expect(other.get_by_role("status").filter(has_text="not kept here")).to_be_visible()


def test_schemas_are_opened_copied_and_archived(open_page: Open) -> None:
    page = open_page(document(name="First of two"))
    reword(page, 1, "Is it the first?")
    saved(page)
    menu(page, "New schema")
    page.get_by_label(NAME).fill("Second of two")
    saved(page)
    menu(page, "Open…")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Find a schema").fill("first of")
    dialog.get_by_role("button", name=re.compile("^First of two")).click()
    expect(page.get_by_label("Wording of question 1")).to_have_value("Is it the first?")
    # What is open is not changed by being opened, so another tab's next save is no conflict.
    menu(page, "Duplicate")
    expect(page.get_by_label(NAME)).to_have_value("First of two (copy)")
    saved(page)
    menu(page, "Archive")
    expect(page.get_by_label(NAME)).not_to_have_value("First of two (copy)")
    page.get_by_role("button", name="Bring it back").click()
    expect(page.get_by_label(NAME)).to_have_value("First of two (copy)")


def test_leaving_a_schema_at_once_loses_no_letter_of_it(open_page: Open) -> None:
    page = open_page(document(name="Left at once"))
    page.get_by_label("Wording of question 1").fill("Typed right before leaving")
    menu(page, "New schema")
    page.get_by_label(NAME).fill("Elsewhere")
    saved(page)
    menu(page, "Open…")
    page.get_by_role("dialog").get_by_role("button", name=re.compile("^Left at once")).click()
    expect(page.get_by_label("Wording of question 1")).to_have_value("Typed right before leaving")


def test_two_tabs_and_a_calm_choice(open_page: Open) -> None:
    first = open_page(document(name="In two tabs"))
    reword(first, 1, "The first tab's words")
    saved(first)
    second = open_page()
    expect(second.get_by_label(NAME)).to_have_value("In two tabs")
    reword(second, 1, "The second tab's words")
    saved(second)
    reword(first, 2, "Mine")
    conflict = first.locator("[data-conflict]")
    expect(conflict).to_contain_text("Another tab changed this schema")
    conflict.get_by_role("button", name="Keep mine as a copy").click()
    expect(first.get_by_label(NAME)).to_have_value("In two tabs (copy)")
    expect(first.get_by_label("Wording of question 2")).to_have_value("Mine")
    saved(first)
    second.reload()
    expect(second.get_by_label("Wording of question 1")).to_have_value("The second tab's words")


def test_a_schema_leaves_and_comes_back_as_a_request_body(open_page: Open, tmp_path: Path) -> None:
    numbers = question("which", "choice", "Which number?", [("10", "ten"), ("2", ""), ("b", "letter")])
    page = open_page(document([numbers], state='{"amount": 1.50}', name="Export me"))
    menu(page, "Export…")
    with page.expect_download() as loading:
        page.get_by_role("dialog").get_by_role("button", name="Download").click()
    assert loading.value.suggested_filename == "export-me.json"
    file = tmp_path / "export-me.json"
    loading.value.save_as(file)
    text = file.read_text(encoding="utf-8")
    body: dict[str, Any] = json.loads(text)
    assert list(body) == ["model", "state", "questions"]
    assert body["questions"] == {
        "which": {
            "type": "choice",
            "instructions": "Which number?",
            "criteria": {"10": "ten", "2": None, "b": "letter"},
        }
    }
    assert "1.50" in text
    page.keyboard.press("Escape")
    menu(page, "Import…")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Schema or System One request body").fill('{\n"questions": {\n"a": {"type": "maybe"}}}')
    dialog.get_by_role("button", name="Import").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Not imported. Line 3, column 15")
    dialog.locator("input[type=file]").set_input_files(file)
    expect(dialog.get_by_label("Schema or System One request body")).to_have_value(text)
    dialog.get_by_role("button", name="Import").click()
    expect(page.get_by_label(NAME)).to_have_value("export-me")
    expect(page.get_by_label("Wording of question 1")).to_have_value("Which number?")
    expect(page.locator("[data-state]")).to_have_value('{\n  "amount": 1.50\n}')
    expect(page.locator(".cs-q-sum").first).to_have_text("102b")


def test_versions_are_published_compared_and_restored(open_page: Open) -> None:
    page = open_page(document(name="Published"))
    chip = page.locator("[data-version]")
    expect(chip).to_have_text("draft")
    publish = page.locator("[data-publish]")
    publish.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Note", exact=True).fill("as it began")
    dialog.get_by_role("button", name="Save as v1").click()
    expect(chip).to_have_text(re.compile(r"^v1 [0-9a-f]{7}$"))
    expect(publish).to_have_text("Saved as v1")
    expect(publish).to_be_disabled()
    reword(page, 1, "Does the customer ask for all the money back?")
    page.get_by_label("What delivery means").fill("Parcels and letters")
    expect(chip).to_have_text(re.compile(r"^draft after v1 [0-9a-f]{7}$"))
    chip.click()
    dialog = page.get_by_role("dialog", name="Versions")
    expect(dialog).to_contain_text("as it began")
    expect(dialog.locator(".cs-diff-q")).to_have_count(2)
    expect(dialog.locator("ins").first).to_have_text("all the ")
    expect(dialog).to_contain_text("1 question is the same")
    dialog.get_by_role("button", name="Restore v1 into the draft").click()
    expect(page.get_by_label("Wording of question 1")).to_have_value("Does the customer ask for money back?")
    expect(chip).to_have_text(re.compile(r"^v1 "))
    page.keyboard.press("Control+z")
    expect(chip).to_have_text(re.compile(r"^draft after v1 "))
    publish.click()
    page.get_by_role("dialog").get_by_role("button", name="Save as v2").press("Enter")
    expect(chip).to_have_text(re.compile(r"^v2 "))
    page.reload()
    expect(chip).to_have_text(re.compile(r"^v2 "))


def test_what_cannot_be_asked_is_not_published(open_page: Open) -> None:
    page = open_page(document())
    page.get_by_label("Id of question 3").fill("next_team")
    page.locator("[data-publish]").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("“next_team” cannot be asked: This id is taken")
    expect(dialog).to_contain_text("The draft is kept as it is")
