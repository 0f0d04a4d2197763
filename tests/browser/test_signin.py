"""A person signs in, labels under their own name, is told when the session ends, and signs out."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect

from tests.browser.axe import RUN, axe
from tests.browser.conftest import ROOT, Running, start
from tests.browser.documents import SEED, document
from tests.browser.test_labels import LABELS, answer, rows

PASSWORD = "correct horse"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A studio in which Ada may sign in."""
    users = tmp_path_factory.mktemp("people") / "users.json"
    command = [sys.executable, "app.py", "user", "add", "Ada", "--users", str(users)]
    subprocess.run(command, cwd=ROOT, input=f"{PASSWORD}\n", text=True, check=True)
    running = start(tmp_path_factory.mktemp("guarded"), "--users", str(users))
    yield running
    running.process.terminate()
    running.process.wait(10)


@pytest.fixture
def visitor(browser: Browser) -> Iterator[BrowserContext]:
    """A browser without cookies."""
    made = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    yield made
    made.close()


def sign_in(page: Page, password: str = PASSWORD) -> None:
    page.get_by_label("Name").fill("Ada")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def mounted(page: Page) -> None:
    page.locator("html[data-ready='1']").wait_for(state="attached")


def test_from_the_door_to_a_label_and_out(visitor: BrowserContext, guarded: Running) -> None:
    faults: list[str] = []
    page = visitor.new_page()
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.add_init_script(SEED % document(name="Signed"))
    page.goto(f"{guarded.url}/?from=mail")
    expect(page).to_have_title("Sign in · Clef Studio")
    expect(page.get_by_label("Name")).to_be_focused()
    sign_in(page, "wrong")
    expect(page.get_by_role("alert")).to_have_text("The name or the password is not right.")
    expect(page.get_by_label("Name")).to_have_value("Ada")
    expect(page.get_by_label("Password")).to_be_focused()
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{guarded.url}/?from=mail")
    mounted(page)
    expect(page.locator("[data-person]")).to_contain_text("Ada")
    page.locator(".cs[data-run]").wait_for(state="attached")
    section = answer(page, 2)
    section.get_by_role("button", name="Can't tell for answer 2").click()
    expect(section.locator("[data-label='saved']")).to_contain_text("can't tell · saved")
    assert [label["labeller"] for label in rows(guarded.data, LABELS)] == ["Ada"]

    # Signed out in another tab: this one says so, and works again after signing in there.
    other = visitor.new_page()
    other.goto(f"{guarded.url}/")
    mounted(other)
    other.get_by_role("button", name="Sign out").click()
    expect(other).to_have_title("Sign in · Clef Studio")
    page.get_by_label("Wording of question 1").fill("Is it still there?")
    bar = page.get_by_role("alert").filter(has_text="Your session has ended")
    expect(bar).to_be_visible()
    sign_in(other)
    mounted(other)
    page.get_by_label("Wording of question 1").fill("Is it there again?")
    expect(bar).to_have_count(0)
    expect(page.get_by_label("Wording of question 1")).to_have_value("Is it there again?")
    assert faults == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 390)])
def test_the_door_is_accessible(
    browser: Browser, guarded: Running, scheme: Literal["light", "dark"], width: int
) -> None:
    source = axe()
    size: ViewportSize = {"width": width, "height": 800}
    context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce", bypass_csp=True)
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{guarded.url}/sign-in")
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    sign_in(page, "wrong")
    expect(page.get_by_role("alert")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert {url.partition("?")[0] for url in asked if not url.startswith("data:")} == {f"{guarded.url}/sign-in"}
    page.evaluate(source)
    assert page.evaluate(RUN) == []
    context.close()


def test_the_name_in_the_nav_is_accessible(visitor: BrowserContext, guarded: Running) -> None:
    source = axe()
    page = visitor.new_page()
    page.goto(f"{guarded.url}/")
    sign_in(page)
    mounted(page)
    expect(page.locator("[data-person]")).to_be_visible()
    page.evaluate(source)
    assert page.evaluate(RUN) == []
