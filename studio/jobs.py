"""The worker: one thread that does the jobs of the table, one after another.

Contract
--------
* A kind of job has a function that works in portions and asks `Watch.wanted` between them; it returns the sentence with
  which the job ends. It raises `Paused` to wait for a person, with the reason.
* What fails with an exception ends as failed, with its sentence; the next job runs.
* `start` begins: what ran when the studio ended waits again, and the worker looks what there is to do. `wake` tells it
  that there is something new.
* At the end, `stop` first, so that what the end does to the engine counts against no job; what ran goes on next time.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping

from model.engine import Closed
from storage.database import Database
from storage.jobs import Job, Status, end_job, get_job, recover, take_next

log = logging.getLogger(__name__)


class Paused(Exception):
    """The job cannot go on by itself; the message says what a person must do."""


class Stopped(Exception):
    """A person wants the job paused or cancelled, or the studio ends."""


class Watch:
    """What a job's function may ask while it works."""

    def __init__(self, database: Database, job: Job, closed: threading.Event) -> None:
        self._database = database
        self._job = job
        self._closed = closed

    def check(self) -> None:
        """Raises Stopped if the job is to stop here."""
        if self._closed.is_set() or get_job(self._database, self._job.id).wanted != "run":
            raise Stopped


Handler = Callable[[Job, Watch], str]


class Worker:
    """See the module's contract."""

    def __init__(self, database: Database, handlers: Mapping[str, Handler]) -> None:
        self._database = database
        self._handlers = handlers
        self._closed = threading.Event()
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._work, name="clef-jobs", daemon=True)

    def start(self) -> None:
        """Begins to work; once."""
        recover(self._database)
        self._wake.set()
        self._thread.start()

    def wake(self) -> None:
        """There may be a job to do."""
        self._wake.set()

    def stop(self) -> None:
        """Asks for the end, after the portion that runs; its job goes on at the next start."""
        self._closed.set()
        self._wake.set()

    def close(self, timeout: float = 5.0) -> None:
        """`stop`, and waits for it, at most `timeout` seconds."""
        self.stop()
        if self._thread.ident is not None:
            self._thread.join(timeout)

    def _work(self) -> None:
        while not self._closed.is_set():
            self._wake.wait()
            self._wake.clear()
            while not self._closed.is_set() and (job := take_next(self._database, tuple(self._handlers))) is not None:
                do(self._database, job, self._handlers[job.kind], self._closed)


def do(database: Database, job: Job, handler: Handler, closed: threading.Event) -> Job:
    """Does one job that was taken, and keeps what became of it."""
    status: Status | None
    try:
        status, message = "done", handler(job, Watch(database, job, closed))
    except (Stopped, Closed):
        status, message = None, ""
    except Paused as reason:
        status, message = "paused", str(reason)
    except Exception as failure:
        if not closed.is_set():
            log.exception("job %s failed", job.id)
        status, message = "failed", str(failure) or type(failure).__name__
    if closed.is_set() and status != "done":
        # Whatever it met: the end takes the engine and the database away. `running` stays, and `recover` takes it up.
        return job
    if status is None:
        wanted = get_job(database, job.id).wanted
        if wanted == "run":
            return get_job(database, job.id)
        status = "paused" if wanted == "pause" else "cancelled"
    return end_job(database, job.id, status, message)
