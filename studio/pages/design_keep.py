"""What the page keeps: labels on answers, and the draft.

Contract
--------
A label first keeps the decision that it is laid on, then itself; it is acknowledged only when both are on the disk. The
ids come from the page, so a request that is sent twice is kept once; another request under a kept id is refused. A run
belongs to the schema and version that it was first kept under. Replies are plain JSON; `{"error": ...}` is for a
person.
"""

from __future__ import annotations

import logging
from typing import Literal
from uuid import UUID, uuid4

from anyio import to_thread
from pydantic import BaseModel, Field, ValidationError

from model.engine import Decision
from model.questions import Json, schema_hash
from storage.database import Database, DatabaseError
from storage.decisions import DecisionRecord, get_decision, keep_decision, record_decision
from storage.errors import NotFound, StorageError
from storage.labels import Label, add_label, undo_label
from storage.schemas import (
    NAME_LENGTH,
    DraftConflict,
    create_schema,
    get_draft,
    get_schema,
    list_schemas,
    list_versions,
    rename_schema,
)
from storage.schemas import (
    save_draft as save,
)
from studio.pages.design_ask import EXPECTED, FAILED, Ask, Asker, refused
from studio.person import labeller

log = logging.getLogger(__name__)

NO_NAME = "Untitled schema"


class GivenLabel(BaseModel):
    """A label as the page sends it; `request` is the payload of the run whose answer was painted."""

    uuid: UUID
    verdict: Literal["right", "wrong", "cant_tell"]
    truth: str | None = None
    note: str = Field("", max_length=10_000)
    question: str
    fingerprint: str
    schema_id: UUID | None = None
    request: Ask


class Taken(BaseModel):
    """A label to be taken back; `id` names the taking back itself."""

    uuid: UUID
    id: UUID = Field(default_factory=uuid4)


class GivenRun(BaseModel):
    """A painted run that a person wants to keep; `request` is its payload."""

    fingerprint: str
    schema_id: UUID | None = None
    request: Ask


class DroppedRun(BaseModel):
    """A run that need not be kept any more."""

    run: UUID


class GivenDraft(BaseModel):
    """A draft as the page sends it. `revision` is the one that it was made from, 0 for a new one."""

    schema_id: UUID
    revision: int
    name: str
    description: str | None = None
    document: Json


