"""The tiny release, loaded once: a real Clef in all but size."""

from __future__ import annotations

import pytest
import torch

from model.clef import Clef, open_clef
from tests.model.golden import RELEASE


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def clef() -> Clef:
    """As people get it: control tokens in text stay text."""
    return open_clef(RELEASE, device="cpu")


@pytest.fixture(scope="session")
def reference(clef: Clef) -> Clef:
    """The same weights, parsing control tokens as the released code does."""
    from model.encoding import Encoder

    encoder = Encoder(RELEASE / "tokenizer.json", max_tokens=16_384, reference_specials=True)
    return Clef(clef.checkpoint, backbone=clef.backbone, head=clef.head, encoder=encoder)
