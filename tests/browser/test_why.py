"""Why an answer came out: where it looked, what moves it, what it owes to the other questions, what would be cut."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from model.questions import render
from model.scorer import Reading, Request
from tests.browser.axe import violations
from tests.browser.bench import WordCounter, serving
from tests.browser.conftest import Open
from tests.browser.documents import TICKET, document, question

REFUND = [question("asks_for_refund", "noul", "Does the customer ask for money back?")]
ANGRY = [*REFUND, question("angry", "noul", "Is the customer angry?")]


class Reads(WordCounter):
    """Yes to everything that `says_yes` finds in the rendered state, and as many more logits as other questions say."""

    def __init__(self, says_yes: str, *, beside: float = 0.0, gate: threading.Event | None = None) -> None:
        super().__init__(max_tokens=10_000)
        self._says_yes, self._beside, self._gate = says_yes, beside, gate
        self._whole: str | None = None

    def score(self, requests: Sequence[Request]) -> list[Reading]:
        """Waits at the gate with every state but the first."""
        return [self._one(request) for request in requests]

    def _one(self, request: Request) -> Reading:
        text = render(request.state.value)
        self._whole = text if self._whole is None else self._whole
        if self._gate is not None and text != self._whole:
            assert self._gate.wait(120)
        (reading,) = super().score([request])
        yes = 3.0 if self._says_yes in text else -1.0
        yes += self._beside * (len(request.questions) - 1)
        logits = {
            key: [yes if option.id == "true" else 0.0 for option in q.options()] for key, q in request.questions.items()
        }
        return replace(reading, logits=logits)


def marked(page: Page) -> list[str]:
    """What is marked in the state, in its order."""
    return page.locator("[data-backdrop] mark").all_inner_texts()


def open_why(page: Page, n: int) -> Locator:
    """The panel of reasons for answer `n`."""
    page.get_by_role("button", name=f"Why? Reasons for answer {n}").click()
    return page.get_by_role("region", name=f"Why, answer {n}")


def test_where_an_option_looked(open_page: Open) -> None:
    page = open_page(document())
    panel = open_why(page, 2)
    expect(panel).to_contain_text("of its attention fell on the state")
    legend = page.locator(".cs-legend")
    options = panel.get_by_label("Option")
    first = options.input_value()
    expect(legend).to_contain_text(f"Where it looked for 2 {first}, not proof")
    words = marked(page)
    assert words
    assert all(word in TICKET for word in words)
    other = next(name for name in ("billing", "delivery", "technical") if name != first)
    options.select_option(other)
    expect(legend).to_contain_text(f"Where it looked for 2 {other}")
    expect(panel).to_contain_text(f"“{other}” looked")
    options.press("Escape")
    expect(panel).to_have_count(0)
    expect(legend).to_be_hidden()
    assert marked(page) == []
    expect(page.get_by_role("button", name="Why? Reasons for answer 2")).to_be_focused()


def test_where_it_looked_follows_the_state(open_page: Open) -> None:
    page = open_page(document())
    page.locator("[data-answers] > .cs-a").nth(1).locator(".cs-row", has_text="technical").click()
    panel = page.get_by_role("region", name="Why, answer 2")
    expect(page.locator(".cs-legend")).to_contain_text("2 technical")
    expect(panel).to_contain_text("of its attention")
    run = page.locator(".cs").get_attribute("data-run")
    page.locator("[data-state]").fill("Nobody rang the bell, and the parcel is gone.")
    expect(page.locator(".cs")).not_to_have_attribute("data-run", str(run))
    expect(panel.get_by_label("Option")).to_have_value("technical")
    page.locator("[data-backdrop] mark", has_text="bell").or_(
        page.locator("[data-backdrop] mark", has_text="parcel")
    ).or_(page.locator("[data-backdrop] mark")).first.wait_for(state="attached")
    assert all(word in "Nobody rang the bell, and the parcel is gone." for word in marked(page))


def test_a_model_that_reads_excerpts_says_so(open_page: Open, tmp_path: Path) -> None:
    with serving(tmp_path, lambda _: WordCounter(looks_at=20)) as url:
        page = open_page(document(), url=url)
        panel = open_why(page, 2)
        expect(panel).to_contain_text(f"20 of {len(TICKET)} characters")
        expect(panel).to_contain_text("cannot tell where it looked in it")
        expect(page.locator(".cs-legend")).to_contain_text("Read for question 2")
        assert marked(page) == [TICKET[:20]]
        expect(panel.get_by_role("button", name="What it read")).to_have_attribute("aria-pressed", "true")
        # What it has no routing for can be measured, one click away.
        panel.get_by_role("button", name="Ask what moves it").click()
        expect(panel).to_contain_text("are noise: 7 repeats")
        expect(panel.get_by_role("button", name="What moves it", exact=True)).to_have_attribute("aria-pressed", "true")


def test_what_moves_an_answer(open_page: Open, tmp_path: Path) -> None:
    with serving(tmp_path, lambda _: Reads("payment back")) as url:
        page = open_page(document(REFUND), url=url)
        panel = open_why(page, 1)
        panel.get_by_role("button", name="What moves it", exact=True).click()
        part = panel.locator(".cs-move")
        expect(part).to_have_count(1)
        expect(part).to_contain_text("“Please send the second payment back.”")
        expect(part).to_contain_text("95 % → 27 % 68 points less, then “no” leads")
        assert marked(page) == ["Please send the second payment back."]
        expect(panel).to_contain_text("Without one part another answer leads: “no”, 73 %.")
        expect(panel).to_contain_text("are noise: 7 repeats")
        expect(page.locator(".cs-legend")).to_contain_text("What moves 1 yes")
        page.get_by_label("Wording of question 1").fill("Is a refund asked for?")
        expect(panel).to_contain_text("The answer has changed since.")
        assert marked(page) == []


def test_parts_of_json_are_told_by_their_path(open_page: Open, tmp_path: Path) -> None:
    state = json.dumps({"subject": "Hello", "items": [{"note": "payment back"}, {"note": "none"}]}, indent=2)
    with serving(tmp_path, lambda _: Reads("payment back")) as url:
        page = open_page(document(REFUND, state=state), url=url)
        panel = open_why(page, 1)
        panel.get_by_role("button", name="What moves it", exact=True).click()
        expect(panel.locator(".cs-move").first).to_contain_text("items[0].note")
        assert marked(page) == ['"payment back"']


def test_a_probe_can_be_stopped_and_typing_goes_on(open_page: Open, tmp_path: Path) -> None:
    gate = threading.Event()
    with serving(tmp_path, lambda _: Reads("payment back", gate=gate)) as url:
        page = open_page(document(REFUND), url=url)
        panel = open_why(page, 1)
        panel.get_by_role("button", name="What moves it", exact=True).click()
        expect(panel).to_contain_text("of about")
        expect(page.locator("[data-scorer]")).to_have_class("cs-scorer is-busy")
        panel.get_by_role("button", name="Stop").click()
        expect(panel).to_contain_text("Stopped.")
        expect(page.locator("[data-scorer]")).to_have_class("cs-scorer")
        gate.set()
        page.locator("[data-state]").fill("Thank you.")
        expect(page.locator("[data-answers] > .cs-a").first).to_contain_text("No")


def test_whether_questions_stand_alone(open_page: Open, tmp_path: Path) -> None:
    with serving(tmp_path, lambda _: Reads("nothing", beside=2.5)) as url:
        page = open_page(document(ANGRY), url=url)
        page.get_by_role("button", name="Stand alone?").click()
        card = page.get_by_role("region", name="Does each question stand alone?")
        expect(card).to_contain_text("2 of 2 answers depend on what else is asked.")
        expect(card).to_contain_text("Alone it says no (73 %), beside the others yes (82 %).")
        page.locator("[data-state]").fill("Another message")
        expect(card).to_contain_text("have changed since")
        card.get_by_role("button", name="Close").click()
        expect(page.get_by_role("button", name="Stand alone?")).to_be_focused()
    with serving(tmp_path / "other", lambda _: Reads("nothing")) as url:
        page = open_page(document(ANGRY), url=url)
        page.get_by_role("button", name="Stand alone?").click()
        expect(page.get_by_role("region", name="Does each question stand alone?")).to_contain_text(
            "Every answer stands alone."
        )


def test_what_would_be_cut_is_shown_before_anything_is_cut(open_page: Open, tmp_path: Path) -> None:
    words = " ".join(f"word{i}" for i in range(300))
    with serving(tmp_path, lambda _: WordCounter(max_tokens=200)) as url:
        page = open_page(document(state=words), url=url, wait=False)
        expect(page.locator("[data-cutbar]")).to_contain_text("The striped 130 tokens do not fit · nothing is cut yet")
        assert page.locator(".cs-cut").inner_text().split()[0] == "word170"
        expect(page.locator("[data-alert]")).to_contain_text("Nothing was cut")
        expect(page.locator(".cs[data-run]")).to_have_count(0)
        page.locator("[data-state]").fill("short")
        expect(page.locator("[data-cutbar]")).to_be_hidden()
        expect(page.locator(".cs-cut")).to_have_count(0)


def test_no_violations(open_page: Open) -> None:
    page = open_page(document())
    expect(page.locator(".cs-hint")).to_have_count(1)
    panel = open_why(page, 2)
    expect(panel).to_contain_text("of its attention")
    assert violations(page) == {}
    panel.get_by_role("button", name="What moves it", exact=True).click()
    expect(panel).to_contain_text("are noise")
    page.get_by_role("button", name="Stand alone?").click()
    expect(page.locator(".cs-stands")).to_contain_text("requests")
    assert violations(page) == {}
    page.get_by_role("button", name="Get code").click()
    expect(page.get_by_role("dialog", name="Get code")).to_be_visible()
    assert violations(page) == {}
