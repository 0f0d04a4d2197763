"""The Label page in a browser: fast hands, a killed server, two people, and what is shown of the model."""

from __future__ import annotations

import re
import signal
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.axe import violations
from tests.browser.bench import WordCounter, serving
from tests.browser.conftest import PATIENCE_MS, Running, start
from tests.browser.label_seed import OPTIONS, address, seed
from tests.browser.test_labels import rows

LABELS = (
    "SELECT l.*, d.id AS case_id, b.state FROM labels l JOIN decisions d ON d.serial = l.decision "
    "JOIN decision_bodies b ON b.decision = l.decision ORDER BY l.serial"
)
FORGET = """
if (!sessionStorage.getItem("seeded")) {
  sessionStorage.setItem("seeded", "1");
  localStorage.clear();
}
"""
NAME = "localStorage.setItem('clef-studio-labeller', %r)"
WATCH = """
window.pressed = [];
document.addEventListener("keydown", (event) => {
  const state = document.querySelector("[data-read] p")?.textContent ?? "";
  const lease = document.querySelector(".cs").dataset.lease ?? null;
  window.pressed.push([event.key, lease, state]);
}, true);
"""

OpenLabel = Callable[..., Page]


@dataclass
class Desk:
    """Where a studio with decisions to label is, and its data folder."""

    url: str
    data: Path


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A studio with 700 decisions to label."""
    seed(tmp_path / "data", 700)
    with serving(tmp_path / "data", lambda _: WordCounter()) as url:
        yield Desk(url, tmp_path / "data")


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Running]:
    """The same in a process of its own, that a test may kill."""
    seed(tmp_path / "data", 700)
    running = start(tmp_path / "data", ready=False)
    yield running
    if running.process.poll() is None:
        running.process.kill()
    running.process.wait(10)


@pytest.fixture
def open_label(browser: Browser, context: BrowserContext) -> Iterator[OpenLabel]:
    """open_label(desk, name=..., at=...) → the page with an item on it; a test's second in a browser of its own."""
    own: list[BrowserContext] = []
    pages: list[Page] = []
    faults: list[str] = []

    def opened(desk: Desk | Running, *, name: str | None = "Ann", at: str = address(), item: bool = True) -> Page:
        # The common browser has the scripts already; it must forget who labelled before.
        place = context
        if pages:
            place = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
            place.set_default_timeout(PATIENCE_MS)
            place.set_default_navigation_timeout(2 * PATIENCE_MS)
            own.append(place)
        page = place.new_page()
        pages.append(page)
        page.on("pageerror", lambda error: faults.append(f"script: {error}"))
        page.add_init_script(FORGET + WATCH + (NAME % name if name else ""))
        page.goto(desk.url + at)
        if item:
            page.locator(".cs[data-lease]").wait_for(state="attached")
            # A fast hand on a slow machine must not run out of items.
            expect(page.locator(".cs")).to_have_attribute("data-ahead", re.compile(r"^[3-6]\d$"))
        return page

    yield opened
    for page in pages:
        page.close()
    for place in own:
        place.close()
    assert not faults, faults


def saved(page: Page) -> None:
    """Waits until the server has confirmed everything."""
    expect(page.locator("[data-saved='saved']")).to_be_attached()


def count(running: Desk, query: str) -> int:
    return int(rows(running.data, f"SELECT count(*) AS n FROM ({query})")[0]["n"])


def test_fifty_labels_at_fifteen_milliseconds(open_label: OpenLabel, desk: Desk) -> None:
    page = open_label(desk)
    expect(page.locator(".cs")).to_have_attribute("data-ahead", re.compile(r"^[56]\d$"))
    page.keyboard.press("Shift")
    keys = [str(1 + i * 7 % 3) for i in range(50)]
    page.keyboard.type("".join(keys), delay=15)
    pressed = [entry for entry in page.evaluate("window.pressed") if entry[0] in "123"]
    assert [key for key, _, _ in pressed] == keys
    # A key without an item labels nothing; what was pressed on one must be there.
    meant = [(OPTIONS[int(key) - 1], state) for key, lease, state in pressed if lease]
    assert len(meant) == 50, "the page ran out of items"
    expect(page.locator("[data-progress-text]")).to_contain_text("50 of 100")
    saved(page)
    kept = rows(desk.data, LABELS)
    assert [(row["true_option"], row["state"].strip('"').split("\\n")[0]) for row in kept] == meant
    assert len({row["case_id"] for row in kept}) == 50
    assert {row["source"] for row in kept} == {"queue", "audit"}
    assert all(0 < row["propensity"] <= 1 for row in kept)
    assert all(bool(row["blind"]) == (row["source"] == "audit") for row in kept)


