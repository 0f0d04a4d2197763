"""The Datasets page's import: what a file is, what would become of it, and bringing it in.

Contract
--------
* Functions take and give plain JSON and never raise (`studio.pages.design_schemas.told`). Files are `Uploads`, by the
  id that the page gave them.
* `recognise` answers at once with a token; `recognised` tells what the file is: its format, the schemas, how many rows
  and labels, and every row that is refused, with its line and reason. Nothing is kept yet, not even a picture.
* `bring_in` keeps: rows become decisions by the model that is loaded, their labels true answers. An upload comes in
  once; asked again, it is the import that is there. `brought` tells of its runs, which go on without the page, and
  after a restart.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from pydantic import BaseModel, Field, field_validator

from model.images import PAGE_CAPS, read_picture
from model.questions import (
    CLEF_LIMITS,
    Json,
    Limits,
    Questions,
    StateError,
    parse_questions,
    questions_json,
    schema_hash,
)
from storage.database import Database
from storage.datasets.detect import detect
from storage.datasets.example import Example
from storage.datasets.formats import BadRow, Format
from storage.datasets.longform import LongForm, long_form
from storage.datasets.registry import FORMATS
from storage.errors import InvalidValue, NotFound
from storage.jobs import Job, get_job
from storage.schemas import NAME_LENGTH
from storage.tabular import open_table
from studio.pages.datasets_choose import named
from studio.pages.datasets_work import Told as Progress
from studio.pages.datasets_work import Work, Works
from studio.pages.design_keep import sentence
from studio.pages.design_schemas import Told, asked, told
from studio.runs.bring import bring, version_for
from studio.runs.run import RunSpec, start
from studio.runs.uploads import Uploads
from studio.studio import Studio

BAD_SHOWN = 100
SCHEMAS = 40
"""More different sets of questions than that in one file are no schemas."""


class Seen(BaseModel):
    """How an upload is to be read; None: as it looks."""

    upload: UUID
    format: str | None = None
    text: str | None = None
    label: str | None = None

    @field_validator("format")
    @classmethod
    def _known(cls, name: str | None) -> str | None:
        if name is not None and name not in FORMATS:
            raise ValueError(f"must be one of {', '.join(FORMATS)}")
        return name


class Wanted(Seen):
    """An import to be made. `names` are of the schemas that are new, in the order in which they were shown."""

    names: list[str] = Field(default_factory=list, max_length=SCHEMAS)
    asked: str = Field("", max_length=2000)
    described: dict[str, str] = Field(default_factory=dict)


class Token(BaseModel):
    """What `recognise` gave."""

    token: str


class Upload(BaseModel):
    """A file that was to come in."""

    upload: UUID


@dataclass
class Part:
    """One schema of a file: how many rows and labels it has, and each answer how often."""

    questions: Questions
    rows: int = 0
    labels: int = 0
    unlabelled: int = 0
    soft: int = 0
    pictures: int = 0
    counts: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, example: Example) -> None:
        """Counts one row."""
        self.rows += 1
        self.labels += len(example.labels)
        self.unlabelled += not example.labels
        self.soft += len(example.soft)
        self.pictures += bool(example.pictures)
        for key, option in example.labels.items():
            self.counts.setdefault(key, Counter())[option] += 1


@dataclass
class Recognised:
    """What a file is. `bad` are the first rows that are refused, `refused` all of them by number. `problem` says what a
    person must choose before a table can be understood."""

    format: Format | None
    parts: list[Part] = field(default_factory=list)
    long: LongForm | None = None
    columns: tuple[str, ...] = ()
    problem: str = ""
    bad: list[BadRow] = field(default_factory=list)
    refused: int = 0
    splits: Counter[str] = field(default_factory=Counter)

    def refuse(self, row: BadRow) -> None:
        """Notes a row that cannot be read."""
        self.refused += 1
        if len(self.bad) < BAD_SHOWN:
            self.bad.append(row)


class Glanced:
    """Pictures that are looked at and not kept. See `storage.datasets.formats.Pictures`."""

    def read(self, sha256: str) -> bytes:
        """Nothing is there to be read."""
        raise NotFound("picture", sha256)

    def save(self, data: bytes) -> str:
        """The hash of a picture. Raises ValueError for what is none."""
        try:
            read_picture(data, caps=PAGE_CAPS)
        except StateError as error:
            raise ValueError(str(error)) from None
        return hashlib.sha256(data).hexdigest()


def bring_functions(studio: Studio, uploads: Uploads, works: Works) -> list[Told]:
    """The page's functions about an import, each under its own name."""
    database, engine = studio.database, studio.engine

    @told
    def recognise(payload: Json) -> Json:
        given = Seen.model_validate(payload)
        path = uploads.source(str(given.upload))
        token = f"recognise {given.upload}/{given.format}/{given.text}/{given.label}"
        work = works.start(token, lambda progress: recognise_file(path, given, progress))
        return {"token": token, **_view(database, work, Path(uploads.title(str(given.upload))).stem)}

    @told
    def recognised(payload: Json) -> Json:
        token = Token.model_validate(payload).token
        upload = token.removeprefix("recognise ").partition("/")[0]
        return _view(database, works.get(token), Path(uploads.title(upload)).stem)

    @told
    def bring_in(payload: Json) -> Json:
        given = Wanted.model_validate(payload)
        upload = str(given.upload)
        path, name = uploads.source(upload), Path(uploads.title(upload)).stem
        scorer = engine.status.scorer
        if scorer is None:
            raise InvalidValue("model", f"{engine.status.message}; rows can be brought in once it is there")
        limits = engine.scorer.limits

        def keep(progress: Progress) -> None:
            bring_file(database, path, given, name, scorer.fingerprint, limits, progress)
            studio.worker.wake()

        if not _runs(database, upload):
            works.start(f"bring {upload}/", keep)
        return _brought(database, works, upload)

    @told
    def brought(payload: Json) -> Json:
        return _brought(database, works, str(Upload.model_validate(payload).upload))

    return [recognise, recognised, bring_in, brought]


