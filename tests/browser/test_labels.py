"""A label given in place lands in the database and stays there, also when the studio is killed."""

from __future__ import annotations

import re
import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Open, Running, start
from tests.browser.documents import document


@pytest.fixture
def own_studio(tmp_path: Path) -> Iterator[Running]:
    """A studio that a test may kill."""
    running = start(tmp_path / "data")
    yield running
    if running.process.poll() is None:
        running.process.kill()
    running.process.wait(10)


def rows(data: Path, query: str) -> list[dict[str, Any]]:
    """Rows of the database file, read without the studio."""
    connection = sqlite3.connect(f"file:{data / 'studio.db'}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    try:
        return [dict(row) for row in connection.execute(query)]
    finally:
        connection.close()


LABELS = "SELECT * FROM labels ORDER BY serial"


def answer(page: Page, n: int) -> Locator:
    """The section of answer `n`."""
    return page.locator("[data-answers] > .cs-a").nth(n - 1)


def least(section: Locator) -> str:
    """The option that the model holds for least likely."""
    found = section.locator(".cs-row").evaluate_all(
        """rows => rows.map((row) => [row.querySelector('.cs-row-name').textContent,
                                      Number(row.querySelector('.cs-bar').style.getPropertyValue('--p'))])"""
    )
    return str(min(found, key=lambda pair: pair[1])[0])


def say_what_is_true(section: Locator) -> None:
    """Opens the choice of the true option, which is called by what the answer looks like."""
    section.get_by_role("button", name=re.compile(r"is wrong$|^Say what is true")).click()


def test_a_label_survives_kill_nine(open_page: Open, own_studio: Running) -> None:
    page = open_page(document(), url=own_studio.url)
    section = answer(page, 2)
    truth = least(section)
    say_what_is_true(section)
    section.get_by_role("button", name=truth, exact=True).click()
    expect(section.locator("[data-label='saved']")).to_contain_text(f"wrong, {truth} · saved")
    own_studio.process.send_signal(signal.SIGKILL)
    own_studio.process.wait(10)
    (label,) = rows(own_studio.data, LABELS)
    assert (label["question"], label["verdict"], label["true_option"]) == ("next_team", "wrong", truth)
    assert (label["source"], label["propensity"]) == ("volunteered", None)
    (decision,) = rows(own_studio.data, "SELECT * FROM decisions")
    assert (decision["serial"], decision["source"], decision["kept"]) == (label["decision"], "page", 1)
    assert rows(own_studio.data, "PRAGMA integrity_check") == [{"integrity_check": "ok"}]
    # The page says that nobody is there, and keeps what is typed.
    page.get_by_label("Wording of question 1").fill("Is anybody there?")
    expect(page.locator("[data-status]")).to_contain_text("does not answer")


def test_notes_undo_and_cannot_tell(open_page: Open, studio: Running) -> None:
    before = len(rows(studio.data, LABELS))
    page = open_page(document())
    section = answer(page, 2)
    section.get_by_role("button", name="Can't tell for answer 2").click()
    expect(section.locator("[data-label='saved']")).to_contain_text("can't tell · saved")
    section.get_by_role("button", name="Add a note").click()
    section.get_by_label("Note", exact=True).fill("The message says nothing about it")
    section.get_by_label("Note", exact=True).press("Enter")
    expect(section.get_by_role("button", name="Change the note")).to_be_visible()
    section.get_by_role("button", name="Take the label back").click()
    expect(section.get_by_role("button", name="Can't tell for answer 2")).to_be_visible()
    first, second, third = rows(studio.data, LABELS)[before:]
    assert [first["verdict"], second["verdict"], third["verdict"]] == ["cant_tell", "cant_tell", "withdrawn"]
    assert second["note"] == "The message says nothing about it"
    assert (second["supersedes"], third["supersedes"]) == (first["serial"], second["serial"])


def test_a_label_belongs_to_the_answer_that_was_seen(open_page: Open, studio: Running) -> None:
    page = open_page(document())
    section = answer(page, 2)
    section.get_by_role("button", name="Can't tell for answer 2").click()
    expect(section.locator("[data-label='saved']")).to_be_visible()
    page.get_by_label("Wording of question 2").fill("Who should read this first?")
    expect(section.locator("[data-label]")).to_have_count(0)
    newest = rows(studio.data, LABELS)[-1]["decision"]
    asked = rows(
        studio.data,
        f"SELECT document FROM question_sets JOIN decisions ON questions = sha256 WHERE serial = {int(newest)}",
    )
    assert "Which team should take this?" in asked[0]["document"]


def test_a_label_can_be_given_after_the_studio_started_again(open_page: Open, own_studio: Running) -> None:
    page = open_page(document(), url=own_studio.url)
    own_studio.process.terminate()
    own_studio.process.wait(10)
    port = own_studio.url.rsplit(":", 1)[1]
    again = start(own_studio.data, "--port", port)
    try:
        answer(page, 2).get_by_role("button", name="Can't tell for answer 2").click()
        expect(answer(page, 2).locator("[data-label='saved']")).to_be_visible()
        assert len(rows(again.data, LABELS)) == 1
    finally:
        again.process.terminate()
        again.process.wait(10)
