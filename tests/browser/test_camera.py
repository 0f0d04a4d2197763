"""A picture from the camera, where the browser has one; and what is said where there is none, or it is not allowed."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.axe import violations
from tests.browser.conftest import Open
from tests.browser.documents import document

WATCHED = """
window.streams = [];
const real = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
navigator.mediaDevices.getUserMedia = async (wanted) => {
  const stream = await real(wanted);
  window.streams.push(stream);
  return stream;
};
"""
REFUSED = """
const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
navigator.mediaDevices.getUserMedia = async (wanted) => {
  if (window.refusal === null) return open(wanted);
  throw new DOMException("no", window.refusal ?? "AbortError");
};
"""


def with_camera(open_page: Open, script: str = "") -> Page:
    """A page with the camera's dialog open; `script` runs first."""
    page = open_page(document())
    page.evaluate(f"() => {{ {script} }}")
    page.get_by_role("button", name="Take a picture").click()
    return page


def all_off(page: Page) -> None:
    """Waits until a camera was opened, and every one is switched off."""
    page.wait_for_function(
        "() => streams.length && streams.every((s) => s.getTracks().every((t) => t.readyState === 'ended'))"
    )


def test_a_picture_is_taken_and_the_camera_goes_off(open_page: Open) -> None:
    page = with_camera(open_page, WATCHED)
    dialog = page.get_by_role("dialog", name="Take a picture")
    take = dialog.get_by_role("button", name="Take", exact=True)
    expect(take).to_be_focused()
    assert page.evaluate("streams[0].getTracks()[0].readyState") == "live"
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    expect(page.locator(".cs-tile b")).to_contain_text("1 camera ")
    page.wait_for_function("() => document.querySelector('.cs-tile img').naturalWidth > 0")
    all_off(page)
    expect(page.get_by_role("button", name="Take a picture")).to_be_focused()


def test_leaving_the_dialog_switches_the_camera_off(open_page: Open) -> None:
    page = with_camera(open_page, WATCHED)
    dialog = page.get_by_role("dialog", name="Take a picture")
    expect(dialog.get_by_role("button", name="Take", exact=True)).to_be_enabled()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    all_off(page)
    page.get_by_role("button", name="Take a picture").click()
    expect(dialog.get_by_role("button", name="Take", exact=True)).to_be_enabled()
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    all_off(page)
    expect(page.locator(".cs-tile")).to_have_count(0)


def test_a_dialog_that_is_left_before_the_camera_comes_leaves_none_on(open_page: Open) -> None:
    slow = WATCHED + (
        "const quick = navigator.mediaDevices.getUserMedia;"
        "const gate = new Promise((open) => { window.letIn = open; });"
        "navigator.mediaDevices.getUserMedia = (wanted) => gate.then(() => quick(wanted));"
    )
    page = with_camera(open_page, slow)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.evaluate("letIn()")
    all_off(page)


def test_without_a_picture_the_dialog_says_why(open_page: Open) -> None:
    page = with_camera(open_page, REFUSED)
    dialog = page.get_by_role("dialog", name="Take a picture")
    take = dialog.get_by_role("button", name="Take", exact=True)
    again = dialog.get_by_role("button", name="Try again")
    alert = dialog.get_by_role("alert")
    for name, says in (
        ("NotAllowedError", "does not let this page use the camera"),
        ("NotFoundError", "No camera was found"),
        ("NotReadableError", "another program may be using it"),
    ):
        page.evaluate("name => { window.refusal = name; }", name)
        again.click()
        expect(alert).to_contain_text(says)
        expect(take).to_be_disabled()
    assert violations(page) == {}
    page.evaluate("() => { window.refusal = null; }")
    again.click()
    expect(take).to_be_enabled()
    expect(alert).to_be_hidden()
    assert violations(page) == {}


def test_a_browser_without_a_camera_does_not_offer_one(open_page: Open) -> None:
    # As on a plain http address of another machine.
    none = "Object.defineProperty(navigator, 'mediaDevices', {get: () => undefined, configurable: true});"
    page = open_page(document(), before=none)
    expect(page.get_by_role("button", name="Add a picture")).to_be_visible()
    expect(page.get_by_role("button", name="Take a picture")).to_have_count(0)
