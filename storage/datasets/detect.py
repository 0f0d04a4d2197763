"""Which format a dataset that somebody brings is in, by what lies there and what the first row holds."""

from __future__ import annotations

from pathlib import Path

from storage.datasets import hf_parquet, jev_eval, laya, mlx_decision, plain
from storage.datasets.formats import Format
from storage.datasets.lines import read_lines, split_files
from storage.datasets.registry import FORMATS

MARKERS = (
    (mlx_decision.DESCRIPTION, "mlx-decision"),
    (laya.TASK, "laya-finetune"),
    (jev_eval.CONFIG, "jev-eval"),
    (plain.SCHEMAS, "csv"),
)


def detect(path: Path) -> Format | None:
    """The format of a folder or file; None where it is none of ours (a plain table, perhaps)."""
    folder = path if path.is_dir() else path.parent
    for marker, name in MARKERS:
        # A file beside a marker belongs to it only if it is of its kind.
        if path.is_file() and path.suffix != (".csv" if name == "csv" else ".jsonl"):
            continue
        if (folder / marker).is_file() or (path.is_dir() and any(folder.glob(f"schema-*/{marker}"))):
            return FORMATS[name]
    parquet = hf_parquet.files(path) if path.is_dir() or path.suffix == ".parquet" else []
    if parquet:
        import pyarrow.parquet as pq

        names = set(pq.ParquetFile(parquet[0]).schema_arrow.names)
        return FORMATS["hf-parquet"] if {"state", "questions", "labels"} <= names else None
    if path.is_file() and path.suffix not in (".jsonl", ".ndjson"):
        return None
    first = next((row for file in split_files(path) for _, row in read_lines(file)), None)
    if not isinstance(first, dict) or "state" not in first or "questions" not in first:
        return None
    for field, name in (
        ("answers", "nemo"),
        ("gold", "sysone-soft"),
        ("target", "dmtune"),
        ("tags", "dmtune"),
        ("expected", "sysone"),
        ("soft", "jsonl"),
        ("labels", "clef-finetune"),
    ):
        if field in first:
            return FORMATS[name]
    return None
