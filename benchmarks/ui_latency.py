"""From a key to the painted bars, in real Chromium: `python benchmarks/ui_latency.py [--quick] [--keys N]`.

Starts a studio of its own for each scorer, opens the Design page with 1 × 4, 8 × 5 and 64 × 10 questions × options, and
types letters into one question's wording, each after the answer of the one before. One table, in milliseconds:

letter   keydown to the frame that shows the letter
answer   keydown to the frame that shows the bars of the document with that letter
model    the scorer's own time inside that, as the page shows it
rest     answer without model: page, wait, transport, server, paint. This is what the promise of 60 ms is about
wait     keydown to the request: the page asks at once while runs take under 100 ms, and after longer ones waits as long

Scorers: "constant" takes no time (logits are hashes), so its rows are the page and the server alone; and `--model`, the
embedded one without. `--quick` is a smoke test: the constant scorer and few keys. What others do on the machine counts
here, so the load is printed. Above the rows: first paint in a fresh profile, and when it works.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

# Not this folder, where `model` would be another file.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from model.questions import CLEF_LIMITS, Limits, Questions, render
from model.scorer import Reading, Request, ScorerInfo
from model.state import State, Tokens

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
PATIENCE_MS = 180_000
SHAPES = ((1, 4), (8, 5), (64, 10))
KEYS, QUICK_KEYS = 40, 6
WARM_KEYS = 3
"""Typed first and not counted: the page's scripts are compiled and the model's state is read then."""
LETTERS = "is it about a late parcel or the money for it and who answers next "
STATE = """From: Maren Oduya, Harbour Street Bakery
Subject: Charged twice

Our card was charged twice for November. Please send the second payment back."""

WATCH = """
window.bench = { runs: new Map(), painted: null, letter: null };
const frame = (then) => requestAnimationFrame(() => {
  const after = new MessageChannel();
  after.port1.onmessage = () => then(performance.now());
  after.port2.postMessage(0);
});
const fetched = window.fetch;
window.fetch = async (...given) => {
  const body = given[1]?.body;
  const ask = typeof body === "string" && body.includes('"fn_name":"ask"');
  const sent = performance.now();
  const reply = await fetched(...given);
  if (ask) {
    reply.clone().json().then((answer) => {
      const { seq, ms } = answer.data ?? answer;
      bench.runs.set(String(seq), { sent, ms });
    });
  }
  return reply;
};
document.addEventListener("keydown", (event) => {
  const start = event.timeStamp;
  const key = { start, letter: null, answer: null };
  bench.key = key;
  frame((at) => { key.letter = at - start; });
}, true);
bench.watch = (root) => new MutationObserver(() => {
  const { key } = bench;
  const run = root.dataset.run;
  frame((at) => {
    const { sent, ms } = bench.runs.get(run) ?? {};
    if (key && sent >= key.start) Object.assign(key, { answer: at - key.start, wait: sent - key.start, model: ms });
  });
}).observe(root, { attributeFilter: ["data-run"] });
"""


class Constant:
    """Follows `model.scorer.Scorer`: an answer is a hash of what was asked, and takes no time."""

    limits: Limits = CLEF_LIMITS
    info = ScorerInfo("constant", "embedded", "c" * 64, "neutral", max_tokens=32_768, sees_pictures=False)

    def count(self, state: State, questions: Questions) -> Tokens:
        """A token is four characters."""
        own = len(render(state.value)) // 4
        return Tokens(own, 0, 10 * len(questions), 0, self.info.max_tokens, own)

    def score(self, requests: Sequence[Request]) -> list[Reading]:
        """See the class."""
        return [self._read(request) for request in requests]

    def _read(self, request: Request) -> Reading:
        state = render(request.state.value)
        logits = {}
        for key, question in request.questions.items():
            said = json.dumps([state, key, question.instructions], default=str)
            logits[key] = [_hashed(said + option.id) for option in question.options()]
        return Reading(logits=logits, tokens=self.count(request.state, request.questions))


def _hashed(text: str) -> float:
    """0 to 4, always the same for the same text."""
    return hashlib.blake2b(text.encode(), digest_size=1).digest()[0] / 64


@dataclass(frozen=True)
class Key:
    """One key, in milliseconds (see the module)."""

    letter: float
    answer: float
    model: float
    wait: float


def document(questions: int, options: int) -> str:
    """A kept draft of so many choices, all open, as the page keeps it in its tab."""
    asked = [
        {
            "uid": f"q{i}",
            "id": f"question_{i}",
            "type": "choice",
            "instructions": f"Which of these is it about, number {i}? ",
            "criteria": {},
            "levels": [],
            "open": True,
            "options": [
                {"uid": f"o{i}-{j}", "name": f"option_{j}", "description": f"what number {j} stands for"}
                for j in range(options)
            ],
        }
        for i in range(questions)
    ]
    doc: dict[str, Any] = {"schema": str(uuid.uuid4()), "name": "Bench", "description": "", "questions": asked}
    doc |= {"state": STATE, "plain": False, "pictures": [], "allowCut": False}
    return json.dumps({"format": 1, "doc": doc, "revisions": {}})


def first(browser: Browser, url: str) -> tuple[float, float]:
    """First paint and the page's own readiness in a fresh profile, in ms from the start of the navigation."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.set_default_timeout(PATIENCE_MS)
    page.goto(url)
    page.locator("html[data-ready='1']").wait_for(state="attached")
    ready = page.evaluate("performance.now()")
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN")
    page.close()
    return paint, ready


