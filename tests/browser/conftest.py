"""Real Chromium against a real server: one server and one browser for all tests, a new page for each.

Every page's end checks that nothing left the machine and that no script failed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.browser.documents import SEED

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
CI = os.environ.get("CI", "").lower() in ("1", "true")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    # A camera that shows a test picture, and is allowed.
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
PATIENCE_MS = 30_000
"""For a busy machine with two cores; what is quick is not slowed by it."""

expect.set_options(timeout=PATIENCE_MS)


@dataclass
class Running:
    """A studio in its own process."""

    url: str
    data: Path
    process: subprocess.Popen[str]


def start(data: Path, *more: str, ready: bool = True) -> Running:
    """Starts a studio on the tiny release and waits until it listens (and answers, with `ready`)."""
    command = [sys.executable, "app.py", "--model", "tests/golden/tiny_release", "--port", "0", "--data", str(data)]
    environ = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "GRADIO_TEMP_DIR": str(data / "tmp")}
    process = subprocess.Popen([*command, *more], cwd=ROOT, env=environ, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"http://\S+", line):
            break
    else:
        raise AssertionError(f"the studio ended with {process.wait()} before it listened")
    running = Running(found.group().rstrip("/"), data, process)
    if ready:
        until_ready(running.url)
    return running


def until_ready(url: str, seconds: float = 120) -> None:
    """Waits until the model answers."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(f"{url}/readyz", timeout=5).close()
            return
        except urllib.error.HTTPError as error:
            if error.code != 503:
                raise
            # The poll of a foreign process: there is nothing here to wait on but time.
            time.sleep(0.2)
    raise AssertionError("the model did not load in time")


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The studio that most tests share."""
    running = start(tmp_path_factory.mktemp("studio"))
    yield running
    running.process.terminate()
    running.process.wait(10)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium; without it the tests are skipped, but not on CI."""
    if not CHROMIUM.exists():
        message = f"no browser at {CHROMIUM} (install chromium, or set CHROMIUM)"
        if CI:
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """One context: its cache is what makes a page quick to open."""
    made = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    made.grant_permissions(["clipboard-read", "clipboard-write"])
    made.set_default_timeout(PATIENCE_MS)
    made.set_default_navigation_timeout(2 * PATIENCE_MS)
    yield made
    made.close()


Open = Callable[..., Page]


@pytest.fixture
def open_page(context: BrowserContext, studio: Running) -> Iterator[Open]:
    """open_page(document=None, url=..., wait=True, before="") → a page that is mounted and, where it can be, answered.

    `before` is a script that runs before the page's own.
    """
    pages: list[Page] = []
    faults: list[str] = []

    def watch(page: Page, url: str) -> None:
        own = urlsplit(url).netloc
        page.on("pageerror", lambda error: faults.append(f"script: {error}"))
        page.on(
            "request",
            lambda request: (
                None
                if urlsplit(request.url).scheme in ("data", "blob") or urlsplit(request.url).netloc == own
                else faults.append(f"left the machine: {request.url}")
            ),
        )

    def opened(document: str | None = None, *, url: str = studio.url, wait: bool = True, before: str = "") -> Page:
        page = context.new_page()
        pages.append(page)
        watch(page, url)
        if document is not None:
            page.add_init_script(SEED % document)
        if before:
            page.add_init_script(before)
        page.goto(f"{url}/")
        page.locator("html[data-ready='1']").wait_for(state="attached")
        if wait:
            page.locator(".cs[data-run]").wait_for(state="attached")
        return page

    yield opened
    for page in pages:
        page.close()
    assert not faults, faults
