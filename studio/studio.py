"""What every page and API works on: the settings, the engine, the database and the worker of one running studio."""

from __future__ import annotations

from dataclasses import dataclass

from model.engine import Engine
from storage.database import Database
from studio.jobs import Worker
from studio.settings import Settings

JOB_SECONDS = 0.7
"""How long the portion that runs may hold up the end. What it loses is done again."""


@dataclass(frozen=True)
class Studio:
    """One running studio. Passed on whole; holds no state of its own."""

    settings: Settings
    engine: Engine
    database: Database
    worker: Worker
    """Does the jobs of the table; to be woken where a page adds one."""

    def close(self) -> None:
        """Ends the workers and closes the database. What they were at goes on at the next start."""
        self.worker.stop()
        self.engine.close()
        self.worker.close(JOB_SECONDS)
        self.database.close()