def recognise_file(path: Path, given: Seen, progress: Progress) -> Recognised:
    """Reads a file as it is asked for, and keeps nothing. Raises InvalidValue."""
    format = FORMATS[given.format] if given.format else None if given.text or given.label else detect(path)
    found = Recognised(format)
    if format is None:
        table = open_table(path)
        found.columns = table.columns
        try:
            found.long = long_form(table, text=given.text, label=given.label)
        except InvalidValue as error:
            found.problem = sentence(error)
            return found
        part = Part(found.long.questions)
        for number, row in enumerate(table.rows(), 1):
            if number % 500 == 0:
                progress(number)
            if isinstance(row, BadRow):
                found.refuse(row)
            else:
                part.rows += 1
        (key,) = part.questions
        part.counts[key] = found.long.counts
        part.labels = found.long.counts.total()
        part.unlabelled = part.rows - part.labels
        found.parts.append(part)
        return found
    parts: dict[str, Part] = {}
    for number, (split, example) in enumerate(_told(format.read(path, Glanced(), found.refuse), progress), 1):
        key = schema_hash(example.questions)
        if key not in parts:
            if len(parts) >= SCHEMAS:
                raise InvalidValue("file", f"row {number} is the first of more than {SCHEMAS} sets of questions")
            parts[key] = Part(example.questions)
        parts[key].add(example)
        found.splits[split] += 1
    if not parts:
        first = f" The first one: {found.bad[0]}" if found.bad else ""
        raise InvalidValue("file", f"the file holds no row that can be read as {format.title}.{first}")
    found.parts = list(parts.values())
    return found


def _told(rows: Iterator[tuple[str, Example]], progress: Progress) -> Iterator[tuple[str, Example]]:
    for number, row in enumerate(rows, 1):
        if number % 500 == 0:
            progress(number)
        yield row


