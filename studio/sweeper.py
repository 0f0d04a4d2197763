"""Empties states that their schemas keep no longer: at the start, and every hour after that.

Contract
--------
One thread, which `close` ends at once. What could not be emptied is logged and tried again an hour later.
"""

from __future__ import annotations

import logging
import threading

from storage.database import Database, DatabaseError
from storage.privacy import sweep

log = logging.getLogger(__name__)

EVERY_SECONDS = 3600.0


class Sweeper:
    """See the module's contract."""

    def __init__(self, database: Database, *, every: float = EVERY_SECONDS) -> None:
        self._database = database
        self._every = every
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sweeper", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends the thread; waits for a portion that is being emptied."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                if count := sweep(self._database):
                    log.info("emptied %d states that their schemas keep no longer", count)
            except DatabaseError as error:
                log.error("states were not emptied, and will be in an hour: %s", error)
            self._ended.wait(self._every)
