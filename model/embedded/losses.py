"""The losses of the embedded model's parts.

Contract
--------
`answer_loss` is what a question's logits are judged by: cross-entropy against a smoothed target, with the Brier score
and, for ordered options, twice the ranked probability score where they are asked for.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F


def with_false(logits: Tensor) -> Tensor:
    """(2,) of a noul's one logit (1,): true, and false at 0."""
    return torch.cat([logits, torch.zeros(1)])


def answer_loss(logits: Tensor, answer: int, *, smoothing: float, brier: bool, ordered: bool) -> Tensor:
    """A scalar for logits over all options (N,); `smoothing` is the share of the target that all options divide."""
    target = torch.full_like(logits, smoothing / len(logits))
    target[answer] += 1 - smoothing
    log_p = F.log_softmax(logits, 0)
    p = log_p.exp()
    loss = -(target * log_p).sum()
    if brier:
        loss = loss + (p - target).pow(2).sum()
    if ordered:
        loss = loss + 2 * (p.cumsum(0) - target.cumsum(0)).pow(2).sum()
    return loss
