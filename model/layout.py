"""Where the questions and options of a batch stand: the head's index tensors, and the means over their spans.

Contract
--------
`Layout.of` turns spans (`model.encoding.FieldSpans`) of several records into padded tensors on one device, once per
batch; everything after that runs over all records, questions and options at once. B records, Q questions of the
longest record, O options of all questions of the longest record, T tokens, S tokens of all spans.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.encoding import FieldSpans

TYPE_IDS: Mapping[str, int] = {"noul": 0, "choice": 1, "score": 2}
"""Row of a question's type in the head's type embedding."""


@dataclass(frozen=True)
class Layout:
    """Which tokens and options belong to what, for a batch; padded, all on one device.

    question_of : [B, O] long, the question of each option (0 on pads)
    options : [B, O] bool, true on real options
    questions : [B, Q] bool, true on real questions
    types : [B, Q] long, `TYPE_IDS`
    last : [B] long, position of each record's last token
    rows, bags : [S] long, one entry per token of every span; token row `rows[s]` (flat, b·T + t) counts into mean
        `bags[s]`. Bags are flat: first B·Q questions, then B·O options.
    sizes : [B·Q + B·O] long, tokens per bag (1 where there are none)
    """

    question_of: Tensor
    options: Tensor
    questions: Tensor
    types: Tensor
    last: Tensor
    rows: Tensor
    bags: Tensor
    sizes: Tensor
    counts: tuple[tuple[int, ...], ...]
    """Per record, options per question."""

    @classmethod
    def of(
        cls, fields: Sequence[Sequence[FieldSpans]], lengths: Sequence[int], tokens: int, device: torch.device
    ) -> Layout:
        """The layout of a batch.

        Parameters
        ----------
        fields : per record its questions, with spans in its own tokens.
        lengths : tokens of each record.
        tokens : T, the padded length.

        Raises
        ------
        ValueError : a span is empty or lies outside its record.
        """
        counts = tuple(tuple(len(field.options) for field in record) for record in fields)
        b, q = len(fields), max(len(record) for record in fields)
        o = max(sum(record) for record in counts)
        question_of = torch.zeros(b, o, dtype=torch.long)
        options = torch.zeros(b, o, dtype=torch.bool)
        questions = torch.zeros(b, q, dtype=torch.bool)
        types = torch.zeros(b, q, dtype=torch.long)
        spans: list[tuple[int, int, int]] = []  # bag, first row, tokens
        for r, record in enumerate(fields):
            at = 0
            for i, field in enumerate(record):
                for span in (field.question, *field.options):
                    if not 0 <= span[0] < span[1] <= lengths[r]:
                        raise ValueError(f"{field.id}: no tokens at {span[0]}..{span[1]} of {lengths[r]}")
                first, n = r * tokens, len(field.options)
                spans.append((r * q + i, first + field.question[0], field.question[1] - field.question[0]))
                spans += [(b * q + r * o + at + k, first + x, y - x) for k, (x, y) in enumerate(field.options)]
                question_of[r, at : at + n] = i
                types[r, i] = TYPE_IDS[field.type]
                at += n
            options[r, :at] = True
            questions[r, : len(record)] = True
        bag, first_row, size = torch.tensor(spans).unbind(1)
        bags = bag.repeat_interleave(size)
        rows = torch.arange(len(bags)) + (first_row - size.cumsum(0) + size).repeat_interleave(size)
        sizes = torch.ones(b * (q + o), dtype=torch.long)
        sizes[bag] = size
        return cls(
            question_of=question_of.to(device),
            options=options.to(device),
            questions=questions.to(device),
            types=types.to(device),
            last=(torch.tensor(lengths) - 1).to(device),
            rows=rows.to(device),
            bags=bags.to(device),
            sizes=sizes.to(device),
            counts=counts,
        )

    def means(self, values: Tensor) -> tuple[Tensor, Tensor]:
        """Span means.

        Parameters
        ----------
        values : [S, H], one row per entry of `rows`.

        Returns
        -------
        [B, Q, H] and [B, O, H]; zero on pads.
        """
        b, q = self.questions.shape
        o = self.options.shape[1]
        sums = values.new_zeros(b * (q + o), values.shape[-1]).index_add_(0, self.bags, values)
        flat = sums / self.sizes.unsqueeze(-1)
        return flat[: b * q].view(b, q, -1), flat[b * q :].view(b, o, -1)

    def of_options(self, per_question: Tensor) -> Tensor:
        """[B, Q, D] → [B, O, D]: each option's row is its question's."""
        index = self.question_of.unsqueeze(-1).expand(-1, -1, per_question.shape[-1])
        return per_question.gather(1, index)

    def split(self, logits: Tensor) -> list[list[list[float]]]:
        """[B, O] → per record, per question, float64 values."""
        out = []
        for row, counts in zip(logits.double().cpu().tolist(), self.counts, strict=True):
            at, record = 0, []
            for n in counts:
                record.append(row[at : at + n])
                at += n
            out.append(record)
        return out
