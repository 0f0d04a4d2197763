"""Examples as token ids, and the logits of many at once: shared by training and measuring.

Contract
--------
A short state is its own excerpt, so what is prepared here is what `model.embedded.reader` reads for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from tokenizers import Tokenizer
from torch import Tensor

from model.embedded.encoder import Encoder
from model.embedded.gist import Gist
from model.embedded.pairs import (
    TYPES,
    PairModel,
    Row,
    by_length,
    compared_texts,
    pack,
    pair_texts,
    row_length,
    token_ids,
    unit_vectors,
)
from model.embedded.tasks import Example


class Texts:
    """Token ids and untuned vectors of texts, computed once each."""

    def __init__(self, tokenizer: Tokenizer, untuned: Encoder) -> None:
        self._tokenizer, self._untuned = tokenizer, untuned
        self._ids: dict[str, list[int]] = {}
        self._vectors: dict[str, Tensor] = {}

    def ids(self, text: str) -> list[int]:
        """Token ids without special tokens."""
        if text not in self._ids:
            self._ids[text] = token_ids(self._tokenizer, [text])[0]
        return self._ids[text]

    def vectors(self, texts: Sequence[str]) -> Tensor:
        """(N, D) untuned unit vectors."""
        new = sorted({t for t in texts if t not in self._vectors}, key=lambda t: (len(t), t))
        if new:
            rows = unit_vectors(self._untuned, [self.ids(t)[:250] for t in new])
            self._vectors.update(zip(new, rows, strict=True))
        return torch.stack([self._vectors[t] for t in texts])


@dataclass(frozen=True)
class Prepared:
    """One question as blocks: token ids and prior of each (choice: cosine; else gist), the type's column and answer."""

    blocks: list[list[int]]
    priors: Tensor
    column: int
    answer: int


@dataclass(frozen=True)
class Sheet:
    """One state and the questions that are read against it."""

    state: list[int]
    questions: list[Prepared]


@torch.no_grad()
def prepare(examples: Sequence[Example], texts: Texts, *, length: int, gist: Gist | None = None) -> list[Sheet]:
    """Examples as sheets, one per state; consecutive examples of one state share a sheet.

    Read exactly as the served model reads them (short states: the excerpt is the state). Without a gist nouls and
    scores have priors of zero, which is what the pairs are trained beside.
    """
    sheets: list[Sheet] = []
    before: str | None = None
    for example in examples:
        row = pair_texts(example.question)
        kind = example.question.type
        if kind == "choice":
            priors = texts.vectors(compared_texts(example.question)) @ texts.vectors([example.state])[0]
        elif gist is not None:
            state = texts.vectors([example.state]).expand(len(row), -1)
            priors = gist(kind, texts.vectors(compared_texts(example.question)), state)
        else:
            priors = torch.zeros(len(row))
        blocks = [texts.ids(text.first)[:200] for text in row]
        if example.state != before:
            sheets.append(Sheet(texts.ids(example.state)[:length], []))
            before = example.state
        sheets[-1].questions.append(Prepared(blocks, priors, TYPES.index(kind), example.answer))
    return sheets


def sheet_logits(model: PairModel, sheets: Sequence[Sheet], *, tokens: int = 1600) -> list[Tensor]:
    """The logits of each question's blocks, without the prior, in the order of the sheets and their questions."""
    rows: list[Row] = [(sheet.state, [b for q in sheet.questions for b in q.blocks]) for sheet in sheets]
    found: list[list[Tensor]] = [[] for _ in sheets]
    for group in by_length([row_length(row) for row in rows], tokens=tokens):
        logits = model(pack([rows[i] for i in group]))
        questions = [(i, q) for i in group for q in sheets[i].questions]
        parts = logits.split([len(q.blocks) for _, q in questions])
        for (i, q), part in zip(questions, parts, strict=True):
            found[i].append(part[:, q.column])
    return [logits for rows_of in found for logits in rows_of]
