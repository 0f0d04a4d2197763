"""How a question and a state become pairs of segments: what the embedded model reads, and nothing else.

Contract
--------
Each option of a choice and each level of a score is one pair `(first, second)`: the first holds the instructions and
the option, the second an excerpt of the state. `pack` lays the pairs that share an excerpt into one sequence in which
the excerpt is read once. A noul is one pair, whose logit stands against 0 for "false". Question ids never enter, so
renaming a question changes nothing. `compared_texts` is what the untuned encoder compares with the state: for a choice
the option alone, so that words of the instructions cannot pull all options to one side, else the whole first segment.
`PairModel` gives one logit per pair; with it lives the `Gist` (`model.embedded.gist`). Shapes: P pairs, L positions,
D = 384.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from model.embedded.encoder import WIDTH, Encoder, mean_vectors
from model.embedded.gist import Gist
from model.questions import Choice, Json, Noul, Option, QuestionType, Score

TYPES: tuple[QuestionType, ...] = ("noul", "choice", "score")
FIRST_TOKENS = 256
"""Most tokens that instructions and one option may have together; more is refused (see `model.embedded.reader`)."""
EXCERPT_TOKENS = 208
"""Most tokens of the state that one pair holds: what bounds the cost of a long state."""
SHORTLIST = 8
"""Most options of a choice that are read as pairs."""
CLS, SEP = 101, 102
DROPOUT = 0.1
"""Of a pair's vector, while training."""
FRAME = 2
"""[CLS], [SEP]: tokens of a pair that are neither question nor state."""


@dataclass(frozen=True)
class PairText:
    """The first segment of one pair, and the text that the prior compares with the state."""

    first: str
    prior: str


def pair_texts(question: Noul | Choice | Score) -> list[PairText]:
    """One text per pair, in model order: one for a noul, one per option or level otherwise."""
    instructions = readable(question.instructions).strip()
    if isinstance(question, Noul):
        criteria = question.criteria or {}
        parts = [instructions or "Is it true?"]
        parts += [f"{word}: {readable(criteria[key])}" for key, word in _NOUL_WORDS.items() if criteria.get(key)]
        text = " ".join(parts)
        return [PairText(text, text)]
    if isinstance(question, Choice):
        names = [option_text(option) for option in question.options()]
        return [PairText(f"{instructions} {name}".strip(), name) for name in names]
    levels = [readable(level) for level in question.criteria]
    of = len(levels)
    return [PairText(f"{instructions} {i} of {of}: {level}".strip(), level) for i, level in enumerate(levels, 1)]


def compared_texts(question: Noul | Choice | Score) -> list[str]:
    """What the untuned encoder makes vectors of, one per pair: against the state's, the cosine or the gist."""
    return [text.prior if isinstance(question, Choice) else text.first for text in pair_texts(question)]


_NOUL_WORDS: Mapping[Literal["true", "false"], str] = {"true": "Yes", "false": "No"}


def option_text(option: Option) -> str:
    """A choice's option in words: its name and its description, or one of them where they say the same."""
    name = words_of(option.id)
    description = readable(option.description).strip()
    if not description or description.casefold() == name.casefold():
        return description or name
    return f"{name}: {description}"


def words_of(name: str) -> str:
    """`request_refund`, `RequestRefund` and `request-refund` as "request refund"; other text unchanged."""
    if re.fullmatch(r"[\w.-]+", name) is None:
        return name
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    words = re.sub(r"[_-]+", " ", spaced).strip()
    return (words.lower() if spaced != name else words) or name


def readable(value: Json) -> str:
    """Text of a description: strings as they are, other JSON as short lines, None as nothing."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "; ".join(f"{words_of(str(key))}: {readable(inner)}" for key, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(readable(inner) for inner in value)
    return str(value)


Row = tuple[Sequence[int], Sequence[Sequence[int]]]
"""The state's token ids, and those of each first segment that is read against it; without special tokens."""


@dataclass(frozen=True)
class Packed:
    """Padded rows, each a state once and its blocks after it.

    `ids`, `segments`, `positions` (P, L) int64; `sees` (P, L, L) bool. `owner` (P, L): index of the block among all
    blocks of the batch, -1 for the state and padding. `first`, `last` (N,): where each of the N blocks begins ([CLS])
    and ends ([SEP]) in the flattened rows.
    """

    ids: Tensor
    segments: Tensor
    positions: Tensor
    sees: Tensor
    owner: Tensor
    first: Tensor
    last: Tensor


