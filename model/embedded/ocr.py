"""Words in pictures, by optical character recognition: what the embedded model reads of a picture. It does not see.

Contract
--------
`open_ocr()` gives an `Ocr`, or None where the package `rapidocr` (extra `embedded`) or its models are not installed; it
never downloads: the paths of the models that lie in the wheel are given to the engine. `Ocr.words(image)` is the text
of one picture, line by line from top to bottom. Same picture, same words.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

PACKAGE = "rapidocr"
MODELS: Mapping[str, str] = {"Det": "*_det_*.onnx", "Rec": "*_rec_*.onnx", "Cls": "*_cls_*.onnx"}
LONGEST_SIDE = 2000
"""Pictures are shrunk to this before they are searched for words; smaller print than that allows is not found."""


class Ocr:
    """The engine, opened when the first picture comes (about a second)."""

    def __init__(self, models: Mapping[str, Path], *, threads: int = 1) -> None:
        self._models, self._threads = models, threads
        self._engine: Any = None
        self.name = f"rapidocr {importlib.metadata.version(PACKAGE)}"

    def _open(self) -> Any:
        import rapidocr

        params: dict[str, Any] = {f"{part}.model_path": str(path) for part, path in self._models.items()}
        params["Global.log_level"] = "critical"
        params["EngineConfig.onnxruntime.intra_op_num_threads"] = self._threads
        params["EngineConfig.onnxruntime.inter_op_num_threads"] = 1
        return rapidocr.RapidOCR(params=params)

    def words(self, image: Image.Image) -> str:
        """The words of an RGB picture; "" where none are found."""
        if max(image.size) > LONGEST_SIDE:
            image = image.copy()
            image.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
        pixels = np.ascontiguousarray(np.asarray(image.convert("RGB"))[:, :, ::-1])
        if self._engine is None:
            self._engine = self._open()
        found = self._engine(pixels)
        if found.txts is None or found.boxes is None:
            return ""
        boxes = [_box(np.asarray(corners), str(text)) for corners, text in zip(found.boxes, found.txts, strict=True)]
        return "\n".join(" ".join(box.text for box in line) for line in _lines(boxes))


@dataclass(frozen=True)
class _Box:
    left: float
    top: float
    bottom: float
    text: str


def _box(corners: np.ndarray[Any, Any], text: str) -> _Box:
    return _Box(float(corners[:, 0].min()), float(corners[:, 1].min()), float(corners[:, 1].max()), text.strip())


def _lines(boxes: list[_Box]) -> list[list[_Box]]:
    """Boxes that overlap in height by more than half form one line, read from left to right."""
    lines: list[list[_Box]] = []
    for box in sorted(boxes, key=lambda b: (b.top, b.left)):
        if lines:
            first = lines[-1][0]
            shared = min(first.bottom, box.bottom) - max(first.top, box.top)
            if shared > 0.5 * min(first.bottom - first.top, box.bottom - box.top):
                lines[-1].append(box)
                continue
        lines.append([box])
    return [sorted(line, key=lambda b: b.left) for line in lines]


def open_ocr(*, threads: int = 1) -> Ocr | None:
    """An engine on the models that the wheel carries, or None where they are not installed. Imports nothing yet."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations or importlib.util.find_spec("onnxruntime") is None:
        return None
    folder = Path(next(iter(spec.submodule_search_locations))) / "models"
    found = {part: sorted(folder.glob(pattern)) for part, pattern in MODELS.items()}
    if not all(found.values()):
        return None
    return Ocr({part: paths[0] for part, paths in found.items()}, threads=threads)
