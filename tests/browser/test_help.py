"""What "?" lists is what there is: every button of the page has its line, and every line its button."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.documents import document, question, triage
from tests.browser.test_design import png, settled

COVERS = {
    "Schema": "^Schema: open, name",
    "draft, v1": "^(draft|v\\d)",
    "Examples": "^Examples$",
    "Get code": "^Get code$",
    "Run all": "^Run \\d+ examples$",
    "History": "^History$",
    "Save": "^Save as v\\d+$",
    "Light or dark": "^Switch between light and dark$",
    "Keys and help": "^Keys and help$",
    "JSON view": "^(JSON view of the schema|Close the JSON view)$",
    "noul, choice, score": "^(noul|choice|score)(: type of question)?",
    "Grip": "^Move (question|option|level|\\S+).*: drag, or arrow keys$",
    "More": "^More for question",
    "Open, Fold": "^(Open|Fold) question",
    "Option, Level": "^(Option|Level)$",
    "Remove": "^Remove ",
    "A hint's button": "^(Put this hint on|Add none_of_these|Rename to|Show the (hint|\\d+ hints) that)",
    "Text, JSON": "^(Text|JSON)$",
    "Tidy up": "^Tidy up$",
    "Example states": "^(Previous example|Next example|Example states?|Example:|.*\\d+ of \\d+$)",
    "When too long": "^When too long$",
    "Add a picture": "^Add a picture",
    "Take a picture": "^Take a picture$",
    "A picture": "^(Enlarge picture|Move picture)",
    "Why?": "^Why\\?",
    "Right": "^Answer \\d+ is right$",
    "Wrong": "^Answer \\d+ is wrong$",
    "Say what is true": "^Say what is true",
    "Can't tell": "^Can't tell",
    "Note": "^(Add a|Change the) note$",
    "Take back": "^Take the label back$",
    "Show all": "^Show (all|the short list)$",
    "Keep": "^(Keep|Kept)$",
    "Stand alone?": "^Stand alone\\?$",
}
"""What each line of the list stands for: a pattern of the names that its buttons have for screen readers."""

NAMES = """() => [...document.querySelectorAll('.cs button, .cs select')]
  .filter((el) => el.checkVisibility() && !el.closest('dialog, .cs-menu'))
  .map((el) => el.getAttribute('aria-label') ?? (el.labels?.[0] ?? el).textContent.trim())"""


def listed(page: Page) -> list[str]:
    """The buttons that the list names."""
    page.get_by_role("button", name="Keys and help").click()
    dialog = page.get_by_role("dialog", name="Keys, buttons and words")
    expect(dialog).to_be_visible()
    found = dialog.locator("[data-button]").evaluate_all("all => all.map(e => e.dataset.button)")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    return list(found)


def test_every_button_is_listed_and_every_line_has_its_button(open_page: Open) -> None:
    options = [(f"option_{i}", "") for i in range(12)]
    questions = [
        *triage(),
        question("which", "choice", "Which of many?", options),
        question("even", "choice", "Which?", [("same", "same"), ("same_", "same")], opened=True),
    ]
    state = '{"subject": "Charged twice", "body": "Please send it back"}'
    examples = [{"name": "One", "state": state, "pictures": []}, {"name": "Two", "state": "two", "pictures": []}]
    page = open_page(document(questions, state=state, examples=examples, at=0))
    assert listed(page) == list(COVERS)
    page.get_by_role("button", name="JSON view of the schema").click()
    page.locator("input[type=file]").set_input_files([png("teal"), png("olive")])
    expect(page.locator(".cs-tile")).to_have_count(2)
    expect(page.locator(".cs-hint").first).to_be_visible()
    settled(page)
    names = set(page.evaluate(NAMES))
    page.get_by_role("button", name="Can't tell for answer 1").click()
    expect(page.locator("[data-label='saved']")).to_be_visible()
    names |= set(page.evaluate(NAMES))
    unlisted = {name for name in names if not any(re.search(pattern, name) for pattern in COVERS.values())}
    assert not unlisted, f"the list under ? has no line for {sorted(unlisted)}"
    # Which of the labels' buttons an answer has depends on how sure it is.
    either = {"Right", "Wrong", "Say what is true"}
    without = {
        line for line, pattern in COVERS.items() if line not in either and not any(re.search(pattern, n) for n in names)
    }
    assert not without, f"the list under ? has lines without a button: {sorted(without)}"
    assert any(re.search(COVERS[line], name) for line in either for name in names)
