"""What the APIs keep of the decisions that they made, where a person asked for it.

Contract
--------
A decision belongs to the published schema version that asks exactly its questions, where there is one. It is kept, with
its state and pictures and under a new id, if that schema records; with `--record` all are kept, also those that belong
to no schema. What cannot be kept is logged; the caller's answer does not depend on it.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Sequence

from model.engine import Decision
from storage.database import Database, DatabaseError
from storage.decisions import DecisionRecord, record_decision
from storage.errors import StorageError
from storage.pictures import save_picture
from storage.schemas import find_version

log = logging.getLogger(__name__)


class Recorder:
    """See the module's contract. `every`: keep all decisions."""

    def __init__(self, database: Database, *, every: bool = False) -> None:
        self.database = database
        self.every = every

    def keep(self, decision: Decision, files: Sequence[bytes]) -> str | None:
        """The id under which the decision is on the disk; None if it was not to be kept, or could not be.

        Parameters
        ----------
        files : the bytes of the state's pictures, in order.
        """
        try:
            return self._keep(decision, files)
        except (StorageError, DatabaseError) as error:
            log.error("a decision was not recorded: %s", error)
            return None

    def _keep(self, decision: Decision, files: Sequence[bytes]) -> str | None:
        version = find_version(self.database, decision.questions, recording=True)
        if version is None:
            if not self.every:
                return None
            version = find_version(self.database, decision.questions)
        for picture, data in zip(decision.state.pictures, files, strict=True):
            kind = picture.format.lower()
            save_picture(self.database, data, format=kind, width=picture.width, height=picture.height)
        record = DecisionRecord.of(
            decision,
            id=str(uuid.uuid4()),
            source="api",
            pictures=[picture.sha256 for picture in decision.state.pictures],
            schema_id=None if version is None else version.schema_id,
            version=None if version is None else version.number,
        )
        return record_decision(self.database, record).id
