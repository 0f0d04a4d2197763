"""What a dataset format is: how examples are written for one trainer, checked by its rules, and read back.

Contract
--------
* A format writes a folder: one file per split (`train`, `validation`, `test`), pictures under `images/`, and whatever
  the trainer wants beside them. Rows are streamed; a format holds at most one row and what is known of the schemas.
* What a trainer cannot take is left out with a reason that says why, and counted: never dropped silently.
* `check` reads the written files as that trainer does and returns every rule that they break (none, if we did well).
* `read` gives the examples back; rows that cannot be read are reported with file and line, and kept aside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from model.questions import Json, Questions, parse_questions, questions_json, render, schema_hash
from storage.datasets.example import Example
from storage.schemas import ANY_SIZE

SPLITS = ("train", "validation", "test")
ROWS_NAMED = 20
"""How many of the rows that were left out are named, per reason."""


class Pictures(Protocol):
    """Where the bytes of pictures are."""

    def read(self, sha256: str) -> bytes:
        """The bytes of a picture."""
        ...

    def save(self, data: bytes) -> str:
        """Keeps a picture that came in; returns its sha256. Raises ValueError for what is no picture."""
        ...


@dataclass(frozen=True)
class BadRow:
    """A row that could not be read: its file, its line (or row) counted from 1, and why."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


class Refused(ValueError):
    """An example that this format's trainer cannot take; the message is the reason."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a writer must know before the first row: a name for files and cards, and every schema that will come."""

    name: str
    schemas: tuple[Questions, ...]
    created: str = ""
    licence: str = ""

    def number(self, questions: Questions) -> int:
        """Which of the schemas this is, from 0."""
        return self._numbers[schema_hash(questions)]

    @property
    def _numbers(self) -> dict[str, int]:
        return {schema_hash(questions): number for number, questions in enumerate(self.schemas)}


class Writer(Protocol):
    """Takes rows until it is closed; only then are the files whole."""

    def add(self, split: str, example: Example) -> None:
        """Writes one example. Raises Refused, and then nothing of it is written."""
        ...

    def close(self) -> None:
        """Finishes the files."""
        ...


class Format(Protocol):
    """One trainer's format. See the module's contract."""

    @property
    def name(self) -> str:
        """Short name, as on the command line."""
        ...

    @property
    def title(self) -> str:
        """Name for people."""
        ...

    @property
    def about(self) -> str:
        """One sentence: who reads it, and what it cannot carry."""
        ...

    @property
    def trains(self) -> bool:
        """Whether a model learns from it (evaluation formats and plain files do not count)."""
        ...

    def writer(self, folder: Path, plan: Plan, pictures: Pictures) -> Writer:
        """A writer into an existing, empty folder."""
        ...

    def check(self, folder: Path) -> list[str]:
        """Every rule of the trainer that the written files break, with file and line."""
        ...

    def read(self, folder: Path, pictures: Pictures, bad: Callable[[BadRow], None]) -> Iterator[tuple[str, Example]]:
        """Split and example of every row that can be read; `bad` is told of the others."""
        ...


@dataclass
class Exported:
    """What an export did. `left_out` counts per reason; `named` holds the ids of the first ones."""

    rows: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    named: dict[str, list[str]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        """Rows written."""
        return sum(self.rows.values())

    def leave_out(self, example_id: str, reason: str) -> None:
        """Counts a row that stays out."""
        self.left_out[reason] += 1
        names = self.named.setdefault(reason, [])
        if len(names) < ROWS_NAMED:
            names.append(example_id)

    def json(self) -> dict[str, Json]:
        """Plain JSON."""
        return {
            "rows": dict(self.rows),
            "left_out": [{"reason": r, "rows": n, "ids": self.named[r]} for r, n in self.left_out.most_common()],
            "problems": self.problems,
        }


def export(
    format: Format, folder: Path, plan: Plan, items: Iterable[tuple[str, Example]], pictures: Pictures
) -> Exported:
    """Writes `items` (split, example) into `folder`, which must be new or empty, and checks what was written.

    Raises
    ------
    FileExistsError : the folder holds something already.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty; choose another folder")
    done = Exported()
    writer = format.writer(folder, plan, pictures)
    seen: set[str] = set()
    for split, example in items:
        try:
            if format.trains and example.refused:
                raise Refused(example.refused)
            if example.id in seen:
                raise Refused("another row has the same id; the second one is left out")
            writer.add(split, example)
        except Refused as reason:
            done.leave_out(example.id, str(reason))
        else:
            seen.add(example.id)
            done.rows[split] += 1
    writer.close()
    done.problems = format.check(folder)
    return done


class Wires:
    """The JSON of schemas, and back: worked out once per set of questions, for all rows ask the same ones."""

    def __init__(self) -> None:
        self._out: dict[int, tuple[Questions, dict[str, Json]]] = {}
        self._in: dict[str, Questions] = {}

    def json(self, questions: Questions) -> dict[str, Json]:
        """The questions as plain JSON."""
        kept = self._out.get(id(questions))
        # The questions are kept beside their JSON, so that their identity cannot go to others.
        if kept is None or kept[0] is not questions:
            kept = self._out[id(questions)] = (questions, questions_json(questions))
        return kept[1]

    def questions(self, raw: Json) -> Questions:
        """The questions of plain JSON, of whatever size. Raises QuestionsError."""
        key = render(list(raw.items()) if isinstance(raw, Mapping) else raw)
        if key not in self._in:
            self._in[key] = parse_questions(raw, limits=ANY_SIZE)
        return self._in[key]


MAGIC = (
    (b"\x89PNG", "png"),
    (b"\xff\xd8\xff", "jpg"),
    (b"GIF8", "gif"),
    (b"BM", "bmp"),
    (b"II*\0", "tif"),
    (b"MM\0*", "tif"),
)


def picture_ending(data: bytes) -> str:
    """The file ending of a picture by its first bytes; "bin" where nobody knows it."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    if data[4:12] in (b"ftypheic", b"ftypheix", b"ftypmif1"):
        return "heic"
    return next((ending for magic, ending in MAGIC if data.startswith(magic)), "bin")


class PictureFolder:
    """Pictures beside the rows: each written once, named by its hash, and known by its path relative to the rows."""

    def __init__(self, folder: Path, pictures: Pictures) -> None:
        self._folder = folder / "images"
        self._pictures = pictures
        self._names: dict[str, str] = {}

    def path(self, sha256: str) -> str:
        """The relative path of a picture, written if it is not there yet."""
        if sha256 not in self._names:
            data = self._pictures.read(sha256)
            self._folder.mkdir(exist_ok=True)
            name = f"{sha256}.{picture_ending(data)}"
            (self._folder / name).write_bytes(data)
            self._names[sha256] = f"images/{name}"
        return self._names[sha256]


def read_pictures(folder: Path, paths: Json, pictures: Pictures) -> tuple[str, ...]:
    """Hashes of the pictures that a row names. Raises ValueError for a path that leads out of the folder or nowhere."""
    if paths is None:
        return ()
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise ValueError("images must be a list of file paths")
    root = folder.resolve()
    hashes = []
    for path in paths:
        file = (root / path).resolve()
        # A file that comes from elsewhere must not make us read what lies beside it.
        if not file.is_relative_to(root):
            raise ValueError(f"image {path!r} lies outside the dataset's folder")
        if not file.is_file():
            raise ValueError(f"image {path!r} is not there")
        hashes.append(pictures.save(file.read_bytes()))
    return tuple(hashes)