def test_a_killed_server_loses_no_acknowledged_label(open_label: OpenLabel, process: Running) -> None:
    page = open_label(process)
    saved(page)
    page.keyboard.type("123" * 5, delay=15)
    saved(page)
    assert len(rows(process.data, LABELS)) == 15
    process.process.send_signal(signal.SIGKILL)
    process.process.wait(10)
    page.keyboard.type("11111", delay=15)
    expect(page.locator("[data-saved='retry']")).to_contain_text("5 not saved yet")
    expect(page.locator("[data-alert]")).to_contain_text("does not answer")
    again = start(process.data, "--port", process.url.rsplit(":", 1)[1], ready=False)
    try:
        saved(page)
        kept = rows(again.data, LABELS)
        assert len(kept) == 20
        assert len({row["id"] for row in kept}) == len({row["case_id"] for row in kept}) == 20
        assert rows(again.data, "PRAGMA integrity_check") == [{"integrity_check": "ok"}]
        # And the page goes on.
        page.keyboard.press("2")
        saved(page)
        assert len(rows(again.data, LABELS)) == 21
    finally:
        again.process.kill()
        again.process.wait(10)


def test_what_is_not_sent_survives_a_reload(open_label: OpenLabel, desk: Desk) -> None:
    page = open_label(desk)
    saved(page)
    page.route("**/component_server*", lambda route: route.abort())
    page.route("**/component_server/*", lambda route: route.abort())
    page.keyboard.type("12", delay=15)
    expect(page.locator("[data-saved='retry']")).to_contain_text("2 not saved yet")
    assert len(rows(desk.data, LABELS)) == 0
    page.unroute_all()
    page.reload()
    page.locator(".cs[data-lease]").wait_for(state="attached")
    saved(page)
    assert [row["true_option"] for row in rows(desk.data, LABELS)] == ["billing", "delivery"]


def test_two_people_at_once_get_different_items(open_label: OpenLabel, desk: Desk) -> None:
    ann, bob = open_label(desk, name="Ann"), open_label(desk, name="Bob")
    saved(ann)
    saved(bob)
    for _ in range(4):
        ann.keyboard.type("123", delay=15)
        bob.keyboard.type("321", delay=15)
    saved(ann)
    saved(bob)
    kept = rows(desk.data, LABELS)
    assert sorted(row["labeller"] for row in kept) == ["Ann"] * 12 + ["Bob"] * 12
    twice = [row["case_id"] for row in kept]
    doubled = {case for case in twice if twice.count(case) > 1}
    wanted = {
        r["id"]
        for r in rows(
            desk.data, "SELECT d.id FROM queue_items i JOIN decisions d ON d.serial = i.decision WHERE wanted = 2"
        )
    }
    assert doubled <= wanted
    for person in ("Ann", "Bob"):
        cases = [row["case_id"] for row in kept if row["labeller"] == person]
        assert len(set(cases)) == len(cases)


