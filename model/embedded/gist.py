"""What a question and a state say as wholes, compared: a small part of the embedded model on untuned vectors.

Contract
--------
`Gist` gives one number per question text and state, from their untuned unit vectors alone (`unit_vectors`): the product
of two small networks, one for each side. It knows what it was trained on well and carries little to other questions
(for the pairs it is the other way round), so a noul's number fades as the question is further from every known one
(`familiarity`). `train_gist` fits it in a few minutes, decided by the seed.
Shapes: N rows, D = 384.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from model.embedded.encoder import WIDTH
from model.embedded.losses import answer_loss, with_false

INNER, RANK = 256, 64
KNOWN = 128
"""Most concepts that can be known."""
STRANGE, FAMILIAR = 0.5, 0.7
"""Chosen on held-back tasks: without fading, unseen questions lose .02-.06 AUC, with it trained ones gain .03."""
DROPOUT = 0.2
RATE = 7e-4
_SPREAD = WIDTH**0.5
"""Brings the entries of a unit vector to the size that layers are initialised for."""


class _Side(nn.Sequential):
    """(N, D) to (N, RANK)."""

    def __init__(self) -> None:
        super().__init__(
            nn.Dropout(DROPOUT), nn.Linear(WIDTH, INNER), nn.GELU(), nn.Dropout(DROPOUT), nn.Linear(INNER, RANK)
        )


class _Match(nn.Module):
    """One number per (question, state)."""

    def __init__(self) -> None:
        super().__init__()
        self.question, self.state = _Side(), _Side()
        self.lean = nn.Linear(WIDTH, 1)

    def forward(self, question: Tensor, state: Tensor) -> Tensor:
        question, state = question * _SPREAD, state * _SPREAD
        matched = (self.question(question) * self.state(state)).sum(1) / RANK**0.5 * 2
        return matched + self.lean(question)[:, 0]


class Gist(nn.Module):
    """One matching for nouls, one for the levels of scores; `known` (`KNOWN`, D) are the concepts of trained nouls.

    A row of `known` is the normalised mean of a concept's phrasings; rows that are not used are zero.
    """

    known: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.noul, self.score = _Match(), _Match()
        self.register_buffer("known", torch.zeros(KNOWN, WIDTH))

    def familiarity(self, questions: Tensor) -> Tensor:
        """(N,) 0-1: from `STRANGE` to `FAMILIAR` in cosine to the nearest known concept."""
        nearest = (questions @ self.known.T).max(1).values
        return ((nearest - STRANGE) / (FAMILIAR - STRANGE)).clamp(0, 1)

    def forward(self, kind: str, questions: Tensor, states: Tensor) -> Tensor:
        """(N,) numbers for a noul's texts, or a score's levels, against states; both (N, D) unit vectors."""
        if kind == "noul":
            return self.noul(questions, states) * self.familiarity(questions)
        return self.score(questions, states)


Row = tuple[Sequence[int], int, int]
"""Indices of a question's texts (one for a noul, one per level), of its state, and of the right answer."""


def train_gist(
    gist: Gist,
    vectors: Tensor,
    rows: dict[str, list[Row]],
    *,
    seed: int,
    smoothing: float,
    say: Callable[[str], None],
    rounds: int = 5,
    batch: int = 256,
) -> None:
    """Fits both matchings on rows of indices into `vectors` (texts, D), in place; ends in evaluation mode.

    A noul's loss is the smoothed cross-entropy, a score's the cross-entropy plus twice the ranked probability score.
    """
    torch.manual_seed(seed)
    order = random.Random(seed)
    for kind, examples in rows.items():
        match = {"noul": gist.noul, "score": gist.score}[kind].train()
        optimiser = torch.optim.AdamW(match.parameters(), lr=RATE, weight_decay=0.1)
        examples, size = list(examples), batch if kind == "noul" else batch // 4
        total, step, losses = rounds * -(-len(examples) // size), 0, []
        for _ in range(rounds):
            order.shuffle(examples)
            for at in range(0, len(examples), size):
                drawn = examples[at : at + size]
                counts = [len(texts) for texts, _, _ in drawn]
                questions = vectors[[text for texts, _, _ in drawn for text in texts]]
                states = vectors[np.repeat([state for _, state, _ in drawn], counts)]
                parts = match(questions, states).split(counts)
                losses_of = [
                    answer_loss(
                        with_false(z) if kind == "noul" else z,
                        answer,
                        smoothing=smoothing,
                        brier=False,
                        ordered=kind == "score",
                    )
                    for z, (_, _, answer) in zip(parts, drawn, strict=True)
                ]
                loss = torch.stack(losses_of).mean()
                for group in optimiser.param_groups:
                    group["lr"] = RATE * (1 - step / total)
                optimiser.zero_grad(set_to_none=True)
                loss.backward()
                optimiser.step()
                step += 1
                losses.append(loss.item())
        match.eval()
        say(f"gist of {kind}: {len(examples)} rows, loss {np.mean(losses[-total // rounds :]):.3f}")
