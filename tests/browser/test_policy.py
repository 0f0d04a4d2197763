"""What is known of a question stands beside it: its badge, and what the policy in force says to each answer."""

from __future__ import annotations

import uuid
from pathlib import Path

from playwright.sync_api import expect

from storage.database import Database
from storage.policies import save_policy
from tests.browser.axe import violations
from tests.browser.bench import WordCounter, serving
from tests.browser.conftest import Open
from tests.browser.documents import document, question
from tests.browser.test_design import ANSWERS, settled
from tests.calibration_data import QUESTIONS, TEAMS, seed

SCORER = WordCounter(max_tokens=10_000).info
ASKED = [
    question("next_team", "choice", QUESTIONS["next_team"]["instructions"], [(k, v or "") for k, v in TEAMS.items()]),
    question("upset", "noul", QUESTIONS["upset"]["instructions"]),
    question("urgency", "score", QUESTIONS["urgency"]["instructions"], QUESTIONS["urgency"]["criteria"]),
]


def prepare(data: Path) -> None:
    """120 audit labels on the first question, and policies under which the three answers fare differently."""
    with Database.open(data) as database:
        place = seed(database, audit=120, scorer=SCORER)
        where = {"questions": place["questions"], "scorer": place["scorer"], "by": "Maren"}
        for name, act, refuse in (("next_team", 0.9, 0.3), ("upset", 0.7, 0.5)):
            basis = {"kind": "by hand"}
            save_policy(
                database, id=str(uuid.uuid4()), question=name, act=act, refuse=refuse, basis=basis, **where
            )  # fmt: skip


def test_badges_and_policies_stand_beside_exactly_these_questions(open_page: Open, tmp_path: Path) -> None:
    prepare(tmp_path)
    # This scorer gives each option one more logit than the one before: .64 of four options, .73 of two.
    with serving(tmp_path, lambda _: WordCounter(max_tokens=10_000)) as url:
        page = open_page(document(ASKED), url=url)
        sections = page.locator(ANSWERS)
        expect(sections.nth(0).locator(".cs-verdict")).to_have_text("Ask a human")
        expect(sections.nth(1).locator(".cs-verdict")).to_have_text("Act")
        expect(sections.nth(2).locator(".cs-verdict")).to_have_count(0)
        expect(sections.nth(2)).to_contain_text("no threshold yet")
        expect(sections.nth(0)).not_to_contain_text("no threshold yet")
        title = "Acts from 90 %, refuses under 30 %; by the policy of this question"
        expect(sections.nth(0).locator(".cs-a-policy")).to_have_attribute("title", title)
        # The ticks stand where the thresholds are, on the leading row only.
        ticks = sections.nth(0).locator(".cs-at:not(.is-was):not([hidden])")
        expect(ticks).to_have_count(1)
        assert ticks.evaluate("e => e.style.getPropertyValue('--x')") == "0.9"
        expect(page.locator("[data-live]")).to_contain_text("ask a human")
        badge = page.locator(".cs-q-badge:visible")
        expect(badge).to_have_count(1)
        expect(badge).to_contain_text("question 1 in Calibration")
        expect(badge).to_have_attribute("title", "120 labels, 120 audit. Opens Calibration")
        assert violations(page) == {}
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.set_viewport_size({"width": 1440, "height": 900})
        # Other words: nothing is known of them. The old words: it is known again.
        wording = page.get_by_label("Wording of question 1")
        wording.press("End")
        wording.press("Space")
        settled(page)
        expect(page.locator(".cs-verdict")).to_have_count(0)
        expect(badge).to_have_count(0)
        wording.press("Backspace")
        settled(page)
        expect(page.locator(".cs-verdict")).to_have_count(2)
        expect(badge).to_have_count(1)
        badge.click()
        page.wait_for_url("**/calibration?**")
        expect(page.get_by_role("heading", name="Calibration", exact=True)).to_be_visible()
        expect(page.locator("[data-question='next_team']")).to_have_attribute("aria-current", "true")
