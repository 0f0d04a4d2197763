"""The fewest tokens that a text can have, told without tokenising it.

Contract
--------
A state of megabytes must be refused in milliseconds: tokenising it would hold up everybody else. What is said is a true
lower bound, never an estimate, so a request that might fit is never refused by it. No torch.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from tokenizers import Tokenizer

ENDLESS: Final = 32
"""Characters per token that may be read from which on a state is looked at by this bound before it is tokenised. Below,
counting to the end is quick, and a refusal can also say where a cut would be."""
_PART: Final = re.compile(r"[^ \t\r\n]+")
_LETTER: Final = re.compile(r"\w")
_KEEPS: Final = ("Split", "ByteLevel", "Digits", "Punctuation")
"""Pre-tokenizers that only part a text; others may drop blanks."""


class Shortest:
    """The bound for one byte-pair tokenizer: no token covers more of the text than the longest in its vocabulary."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._normalizer = tokenizer.normalizer
        pipeline = json.loads(tokenizer.to_str())
        self._longest = max(map(len, tokenizer.get_vocab())) if _keeps_all(pipeline) else None

    def __call__(self, text: str) -> int:
        """At least so many tokens; 0 where this tokenizer allows no bound."""
        if self._longest is None:
            return 0
        if not text.isascii() and self._normalizer is not None:
            # Composed, two characters may be one.
            text = self._normalizer.normalize_str(text)
        return -(-len(text) // self._longest)


def words(text: str, *, most: int) -> int:
    """Words in `text` (what stands between blanks and has a letter or digit), counted no further than `most + 1`.

    Each is at least one token of WordPiece, which makes one unknown-token of a word that is too long or too strange.
    """
    n = 0
    for part in _PART.finditer(text):
        if _LETTER.search(text, part.start(), part.end()):
            n += 1
            if n > most:
                break
    return n


def _keeps_all(pipeline: dict[str, Any]) -> bool:
    """Whether tokens cover every character of a normalised text, and none is an unknown word of any length."""
    model, normalizer = pipeline["model"], pipeline["normalizer"]
    if model["type"] != "BPE" or model.get("unk_token") is not None:
        return False
    if normalizer is not None and normalizer["type"] not in ("NFC", "NFD", "NFKC", "NFKD"):
        return False
    return all(
        step["type"] in _KEEPS and step.get("behavior", "Isolated") != "Removed"
        for step in _steps(pipeline["pre_tokenizer"])
    )


def _steps(part: dict[str, Any] | None) -> list[dict[str, Any]]:
    if part is None:
        return []
    return list(part["pretokenizers"]) if part["type"] == "Sequence" else [part]
