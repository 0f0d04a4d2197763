"""The embedded scorer on the committed weights, opened once; each test gets it with empty memories."""

from __future__ import annotations

import pytest

from model.embedded.backbone import Backbone, open_backbone
from model.embedded.encoder import Encoder, untuned_encoder
from model.embedded.pairs import PairModel
from model.embedded.reader import ASSETS, Embedded
from model.embedded.weights import Scales, load_weights


@pytest.fixture(scope="session")
def backbone() -> Backbone:
    return open_backbone()


@pytest.fixture(scope="session")
def untuned(backbone: Backbone) -> Encoder:
    return untuned_encoder(backbone.tensors)


@pytest.fixture(scope="session")
def tuned(backbone: Backbone) -> tuple[PairModel, Scales]:
    model, scales, _ = load_weights(ASSETS, backbone.tensors)
    return model, scales


@pytest.fixture
def scorer(backbone: Backbone, untuned: Encoder, tuned: tuple[PairModel, Scales]) -> Embedded:
    """A scorer that remembers nothing yet, without OCR."""
    return Embedded(tuned[0], untuned, backbone.tokenizer, tuned[1], weights_sha256="0" * 64, ocr=None)
