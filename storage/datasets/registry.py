"""All dataset formats, by name."""

from __future__ import annotations

from collections.abc import Mapping

from storage.datasets.clef_finetune import CLEF_FINETUNE
from storage.datasets.dmtune import DMTUNE
from storage.datasets.formats import Format
from storage.datasets.hf_parquet import HF_PARQUET
from storage.datasets.jev_eval import JEV_EVAL
from storage.datasets.laya import LAYA_FINETUNE
from storage.datasets.mlx_decision import MLX_DECISION
from storage.datasets.nemo import NEMO
from storage.datasets.plain import PLAIN_CSV, PLAIN_JSONL
from storage.datasets.sysone import SYSONE, SYSONE_SOFT

_ALL: tuple[Format, ...] = (
    CLEF_FINETUNE,
    NEMO,
    MLX_DECISION,
    DMTUNE,
    SYSONE,
    SYSONE_SOFT,
    LAYA_FINETUNE,
    JEV_EVAL,
    HF_PARQUET,
    PLAIN_JSONL,
    PLAIN_CSV,
)
FORMATS: Mapping[str, Format] = {format.name: format for format in _ALL}