def test_keys_do_what_they_say(open_label: OpenLabel, desk: Desk) -> None:
    page = open_label(desk, at=address("refund"))
    saved(page)
    for key in ("y", "n", "c", "s", "1", "2"):
        page.keyboard.press(key)
    saved(page)
    assert [row["true_option"] for row in rows(desk.data, LABELS)] == ["true", "false", None, "true", "false"]
    assert [r["kind"] for r in rows(desk.data, "SELECT kind FROM acts ORDER BY serial")].count("skipped") == 1
    lease = page.locator(".cs").get_attribute("data-lease")
    page.keyboard.press("u")
    expect(page.locator(".cs")).not_to_have_attribute("data-lease", str(lease))
    page.keyboard.press("n")
    saved(page)
    newest = rows(desk.data, LABELS)[-3:]
    assert [row["verdict"] for row in newest][1] == "withdrawn"
    assert newest[0]["case_id"] == newest[2]["case_id"]
    # A digit beyond the options, a key held down and a key with a modifier label nothing.
    before = len(rows(desk.data, LABELS))
    page.keyboard.press("9")
    page.keyboard.press("Control+1")
    page.keyboard.press("e")
    page.keyboard.type("12 yes")
    page.keyboard.press("Enter")
    saved(page)
    assert len(rows(desk.data, LABELS)) == before
    page.keyboard.press("y")
    saved(page)
    assert rows(desk.data, LABELS)[-1]["note"] == "12 yes"


def test_enter_accepts_only_what_is_shown(open_label: OpenLabel, desk: Desk) -> None:
    page = open_label(desk)
    saved(page)
    seen = {"queue": 0, "audit": 0}
    for _ in range(12):
        stream = "audit" if "Audit" in (page.locator("[data-why]").text_content() or "") else "queue"
        seen[stream] += 1
        lease = page.locator(".cs").get_attribute("data-lease")
        lead = page.locator(".cs-choice.is-lead")
        if stream == "audit":
            expect(lead).to_have_count(0)
            expect(page.locator("[data-hidden]")).to_contain_text("hidden until you have chosen")
            expect(page.locator(".cs-choice-fig").first).not_to_contain_text(re.compile("%"))
            page.keyboard.press("Enter")
            expect(page.locator(".cs")).to_have_attribute("data-lease", str(lease))
            page.keyboard.press("1")
        else:
            expect(lead).to_have_count(1)
            page.keyboard.press("Enter")
        expect(page.locator(".cs")).not_to_have_attribute("data-lease", str(lease))
    saved(page)
    assert all(seen.values())
    shown = [row for row in rows(desk.data, LABELS) if row["source"] == "queue"]
    assert {row["verdict"] for row in shown} == {"right"}


def test_the_person_may_hide_all_answers(open_label: OpenLabel, desk: Desk) -> None:
    page = open_label(desk)
    page.get_by_role("button", name="Blind").click()
    page.keyboard.press("1")
    expect(page.locator(".cs-choice.is-lead")).to_have_count(0)
    page.keyboard.press("1")
    page.keyboard.press("1")
    saved(page)
    assert [bool(row["blind"]) for row in rows(desk.data, LABELS)][1:] == [True, True]


def test_the_name_is_asked_once(open_label: OpenLabel, desk: Desk) -> None:
    page = open_label(desk, name=None, item=False)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Who labels?")
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("Type a name")
    dialog.get_by_label("Your name").fill("Maren")
    page.keyboard.press("Enter")
    page.locator(".cs[data-lease]").wait_for(state="attached")
    page.keyboard.press("1")
    saved(page)
    assert [row["labeller"] for row in rows(desk.data, LABELS)] == ["Maren"]
    page.reload()
    page.locator(".cs[data-lease]").wait_for(state="attached")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_link_leads_to_its_question(open_label: OpenLabel, desk: Desk) -> None:
    page = open_label(desk, at=address("refund"))
    expect(page.locator("[data-wording]")).to_have_text("Does the customer ask for money back?")
    page.locator("[data-question-menu]").click()
    page.get_by_role("menuitemradio", name="next_team").click()
    expect(page.locator("[data-wording]")).to_have_text("Which team should take this?")
    assert "question=next_team" in page.url
    assert "version=1" in page.url
    page.reload()
    page.locator(".cs[data-lease]").wait_for(state="attached")
    expect(page.locator("[data-wording]")).to_have_text("Which team should take this?")
    page.go_back()
    expect(page.locator("[data-wording]")).to_have_text("Does the customer ask for money back?")
    gone = open_label(desk, at=f"/label?schema={uuid.uuid4()}", item=False)
    expect(gone.locator("[data-nothing]")).to_contain_text("That is not here")


def test_settings_are_kept(open_label: OpenLabel, desk: Desk) -> None:
    page = open_label(desk)
    page.get_by_role("button", name="What is shown: shares and order").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Picked at random (audit)").fill("50")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    assert rows(desk.data, "SELECT audit_share FROM queues") == [{"audit_share": 0.5}]


