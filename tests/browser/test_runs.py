"""The Runs page in a browser: a file in, a look before the run; pause, reload, kill -9; results, and out again."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from model.questions import parse_questions
from storage.database import Database
from storage.schemas import create_schema, publish
from tests.browser.axe import violations
from tests.browser.conftest import Running, start

QUESTIONS = parse_questions({"spam": {"type": "noul"}, "team": {"type": "choice", "criteria": {"a": None, "b": None}}})
ROWS = 160
FILE = "id;message;spam;team\n" + "".join(
    f"{i};only two cells\n" if i == 7 else f"{i};note {i if i % 10 else 0};{'yes' if i % 3 else 'no'};{'ab'[i % 2]}\n"
    for i in range(ROWS)
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A studio with one published schema; a test may start it again, in place."""
    folder: Path = tmp_path_factory.mktemp("runs")
    with Database.open(folder) as database:
        publish(database, create_schema(database, name="Mail").id, QUESTIONS)
    running = start(folder)
    yield running
    running.process.terminate()
    running.process.wait(10)


Visit = Callable[[], Page]


@pytest.fixture
def visit(context: BrowserContext, place: Running) -> Iterator[Visit]:
    """visit() → the page; at the end no script failed and nothing left the machine."""
    pages: list[Page] = []
    faults: list[str] = []

    def opened() -> Page:
        page = context.new_page()
        pages.append(page)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda r: None if r.url.startswith(("http://127.0.0.1:", "data:")) else faults.append(r.url))
        page.goto(f"{place.url}/runs")
        ready(page)
        return page

    yield opened
    for page in pages:
        page.close()
    assert not faults, faults


def ready(page: Page) -> None:
    page.locator("html[data-ready='1']").wait_for(state="attached")


def give(page: Page, name: str, data: str | bytes) -> None:
    buffer = data.encode() if isinstance(data, str) else data
    page.locator("[data-file]").set_input_files([{"name": name, "mimeType": "text/plain", "buffer": buffer}])


def nothing_to_object_to(page: Page) -> None:
    """axe in both themes, and a phone's width."""
    assert violations(page) == {}
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1440, "height": 900})


def test_a_file_is_read_and_looked_through_before_it_is_run(visit: Visit) -> None:
    page = visit()
    error = page.locator("[data-file-error]")
    for name, data, says in (
        ("broken.zip", "PK no zip", "The file broken.zip cannot be unpacked: File is not a zip file."),
        ("empty.csv", "", "The file empty.csv is empty."),
        ("letter.docx", "x", "The studio does not read letter.docx."),
        ("a.parquet", "text\nx\n", "The file a.parquet cannot be read as parquet"),
    ):
        give(page, name, data)
        expect(error).to_contain_text(says)
    give(page, "mail.csv", FILE)
    expect(page.locator("[data-file-about]")).to_contain_text("CSV with semicolons, UTF-8")
    expect(error).to_be_hidden()
    before = page.locator("[data-before]")
    expect(before).to_have_attribute("data-weighed", "1")
    # "note 0" is there 16 times.
    expect(page.locator("[data-figures]")).to_contain_text(re.compile(r"Rows160.*1 cannot be judged.*Repeats15"))
    expect(page.locator("[data-told]")).to_contain_text("team has a true answer in 159 rows")
    page.locator("[data-problems] summary").click()
    expect(page.locator("[data-problems]")).to_contain_text("9has 2 cells; the header has 4")
    with page.expect_download() as download:
        page.get_by_role("link", name="All as CSV").click()
    assert download.value.path().read_text(encoding="utf-8-sig").splitlines()[1] == "9,has 2 cells; the header has 4"
    page.locator("[data-preview] summary").click()
    expect(page.locator("[data-preview]")).to_contain_text("cannot be read: has 2 cells")
    # What is changed is looked through again, and stays over a reload.
    expect(page.get_by_role("combobox", name="message is")).to_have_value("text")
    page.get_by_role("combobox", name="id is").select_option("field")
    expect(page.get_by_role("textbox", name="message is called")).to_have_value("message")
    page.get_by_role("textbox", name="id is called").fill("message")
    page.get_by_role("textbox", name="id is called").press("Tab")
    expect(page.locator("[data-start-why]")).to_contain_text("Two columns are called message")
    page.get_by_role("combobox", name="id is").select_option("")
    page.get_by_role("combobox", name="spam is", exact=True).select_option("field")
    expect(page.locator("[data-mapping-notes]")).to_contain_text("spam holds true answers and is part of the state")
    expect(before).to_have_attribute("data-weighed", "1")
    expect(page.locator("[data-figures]")).to_contain_text("Repeats14")
    page.reload()
    ready(page)
    expect(page.get_by_role("combobox", name="spam is", exact=True)).to_have_value("field")
    expect(before).to_have_attribute("data-weighed", "1")
    nothing_to_object_to(page)


