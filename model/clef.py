"""Clef as a scorer: a backbone, the joint schema head, and the release's prompt.

Contract
--------
`open_clef` loads a checkpoint (`model.checkpoint`), `Clef` answers (`model.scorer.Scorer`). Requests are encoded and
checked before the model runs, sorted by length into batches with little padding, and read in one forward pass each;
pictures and text may be mixed. Logits come out in model order as float64. Nothing is remembered between calls.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np
import torch

from model.backbone import Backbone, Batch, choose_device, choose_dtype, load_backbone, load_head, pad
from model.checkpoint import Checkpoint, CheckpointError, Progress, find, save
from model.encoding import Encoded, Encoder
from model.head import JointSchemaHead
from model.images import Picture, picture_tokens, prepare
from model.layout import Layout
from model.questions import CLEF_LIMITS, FieldError, Limits, Questions, StateError, parse_questions
from model.scorer import QuestionIds, Reading, Request, ScorerInfo
from model.state import State, Tokens

MAX_TOKENS = 16_384
"""What the released code reads at most unless told otherwise; the backbone itself can read 262,144."""

BATCH_TOKENS = 32_768
BATCH_ROWS = 32
_SLACK_TOKENS = 64


class Clef:
    """A loaded checkpoint. Used by one thread at a time; `count` may be called from any."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        *,
        backbone: Backbone,
        head: JointSchemaHead,
        encoder: Encoder,
        limits: Limits = CLEF_LIMITS,
    ) -> None:
        self.limits = limits
        self.checkpoint = checkpoint
        self.backbone = backbone
        self.head = head
        self.encoder = encoder
        self._info = _describe(checkpoint, backbone, head, encoder)

    @property
    def info(self) -> ScorerInfo:
        """Who answers."""
        return self._info

    def count(self, state: State, questions: Questions) -> Tokens:
        """How the request divides; tokenizer only.

        Raises
        ------
        StateError : the state has pictures that this backbone cannot see.
        """
        return self.encoder.count(state.value, questions, picture_tokens=self._picture_tokens(state))

    def encode(self, request: Request) -> Encoded:
        """The request as the backbone reads it.

        Raises
        ------
        TooLong : it does not fit and allows no cut.
        StateError : it has pictures that this backbone cannot see.
        """
        state = request.state
        return self.encoder.encode(
            state.value,
            request.questions,
            picture_tokens=self._picture_tokens(state),
            allow_cut=request.allow_cut,
        )

    def score(self, requests: Sequence[Request]) -> list[Reading]:
        """One reading per request, in order. Raises as `encode`, before the model runs."""
        encoded = [self.encode(request) for request in requests]
        pictures = [request.state.pictures for request in requests]
        readings: dict[int, Reading] = {}
        for rows in batches([len(e.ids) for e in encoded]):
            batch = [encoded[i] for i in rows]
            logits, _, layout = self.run(batch, [pictures[i] for i in rows])
            for i, e, values in zip(rows, batch, layout.split(logits), strict=True):
                by_id = {field.id: row for field, row in zip(e.fields, values, strict=True)}
                readings[i] = Reading(by_id, e.tokens, e.cut)
        return [readings[i] for i in range(len(requests))]

    def routing(self, request: Request) -> tuple[Encoded, dict[str, np.ndarray]]:
        """Where each option looked.

        Returns
        -------
        The encoded request, and per question id float32 [options in model order, tokens]; rows sum to 1. Averaged over
        heads and routing layers (`model.head.JointSchemaHead.decide`); `Encoded.state` and `offsets` lead from tokens
        to characters.
        """
        encoded = self.encode(request)
        _, routing, _ = self.run([encoded], [request.state.pictures], with_routing=True)
        assert routing is not None
        looks, at, by_id = routing[0].float().cpu().numpy(), 0, {}
        for field in encoded.fields:
            by_id[field.id] = looks[at : at + len(field.options)]
            at += len(field.options)
        return encoded, by_id

    def warm_up(self) -> None:
        """Answer one small question, so that the first real one does not pay for what is set up once."""
        self.score([Request(State(""), parse_questions({"ready": {"type": "noul", "instructions": "Ready?"}}))])

    def save(self, folder: Path) -> None:
        """Write the checkpoint in the released layout; it opens to the same logits. Raises CheckpointError."""
        save(
            folder,
            source=self.checkpoint,
            backbone=self.backbone.model,
            head=self.head,
            question_ids=self.encoder.question_ids,
        )

    @torch.inference_mode()
    def run(
        self, batch: Sequence[Encoded], pictures: Sequence[Sequence[Picture]], *, with_routing: bool = False
    ) -> tuple[torch.Tensor, torch.Tensor | None, Layout]:
        """One forward pass.

        Parameters
        ----------
        pictures : per encoded request its pictures, as they were counted when it was encoded.

        Returns
        -------
        Logits [B, O], routing [B, O, T] if asked for, and the layout that takes them apart (`Layout.split`).
        """
        device = self.backbone.device
        lengths = [len(e.ids) for e in batch]
        tokens = max(lengths)
        ids = pad([e.ids for e in batch], self.backbone.pad_id, device)
        mask = None
        if min(lengths) < tokens:
            mask = torch.arange(tokens, device=device) < torch.tensor(lengths, device=device)[:, None]
        shown = None
        if flat := [picture for record in pictures for picture in record]:
            assert self.checkpoint.pictures is not None
            pixels, grids = prepare(flat, self.checkpoint.pictures)
            types = pad([e.token_types() for e in batch], 0, device)
            shown = pixels.to(device), grids.to(device), types
        hidden = self.backbone.hidden(Batch(ids, mask, shown))
        layout = Layout.of([e.fields for e in batch], lengths, tokens, device)
        lexical = self.backbone.rows[ids.flatten()[layout.rows]]
        memory = self.head.remember(hidden)
        logits, routing = self.head.decide(memory, layout, lexical, mask, with_routing=with_routing)
        return logits, routing, layout

    def _picture_tokens(self, state: State) -> list[int]:
        settings = self.checkpoint.pictures
        if state.pictures and settings is None:
            message = f"{self.checkpoint.name} reads text alone; leave the pictures out, or load a Clef release"
            raise StateError([FieldError(("images",), message, "no_pictures")])
        return [picture_tokens(picture, settings) for picture in state.pictures if settings is not None]