def bring_file(
    database: Database, path: Path, given: Wanted, name: str, scorer: str, limits: Limits, progress: Progress
) -> None:
    """Keeps what is in a file and starts its runs. Raises InvalidValue."""
    format = FORMATS[given.format] if given.format else None
    found = bring(
        database, path, format=format, text=given.text, label=given.label,
        asked=given.asked, described=given.described, progress=progress,
    )  # fmt: skip
    for part in found.parts:
        # Said before anything is kept, not row by row later.
        parse_questions(questions_json(part.questions), limits=limits)
    for number, part in enumerate(found.parts):
        given_name = given.names[number].strip() if number < len(given.names) else ""
        fallback = name if len(found.parts) == 1 else f"{name} {number + 1}"
        version = version_for(database, part.questions, (given_name or fallback)[:NAME_LENGTH])
        spec = RunSpec(
            file=part.file,
            name=f"import {name}"[:NAME_LENGTH],
            questions=version.sha256,
            scorer=scorer,
            mapping=part.mapping,
            schema_id=version.schema_id,
            version=version.number,
            # Two rows that say the same may bear different labels: both are wanted.
            repeats="judge",
            rows=part.rows,
        )
        start(database, spec, id=_job_id(str(given.upload), number))


def _job_id(upload: str, number: int) -> str:
    return str(uuid5(NAMESPACE_URL, f"import {upload} {number}"))


def _brought(database: Database, works: Works, upload: str) -> dict[str, Json]:
    """How far an import is: `state` is none, working (`rows` are read), failed, or running with its `runs`."""
    try:
        work = works.get(f"bring {upload}/")
    except NotFound:
        pass
    else:
        if not work.finished:
            return {"state": "working", "rows": work.rows}
        if work.error:
            return {"state": "failed", "error": work.error}
    runs = _runs(database, upload)
    return {"state": "running", "runs": [_run(job) for job in runs]} if runs else {"state": "none"}


def _runs(database: Database, upload: str) -> list[Job]:
    found: list[Job] = []
    for number in range(SCHEMAS):
        try:
            found.append(get_job(database, _job_id(upload, number)))
        except NotFound:
            break
    return found


def _run(job: Job) -> dict[str, Json]:
    progress, spec = job.progress, job.spec
    return {
        "run": job.id,
        "status": job.status,
        "message": job.message,
        "done": progress["done"],
        "total": spec["rows"],
        "decided": progress["decided"],
        "labels": progress["truths"],
        "bad": progress["bad"],
        "schema_id": spec["schema_id"],
        "version": spec["version"],
        "questions": spec["questions"],
    }


def _view(database: Database, work: Work[Recognised], name: str) -> dict[str, Any]:
    if not work.finished or work.error or work.result is None:
        return {"finished": work.finished, "error": work.error, "rows": work.rows, "found": None}
    found = work.result
    many = len(found.parts) > 1
    view: dict[str, Any] = {
        "format": None if found.format is None else found.format.name,
        "title": "a table in long form" if found.format is None else found.format.title,
        "about": "" if found.format is None else found.format.about,
        "columns": list(found.columns),
        "problem": found.problem,
        "text": found.long and found.long.text,
        "label": found.long and found.long.label,
        "splits": dict(found.splits),
        "refused": found.refused,
        "bad": [[row.file, row.line, row.message] for row in found.bad],
        "most_options": CLEF_LIMITS.options,
        "parts": [
            {
                "sha256": schema_hash(part.questions),
                "name": f"{name} {number}" if many else name,
                "questions": asked(part.questions),
                "rows": part.rows,
                "labels": part.labels,
                "unlabelled": part.unlabelled,
                "soft": part.soft,
                "pictures": part.pictures,
                "counts": {key: [[o, n] for o, n in counts.items()] for key, counts in part.counts.items()},
                **named(database, part.questions),
            }
            for number, part in enumerate(found.parts, 1)
        ],
    }
    return {"finished": True, "error": "", "rows": work.rows, "found": view}
