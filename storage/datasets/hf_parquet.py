"""Parquet that Hugging Face `datasets` opens offline, pictures inside.

Contract
--------
* `data/<split>-00000-of-00001.parquet`. State, questions, labels and shares are JSON text, for maps whose keys vary
  from row to row break Arrow's one schema. `images` is a list of {bytes, path}: the picture itself, never only its
  path, which would mean nothing on another machine.
* Written with pyarrow alone, in row groups that bound memory; the metadata key `huggingface` names the features.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from model.questions import Json
from storage.datasets import rules
from storage.datasets.example import META, Example, from_meta, labels_of, meta_of, soft_of
from storage.datasets.formats import BadRow, Pictures, Plan, Refused, Wires, Writer, picture_ending
from storage.datasets.lines import hard_labels

ROWS = 1000
BYTES = 32 << 20
"""A row group ends at so many rows or bytes of pictures, whichever comes first."""

_TEXT = ("id", "state", "questions", "labels", "soft", *META, "time")
_IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
_FEATURES = {name: {"dtype": "string", "_type": "Value"} for name in _TEXT} | {
    "images": {"feature": {"_type": "Image"}, "_type": "List"}
}
SCHEMA = pa.schema(
    [*((name, pa.string()) for name in _TEXT), ("images", pa.list_(_IMAGE))],
    metadata={"huggingface": json.dumps({"info": {"features": _FEATURES}})},
)


class HfParquet:
    """See the module's contract."""

    name = "hf-parquet"
    title = "Hugging Face Parquet"
    about = "Parquet for Hugging Face datasets and TRL, with the pictures inside. Opens offline with load_dataset."
    trains = True

    def writer(self, folder: Path, plan: Plan, pictures: Pictures) -> Writer:
        """See `Format`."""
        return _Writer(folder, pictures)

    def check(self, folder: Path) -> list[str]:
        """See `Format`: the columns, JSON that reads back, labels that fit, and bytes in every picture."""
        found = []
        for path in files(folder):
            file = pq.ParquetFile(path)
            if file.schema_arrow.metadata is None or b"huggingface" not in file.schema_arrow.metadata:
                found.append(f"{path.name}: names no features, so pictures would open as bytes")
            for number, row in _rows(file):
                where = f"{path.name}:{number}"
                try:
                    body = {name: json.loads(row[name]) for name in ("state", "questions", "labels")}
                except (TypeError, ValueError) as error:
                    found.append(f"{where}: {error}")
                    continue
                broken = rules.questions_of(body, rule=rules.criteria(1)) + rules.labels(body, "labels")
                found += [f"{where}: {problem}" for problem in broken]
                found += [f"{where}: a picture without bytes" for image in row["images"] if not image["bytes"]]
        return found

    def read(self, folder: Path, pictures: Pictures, bad: Callable[[BadRow], None]) -> Iterator[tuple[str, Example]]:
        """See `Format`."""
        wires = Wires()
        for path in files(folder):
            split = re.sub(r"-\d{5}-of-\d{5}$", "", path.stem)
            for number, row in _rows(pq.ParquetFile(path)):
                try:
                    found = _example(row, f"{split}-{number}", wires, pictures)
                except (TypeError, ValueError) as error:
                    bad(BadRow(path.name, number, str(error)))
                else:
                    yield split, found


class _Writer:
    def __init__(self, folder: Path, pictures: Pictures) -> None:
        self._folder = folder / "data"
        self._pictures = pictures
        self._wires = Wires()
        self._files: dict[str, pq.ParquetWriter] = {}
        self._rows: dict[str, list[dict[str, Json]]] = {}
        self._bytes = 0

    def add(self, split: str, example: Example) -> None:
        if not example.labels and not example.soft:
            raise Refused("no question of it is labelled")
        images = [self._image(sha256) for sha256 in example.pictures]
        row = {
            "id": example.id,
            "state": _text(example.state),
            "questions": _text(self._wires.json(example.questions)),
            "labels": _text(hard_labels(example)),
            "soft": _text({key: dict(shares) for key, shares in example.soft.items()}),
            **meta_of(example),
            "images": images,
        }
        rows = self._rows.setdefault(split, [])
        rows.append(row)
        self._bytes += sum(len(image["bytes"]) for image in images)
        if len(rows) >= ROWS or self._bytes >= BYTES:
            self._flush()

    def _image(self, sha256: str) -> dict[str, Json]:
        data = self._pictures.read(sha256)
        return {"bytes": data, "path": f"{sha256}.{picture_ending(data)}"}

    def _flush(self) -> None:
        for split, rows in self._rows.items():
            if not rows:
                continue
            if split not in self._files:
                self._folder.mkdir(exist_ok=True)
                self._files[split] = pq.ParquetWriter(self._folder / f"{split}-00000-of-00001.parquet", SCHEMA)
            self._files[split].write_table(pa.Table.from_pylist(rows, schema=SCHEMA))
            rows.clear()
        self._bytes = 0

    def close(self) -> None:
        self._flush()
        for file in self._files.values():
            file.close()


def _text(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def files(folder: Path) -> list[Path]:
    """The Parquet files of a folder or of its `data`; a file is itself."""
    if folder.is_file():
        return [folder]
    return sorted((folder / "data" if (folder / "data").is_dir() else folder).glob("*.parquet"))


def _rows(file: pq.ParquetFile) -> Iterator[tuple[int, dict[str, Json]]]:
    number = 0
    for batch in file.iter_batches(batch_size=ROWS // 10):
        for row in batch.to_pylist():
            number += 1
            yield number, row


def _example(row: dict[str, Json], id: str, wires: Wires, pictures: Pictures) -> Example:
    for name in ("state", "questions", "labels"):
        if not isinstance(row.get(name), str):
            raise ValueError(f"column {name}: is required, as JSON text")
    questions = wires.questions(json.loads(row["questions"]))
    images = row.get("images") or []
    if any(not image or not image.get("bytes") for image in images):
        raise ValueError("images: a picture is named but its bytes are not in the file")
    return Example(
        id=row.get("id") or id,
        state=json.loads(row["state"]),
        questions=questions,
        labels=labels_of(questions, json.loads(row["labels"])),
        soft=soft_of(questions, json.loads(row.get("soft") or "{}")),
        pictures=tuple(pictures.save(image["bytes"]) for image in images),
        **from_meta(row),
    )


HF_PARQUET = HfParquet()