def test_finding_labels_apart_and_a_case_goes(open_label: OpenLabel, desk: Desk) -> None:
    page = open_label(desk)
    page.get_by_role("button", name="Find decisions").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Words of the state").fill("ticket 41")
    expect(dialog.locator("[data-found]")).to_have_count(11)
    # Digits in a field of the dialog label nothing on the page behind it.
    assert not rows(desk.data, LABELS)
    dialog.get_by_label("Words of the state").fill("ticket 417")
    expect(dialog.locator("[data-found]")).to_have_count(1)
    dialog.get_by_role("button", name=re.compile("Ticket 417")).click()
    dialog.get_by_role("group", name="What is true").get_by_role("button", name="delivery").click()
    expect(dialog.locator(".cs-said")).to_contain_text("Ann: delivery · volunteered")
    (label,) = rows(desk.data, LABELS)
    assert (label["source"], label["propensity"]) == ("volunteered", None)
    with page.expect_download() as download:
        dialog.get_by_role("link", name="Export").click()
    assert "Ticket 417" in download.value.path().read_text(encoding="utf-8")
    dialog.get_by_role("button", name="Empty the state").click()
    dialog.get_by_role("button", name="Empty the state").click()
    expect(dialog.get_by_role("button", name="Empty the state")).to_have_count(0)
    assert not rows(desk.data, "SELECT rowid FROM searches WHERE searches MATCH '417'")
    dialog.get_by_role("button", name="Delete the case").click()
    dialog.get_by_role("button", name="Delete the case").click()
    expect(dialog.locator("[data-found]")).to_have_count(0)
    assert not rows(desk.data, LABELS)
    dialog.get_by_label("Words of the state").fill("ticket 41")
    expect(dialog.locator("[data-found]")).to_have_count(10)
    dialog.get_by_label("all shown").check()
    dialog.get_by_role("button", name="Label 10").click()
    expect(dialog.get_by_role("status")).to_contain_text("10 labelled in bulk")
    assert {row["source"] for row in rows(desk.data, LABELS)} == {"bulk"}


def test_people_who_differ_settle_it(open_label: OpenLabel, desk: Desk) -> None:
    ann = open_label(desk, name="Ann")
    ann.get_by_role("button", name="What is shown: shares and order").click()
    ann.get_by_role("dialog").get_by_label("Asked of two people").fill("100")
    ann.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(ann.get_by_role("dialog")).to_have_count(0)
    ann.keyboard.type("111", delay=30)
    saved(ann)
    bob = open_label(desk, name="Bob")
    expect(bob.locator("[data-why]")).to_contain_text("a second opinion")
    bob.keyboard.type("221", delay=30)
    saved(bob)
    bob.get_by_role("button", name="People: agreement and conflicts").click()
    dialog = bob.get_by_role("dialog")
    expect(dialog).to_contain_text("Ann, Bob judged 3 answers in common")
    expect(dialog.locator("[data-conflict-of]")).to_have_count(2)
    dialog.locator("[data-conflict-of]").first.get_by_role("button", name="technical").click()
    expect(dialog.locator("[data-conflict-of]")).to_have_count(1)
    dialog.locator("[data-conflict-of]").first.get_by_role("button", name="Nobody can tell").click()
    expect(dialog).to_contain_text("Nothing is open")
    settled = rows(desk.data, "SELECT true_option, labeller FROM verdicts ORDER BY serial")
    assert [tuple(row.values()) for row in settled] == [("technical", "Bob"), (None, "Bob")]


def test_axe_finds_nothing(open_label: OpenLabel, desk: Desk) -> None:
    page = open_label(desk)
    page.keyboard.type("12", delay=30)
    saved(page)
    assert violations(page) == {}
    for name in ("Find decisions", "People: agreement and conflicts", "What is shown: shares and order", "Keys"):
        page.get_by_role("button", name=name, exact=True).click()
        expect(page.get_by_role("dialog")).to_be_visible()
        assert violations(page) == {}, name
        page.keyboard.press("Escape")
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert violations(page) == {}
