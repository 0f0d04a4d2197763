"""Our weights on disk: the tuned layers in bfloat16, scorer and gist in float32, and the fitted scales.

Contract
--------
A folder holds `model.safetensors` (tuned encoder layers: bfloat16; scorer and gist: float32) and `config.json` (scales,
recipe, sha256 of the backbone and of our weights). Embeddings and the lowest layers stay the package's. `load_weights`
refuses a file whose sha256 is not the one that the config names: `WeightsError` says what to do.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from model.embedded.backbone import WEIGHTS_SHA256, sha256_of
from model.embedded.encoder import FROZEN, untuned_encoder
from model.embedded.pairs import SHORTLIST, PairModel

WEIGHTS, CONFIG = "model.safetensors", "config.json"
FORMAT = 2
_PACKAGE_KEEPS = (
    *("encoder.words.", "encoder.positions.", "encoder.segments.", "encoder.norm."),
    *(f"encoder.layers.{i}." for i in range(FROZEN)),
)


class WeightsError(RuntimeError):
    """Our weights are missing or broken."""


@dataclass(frozen=True)
class Scales:
    """How a pair's logit z and its prior c become the final logit: `pair`·z + `prior`·c, per question type.

    c is the cosine (choice) or the gist. The logits of a choice with more than `SHORTLIST` options are multiplied by
    `of_many`: its wrong options share more probability, so that it needs other logits for the same certainty.
    """

    noul_pair: float = 1.0
    noul_prior: float = 0.0
    choice_pair: float = 1.0
    choice_prior: float = 10.0
    score_pair: float = 1.0
    score_prior: float = 0.0
    choice_many: float = 0.0

    def of(self, kind: str) -> tuple[float, float]:
        """(pair, prior) of a question type."""
        return {
            "noul": (self.noul_pair, self.noul_prior),
            "choice": (self.choice_pair, self.choice_prior),
            "score": (self.score_pair, self.score_prior),
        }[kind]

    def of_many(self, options: int) -> float:
        """1 up to `SHORTLIST` options; then `choice_many` more with every doubling."""
        return 1.0 + self.choice_many * max(0.0, math.log2(options / SHORTLIST))


def save_weights(folder: Path, model: PairModel, scales: Scales, recipe: Mapping[str, Any]) -> None:
    """Writes the folder's two files."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {
        name: (value if name.startswith(("scorer", "gist")) else value.to(torch.bfloat16)).contiguous()
        for name, value in model.state_dict().items()
        if not name.startswith(_PACKAGE_KEEPS)
    }
    save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})
    config = {
        "format": FORMAT,
        "backbone_sha256": WEIGHTS_SHA256,
        "weights_sha256": sha256_of(folder / WEIGHTS),
        "scales": asdict(scales),
        "recipe": dict(recipe),
    }
    (folder / CONFIG).write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")


def load_weights(folder: Path, backbone: Mapping[str, torch.Tensor]) -> tuple[PairModel, Scales, dict[str, Any]]:
    """The tuned model (float32, evaluation mode), its scales, and the config."""
    for name in (CONFIG, WEIGHTS):
        if not (folder / name).is_file():
            raise WeightsError(
                f"{folder / name} is missing: the embedded model's weights belong to the repository; fetch it again, "
                "or retrain with `python -m model.embedded.train`"
            )
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    if config.get("format") != FORMAT or config.get("backbone_sha256") != WEIGHTS_SHA256:
        raise WeightsError(f"{folder / CONFIG} belongs to another version of the embedded model; retrain or update")
    found = sha256_of(folder / WEIGHTS)
    if found != config["weights_sha256"]:
        raise WeightsError(
            f"{folder / WEIGHTS} is damaged (sha256 {found}, wanted {config['weights_sha256']}); fetch it again"
        )
    model = PairModel(untuned_encoder(backbone))
    state = {name: value.float() for name, value in load_file(folder / WEIGHTS).items()}
    wanted = {name for name in model.state_dict() if not name.startswith(_PACKAGE_KEEPS)}
    if set(state) != wanted:
        raise WeightsError(f"{folder / WEIGHTS} lacks {sorted(wanted - set(state))} or is another model's")
    model.load_state_dict(state, strict=False)
    return model.eval(), Scales(**config["scales"]), config
