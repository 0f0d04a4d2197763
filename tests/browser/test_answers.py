"""What an answer says, to the eye and to a screen reader; and that nothing is said of answers that an edit outdated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Page, expect

from model.scorer import Reading, Request
from tests.browser.bench import WordCounter, serving
from tests.browser.conftest import Open
from tests.browser.documents import TICKET, document, question, triage
from tests.browser.test_design import ANSWERS, bars, settled


class Keeps(WordCounter):
    """Keeps a state: all but the first request read only their questions."""

    def __init__(self) -> None:
        super().__init__(max_tokens=10_000)
        self.info = replace(self.info, kind="clef")
        self._asked = False

    def score(self, requests: Sequence[Request]) -> list[Reading]:
        """See the class."""
        readings = super().score(requests)
        reused = 3878 if self._asked else 0
        self._asked = True
        return [replace(r, reused=reused, tokens=replace(r.tokens, state=3878, read=3878)) for r in readings]


class Even(WordCounter):
    """Knows nothing: all options alike."""

    def score(self, requests: Sequence[Request]) -> list[Reading]:
        """See the class."""
        return [
            replace(r, logits={key: [0.0] * len(row) for key, row in r.logits.items()}) for r in super().score(requests)
        ]


def test_figures_on_hover_and_words_for_screen_readers(open_page: Open) -> None:
    page = open_page(document())
    settled(page)
    row = page.locator(f"{ANSWERS} .cs-row").first
    p = bars(page)[0]
    expect(row).to_have_attribute("title", f"yes: probability {100 * p:.2f} %")
    word = page.locator(f"{ANSWERS} .cs-a-word").first.inner_text()
    expect(page.locator("[data-live]")).to_contain_text(f"1: {word}")
    note = page.locator(f"{ANSWERS} .cs-a-note").first
    assert "not the probability of being right" in str(note.locator("span[title]").get_attribute("title"))


def test_a_model_that_does_not_know_is_called_out(open_page: Open, tmp_path: Path) -> None:
    with serving(tmp_path, lambda _: Even()) as url:
        page = open_page(document(), url=url)
        words = page.locator(f"{ANSWERS} .cs-a-word")
        expect(words).to_have_text(["Cannot tell", "Cannot tell", "Cannot tell"])
        expect(page.locator(f"{ANSWERS} .cs-a-sure").nth(1)).to_have_text("spread evenly over 3 options")
        assert page.locator(".cs-row.is-lead").count() == 0


def test_many_options_show_those_that_count_and_all_on_demand(open_page: Open, tmp_path: Path) -> None:
    many = [question("which", "choice", "Which of many?", [(f"option_{i}", "") for i in range(60)])]
    with serving(tmp_path, lambda _: WordCounter(max_tokens=10_000)) as url:
        page = open_page(document(many), url=url)
        more = page.locator(".cs-row-more")
        expect(more).to_contain_text("more options")
        shown = page.locator(f"{ANSWERS} .cs-row")
        assert shown.count() <= 10
        more.get_by_role("button", name="Show all").click()
        expect(shown).to_have_count(60)
        more.get_by_role("button", name="Show the short list").click()
        assert shown.count() <= 10


def test_what_is_kept_of_a_state_is_said(open_page: Open, tmp_path: Path) -> None:
    with serving(tmp_path, lambda _: Keeps()) as url:
        page = open_page(document(), url=url)
        kept = page.locator("[data-meter] .cs-kept")
        expect(kept).to_have_text("nothing kept yet: 3,908 tokens read")
        height = page.locator("[data-meter]").evaluate("e => e.getBoundingClientRect().height")
        page.get_by_label("Wording of question 1").fill("Is a refund asked for?")
        expect(kept).to_have_text("state kept: 3,878 tokens not read again, 30 read")
        expect(page.locator("[data-status]")).to_contain_text("state kept")
        assert page.locator("[data-meter]").evaluate("e => e.getBoundingClientRect().height") == height


def test_a_scorer_that_keeps_no_state_says_nothing_of_it(open_page: Open, tmp_path: Path) -> None:
    with serving(tmp_path, lambda _: WordCounter()) as url:
        page = open_page(document(), url=url)
        expect(page.locator("[data-meter]")).to_contain_text("state")
        expect(page.locator("[data-meter] .cs-kept")).to_have_count(0)


def refuse(page: Page) -> None:
    """An edit that is refused: a state of 300 words where 200 fit."""
    page.locator("[data-state]").fill(" ".join(f"word{i}" for i in range(300)))
    expect(page.locator("[data-alert]")).to_contain_text("Not run")


def test_nothing_is_said_of_answers_that_a_refused_edit_outdated(open_page: Open, tmp_path: Path) -> None:
    with serving(tmp_path, lambda _: WordCounter(max_tokens=200, looks_at=20)) as url:
        page = open_page(document(), url=url)
        why = page.get_by_role("button", name="Why? Reasons for answer 2")
        why.click()
        panel = page.get_by_role("region", name="Why, answer 2")
        expect(panel).to_contain_text("Marked: what it read")
        refuse(page)
        expect(panel).to_have_count(0)
        expect(page.locator("[data-status]")).to_have_text("from before your last edit")
        expect(why).to_be_disabled()
        expect(page.get_by_role("button", name="Keep", exact=True)).to_be_disabled()
        expect(page.get_by_role("button", name="Stand alone?")).to_be_disabled()
        labels = page.locator(f"{ANSWERS} .cs-label-bar")
        assert labels.evaluate_all("all => all.map((bar) => bar.inert)") == [True, True, True]
        page.locator(f"{ANSWERS} .cs-row").nth(3).click()
        expect(panel).to_have_count(0)
        assert page.locator("[data-backdrop] mark").count() == 0
        page.locator("[data-state]").fill(TICKET)
        expect(why).to_be_enabled()
        why.click()
        expect(panel).to_contain_text("Marked: what it read")
        assert labels.evaluate_all("all => all.map((bar) => bar.inert)") == [False, False, False]


def test_the_same_questions_on_new_cards_are_answered(open_page: Open) -> None:
    page = open_page(document())
    for _ in range(2):
        page.get_by_role("button", name="Examples", exact=True).click()
        page.get_by_role("menuitem", name="Support triage").first.click()
        expect(page.get_by_label("Name of the schema")).to_have_value("Support triage")
        settled(page)
        expect(page.locator(f"{ANSWERS} .cs-a-word").first).not_to_have_text("")
        expect(page.locator(ANSWERS).last).to_contain_text("confidence")


def test_the_head_overlaps_nowhere(open_page: Open) -> None:
    page = open_page(document(triage(), name="Support triage for the northern region, second attempt"))
    settled(page)
    for width in (1280, 1366, 1440, 1680):
        page.set_viewport_size({"width": width, "height": 800})
        _apart(page, width)


def _apart(page: Page, width: int) -> None:
    boxes = page.eval_on_selector_all(
        ".cs-head button, .cs-head input, .cs-head-meta > *",
        """all => all.filter((e) => e.checkVisibility()).map((e) => {
          const { left, right, top, bottom } = e.getBoundingClientRect();
          return { name: e.textContent || e.value || e.ariaLabel, left, right, top, bottom };
        })""",
    )
    assert len(boxes) > 7
    for i, one in enumerate(boxes):
        assert one["right"] <= width, one
        for other in boxes[i + 1 :]:
            apart = one["right"] <= other["left"] + 0.5 or other["right"] <= one["left"] + 0.5
            assert apart or one["bottom"] <= other["top"] or other["bottom"] <= one["top"], (one, other)
