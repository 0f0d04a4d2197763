"""The Datasets page in a browser: labels are chosen, counted, frozen, downloaded as a zip, and come back the same."""

from __future__ import annotations

import json
import sqlite3
import uuid
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from storage.database import FILE, Database
from storage.datasets.gather import Recipe, gather, labelled_schemas
from storage.decisions import record_decisions
from storage.labels import add_label
from storage.schemas import create_schema, publish
from tests.browser.axe import violations
from tests.browser.conftest import Running, start
from tests.browser.label_seed import OPTIONS, QUESTIONS, record

CASES = 30
LONG = "text,label\n" + "".join(
    f"message {i} {'win money' if i % 3 == 0 else 'see you'},{'spam' if i % 3 == 0 else 'ham'}\n" for i in range(12)
)


def seed(data: Path) -> None:
    """Writes a schema "Support" v1 and labelled decisions, of which some are volunteered and some audited."""
    with Database.open(data) as database:
        schema = create_schema(database, name="Support")
        publish(database, schema.id, QUESTIONS)
        records = [record(i, CASES, schema_id=schema.id, version=1) for i in range(CASES)]
        record_decisions(database, records)
        for i, made in enumerate(records[:-2]):
            source = "audit" if i % 6 == 0 else "volunteered" if i % 6 == 1 else "queue"
            lead = max(
                made.answers["next_team"].options,
                key=lambda o: dict(zip(OPTIONS, made.answers["next_team"].probabilities, strict=True))[o],
            )
            option = OPTIONS[(i + 1) % 3]
            add_label(
                database, id=str(uuid.uuid4()), decision=made.id, question="next_team", labeller="Ann", source=source,
                verdict="right" if option == lead else "wrong", true_option=None if option == lead else option,
                propensity=None if source == "volunteered" else 0.5,
            )  # fmt: skip


@pytest.fixture(scope="module")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("labelled")
    seed(folder)
    running = start(folder)
    yield running
    running.process.terminate()
    running.process.wait(10)


@pytest.fixture
def page(context: BrowserContext, seeded: Running) -> Iterator[Page]:
    made = context.new_page()
    faults: list[str] = []
    made.on("pageerror", lambda error: faults.append(str(error)))
    made.on("request", lambda r: None if r.url.startswith((seeded.url, "data:", "blob:")) else faults.append(r.url))
    made.goto(f"{seeded.url}/datasets")
    made.locator(".cs[data-shown=new]").wait_for(state="attached")
    yield made
    made.close()
    assert not faults, faults


@contextmanager
def kept(running: Running, folder: Path) -> Iterator[Database]:
    """A copy of what a studio that runs has kept so far."""
    folder.mkdir()
    with closing(sqlite3.connect(running.data / FILE)) as source, closing(sqlite3.connect(folder / FILE)) as copy:
        source.backup(copy)
    with Database.open(folder) as database:
        yield database


def truths(database: Database, *streams: str) -> dict[str, dict[str, str]]:
    """The labels of some streams, by state."""
    recipe = Recipe(name="x", questions=tuple(f.sha256 for f in labelled_schemas(database)), streams=streams)
    return {json.dumps(e.state): dict(e.labels) for e in gather(database, recipe, lambda _, why: None)}


def figure(page: Page, name: str) -> str:
    return page.locator("[data-choose] [data-figures] > div", has_text=name).locator(".cs-fig-num").inner_text()


def fits(page: Page) -> None:
    """Nothing sticks out of a phone's width."""
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1440, "height": 900})


