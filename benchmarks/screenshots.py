"""Makes the README's pictures of the Design page: `python benchmarks/screenshots.py [--model DIR|NAME] [--out FOLDER]`.

Starts a studio with a data folder of its own on the model that is given (the embedded one without), opens its first
examples in Chromium and writes design-light.png, design-dark.png and design-phone.png.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
PATIENCE_MS = 180_000
SHOTS = [
    ("design-light", "light", 1440, 900, "Phishing page"),
    ("design-dark", "dark", 1440, 900, "Support triage"),
    ("design-phone", "light", 390, 844, "Support triage"),
]
"""File name, theme, width and height in CSS pixels, and the example that is shown."""


def main() -> None:
    """Parses the command line and writes the pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "screenshots")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as data:
        command = [sys.executable, "app.py", "--model", given.model, "--port", "0", "--data", data]
        studio = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        try:
            url = _address(studio)
            with sync_playwright() as play:
                browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
                for name, theme, width, height, example in SHOTS:
                    path = given.out / f"{name}.png"
                    _shot(browser, url, theme, (width, height), example, path)
                    print(f"{path}: {path.stat().st_size:,} bytes")
                browser.close()
        finally:
            studio.terminate()
            studio.wait(10)


def _address(studio: subprocess.Popen[str]) -> str:
    assert studio.stdout is not None
    for line in studio.stdout:
        if found := re.search(r"http://\S+", line):
            return found.group()
    raise SystemExit(f"the studio ended with {studio.wait()} before it listened")


def _shot(browser: Browser, url: str, theme: str, size: tuple[int, int], example: str, path: Path) -> None:
    page = browser.new_page(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if theme == "dark" else "light",
        reduced_motion="reduce",
        device_scale_factor=2,
    )
    page.set_default_timeout(PATIENCE_MS)
    page.goto(url)
    page.locator(".cs[data-run]").wait_for(state="attached")
    page.get_by_role("button", name="Examples", exact=True).click()
    page.get_by_role("menuitem", name=re.compile(f"^{re.escape(example)}")).first.click()
    page.wait_for_function("name => document.querySelector('[data-title]').value === name", arg=example)
    _answered(page)
    # The first answer reads the picture; the time that is shown is that of an edit, with a wording that is new.
    wording = page.get_by_label("Wording of question 1")
    for key in ("End", "Space"):
        wording.press(key)
        _answered(page)
    wording.blur()
    page.evaluate("scrollTo(0, 0)")
    page.mouse.move(0, 0)
    page.screenshot(path=str(path))
    page.close()


def _answered(page: Page) -> None:
    """Waits until the painted answers are those of the document, and its pictures are shown."""
    page.wait_for_function(
        """() => {
          const card = document.querySelector("[data-answer-card]");
          const pictures = [...document.querySelectorAll(".cs-tile img")];
          return card.getAttribute("aria-busy") !== "true" && pictures.every((p) => p.complete && p.naturalWidth);
        }"""
    )
    page.locator("[data-status]", has_text="live").wait_for()


if __name__ == "__main__":
    main()
