"""The joint schema head: hidden states and spans in, one logit per option out.

Contract
--------
`JointSchemaHead` has the tensors of a release's `joint_head.safetensors`, under the same names. Each option asks the
whole text (routing layers), each question gathers what its options found, the questions attend to each other and to
the text (field layers), and an option's logit is a prior (is its wording near the question's?) plus a gated joint
term. It runs in its own dtype (float32 by default: it is small, and near-ties do not flip), whatever the backbone's.

Two steps, so that what was read of a state can be kept while the questions change:

* `remember(hidden)` is token-wise: every row depends on its own token only. Memories of a text's parts can be put end
  to end (`Memory.then`).
* `decide(memory, fields, lexical)` needs the memory of the whole text, and span means of the schema part alone.

No loop runs over records, questions or options; records are padded, and pads are masked.

Formulas: the release's own (shape names: B records, T tokens, Q questions, O options of all questions of a record,
H hidden size, W width).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model.layout import TYPE_IDS, Layout

_LOG_SCALE_LIMIT = math.log(100.0)


@dataclass(frozen=True)
class HeadConfig:
    """The six keys of `joint_head_config.json`."""

    hidden_size: int
    width: int
    routing_layers: int
    layers: int
    heads: int
    feedforward: int

    def __post_init__(self) -> None:
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is not a multiple of heads {self.heads}")

    def json(self) -> dict[str, int]:
        """As the file holds it."""
        return asdict(self)


@dataclass(frozen=True)
class Memory:
    """What the head keeps of a text: per attention layer its keys and values, each [B, heads, T, W / heads].

    `normed` are the normed hidden states [B, T, H] of the last part alone: questions, options and the last token stand
    there, and nothing else of the earlier text is read but keys and values.
    """

    normed: Tensor
    keys_values: tuple[tuple[Tensor, Tensor], ...]

    def then(self, later: Memory) -> Memory:
        """This text followed by `later`, record by record."""
        pairs = zip(self.keys_values, later.keys_values, strict=True)
        joined = tuple((torch.cat((k, lk), 2), torch.cat((v, lv), 2)) for (k, v), (lk, lv) in pairs)
        return Memory(later.normed, joined)


class Attention(nn.Module):
    """Multi-head attention whose keys and values can be made ahead of its queries. Tensor names of `torch.nn`."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.in_proj_weight = nn.Parameter(torch.empty(3 * width, width))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * width))
        self.out_proj = nn.Linear(width, width)
        nn.init.xavier_uniform_(self.in_proj_weight)
        nn.init.zeros_(self.out_proj.bias)

    def keys_values(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """[B, T, W] → keys and values [B, heads, T, W / heads]."""
        width = memory.shape[-1]
        both = F.linear(memory, self.in_proj_weight[width:], self.in_proj_bias[width:])
        keys, values = both.chunk(2, -1)
        return self._apart(keys), self._apart(values)

    def forward(self, query: Tensor, keys_values: tuple[Tensor, Tensor], mask: Tensor | None) -> Tensor:
        """[B, N, W] → [B, N, W]. `mask` is bool [B, 1, 1, T], true on what may be read; None reads all."""
        keys, values = keys_values
        mixed = F.scaled_dot_product_attention(self._queries(query), keys, values, attn_mask=mask)
        return self.out_proj(mixed.transpose(1, 2).flatten(2))

    def weights(self, query: Tensor, keys_values: tuple[Tensor, Tensor], mask: Tensor | None) -> Tensor:
        """Where the queries look, averaged over heads: [B, N, T], each row sums to 1."""
        keys, _ = keys_values
        scores = self._queries(query) @ keys.transpose(-1, -2) / math.sqrt(keys.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        return scores.softmax(-1).mean(1)

    def _queries(self, query: Tensor) -> Tensor:
        width = query.shape[-1]
        return self._apart(F.linear(query, self.in_proj_weight[:width], self.in_proj_bias[:width]))

    def _apart(self, x: Tensor) -> Tensor:
        b, n, width = x.shape
        return x.view(b, n, self.heads, width // self.heads).transpose(1, 2)


class RoutingLayer(nn.Module):
    """Options read the text, not each other: R + attention(R → memory), then R + FFN; both normed first."""

    def __init__(self, width: int, heads: int, feedforward: int) -> None:
        super().__init__()
        self.query_norm = nn.LayerNorm(width)
        self.memory_norm = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.feedforward_norm = nn.LayerNorm(width)
        # Slots 2 and 4 are the release's dropout, which is 0; they hold the numbering of the tensors.
        self.feedforward = nn.Sequential(
            nn.Linear(width, feedforward), nn.GELU(), nn.Identity(), nn.Linear(feedforward, width), nn.Identity()
        )

    def forward(self, routes: Tensor, keys_values: tuple[Tensor, Tensor], mask: Tensor | None) -> Tensor:
        """[B, O, W] → [B, O, W]."""
        routes = routes + self.attention(self.query_norm(routes), keys_values, mask)
        return routes + self.feedforward(self.feedforward_norm(routes))


class FieldLayer(nn.Module):
    """Questions read each other, then the text, then themselves: a decoder layer, normed first."""

    def __init__(self, width: int, heads: int, feedforward: int) -> None:
        super().__init__()
        self.self_attn = Attention(width, heads)
        self.multihead_attn = Attention(width, heads)
        self.linear1 = nn.Linear(width, feedforward)
        self.linear2 = nn.Linear(feedforward, width)
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)
        self.norm3 = nn.LayerNorm(width)

    def forward(self, fields: Tensor, keys_values: tuple[Tensor, Tensor], mask: Tensor | None, real: Tensor) -> Tensor:
        """[B, Q, W] → [B, Q, W]. `real` is bool [B, 1, 1, Q], true on questions that are no pads."""
        normed = self.norm1(fields)
        fields = fields + self.self_attn(normed, self.self_attn.keys_values(normed), real)
        fields = fields + self.multihead_attn(self.norm2(fields), keys_values, mask)
        return fields + self.linear2(F.gelu(self.linear1(self.norm3(fields))))


class JointSchemaHead(nn.Module):
    """See the module's contract. Fresh weights are PyTorch's defaults; the three scalars start at 0."""

    def __init__(self, config: HeadConfig) -> None:
        super().__init__()
        self.config = config
        hidden, width = config.hidden_size, config.width
        self.prior_logit_scale = nn.Parameter(torch.zeros(()))
        self.joint_logit_scale = nn.Parameter(torch.zeros(()))
        self.residual_gate = nn.Parameter(torch.zeros(()))
        self.hidden_norm = nn.LayerNorm(hidden)
        self.memory_projection = nn.Linear(hidden, width, bias=False)
        self.question_projection = nn.Linear(hidden, width, bias=False)
        self.option_question_projection = nn.Linear(hidden, width, bias=False)
        self.global_projection = nn.Linear(hidden, width, bias=False)
        self.option_context_projection = nn.Linear(hidden, width, bias=False)
        self.option_lexical_projection = nn.Linear(hidden, width, bias=False)
        self.type_embedding = nn.Embedding(len(TYPE_IDS), width)
        self.evidence_layers = nn.ModuleList(
            RoutingLayer(width, config.heads, config.feedforward) for _ in range(config.routing_layers)
        )
        self.option_summary_norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(FieldLayer(width, config.heads, config.feedforward) for _ in range(config.layers))
        self.field_norm = nn.LayerNorm(width)
        self.option_norm = nn.LayerNorm(width)
        self.residual_scorer = nn.Sequential(nn.Linear(4 * width, width), nn.GELU(), nn.Identity(), nn.Linear(width, 1))

    @property
    def dtype(self) -> torch.dtype:
        """What the head computes in."""
        return self.hidden_norm.weight.dtype

    @property
    def _routing_layers(self) -> Iterator[RoutingLayer]:
        return cast("Iterator[RoutingLayer]", iter(self.evidence_layers))

    @property
    def _field_layers(self) -> Iterator[FieldLayer]:
        return cast("Iterator[FieldLayer]", iter(self.layers))

    def remember(self, hidden: Tensor) -> Memory:
        """Token-wise part.

        Parameters
        ----------
        hidden : [B, T, H], the backbone's final hidden states, any float dtype.
        """
        normed = self.hidden_norm(hidden.to(self.dtype))
        memory = self.memory_projection(normed)
        routing = [layer.attention.keys_values(layer.memory_norm(memory)) for layer in self._routing_layers]
        fields = [layer.multihead_attn.keys_values(memory) for layer in self._field_layers]
        return Memory(normed, (*routing, *fields))

    def decide(
        self, memory: Memory, layout: Layout, lexical: Tensor, mask: Tensor | None = None, *, with_routing: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """Logits of all options.

        Parameters
        ----------
        memory : of the whole texts; right-padded.
        layout : where questions and options stand in `memory.normed`.
        lexical : [S, H], for each entry of `layout.rows` the output-embedding row of its token, any float dtype.
        mask : [B, T] bool, true on real tokens; None if there are no pads.
        with_routing : also return where the options looked.

        Returns
        -------
        logits : [B, O]; meaningless on pads.
        routing : [B, O, T] or None. For each option the attention over tokens, averaged over heads and routing layers
            (each row sums to 1). It tells what was read, not why the answer came out so.
        """
        normed = memory.normed
        readable = None if mask is None else mask[:, None, None, :]
        asked, context = layout.means(normed.flatten(0, 1)[layout.rows])
        _, words = layout.means(lexical.to(self.dtype))
        whole = normed[torch.arange(len(normed), device=normed.device), layout.last]

        routes = (
            self.option_context_projection(context)
            + self.option_lexical_projection(words)
            + layout.of_options(self.option_question_projection(asked))
        )
        looks = []
        for layer, keys_values in zip(self._routing_layers, memory.keys_values, strict=False):
            if with_routing:
                looks.append(layer.attention.weights(layer.query_norm(routes), keys_values, readable))
            routes = layer(routes, keys_values, readable)

        fields = self._fields(asked, whole, routes, layout)
        real = layout.questions[:, None, None, :]
        for deep, keys_values in zip(self._field_layers, memory.keys_values[len(self.evidence_layers) :], strict=True):
            fields = deep(fields, keys_values, readable, real)

        joint = self._joint(layout.of_options(self.field_norm(fields)), self.option_norm(routes))
        anchor = F.normalize(asked + whole[:, None], dim=-1)
        near = (F.normalize(words, dim=-1) * layout.of_options(anchor)).sum(-1)
        logits = _scale(self.prior_logit_scale) * near + self.residual_gate.sigmoid() * joint
        return logits, torch.stack(looks).mean(0) if looks else None

    def forward(self, hidden: Tensor, layout: Layout, lexical: Tensor, mask: Tensor | None = None) -> Tensor:
        """[B, T, H] → logits [B, O]. See `remember` and `decide`."""
        return self.decide(self.remember(hidden), layout, lexical, mask)[0]

    def _fields(self, asked: Tensor, whole: Tensor, routes: Tensor, layout: Layout) -> Tensor:
        """Each question with the summary of its options: [B, Q, W]."""
        base = self.question_projection(asked)
        fit = base @ routes.transpose(1, 2) / math.sqrt(self.config.width)
        order = torch.arange(base.shape[1], device=base.device)
        own = (layout.question_of[:, None, :] == order[None, :, None]) & layout.options[:, None, :]
        # A padded question has no options: its weights are set to 0 where softmax would give NaN.
        fit = fit.masked_fill(~own, torch.finfo(fit.dtype).min)
        summary = (fit.softmax(-1) * own) @ routes
        total = base + self.option_summary_norm(summary) + self.global_projection(whole)[:, None]
        return total + self.type_embedding(layout.types)

    def _joint(self, fields: Tensor, options: Tensor) -> Tensor:
        """[B, O, W] twice → [B, O]."""
        near = F.cosine_similarity(fields, options, dim=-1)
        features = torch.cat((fields, options, fields * options, (fields - options).abs()), -1)
        return _scale(self.joint_logit_scale) * near + self.residual_scorer(features).squeeze(-1)


def _scale(log_scale: Tensor) -> Tensor:
    return log_scale.clamp(max=_LOG_SCALE_LIMIT).exp()


def tensor_problems(expected: Mapping[str, tuple[int, ...]], found: Mapping[str, tuple[int, ...]]) -> list[str]:
    """What keeps tensors of shapes `found` from being those of `expected`: one phrase per kind, naming the tensors."""
    missing = sorted(expected.keys() - found.keys())
    foreign = sorted(found.keys() - expected.keys())
    misshaped = [
        f"{name} is {list(found[name])} and should be {list(expected[name])}"
        for name in sorted(expected.keys() & found.keys())
        if tuple(found[name]) != tuple(expected[name])
    ]
    problems = []
    if missing:
        problems.append(f"missing: {_some(missing)}")
    if foreign:
        problems.append(f"not known: {_some(foreign)}")
    if misshaped:
        problems.append(f"wrong shape: {_some(misshaped)}")
    return problems


def _some(names: Sequence[str], most: int = 8) -> str:
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")