def row_length(row: Row) -> int:
    """Tokens of a row with its special tokens."""
    return len(row[0]) + 2 + sum(len(block) + 2 for block in row[1])


def pack(rows: Sequence[Row]) -> Packed:
    """Rows of `[CLS] state [SEP]` and, each seen only by itself, blocks of `[CLS] first [SEP]`.

    Every block stands where it would stand alone (positions go on from the state's end), sees the state and itself;
    the state sees only itself. So a block's result does not depend on the others, and the state is read once for all.
    """
    length = max(map(row_length, rows))
    shape = (len(rows), length)
    ids, segments, positions = np.zeros(shape, int), np.zeros(shape, int), np.zeros(shape, int)
    # What a position belongs to within its row: 0 the state, 1.. a block, -1 padding.
    place = np.full(shape, -1)
    owner = np.full(shape, -1)
    first, last, count = [], [], 0
    for r, (state, blocks) in enumerate(rows):
        end = len(state) + 2
        ids[r, :end] = [CLS, *state, SEP]
        positions[r, :end] = range(end)
        place[r, :end] = 0
        at = end
        for number, block in enumerate(blocks, 1):
            stop = at + len(block) + 2
            ids[r, at:stop] = [CLS, *block, SEP]
            segments[r, at:stop] = 1
            positions[r, at:stop] = range(end, end + stop - at)
            place[r, at:stop] = number
            owner[r, at:stop] = count
            first.append(r * length + at)
            last.append(r * length + stop - 1)
            count, at = count + 1, stop
    where = torch.from_numpy(place)
    sees = (where[:, None, :] == 0) | ((where[:, :, None] == where[:, None, :]) & (where[:, None, :] > 0))
    return Packed(
        torch.from_numpy(ids),
        torch.from_numpy(segments),
        torch.from_numpy(positions),
        sees,
        torch.from_numpy(owner),
        torch.tensor(first),
        torch.tensor(last),
    )


def token_ids(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    """Token ids of each text, without special tokens."""
    return [encoding.ids for encoding in tokenizer.encode_batch(list(texts), add_special_tokens=False)]


def by_length(lengths: Sequence[int], *, tokens: int) -> list[list[int]]:
    """Indices in groups of like length, so that padding stays small; each group holds at most `tokens` with padding."""
    groups: list[list[int]] = []
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if groups and lengths[groups[-1][0]] * (len(groups[-1]) + 1) <= tokens:
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


class PairModel(nn.Module):
    """The tuned encoder and a linear scorer: one logit per pair and question type."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.scorer = nn.Linear(3 * WIDTH, len(TYPES))
        nn.init.normal_(self.scorer.weight, std=0.01)
        nn.init.zeros_(self.scorer.bias)
        self.gist = Gist()

    def vectors(self, packed: Packed) -> Tensor:
        """(N, 3·D) per block: its [CLS], its [SEP], the mean of its words."""
        hidden = self.encoder(packed.ids, packed.segments, packed.positions, packed.sees)
        flat, owner = hidden.flatten(0, 1), packed.owner.flatten()
        count = len(packed.first)
        words = owner.clone()
        words[packed.first] = -1
        words[packed.last] = -1
        inside = words >= 0
        # A block without words (an empty option) has a mean of zeros.
        total = flat.new_zeros(count, WIDTH).index_add(0, words[inside], flat[inside])
        size = flat.new_zeros(count).index_add(0, words[inside], flat.new_ones(int(inside.sum())))
        mean = total / size.clamp(min=1)[:, None]
        return torch.cat([flat[packed.first], flat[packed.last], mean], 1)

    def forward(self, packed: Packed) -> Tensor:
        """(N, 3) logits: for a noul, a choice, a score. The caller takes the column of the question's type."""
        return self.scorer(nn.functional.dropout(self.vectors(packed), DROPOUT, self.training))


@torch.inference_mode()
def unit_vectors(encoder: Encoder, texts: Sequence[Sequence[int]], *, tokens: int = 2048) -> Tensor:
    """(N, D) normalised mean vectors of the untuned encoder, as all-MiniLM-L6-v2 defines them; zeros for no tokens."""
    out = torch.zeros(len(texts), WIDTH)
    for group in by_length([len(text) + 2 for text in texts], tokens=tokens):
        packed = pack([(texts[i], ()) for i in group])
        real = packed.sees[:, 0]
        hidden = encoder(packed.ids, packed.segments, packed.positions, real[:, None])
        out[group] = torch.nn.functional.normalize(mean_vectors(hidden, real), dim=1)
    out[[i for i, text in enumerate(texts) if not text]] = 0
    return out
