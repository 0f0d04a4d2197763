"""The Calibration page in a browser: with no, few and many labels; a point leads to its cases; policies are kept."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from model.questions import parse_questions
from storage.database import Database
from storage.schemas import publish
from tests.browser.axe import AXE, RUN
from tests.browser.conftest import CI, PATIENCE_MS, Running, start, until_ready
from tests.calibration_data import OTHER, QUESTIONS, SCORER, seed

SIZES = {0: "00", 10: "10", 60: "60", 1000: "a1"}
"""Labels, and the byte that the scorer's fingerprint is made of."""


def scorer(n: int) -> str:
    return SIZES[n] * 32


@pytest.fixture(scope="module")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A studio with one scorer per number of labels, and another one on the cases of the last."""
    folder: Path = tmp_path_factory.mktemp("calibrated")
    with Database.open(folder) as database:
        for n in SIZES:
            # One bears the name of the model that is loaded, but is another checkpoint of it.
            name = "tiny_release" if n == 10 else f"tiny {n}"
            tiny = replace(SCORER, name=name, fingerprint=scorer(n))
            many = n == 1000
            seed(database, audit=700 if many else n, queue=300 if many else 0, unlabelled=20,
                 volunteered=60 if many else 0, scorer=tiny, salt=n, sharp=0.2 if many else 0.5)  # fmt: skip
        place = seed(database, audit=0, unlabelled=1080, scorer=OTHER, temperature=1.0, noise=1.5, salt=1000, sharp=0.2)
        wording = {**QUESTIONS["next_team"], "instructions": "Who takes this?"}
        publish(database, place["schema"], parse_questions({**QUESTIONS, "next_team": wording}))
    running = start(folder, ready=False)
    yield running
    running.process.terminate()
    running.process.wait(10)


Visit = Callable[..., Page]


@pytest.fixture
def visit(context: BrowserContext, seeded: Running) -> Iterator[Visit]:
    """visit(labels, **query) → the page, with its figures drawn."""
    pages: list[Page] = []
    faults: list[str] = []

    def opened(n: int, **query: str) -> Page:
        page = context.new_page()
        pages.append(page)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda r: None if r.url.startswith((seeded.url, "data:", "blob:")) else faults.append(r.url))
        more = "".join(f"&{key}={value}" for key, value in query.items())
        page.goto(f"{seeded.url}/calibration?scorer={scorer(n)}{more}")
        drawn(page)
        return page

    yield opened
    for page in pages:
        page.close()
    assert not faults, faults


def drawn(page: Page) -> None:
    # Plotly's script is large: a busy machine takes its time to read it.
    page.locator(".cs[data-shown]").wait_for(state="attached", timeout=5 * PATIENCE_MS)


@pytest.mark.parametrize(
    ("n", "title", "badge", "figure"),
    [
        (0, "Nobody has judged an answer yet", "not calibrated yet", "not enough labels: 20 more"),
        (10, "Too few labels for a curve: 10 more", "not calibrated yet", "not enough labels: 10 more"),
        (60, re.compile(r"Too sure|Within what chance allows, so far: 60 labels"), re.compile("provisional|too much"),
         "60 labels"),
        (1000, re.compile("^Too sure .* says .* is right"), "promises too much", "1,000 labels"),
    ],
    ids=["none", "10", "60", "1000"],
)  # fmt: skip
def test_no_number_without_its_labels(visit: Visit, n: int, title: Any, badge: Any, figure: str) -> None:
    page = visit(n)
    expect(page.locator("[data-plot-title]")).to_have_text(title)
    expect(page.locator("[data-badge=next_team] .cs-badge")).to_have_text(badge)
    expect(page.locator("[data-numbers]")).to_contain_text(figure)
    expect(page.locator("[data-plot]")).to_have_attribute("data-drawn", str(n))
    curves = page.locator("[data-plot] .scatterlayer .trace")
    # Band, diagonal, curve and points; under 20 labels neither band nor curve, and without labels no points.
    expect(curves).to_have_count(4 if n >= 20 else 2 if n else 1)
    if n < 50:
        expect(page.locator("[data-numbers]")).to_contain_text(f"{50 - n} more")


def test_a_point_leads_to_its_cases(visit: Visit) -> None:
    page = visit(1000)
    points = page.locator("[data-plot] .scatterlayer .points path")
    rows = page.locator("[data-table] tbody tr")
    expect(points).to_have_count(rows.count())
    box = points.nth(3).bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    labels = rows.nth(3).locator("td").nth(4).inner_text()
    expect(page.locator(".hoverlayer")).to_contain_text(f"({labels})")
    page.mouse.click(x, y)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(f"of {labels.split(' / ')[1]} shown, wrong ones first")
    expect(dialog.locator("[data-case]").first).to_contain_text("wrong")
    expect(dialog.locator("[data-case]").first).to_contain_text("please help.")


def test_the_table_leads_there_too_and_more_are_read(visit: Visit) -> None:
    page = visit(1000)
    page.locator("[data-table]").get_by_role("button").first.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("[data-case]")).to_have_count(50)
    dialog.get_by_role("button", name="More").click()
    expect(dialog.locator("[data-case]")).to_have_count(100)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_views_and_labels_stand_in_the_address(visit: Visit) -> None:
    page = visit(1000)
    page.get_by_role("combobox", name="about").select_option("option:security")
    expect(page).to_have_url(re.compile("view=option%3Asecurity"))
    page.get_by_role("button", name="Volunteered").click()
    expect(page.locator("[data-biased]")).to_contain_text("no weight can repair that")
    page.reload()
    drawn(page)
    expect(page.get_by_role("combobox", name="about")).to_have_value("option:security")
    expect(page.get_by_role("button", name="Volunteered")).to_have_attribute("aria-pressed", "true")
    page.go_back()
    expect(page.get_by_role("button", name="Sampled")).to_have_attribute("aria-pressed", "true")
    page.locator("[data-question=urgency]").click()
    expect(page.locator("[data-plot-title]")).to_have_text("Nobody has judged an answer yet")


def test_a_policy_is_chosen_saved_exported_and_withdrawn(visit: Visit, seeded: Running) -> None:
    page = visit(1000)
    desk = page.locator("[data-desk]")
    budget = desk.get_by_label("Wrong at most")
    guaranteed = desk.get_by_role("radio", name=re.compile(r"Guaranteed at 95 %: \d"))
    for value in ("0.05", "0.1", "0.2"):
        budget.select_option(value)
        if guaranteed.count():
            break
    expect(guaranteed).to_be_checked()
    expect(desk.locator(".cs-pick")).to_contain_text(f"even odds that the truth is over {round(float(value) * 100)} in")
    act = desk.get_by_label("Act from")
    at = int(act.input_value())
    act.focus()
    page.keyboard.press("ArrowLeft")
    assert int(act.input_value()) == at - 1
    expect(guaranteed).not_to_be_checked()
    guaranteed.check()
    assert int(act.input_value()) == at
    desk.get_by_label("Refuse below").fill("40")
    desk.get_by_role("button", name="Save policy").click()
    expect(desk.locator(".cs-desk-kept")).to_contain_text(f"Policy 1 in force: act from {at} %, refuse below 40 %")
    query = re.search(r"questions=(\w+)", page.locator("[data-report]").get_attribute("href") or "")
    assert query
    address = f"{seeded.url}/studio/calibration/policy.json?questions={query[1]}&scorer={scorer(1000)}"
    with urllib.request.urlopen(address) as reply:
        exported = json.load(reply)
    policy = exported["policies"]["next_team"]
    assert (policy["act"], policy["refuse"], policy["basis"]["kind"]) == (at / 100, 0.4, "guaranteed")
    desk.get_by_role("button", name="Withdraw").click()
    expect(desk.locator(".cs-desk-kept")).to_contain_text("No policy in force: it was withdrawn")


def test_money_chooses_thresholds(visit: Visit) -> None:
    page = visit(1000)
    desk = page.locator("[data-desk]")
    desk.get_by_text("In money").click()
    for label, value in (("a wrong act costs", "0.1"), ("a wrong refusal costs", "50"), ("a human minute costs", "5")):
        desk.get_by_label(label).fill(value)
    expect(desk).to_contain_text("per 1,000 answers; 5,000 if a human looked at all")
    desk.get_by_role("button", name="Cheapest thresholds").click()
    expect(desk.get_by_label("Act from")).not_to_have_value("101")


def test_without_labels_nothing_acts(visit: Visit) -> None:
    page = visit(0)
    desk = page.locator("[data-desk]")
    expect(desk).to_contain_text("No safe threshold yet: about 130 more audit labels.")
    expect(desk.get_by_role("button", name="Save policy")).to_be_disabled()


def test_another_scorer_is_compared(visit: Visit) -> None:
    page = visit(1000)
    card = page.locator("[data-compare]")
    card.get_by_label("Compare with").select_option(label=f"{OTHER.name} {OTHER.fingerprint[:7]}")
    expect(card.get_by_role("heading")).to_have_text(re.compile(r"Fixes \d+, breaks \d+ of 1,000 \(p < .001\): worse"))
    card.get_by_role("button", name="Fixes").click()
    tags = card.locator(".cs-tag")
    expect(tags.filter(has_text="breaks")).to_have_count(0)
    expect(tags.first).to_have_text("fixes")


def test_another_version_is_replayed_and_compared(visit: Visit, seeded: Running) -> None:
    until_ready(seeded.url)
    page = visit(60)
    expect(page.locator("[data-canary]")).to_contain_text("10 labelled answers came from another checkpoint")
    card = page.locator("[data-compare]")
    card.get_by_label("Compare with").select_option(label="v2, tiny_release, not judged yet")
    expect(card.get_by_role("heading")).to_have_text("v2, tiny_release has judged none of the labelled cases yet")
    expect(card.locator("[data-replay-said]")).to_contain_text("has judged 0 of 60 labelled cases")
    card.get_by_role("button", name="Replay v2 over the labelled cases").click()
    expect(card.get_by_role("heading")).to_have_text(re.compile(r"^v2, tiny_release: (Fixes|No answer) .*60"))
    expect(card.locator("[data-replay]")).to_be_hidden()
    # The new place is known without a reload.
    page.locator("[data-place]").click()
    expect(page.get_by_role("menuitemradio").filter(has_text="v2")).to_contain_text("60 decisions")


def test_a_calibrator_is_tried_kept_and_switched_on(visit: Visit) -> None:
    page = visit(1000)
    card = page.locator("[data-recalibrate]")
    card.locator("summary").click()
    expect(card).to_contain_text(re.compile(r"Temperature would help: the Brier score goes from 0\.\d+ to 0\.\d+"))
    card.get_by_role("button", name="Keep the Temperature calibrator").click()
    switch = card.get_by_role("switch")
    expect(switch).not_to_be_checked()
    switch.check()
    expect(card.locator(".cs-calibrators")).to_contain_text("on")
    page.reload()
    drawn(page)
    card.locator("summary").click()
    expect(card.get_by_role("switch")).to_be_checked()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("over-time", "No week differs"),
        ("slices", re.compile("tells where errors are|places were looked at")),
        ("missing-options", "say that no option fits"),
    ],
)
def test_findings_are_read_when_opened(visit: Visit, name: str, says: Any) -> None:
    page = visit(1000)
    card = page.locator(f"[data-{name}]")
    card.locator("summary").click()
    expect(card).to_contain_text(says)


@pytest.mark.parametrize("kind", ["png", "svg", "csv"])
def test_the_plot_is_downloaded(visit: Visit, kind: str) -> None:
    page = visit(1000)
    with page.expect_download() as download:
        page.get_by_role("button", name=kind.upper(), exact=True).click()
    path = download.value.path()
    assert download.value.suggested_filename == f"reliability-next_team-top.{kind}"
    start_of_file = path.read_bytes()[:60]
    assert start_of_file.startswith({"png": b"\x89PNG", "svg": b"<svg", "csv": b"part,from,to,said"}[kind])


def test_the_report_opens(visit: Visit, context: BrowserContext) -> None:
    page = visit(1000)
    with context.expect_page() as opened:
        page.get_by_role("link", name="Report").click()
    report = opened.value
    expect(report.get_by_role("heading", level=1)).to_have_text("Calibration of Support triage v1")
    expect(report.locator("body")).to_contain_text("It promises too much")
    report.close()


def test_it_fits_a_phone(visit: Visit) -> None:
    page = visit(60)
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator("[data-plot]")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_to_object_to(visit: Visit, theme: str) -> None:
    if not AXE.exists():
        message = f"no axe-core at {AXE}: npm pack axe-core, unpack it, and set AXE to its axe.min.js"
        if CI:
            pytest.fail(message)
        pytest.skip(message)
    page = visit(1000)
    page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
    for name in ("recalibrate", "over-time", "missing-options"):
        page.locator(f"[data-{name}] summary").click()
        expect(page.locator(f"[data-{name}] .cs-fold-body > [role=status]")).to_have_count(0)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    assert page.evaluate(RUN) == []
