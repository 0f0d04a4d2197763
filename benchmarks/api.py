"""Load on the System One API: 1, 8 and 64 clients at once, mixed sizes.

    python benchmarks/api.py --model tests/golden/tiny_release      # starts a studio of its own
    python benchmarks/api.py --url http://127.0.0.1:7860            # or asks one that runs (key: CLEF_STUDIO_API_KEY)
    python benchmarks/api.py --model tests/golden/tiny_release --quick

Prints, for each number of clients: decisions per second, p50 and p95 of a request in ms, errors, and the largest
difference of a probability from what one client alone was answered. Ends with 1 if there were errors, or answers that
depend on who else asks (by more than `TOLERANCE`).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).parents[1]
CLIENTS = (1, 8, 64)
TIMEOUT = 120.0
TOLERANCE = 1e-4
"""Largest difference that batching may make, in float32."""
QUICK = 24
"""Requests per number of clients with `--quick`."""
WORDS = "The database is at full load, checkout returns errors and customers are waiting for an answer. "
QUESTIONS: dict[str, Any] = {
    "team": {"type": "choice", "instructions": "Who should answer?", "criteria": {"sales": None, "billing": None}},
    "severity": {"type": "score", "instructions": "How severe is it?", "criteria": ["none", "minor", "major"]},
    "urgent": {"type": "noul", "instructions": "Is it urgent?"},
}


def bodies(count: int) -> list[dict[str, Any]]:
    """Requests of mixed sizes: states of about 20, 100 and 500 tokens, one to three questions; no two alike."""
    names = list(QUESTIONS)
    return [
        {
            "model": "jev-latest",
            "state": f"Ticket {i}. " + WORDS * (1, 5, 25)[i % 3],
            "questions": {name: QUESTIONS[name] for name in names[: 1 + i % len(names)]},
        }
        for i in range(count)
    ]


@dataclass(frozen=True)
class Round:
    """What one number of clients got. `seconds` per request, of the whole round in `wall`."""

    clients: int
    wall: float
    seconds: list[float]
    errors: int
    distance: float


async def ask_all(url: str, asked: list[dict[str, Any]], clients: int) -> tuple[list[Any], list[float], float]:
    """Answers (None for an error) and times of `asked`, sent by `clients` at once, in order of `asked`."""
    answers: list[Any] = [None] * len(asked)
    times = [0.0] * len(asked)
    left = iter(range(len(asked)))
    limits = httpx.Limits(max_connections=clients)
    key = os.environ.get("CLEF_STUDIO_API_KEY")
    headers = {"authorization": f"Bearer {key}"} if key else {}
    async with httpx.AsyncClient(
        base_url=url, timeout=TIMEOUT, trust_env=False, limits=limits, headers=headers
    ) as client:

        async def work() -> None:
            for i in left:
                start = time.perf_counter()
                reply = await client.post("/v1/systemone", json=asked[i])
                times[i] = time.perf_counter() - start
                answers[i] = reply.json()["answers"] if reply.status_code == 200 else None

        start = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(clients)))
        return answers, times, time.perf_counter() - start


def probabilities(answers: Any) -> list[float]:
    """All probabilities of a reply, in order."""
    return [
        p
        for answer in answers.values()
        for p in (answer["probabilities"].values() if "probabilities" in answer else [answer["noul"]])
    ]


def measure(url: str, count: int) -> list[Round]:
    """One round for each number of clients, against the answers of the first."""
    asked = bodies(count)
    asyncio.run(ask_all(url, asked[:3], 1))  # the first forward passes are slower
    rounds, alone = [], None
    for clients in CLIENTS:
        answers, times, wall = asyncio.run(ask_all(url, asked, clients))
        alone = alone or answers
        distance = max(
            (
                abs(p - q)
                for one, other in zip(alone, answers, strict=True)
                if one is not None and other is not None
                for p, q in zip(probabilities(one), probabilities(other), strict=True)
            ),
            default=0.0,
        )
        rounds.append(Round(clients, wall, times, answers.count(None), distance))
    return rounds


@contextmanager
def studio(model: str, threads: int) -> Iterator[str]:
    """The address of a studio that runs until the block ends."""
    with tempfile.TemporaryDirectory() as data:
        command = [sys.executable, "app.py", "--model", model, "--port", "0", "--data", data, "--threads", str(threads)]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            url = next(part for part in process.stdout.readline().split() if part.startswith("http"))
            wait_ready(url)
            yield url
        finally:
            process.terminate()
            process.wait(30)


def wait_ready(url: str) -> None:
    """Returns once the scorer is ready. Raises RuntimeError when it cannot be opened."""
    end = time.monotonic() + 600
    while (reply := httpx.get(f"{url}readyz", trust_env=False, timeout=TIMEOUT)).status_code != 200:
        if reply.json()["status"] == "failed" or time.monotonic() > end:
            raise RuntimeError(reply.json()["message"])
        time.sleep(0.2)


def main() -> int:
    """Measures and prints a table. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--url", help="a studio that runs already")
    parser.add_argument("--model", default="embedded", help="of the studio that is started (default: %(default)s)")
    parser.add_argument("--requests", type=int, default=192, help="per number of clients (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help=f"only {QUICK} requests each: a smoke test")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads of the studio (default: %(default)s)")
    given = parser.parse_args()
    count = QUICK if given.quick else given.requests
    if given.url:
        rounds = measure(given.url, count)
    else:
        with studio(given.model, given.threads) as url:
            rounds = measure(url, count)
    print("clients  decisions/s   p50 ms   p95 ms  errors  largest difference")
    for r in rounds:
        middle, p95 = statistics.median(r.seconds) * 1000, statistics.quantiles(r.seconds, n=20)[-1] * 1000
        rate = len(r.seconds) / r.wall
        print(f"{r.clients:7d}  {rate:11.1f}  {middle:7.0f}  {p95:7.0f}  {r.errors:6d}  {r.distance:.1e}")
    return int(any(r.errors or r.distance > TOLERANCE for r in rounds))


if __name__ == "__main__":
    sys.exit(main())
