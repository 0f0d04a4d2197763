"""What a causal backbone holds of tokens that it has read, so that it can go on from there as often as it likes.

Contract
--------
This is the seam to transformers' caches. A `Past` belongs to one text and never changes: `cache` builds a fresh cache
from it for every use, for one row or for several that go on differently. A full-attention layer holds keys and values
of every token, and its cache is made longer by putting tensors end to end, so they can be shared. A linear-attention
layer holds a state of fixed size that is written over in place, so it is copied; of a shorter text it says nothing,
and a `Past` can be shortened only to a place where the linear states were kept too (`Past.upto`).

Models whose cache has other layers (sliding windows, state-space models) are not covered: see `covers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from torch import Tensor
from transformers.cache_utils import Cache, DynamicCache, DynamicLayer, LinearAttentionLayer

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

Full: TypeAlias = Mapping[int, tuple[Tensor, Tensor]]
"""Per full-attention layer, by its place among the layers: keys and values [1, heads, tokens, width of a head]."""
Linear: TypeAlias = Mapping[int, tuple[Tensor, Tensor | None]]
"""Per linear layer: the last inputs of its convolution [1, channels, kernel], and its recurrent state if it has one."""


@dataclass(frozen=True)
class Past:
    """`tokens` have been read."""

    tokens: int
    full: Full
    linear: Linear

    @classmethod
    def of(cls, cache: Cache) -> Past:
        """What a cache of one row holds now. Reading on with that cache does not change it."""
        full = {i: (layer.keys, layer.values) for i, layer in _layers(cache, DynamicLayer)}
        return cls(cache.get_seq_length(), full, linear_of(cache))

    def upto(self, tokens: int, linear: Linear) -> Past:
        """The first `tokens` of the text; `linear` are the states as they were there."""
        return Past(tokens, {i: (k[:, :, :tokens], v[:, :, :tokens]) for i, (k, v) in self.full.items()}, linear)

    def cache(self, config: PreTrainedConfig, rows: int = 1) -> Cache:
        """A cache to go on with, for `rows` texts that all begin with this one."""
        cache = DynamicCache(config=config)
        for i, layer in _layers(cache, DynamicLayer):
            keys, values = (x.expand(rows, -1, -1, -1) for x in self.full[i])
            layer.lazy_initialization(keys, values)
            layer.keys, layer.values = keys, values
        for i, layer in _layers(cache, LinearAttentionLayer):
            conv, recurrent = self.linear[i]
            layer.update_conv_state(conv.expand(rows, -1, -1))  # copies
            if recurrent is not None:
                layer.update_recurrent_state(recurrent.expand(rows, *[-1] * (recurrent.dim() - 1)))
        return cache


def linear_of(cache: Cache) -> Linear:
    """Copies of the linear layers' states as they are now, of a cache of one row."""
    states = {}
    for i, layer in _layers(cache, LinearAttentionLayer):
        recurrent = layer.recurrent_states[0]
        states[i] = (layer.conv_states[0].clone(), None if recurrent is None else recurrent.clone())
    return states


def covers(config: PreTrainedConfig) -> bool:
    """Whether a model of this configuration keeps nothing but what a `Past` can hold."""
    if getattr(config, "use_bidirectional_attention", False) or not getattr(config, "is_causal", True):
        return False
    try:
        layers = DynamicCache(config=config).layers
    except (AttributeError, KeyError, TypeError, ValueError):
        return False  # a configuration that transformers' own caches do not know
    if not layers or not any(type(layer) is DynamicLayer for layer in layers):
        return False  # without keys nobody counts the tokens
    return all(
        type(layer) is DynamicLayer or (type(layer) is LinearAttentionLayer and layer.number_of_states == 1)
        for layer in layers
    )


def turns_back(config: PreTrainedConfig) -> bool:
    """Whether a `Past` of this model can be shortened to any place: it has no linear layers."""
    return not _layers(DynamicCache(config=config), LinearAttentionLayer)


def _layers(cache: Cache, kind: type) -> list[tuple[int, Any]]:
    return [(i, layer) for i, layer in enumerate(cache.layers) if type(layer) is kind]
