"""What every page and API works on: the settings, the engine and the database of one running studio."""

from __future__ import annotations

from dataclasses import dataclass

from model.engine import Engine
from storage.database import Database
from studio.settings import Settings


@dataclass(frozen=True)
class Studio:
    """One running studio. Passed on whole; holds no state of its own."""

    settings: Settings
    engine: Engine
    database: Database

    def close(self) -> None:
        """Ends the engine's worker and closes the database."""
        self.engine.close()
        self.database.close()
