"""A six-layer BERT encoder, small enough to read: token ids and segments in, hidden states out.

Contract
--------
`Encoder` computes what `transformers.BertModel` computes with the same tensors (post-norm, exact GELU, learned
positions), and loads them under the same names. It is our own so that opening the embedded model neither imports
transformers nor allocates what it does not use. Shapes: P sequences, L positions, D = 384 features.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional as F

WIDTH, HEADS, LAYERS, INNER, VOCABULARY, POSITIONS = 384, 12, 6, 1536, 30522, 512

FROZEN = 2
"""Lowest layers that are never tuned: less work, and nearer to the untuned encoder."""


class Layer(nn.Module):
    """Self-attention and a feed-forward part, each followed by a layer norm."""

    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Linear(WIDTH, WIDTH)
        self.key = nn.Linear(WIDTH, WIDTH)
        self.value = nn.Linear(WIDTH, WIDTH)
        self.mix = nn.Linear(WIDTH, WIDTH)
        self.mix_norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.up = nn.Linear(WIDTH, INNER)
        self.down = nn.Linear(INNER, WIDTH)
        self.down_norm = nn.LayerNorm(WIDTH, eps=1e-12)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """(P, L, D) to (P, L, D); `mask` (P, 1, 1 or L, L) is added to the attention scores."""
        pairs, length, _ = x.shape
        heads = (pairs, length, HEADS, WIDTH // HEADS)
        q, k, v = (part(x).view(heads).transpose(1, 2) for part in (self.query, self.key, self.value))
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        mixed = self.mix(mixed.transpose(1, 2).reshape(pairs, length, WIDTH))
        x = self.mix_norm(x + mixed)
        inner = self.down(F.gelu(self.up(x)))
        return self.down_norm(x + inner)


class Encoder(nn.Module):
    """Embeddings and six layers. No dropout: on a CPU drawing its numbers took a third of a training step."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Embedding(POSITIONS, WIDTH)
        self.segments = nn.Embedding(2, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, ids: Tensor, segments: Tensor, positions: Tensor, sees: Tensor) -> Tensor:
        """Hidden states (P, L, D).

        Parameters
        ----------
        ids, segments, positions : (P, L) int64; `segments` holds 0 or 1, `positions` 0..511.
        sees : (P, 1, L) or (P, L, L) bool: whether a position (first L) may look at another (second L).
        """
        x = self.words(ids) + self.segments(segments) + self.positions(positions)
        x = self.norm(x)
        mask = torch.zeros(sees.shape, dtype=x.dtype).masked_fill(~sees, torch.finfo(x.dtype).min)[:, None]
        for layer in self.layers:
            x = layer(x, mask)
        return x


_PARTS = {
    "attention.self.query": "query",
    "attention.self.key": "key",
    "attention.self.value": "value",
    "attention.output.dense": "mix",
    "attention.output.LayerNorm": "mix_norm",
    "intermediate.dense": "up",
    "output.dense": "down",
    "output.LayerNorm": "down_norm",
}
_NAMES = {
    "embeddings.word_embeddings.weight": "words.weight",
    "embeddings.position_embeddings.weight": "positions.weight",
    "embeddings.token_type_embeddings.weight": "segments.weight",
    "embeddings.LayerNorm.weight": "norm.weight",
    "embeddings.LayerNorm.bias": "norm.bias",
} | {
    f"encoder.layer.{i}.{theirs}.{kind}": f"layers.{i}.{ours}.{kind}"
    for i in range(LAYERS)
    for theirs, ours in _PARTS.items()
    for kind in ("weight", "bias")
}


def untuned_encoder(tensors: Mapping[str, Tensor]) -> Encoder:
    """An `Encoder` with the tensors of a BertModel (copied), in evaluation mode.

    Raises
    ------
    KeyError : a tensor is missing; its name is in the message.
    """
    encoder = Encoder()
    encoder.load_state_dict({ours: tensors[theirs] for theirs, ours in _NAMES.items()})
    return encoder.eval()


def mean_vectors(hidden: Tensor, chosen: Tensor) -> Tensor:
    """(P, D) mean of `hidden` (P, L, D) over the positions where `chosen` (P, L) is True (zeros where none is)."""
    weight = chosen.to(hidden.dtype)
    return (hidden * weight[..., None]).sum(1) / weight.sum(1, keepdim=True).clamp(min=1)