class Keeper:
    """Keeps labels. See the module's contract."""

    def __init__(self, database: Database, asker: Asker) -> None:
        self._database = database
        self._asker = asker

    async def label(self, payload: Json) -> Json:
        """Keeps a label: {"label": id, "decision": id} once it is on the disk."""
        try:
            given = GivenLabel.model_validate(payload)
            decision = await self._asker.decided(given.request, given.fingerprint)
            label = await to_thread.run_sync(self._keep, given, decision)
        except (StorageError, DatabaseError) as error:
            return {"error": {"kind": "refused", "message": sentence(error)}}
        except EXPECTED as failure:
            return {"error": refused(failure)}
        except Exception:
            log.exception("a label was not kept")
            return {"error": FAILED}
        return {"label": label.id, "decision": label.decision}

    async def keep_run(self, payload: Json) -> Json:
        """Keeps a painted run for the history: {"kept": its uuid} once it is on the disk."""
        try:
            given = GivenRun.model_validate(payload)
            decision = await self._asker.decided(given.request, given.fingerprint)
            key = await to_thread.run_sync(self._record, given, decision)
            await to_thread.run_sync(keep_decision, self._database, key)
        except (StorageError, DatabaseError) as error:
            return {"error": {"kind": "refused", "message": sentence(error)}}
        except EXPECTED as failure:
            return {"error": refused(failure)}
        except Exception:
            log.exception("a run was not kept")
            return {"error": FAILED}
        return {"kept": key}

    def drop_run(self, payload: Json) -> Json:
        """Takes the mark away that `keep_run` made. Nothing is deleted; a labelled run stays in the history."""
        try:
            key = str(DroppedRun.model_validate(payload).run)
            keep_decision(self._database, key, kept=False)
        except (StorageError, DatabaseError) as error:
            return {"error": {"kind": "refused", "message": sentence(error)}}
        except ValidationError as failure:
            return {"error": refused(failure)}
        return {"dropped": key}

    def unlabel(self, payload: Json) -> Json:
        """Takes a label back; it stays in the history."""
        try:
            taken = Taken.model_validate(payload)
            undo_label(self._database, str(taken.uuid), id=str(taken.id))
        except (StorageError, DatabaseError) as error:
            return {"error": {"kind": "refused", "message": sentence(error)}}
        except ValidationError as failure:
            return {"error": refused(failure)}
        return {"taken": str(taken.uuid)}

    def _keep(self, given: GivenLabel, decision: Decision) -> Label:
        key = self._record(given, decision)
        return add_label(
            self._database,
            id=str(given.uuid),
            decision=key,
            question=given.question,
            verdict=given.verdict,
            # "Right" names the model's answer by itself.
            true_option=given.truth if given.verdict == "wrong" else None,
            note=given.note,
            labeller=labeller(),
            source="volunteered",
        )

    def _record(self, given: GivenLabel | GivenRun, decision: Decision) -> str:
        """Keeps the run that `given` is about and returns its uuid. Raises Conflict for another run under it."""
        key = str(given.request.run)
        schema_id, version = self._origin(key, given.schema_id, decision)
        record = DecisionRecord.of(
            decision,
            id=key,
            source="page",
            pictures=given.request.pictures,
            schema_id=schema_id,
            version=version,
            kept=True,
        )
        return record_decision(self._database, record).id

    def _origin(self, run: str, schema_id: UUID | None, decision: Decision) -> tuple[str | None, int | None]:
        """Schema and version of a run: those it was kept under; else the page's, as far as they are kept already.

        Between two labels of one run its schema may be saved or published for the first time.
        """
        try:
            before = get_decision(self._database, run)
        except NotFound:
            pass
        else:
            return before.schema_id, before.version
        if schema_id is None:
            return None, None
        try:
            key = get_schema(self._database, str(schema_id)).id
        except NotFound:
            return None, None
        asked = schema_hash(decision.questions)
        versions = list_versions(self._database, key)
        return key, next((v.number for v in versions if v.sha256 == asked), None)


def save_draft(database: Database, payload: Json) -> Json:
    """Keeps the page's draft: {"revision"}; {"conflict": {"revision", "document"}} when another tab was there first."""
    try:
        given = GivenDraft.model_validate(payload)
        key, name = str(given.schema_id), given.name.strip()[:NAME_LENGTH] or NO_NAME
        about = given.description
        schema = create_schema(database, name=name, description=about or "", document=given.document, schema_id=key)
        revision = save(database, key, document=given.document, base_revision=given.revision)
        if schema.name != name or (about is not None and schema.description != about.strip()):
            rename_schema(database, key, name=name, description=about)
    except DraftConflict as conflict:
        return {"conflict": {"revision": conflict.current.revision, "document": conflict.current.document}}
    except (StorageError, DatabaseError) as error:
        return {"error": {"kind": "refused", "message": sentence(error)}}
    except ValidationError as failure:
        return {"error": refused(failure)}
    return {"revision": revision}


def load_draft(database: Database) -> Json:
    """The draft that was saved last: {"draft": {"schema_id", "revision", "document"}}, or {"draft": null}."""
    try:
        schemas = list_schemas(database)
        if not schemas:
            return {"draft": None}
        draft = get_draft(database, schemas[0].id)
    except (StorageError, DatabaseError) as error:
        return {"error": {"kind": "refused", "message": sentence(error)}}
    return {"draft": {"schema_id": draft.schema_id, "revision": draft.revision, "document": draft.document}}


def sentence(error: StorageError | DatabaseError) -> str:
    """What went wrong in storage, for a person."""
    if isinstance(error, DatabaseError):
        log.error("the page could not write: %s", error)
        return f"It could not be written: {error}"
    text = error.message
    return f"{text[:1].upper()}{text[1:]}."