def typed(page: Page, keys: int) -> list[Key]:
    """Types that many letters into the question in the middle, and some before that are not counted."""
    wording = page.locator(".cs-q textarea.cs-q-text")
    field = wording.nth(wording.count() // 2)
    field.scroll_into_view_if_needed()
    field.focus()
    page.keyboard.press("End")
    found = []
    for i in range(WARM_KEYS + keys):
        page.keyboard.press(LETTERS[i % len(LETTERS)].replace(" ", "Space"))
        page.wait_for_function("() => bench.key?.answer && bench.key.letter")
        seen = page.evaluate("() => { const { key } = bench; bench.key = null; return key; }")
        found.append(Key(seen["letter"], seen["answer"], seen["model"], seen["wait"]))
    return found[WARM_KEYS:]


def measure(browser: Browser, url: str, shape: tuple[int, int], keys: int) -> list[Key]:
    """One shape in a fresh tab."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.set_default_timeout(PATIENCE_MS)
    page.add_init_script(WATCH)
    page.add_init_script(f"sessionStorage.setItem('clef-studio-draft', {json.dumps(document(*shape))})")
    page.goto(url)
    page.locator(".cs[data-run]").wait_for(state="attached")
    page.locator("[data-answer-card]:not([aria-busy])").wait_for()
    page.evaluate("() => bench.watch(document.querySelector('.cs'))")
    found = typed(page, keys)
    page.close()
    return found


def row(scorer: str, shape: tuple[int, int], keys: Sequence[Key]) -> str:
    """A line of the table: p50 / p95 of each part."""
    parts = ([k.letter for k in keys], [k.answer for k in keys], [k.model for k in keys])
    rest = [k.answer - k.model for k in keys]
    cells = [f"{quantile(v, 50):6.0f} /{quantile(v, 95):5.0f}" for v in (*parts, rest, [k.wait for k in keys])]
    return f"{scorer:10} {shape[0]:3} × {shape[1]:<3} {len(keys):4}  " + "  ".join(cells)


HEAD = f"{'scorer':10} {'shape':>9} {'keys':>4}  " + "  ".join(
    f"{name:>13}" for name in ("letter", "answer", "model", "rest", "wait")
)


def quantile(values: Sequence[float], percent: int) -> float:
    """A percentile by linear interpolation between order statistics."""
    if len(values) == 1:
        return values[0]
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


@contextmanager
def studio(scorer: str) -> Iterator[str]:
    """The address of a studio in its own process, ready to answer."""
    with tempfile.TemporaryDirectory() as data:
        if scorer == "constant":
            command = [sys.executable, str(Path(__file__)), "--serve", data]
        else:
            command = [sys.executable, "app.py", "--model", scorer, "--port", "0", "--data", data]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        try:
            url = _address(process)
            _until_ready(url)
            yield url
        finally:
            process.terminate()
            process.wait(10)


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"http://\S+", line):
            return found.group().rstrip("/")
    raise SystemExit(f"the studio ended with {process.wait()} before it listened")


def _until_ready(url: str) -> None:
    end = time.monotonic() + PATIENCE_MS / 1000
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(f"{url}/readyz", timeout=10).close()
            return
        except urllib.error.HTTPError as error:
            if error.code != 503:
                raise
            time.sleep(0.2)
    raise SystemExit("the model did not load in time")


def serve(data: Path) -> None:
    """A studio on the constant scorer, until it is ended."""
    import uvicorn

    from model.engine import Engine
    from studio.server import build
    from studio.settings import Settings

    app = build(Settings(data=data, port=0), engine=Engine(lambda _: Constant()))

    class Server(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            print(f"http://127.0.0.1:{self.servers[0].sockets[0].getsockname()[1]}", flush=True)

    Server(uvicorn.Config(app, port=0, log_level="error", timeout_graceful_shutdown=1)).run()


def main() -> None:
    """Parses the command line and prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the constant scorer and few keys: does it still work?")
    parser.add_argument("--keys", type=int, default=KEYS, help=f"letters per shape (default {KEYS})")
    parser.add_argument("--model", default="embedded", help="the real scorer, as for app.py (default: embedded)")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve is not None:
        serve(given.serve)
        return
    keys = QUICK_KEYS if given.quick else given.keys
    scorers = ["constant"] if given.quick else ["constant", given.model]
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
        print(f"Chromium {browser.version}, {os.cpu_count()} cores, {platform.machine()}, load {load}; ms, p50 / p95")
        print(HEAD)
        for scorer in scorers:
            with studio(scorer) as url:
                first(browser, url)
                paint, ready = first(browser, url)
                print(f"{Path(scorer).name:10} first paint {paint:.0f} ms, usable after {ready:.0f} ms")
                for shape in SHAPES:
                    print(row(Path(scorer).name, shape, measure(browser, url, shape, keys)), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
