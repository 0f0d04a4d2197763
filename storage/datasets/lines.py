"""Formats that are one JSON object per line and per example: what they share.

Contract
--------
* Lines are ASCII: every other character is written as an escape. So a raw U+2028 or U+0085 can break no row for a
  trainer that reads with `str.splitlines()`, and none that reads in the machine's own encoding is misled.
* Every line starts with `{`, never with `#` (a comment to dmtune).
* A format says how a row looks (`row`), which of the trainer's rules a row breaks (`problems`), and what a row means
  (`example`). An example whose row would break a rule is left out, with that rule as the reason.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from model.questions import Json, Questions, check_json
from storage.datasets.example import Example, wire_label
from storage.datasets.formats import SPLITS, BadRow, PictureFolder, Pictures, Plan, Refused, Wires, read_pictures

Row = dict[str, Json]


def dump(row: Json) -> str:
    """One line, ASCII only, without its end."""
    return json.dumps(row, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def read_lines(path: Path) -> Iterator[tuple[int, Json | ValueError]]:
    """Line number (from 1) and value of every line that is not blank, or the error why it has none.

    Lines end at a line feed only: JSON may hold U+2028 raw.
    """
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            try:
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
                if not text.strip():
                    continue
                value = json.loads(text, parse_constant=_no_constant)
                errors = check_json(value, ("row",))
            except (ValueError, RecursionError) as error:
                yield number, ValueError(f"is not JSON ({error})")
                continue
            yield number, ValueError(str(errors[0])) if errors else value


class LineFile:
    """One JSONL file that is being written."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="ascii", newline="\n")
        self.rows = 0

    def add(self, row: Row) -> None:
        """Writes a row."""
        self._file.write(dump(row) + "\n")
        self.rows += 1

    def close(self) -> None:
        """Finishes the file."""
        self._file.close()


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


class LineFormat(ABC):
    """A JSONL format. Subclasses set the class variables and the three methods; see the module's contract.

    `pictures`: how many an example may have. `unique_ids`: whether the trainer wants ids that differ.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]
    trains: ClassVar[bool] = True
    pictures: ClassVar[int] = 0
    soft: ClassVar[bool] = False
    hard: ClassVar[bool] = True
    unique_ids: ClassVar[bool] = False

    @abstractmethod
    def row(self, example: Example, questions: Row, images: Sequence[str]) -> Row:
        """The row of an example. `questions` are the example's, as JSON; `images` are paths relative to the file."""

    @abstractmethod
    def problems(self, row: Json) -> list[str]:
        """The trainer's rules that a row breaks, apart from whether its pictures exist."""

    @abstractmethod
    def example(self, row: Row, id: str, questions: Questions, pictures: Callable[[Json], tuple[str, ...]]) -> Example:
        """The example of a row. Raises ValueError. `pictures` turns paths into hashes."""

    def images(self, row: Row) -> list[str]:
        """The paths of a row's pictures."""
        return list(row.get("images") or [])

    def described(self, folder: Path, plan: Plan, rows: Mapping[str, int]) -> None:  # noqa: B027 - most write nothing
        """Writes what the trainer wants beside the rows. `rows` counts them per split."""

    def asked(self, folder: Path) -> Json | None:
        """The questions of rows that carry none; None where every row carries its own."""
        return None

    def reason(self, example: Example) -> str | None:
        """Why the format cannot take an example at all."""
        if len(example.pictures) > self.pictures:
            taken = {0: "no pictures", 1: "one picture per row"}.get(self.pictures, f"{self.pictures} pictures per row")
            return f"{self.title} takes {taken}"
        if self.hard and not self.soft and not example.labels:
            return "no question of it has one agreed answer" if example.soft else "no question of it is labelled"
        if not example.labels and not example.soft:
            return "no question of it is labelled"
        return None

    def writer(self, folder: Path, plan: Plan, pictures: Pictures) -> LineWriter:
        """See `Format`."""
        return LineWriter(self, folder, plan, pictures)

    def check(self, folder: Path) -> list[str]:
        """See `Format`."""
        found: list[str] = []
        for path in split_files(folder):
            ids: dict[str, int] = {}
            for number, row in read_lines(path):
                where = f"{path.name}:{number}"
                if isinstance(row, ValueError):
                    found.append(f"{where}: {row}")
                    continue
                found += [f"{where}: {problem}" for problem in self.problems(row)]
                if not isinstance(row, dict):
                    continue
                found += [f"{where}: image {i} is not there" for i in self.images(row) if not (folder / i).is_file()]
                if self.unique_ids and (first := ids.setdefault(str(row.get("id")), number)) != number:
                    found.append(f"{where}: the same id as line {first}")
        return found

    def read(self, folder: Path, pictures: Pictures, bad: Callable[[BadRow], None]) -> Iterator[tuple[str, Example]]:
        """See `Format`."""
        wires = Wires()
        base = folder.parent if folder.is_file() else folder
        shared = self.asked(base)
        for path in split_files(folder):
            split = path.stem
            for number, row in read_lines(path):
                try:
                    if isinstance(row, ValueError):
                        raise row
                    if not isinstance(row, dict) or ("state" not in row and "fields" not in row):
                        raise ValueError("must be an object with a state")
                    questions = wires.questions(row.get("questions") or shared)
                    given = row.get("id")
                    key = given if isinstance(given, str) and given else f"{split}-{number}"
                    found = self.example(row, key, questions, lambda paths: read_pictures(base, paths, pictures))
                except ValueError as error:
                    bad(BadRow(path.name, number, str(error)))
                else:
                    yield split, found


def split_files(folder: Path) -> list[Path]:
    """The split files of a folder, in the order in which people name them; a file is itself."""
    if folder.is_file():
        return [folder]
    order = {name: number for number, name in enumerate(SPLITS)}
    return sorted(folder.glob("*.jsonl"), key=lambda path: (order.get(path.stem, len(order)), path.name))


class LineWriter:
    """Writes a `LineFormat`; one file per split that has rows."""

    def __init__(self, format: LineFormat, folder: Path, plan: Plan, pictures: Pictures) -> None:
        self._format = format
        self._folder = folder
        self._plan = plan
        self._pictures = PictureFolder(folder, pictures)
        self._wires = Wires()
        self._files: dict[str, LineFile] = {}

    def add(self, split: str, example: Example) -> None:
        """See `Writer`."""
        if reason := self._format.reason(example):
            raise Refused(reason)
        questions = self._wires.json(example.questions)
        # Rules are looked at before pictures are written: what is left out must leave no file behind.
        names = [f"images/{sha256}" for sha256 in example.pictures]
        if problems := self._format.problems(self._format.row(example, questions, names)):
            raise Refused(problems[0])
        row = self._format.row(example, questions, [self._pictures.path(sha256) for sha256 in example.pictures])
        if split not in self._files:
            self._files[split] = LineFile(self._folder / f"{split}.jsonl")
        self._files[split].add(row)

    def close(self) -> None:
        """See `Writer`."""
        for file in self._files.values():
            file.close()
        self._format.described(self._folder, self._plan, {split: file.rows for split, file in self._files.items()})


def hard_labels(example: Example) -> Row:
    """Labels as most trainers want them: booleans, levels, option ids."""
    return {key: wire_label(example.questions[key].type, option) for key, option in example.labels.items()}
