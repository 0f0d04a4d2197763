"""Clef as a scorer: a backbone, the joint schema head, and the release's prompt.

Contract
--------
`open_clef` loads a checkpoint (`model.checkpoint`), `Clef` answers (`model.scorer.Scorer`). Requests are encoded and
checked before the model runs, sorted by length into batches with little padding, and read in one forward pass each;
pictures and text may be mixed. Logits come out in model order as float64.

What was read of a state is kept within `state_memory` bytes where it is likely to be asked again (`model.prefix`), and
several requests on one state read it once. That changes time and, by rounding, the last digits of a logit (up to 1e-5
in float32); `Reading.reused` tells of it.
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
from model.images import Picture, grid, picture_tokens, prepare
from model.layout import Layout
from model.looked import Looked, looked
from model.prefix import Prefix, Prefixes, Text, continued
from model.questions import CLEF_LIMITS, FieldError, Limits, Questions, StateError, parse_questions
from model.scorer import QuestionIds, Reading, Request, ScorerInfo
from model.state import State, Tokens

MAX_TOKENS = 16_384
"""What the released code reads at most unless told otherwise; the backbone itself can read 262,144."""

STATE_MEMORY = 1 << 30
"""Bytes for what was read of states, unless told otherwise. On a GPU twice that, but at most a quarter of what is free
once the model is loaded."""

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
        state_memory: int = STATE_MEMORY,
    ) -> None:
        self.limits = limits
        self.checkpoint = checkpoint
        self.backbone = backbone
        self.head = head
        self.encoder = encoder
        self.states = Prefixes(backbone, head, budget=state_memory)
        """What was read of states. After a change of weights: `states.forget()`."""
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

        def fill(rows: Sequence[int], reused: Sequence[int], logits: torch.Tensor, layout: Layout) -> None:
            for i, old, values in zip(rows, reused, layout.split(logits), strict=True):
                e = encoded[i]
                by_id = {field.id: row for field, row in zip(e.fields, values, strict=True)}
                readings[i] = Reading(by_id, e.tokens, e.cut, reused=old)

        for text, group in self._by_text(encoded, pictures):
            # The same state for all of them: read once, or not at all.
            found = self._prefix(text, encoded[group[0]], pictures[group[0]], len(group), len(group) == len(requests))
            if found is None:
                continue
            prefix, begun = found
            for places in batches([len(encoded[i].ids) for i in group]):
                rows = [group[place] for place in places]
                logits, _, layout = self.run_after(prefix, [encoded[i] for i in rows])
                fill(rows, [begun if i == group[0] else len(text) for i in rows], logits, layout)
        rest = [i for i in range(len(requests)) if i not in readings]
        for places in batches([len(encoded[i].ids) for i in rest]):
            rows = [rest[place] for place in places]
            logits, _, layout = self.run([encoded[i] for i in rows], [pictures[i] for i in rows])
            fill(rows, [0] * len(rows), logits, layout)
        return [readings[i] for i in range(len(requests))]

    def routing(self, request: Request) -> tuple[Encoded, dict[str, np.ndarray]]:
        """Where each option looked.

        Returns
        -------
        The encoded request, and per question id float32 [options in model order, tokens]; rows sum to 1. Averaged over
        heads and routing layers (`model.head.JointSchemaHead.decide`); `Encoded.state` and `offsets` lead from tokens
        to characters.
        """
        encoded, pictures = self.encode(request), request.state.pictures
        found = None
        for text, _ in self._by_text([encoded], [pictures]):
            found = self._prefix(text, encoded, pictures, 1, lone=True)
        if found is None:
            _, routing, _ = self.run([encoded], [pictures], with_routing=True)
        else:
            _, routing, _ = self.run_after(found[0], [encoded], with_routing=True)
        assert routing is not None
        looks, at, by_id = routing[0].float().cpu().numpy(), 0, {}
        for field in encoded.fields:
            by_id[field.id] = looks[at : at + len(field.options)]
            at += len(field.options)
        return encoded, by_id

    def look(self, request: Request, question: str, option: str) -> Looked | None:
        """Where one option looked in the state (`model.looked.Looks`).

        Raises
        ------
        InvalidRequest : the request does not ask this, or as `encode`.
        """
        grids = self._grids(request.state.pictures)
        return looked(request, question, option, grids, lambda: self.routing(request))

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
        mask = _mask(lengths, device)
        shown = None
        if flat := [picture for record in pictures for picture in record]:
            shown = self._shown(flat, [e.token_types() for e in batch])
        hidden = self.backbone.hidden(Batch(ids, mask, shown))
        layout = Layout.of([e.fields for e in batch], lengths, tokens, device)
        lexical = self.backbone.rows[ids.flatten()[layout.rows]]
        memory = self.head.remember(hidden)
        logits, routing = self.head.decide(memory, layout, lexical, mask, with_routing=with_routing)
        return logits, routing, layout

    @torch.inference_mode()
    def run_after(
        self, prefix: Prefix, batch: Sequence[Encoded], *, with_routing: bool = False
    ) -> tuple[torch.Tensor, torch.Tensor | None, Layout]:
        """As `run`, of requests that all begin with `prefix` up to their schemas: only these are read."""
        device, begun = self.backbone.device, len(prefix.text)
        tails = [e.ids[begun:] for e in batch]
        lengths = [len(tail) for tail in tails]
        ids = pad(tails, self.backbone.pad_id, device)
        cache = prefix.past.cache(self.backbone.text_config, len(batch))
        hidden = self.backbone.hidden(Batch(ids, None), cache=cache, shift=prefix.text.shift)
        fields = [[field.shifted(-begun) for field in e.fields] for e in batch]
        layout = Layout.of(fields, lengths, max(lengths), device)
        lexical = self.backbone.rows[ids.flatten()[layout.rows]]
        memory = continued(prefix, len(batch), self.head.remember(hidden))
        mask = _mask([begun + n for n in lengths], device)
        logits, routing = self.head.decide(memory, layout, lexical, mask, with_routing=with_routing)
        return logits, routing, layout

    def _by_text(
        self, encoded: Sequence[Encoded], pictures: Sequence[Sequence[Picture]]
    ) -> list[tuple[Text, list[int]]]:
        """What is to be read before the schemas, and which requests share it; nothing where nothing is kept."""
        if not self.states.budget:
            return []
        groups: dict[Any, tuple[Text, list[int]]] = {}
        for i, (e, shown) in enumerate(zip(encoded, pictures, strict=True)):
            text = Text(
                ids=np.array(e.ids[: e.schema_at], dtype=np.int32),
                state_at=e.state[0],
                pictures=tuple(f"{p.sha256} {p.width}×{p.height}" for p in shown),
                # A picture takes as many positions as its longer side has tokens.
                shift=sum(max(rows, columns) - rows * columns for rows, columns in self._grids(shown)),
            )
            groups.setdefault(text.key, (text, []))[1].append(i)
        return list(groups.values())

    def _prefix(
        self, text: Text, encoded: Encoded, pictures: Sequence[Picture], asked: int, lone: bool
    ) -> tuple[Prefix, int] | None:
        """What was read of the text and how much of it before this call, or None if it is not worth keeping."""
        if (found := self.states.find(text)) is not None:
            return found, len(text)
        if not self.states.wanted(text, asked=asked, lone=lone):
            return None
        shown = None
        if pictures and not self.states.begun(text):
            shown = self._shown(pictures, [encoded.token_types()[: len(text)]])
        return self.states.read(text, shown)

    def _shown(
        self, pictures: Sequence[Picture], types: Sequence[Sequence[int]]
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Pictures and token types as `Batch` holds them."""
        assert self.checkpoint.pictures is not None
        device = self.backbone.device
        pixels, grids = prepare(pictures, self.checkpoint.pictures)
        return pixels.to(device), grids.to(device), pad(types, 0, device)

    def _grids(self, pictures: Sequence[Picture]) -> list[tuple[int, int]]:
        """Rows and columns of each picture, in tokens; none where the backbone sees no pictures."""
        settings = self.checkpoint.pictures
        if settings is None:
            return []
        grids = [grid(picture.width, picture.height, settings) for picture in pictures]
        return [(rows // settings.merge, columns // settings.merge) for _, rows, columns in grids]

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
    state_memory: int | None = None,
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
    state_memory : bytes for what was read of states; 0 keeps nothing; see `STATE_MEMORY` if not given.
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
    if state_memory is None:
        state_memory = _state_memory(where)
    return Clef(
        checkpoint, backbone=backbone, head=joint_head, encoder=encoder, limits=limits, state_memory=state_memory
    )


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


def _mask(lengths: Sequence[int], device: torch.device) -> torch.Tensor | None:
    """[B, T] bool, true on real tokens; None if there are no pads."""
    longest = max(lengths)
    if min(lengths) == longest:
        return None
    return torch.arange(longest, device=device) < torch.tensor(lengths, device=device)[:, None]


def _state_memory(device: torch.device) -> int:
    """See `STATE_MEMORY`."""
    if device.type != "cuda":
        return STATE_MEMORY
    free, _ = torch.cuda.mem_get_info(device)
    return min(2 * STATE_MEMORY, free // 4)


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