def test_labels_go_out_as_a_dataset_and_come_back_the_same(page: Page, seeded: Running, tmp_path: Path) -> None:
    gives = page.locator("[data-gives][data-counted]")
    expect(gives).to_be_attached()
    assert (figure(page, "Rows"), figure(page, "Left out")) == ("28", "0")
    expect(gives).to_contain_text("Not labelled yet")
    expect(gives).to_contain_text("Audit labels are kept for evaluation")
    assert figure(page, "Test") == "5"
    # What is taken away is left out, with its reason.
    before = gives.get_attribute("data-counted")
    page.get_by_label("Volunteered").uncheck()
    expect(page.locator(f"[data-gives][data-counted]:not([data-counted='{before}'])")).to_be_attached()
    assert (figure(page, "Rows"), figure(page, "Left out")) == ("23", "5")
    expect(page.locator("[data-left-out]")).to_contain_text("Labelled in streams that were not chosen (volunteered)")
    page.get_by_label("Test, in a hundred").fill("95")
    expect(page.locator("[data-gives]")).to_contain_text("leave nothing to train on")
    expect(page.get_by_role("button", name="Freeze")).to_be_disabled()
    page.get_by_label("Test, in a hundred").fill("10")
    expect(gives).to_be_attached()
    assert not violations(page)
    fits(page)

    expect(page.get_by_label("Name of the dataset")).to_have_value("Support")
    page.get_by_role("button", name="Freeze").click()
    expect(page.get_by_role("heading", name="Support, version 1")).to_be_visible()
    hash = page.locator("[data-hash]").inner_text()
    page.get_by_role("button", name="Use this recipe again").click()
    expect(gives).to_have_attribute("data-counted", hash)
    page.get_by_role("button", name="Freeze").click()
    expect(page.get_by_role("status").filter(has_text="Nothing has changed: this is version 1")).to_be_visible()

    file = page.locator("[data-format=clef-finetune]")
    file.get_by_role("button", name="Make clef-finetune").click()
    expect(file.locator("[data-card]")).to_contain_text(hash)
    assert not violations(page)
    fits(page)
    with page.expect_download() as waiting:
        file.locator("[data-download]").click()
    path = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(path)
    assert path.name == "Support-1-clef-finetune.zip"
    with zipfile.ZipFile(path) as archive:
        rows = [
            json.loads(line) for name in archive.namelist() if name.endswith(".jsonl") for line in archive.open(name)
        ]
    with kept(seeded, tmp_path / "before") as database:
        sent = truths(database, "queue", "audit")
    assert {json.dumps(row["state"]): row["labels"] for row in rows} == sent
    assert len(sent) == 23

    page.get_by_role("button", name="Import", exact=True).click()
    page.locator("[data-file]").set_input_files(path)
    expect(page.locator("[data-recognised]")).to_contain_text("Recognised as clef-finetune: 23 rows with 23 labels")
    expect(page.locator("[data-bring]")).to_contain_text("The same questions as Support v1")
    page.get_by_role("button", name="Import 23 rows").click()
    expect(page.locator("[data-brought=done]")).to_contain_text("23 rows judged, 23 labels kept")
    with kept(seeded, tmp_path / "after") as database:
        assert truths(database, "import") == sent


def test_a_table_becomes_a_schema_with_descriptions(page: Page, seeded: Running, tmp_path: Path) -> None:
    path = tmp_path / "messages.csv"
    path.write_text(LONG + "broken\n")
    page.get_by_role("button", name="Import", exact=True).click()
    page.locator("[data-file]").set_input_files(path)
    expect(page.locator("[data-recognised]")).to_contain_text("a table in long form: 12 rows with 12 labels")
    page.locator("[data-refused] summary").click()
    expect(page.locator("[data-refused]")).to_contain_text("messages.csv:14")
    page.get_by_label("Name of the new schema").fill("Spam or ham")
    page.get_by_label("What spam means").fill("Nobody asked for it")
    assert not violations(page)
    fits(page)
    page.get_by_role("button", name="Import 12 rows").click()
    done = page.locator("[data-brought=done]")
    expect(done).to_contain_text("12 rows judged, 12 labels kept, 1 row could not be judged")
    # What came in is there after a reload, and the link leads to its schema.
    page.reload()
    expect(done).to_be_visible()
    done.get_by_role("link", name="The schema").click()
    expect(page.locator("html[data-ready='1']")).to_be_attached()
    expect(page.locator(".cs-title")).to_have_value("Spam or ham")
    with kept(seeded, tmp_path / "after") as database:
        asked = {q.sha256: q for q in labelled_schemas(database)}
    about = {
        o.id: o.description for q in asked.values() if "label" in q.questions for o in q.questions["label"].options()
    }
    assert about == {"spam": "Nobody asked for it", "ham": None}