def open_clef(
    source: str | Path,
    *,
    device: str = "auto",
    dtype: str = "auto",
    max_tokens: int | None = None,
    question_ids: str | None = None,
    threads: int | None = None,
    limits: Limits = CLEF_LIMITS,
    head: str | Path | None = None,
    reference_specials: bool = False,
    progress: Progress | None = None,
) -> Clef:
    """Load a checkpoint.

    Parameters
    ----------
    source : a folder in the released layout, or a hub name.
    device, dtype : see `model.backbone.choose_device` and `choose_dtype`. The head always runs in float32.
    max_tokens : the most that one request may hold; if not given, `MAX_TOKENS` or what the backbone can read.
    question_ids : "literal" or "neutral"; overrides what the checkpoint states.
    threads : how many CPU threads torch may use, in the whole process; its own choice if not given.
    limits : how much one request may ask.
    head : folder or hub name of the head's files, where they are not beside the backbone.
    reference_specials : parse control tokens in the caller's text, as the released code does; for parity tests only.
    progress : told what is being done.

    Raises
    ------
    CheckpointError
    """
    if question_ids is not None and question_ids not in get_args(QuestionIds):
        raise CheckpointError(f"question ids {question_ids!r} are not known; use literal or neutral")
    checkpoint = find(source, head=head, progress=progress)
    if threads is not None:
        torch.set_num_threads(threads)
    positions = checkpoint.positions or max_tokens or MAX_TOKENS
    if max_tokens is not None and max_tokens > positions:
        raise CheckpointError(f"{checkpoint.name} reads at most {positions:,} tokens; lower --max-tokens")
    where = choose_device(device)
    encoder = Encoder(
        checkpoint.tokenizer_file,
        max_tokens=max_tokens or min(MAX_TOKENS, positions),
        question_ids=cast(QuestionIds, question_ids or checkpoint.question_ids),
        reference_specials=reference_specials,
    )
    placeholder = checkpoint.config.get("image_token_id", encoder.image_token_id)
    if checkpoint.pictures is not None and placeholder != encoder.image_token_id:
        raise CheckpointError(
            f"{checkpoint.tokenizer_file}: <|image_pad|> is token {encoder.image_token_id}, but config.json has "
            f"image_token_id {placeholder}; fetch both from one release"
        )
    backbone = load_backbone(checkpoint, device=where, dtype=choose_dtype(dtype, where), progress=progress)
    joint_head = load_head(checkpoint, device=where)
    return Clef(checkpoint, backbone=backbone, head=joint_head, encoder=encoder, limits=limits)


def batches(lengths: Sequence[int]) -> list[list[int]]:
    """Indices grouped so that rows of a batch are of nearly one length.

    A batch holds at most `BATCH_ROWS` rows and `BATCH_TOKENS` tokens with padding (a longer single row stands alone),
    and its longest row is at most a quarter, plus a few tokens, longer than its shortest.
    """
    groups: list[list[int]] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        if groups:
            longest, rows = lengths[groups[-1][0]], len(groups[-1]) + 1
            near = longest <= lengths[i] * 5 // 4 + _SLACK_TOKENS
            if near and rows <= BATCH_ROWS and rows * longest <= BATCH_TOKENS:
                groups[-1].append(i)
                continue
        groups.append([i])
    return groups


def _describe(checkpoint: Checkpoint, backbone: Backbone, head: JointSchemaHead, encoder: Encoder) -> ScorerInfo:
    dtype = str(backbone.dtype).removeprefix("torch.")
    # All that decides a number: the files, how ids and control tokens are written, what is computed in.
    parts = [checkpoint.fingerprint(), encoder.question_ids, dtype, str(head.dtype), str(encoder.reference_specials)]
    details: dict[str, Any] = {
        "backbone": str(checkpoint.config.get("model_type", "")),
        "backbone_parameters": backbone.parameters,
        "head_parameters": sum(p.numel() for p in head.parameters()),
        "head": checkpoint.head_config.json(),
        "head_dtype": str(head.dtype).removeprefix("torch."),
        "tokenizer": "tokenizer.json",
        "revision": checkpoint.revision,
        "folder": str(checkpoint.folder),
    }
    return ScorerInfo(
        name=checkpoint.name,
        kind="clef",
        fingerprint=hashlib.sha256("\n".join(parts).encode()).hexdigest(),
        question_ids=encoder.question_ids,
        max_tokens=encoder.max_tokens,
        sees_pictures=checkpoint.pictures is not None,
        device=str(backbone.device),
        dtype=dtype,
        notice=checkpoint.notice,
        details=details,
    )
