"""Makes the README's pictures: `python -m benchmarks.screenshots [--model DIR|NAME] [--out FOLDER]`.

Starts a studio with a data folder of its own on the model that is given (the embedded one without) and opens its rooms
in Chromium. Design shows the first examples. Runs and Label show our own support messages, judged by that model. The
labels behind Calibration are simulated (`tests.calibration_data`: a scorer that is too sure), for a real set of that
size takes people hours; the README says so.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from model.embedded.corpus import read_corpus
from model.questions import parse_questions
from storage.database import Database
from storage.schemas import create_schema, publish
from tests.calibration_data import seed

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
PATIENCE_MS = 180_000
TICKETS = 60
"""How many of our own support messages are run."""


def main() -> None:
    """Parses the command line and writes the pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "screenshots")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as data:
        settings = ["--model", given.model, "--data", data]
        address = _prepare(Path(data), settings)
        studio = subprocess.Popen(
            [sys.executable, "app.py", *settings, "--port", "0"], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        try:
            url = _address(studio)
            with sync_playwright() as play:
                browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
                for name, theme, size, path, show in _shots(address):
                    file = given.out / f"{name}.png"
                    _shot(browser, url + path, theme, size, show, file)
                    print(f"{file}: {file.stat().st_size:,} bytes", flush=True)
                browser.close()
        finally:
            studio.terminate()
            studio.wait(10)


def _shots(calibration: str) -> list[tuple[str, str, tuple[int, int], str, Callable[[Page], None]]]:
    """File name, theme, width and height in CSS pixels, address, and what brings the page there."""
    wide, phone = (1440, 900), (390, 844)
    return [
        ("design-light", "light", wide, "", _example("Phishing page")),
        ("design-dark", "dark", wide, "", _example("Support triage")),
        ("design-phone", "light", phone, "", _example("Support triage")),
        ("label", "light", wide, "/label", _labelled),
        ("calibration", "light", (1440, 1200), calibration, _plotted),
        ("calibration-dark", "dark", (1440, 1200), calibration, _plotted),
        ("runs", "light", wide, "/runs", _ran),
    ]


def _prepare(data: Path, settings: list[str]) -> str:
    """Fills the folder; returns Calibration's address of the simulated labels."""
    example = json.loads((ROOT / "assets" / "examples" / "1-support-triage.json").read_text(encoding="utf-8"))
    support = next(family for family in read_corpus() if family.name == "support")
    step = len(support.messages) // TICKETS
    tickets = data / "tickets.csv"
    with tickets.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["ticket", "message"])
        writer.writerows((4100 + i, m.text) for i, m in enumerate(support.messages[::step][:TICKETS]))
    with Database.open(data) as database:
        place = seed(
            database, audit=320, queue=320, volunteered=40, unlabelled=400, name="Team of a ticket (simulated)"
        )
        schema = create_schema(database, name=example["name"], description=example["description"])
        publish(database, schema.id, parse_questions(example["questions"]))
    run = [sys.executable, "app.py", "run", str(tickets), "--schema", example["name"], "--text", "message", *settings]
    subprocess.run(run, cwd=ROOT, check=True)
    return f"/calibration?questions={place['questions']}&scorer={place['scorer']}&question={place['question']}"


def _address(studio: subprocess.Popen[str]) -> str:
    assert studio.stdout is not None
    for line in studio.stdout:
        if found := re.search(r"http://\S+", line):
            return found.group().rstrip("/")
    raise SystemExit(f"the studio ended with {studio.wait()} before it listened")


def _shot(
    browser: Browser, url: str, theme: str, size: tuple[int, int], show: Callable[[Page], None], path: Path
) -> None:
    page = browser.new_page(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if theme == "dark" else "light",
        reduced_motion="reduce",
        device_scale_factor=2,
    )
    page.set_default_timeout(PATIENCE_MS)
    # The Label page asks who labels, unless it knows.
    page.add_init_script("localStorage.setItem('clef-studio-labeller', 'Maren')")
    page.goto(url)
    page.locator("html[data-ready='1']").wait_for(state="attached")
    show(page)
    page.evaluate("scrollTo(0, 0)")
    page.mouse.move(0, 0)
    page.screenshot(path=str(path))
    page.close()


def _example(name: str) -> Callable[[Page], None]:
    def show(page: Page) -> None:
        page.locator(".cs[data-run]").wait_for(state="attached")
        page.get_by_role("button", name="Examples", exact=True).click()
        page.get_by_role("menuitem", name=re.compile(f"^{re.escape(name)}")).first.click()
        page.wait_for_function("name => document.querySelector('[data-title]').value === name", arg=name)
        _answered(page)
        # The first answer reads the picture; the time that is shown is that of an edit, with a wording that is new.
        wording = page.get_by_label("Wording of question 1")
        for key in ("End", "Space"):
            wording.press(key)
            _answered(page)
        wording.blur()

    return show


def _labelled(page: Page) -> None:
    page.locator(".cs[data-lease]").wait_for()


def _plotted(page: Page) -> None:
    page.locator("[data-plot] .main-svg").first.wait_for()


def _ran(page: Page) -> None:
    page.get_by_text("tickets.csv").first.wait_for()


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