def test_a_run_pauses_goes_on_after_kill_9_and_is_read(visit: Visit, place: Running) -> None:
    page = visit()
    give(page, "mail.csv", FILE)
    expect(page.locator("[data-before]")).to_have_attribute("data-weighed", "1")
    page.get_by_label("How many rows first").fill("10")
    page.locator("[data-start]").click()
    head = page.locator("[data-run-head]")
    expect(head).to_have_attribute("data-status", "done")
    expect(head.locator("[data-far]")).to_have_text("10 rows")
    head.get_by_role("button", name="Run the rest").click()
    head.get_by_role("button", name="Pause").click()
    expect(head).to_have_attribute("data-status", "paused")
    far = head.locator("[data-far]").inner_text()
    assert 10 <= int(far.split()[0]) < ROWS
    assert far.endswith("of 160 rows")
    page.reload()
    ready(page)
    expect(head.locator("[data-far]")).to_have_text(far)
    head.get_by_role("button", name="Resume").click()
    expect(head.locator("[data-far]")).not_to_have_text(far)
    place.process.kill()
    place.process.wait(10)
    where = page.url.partition("/runs")[2]
    again = start(place.data)
    place.url, place.process = again.url, again.process
    page.goto(f"{place.url}/runs{where}")
    ready(page)
    expect(head).to_have_attribute("data-status", "done")
    expect(head.locator("[data-parts]")).to_have_text(
        "144 judged · 15 repeats took over an answer · 1 could not be judged · 288 true answers taken"
    )
    _results(page, head)
    nothing_to_object_to(page)
    # The Label page asks for a name first, unless it has one.
    page.evaluate("localStorage.setItem('clef-studio-labeller', 'Ann')")
    page.locator("[data-to-label]").click()
    expect(page.locator("[data-question-name]")).to_have_text("team")
    expect(page.locator("[data-read]")).to_contain_text("note")


def _results(page: Page, head: Locator) -> None:
    rows, found = page.locator("[data-rows]"), page.locator("[data-found]")
    expect(found).to_have_text("160 rows")
    expect(rows.locator("tbody tr")).to_have_count(50)
    for _ in range(3):
        rows.locator("[data-later]").click()
        expect(rows.locator("[data-earlier]")).to_be_enabled()
    expect(rows.locator("tbody tr")).to_have_count(10)
    page.get_by_role("combobox", name="Question").select_option("team")
    n = {}
    for show in ("Wrong", "Right", "Not judged", "Repeats"):
        page.get_by_role("button", name=show, exact=True).click()
        expect(rows).to_have_attribute(
            "data-shown", re.compile(rf"^team {show.split()[0].lower().replace('not', 'bad')}")
        )
        n[show] = int((rows.get_attribute("data-shown") or "").split()[-1])
    assert (n["Wrong"] + n["Right"], n["Not judged"], n["Repeats"]) == (159, 1, 15)
    expect(page.locator("[data-confusion] h2")).to_have_text(f"Right in {100 * n['Right'] / 159:.1f} %")
    cell = page.locator("[data-confusion] [data-cell]").first
    many = cell.inner_text()
    cell.click()
    expect(found).to_have_text(re.compile(rf"^{many} rows?, answered [ab], truly [ab]$"))
    page.reload()
    ready(page)
    expect(found).to_have_text(re.compile(rf"^{many} rows?, answered [ab], truly [ab]$"))
    rows.get_by_role("button", name="Show line").first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(re.compile("note .*team"))
    page.keyboard.press("Escape")
    with page.expect_download() as download:
        page.locator("[data-save='results.csv']").click()
    assert download.value.suggested_filename == "mail-results.csv"
    saved = list(csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8-sig"))))
    assert len(saved) == ROWS
    assert saved[7]["problem"] == "has 2 cells; the header has 4"
    assert {row["team: truth"] for row in saved} == {"a", "b", ""}
