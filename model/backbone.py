"""The backbone: token ids (and pictures) in, final hidden states out; rows of the output embeddings by token id.

Contract
--------
This is the seam to transformers. A release of Clef is `Qwen3_5ForConditionalGeneration`, which sees pictures; any other
causal model that transformers knows reads text alone. The output layer is never multiplied: the head looks up rows.

A text can be read in parts (`Backbone.hidden` with a cache), to the same numbers within rounding, by every model whose
cache `model.past` covers and that passes a trial of it (`Backbone.goes_on`).
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from transformers.cache_utils import Cache, DynamicCache

from model.checkpoint import Checkpoint, CheckpointError, Progress
from model.head import JointSchemaHead, tensor_problems
from model.past import Past, covers

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel

_TRIAL = 24
"""Tokens of the trial of `Backbone.goes_on`."""


@dataclass(frozen=True)
class Batch:
    """Right-padded input.

    ids : [B, T] long
    mask : [B, T] bool, true on real tokens; None if there are no pads
    pictures : (pixel_values [patches, D], image_grid_thw [pictures, 3], mm_token_type_ids [B, T]), or None
    """

    ids: Tensor
    mask: Tensor | None
    pictures: tuple[Tensor, Tensor, Tensor] | None = None


class Backbone:
    """A loaded model in evaluation mode on one device."""

    def __init__(self, model: PreTrainedModel) -> None:
        self.model = model.eval()
        # Composed models hold their text part as `language_model`; it reads text rows to the same numbers.
        self._whole: Any = getattr(model, model.base_model_prefix)
        self._text: Any = getattr(self._whole, "language_model", self._whole)
        self.rows: Tensor = model.get_output_embeddings().weight
        """Output embeddings [vocabulary, H]."""

    @property
    def device(self) -> torch.device:
        """Where it runs."""
        return self.rows.device

    @property
    def dtype(self) -> torch.dtype:
        """What it computes in."""
        return self.rows.dtype

    @property
    def parameters(self) -> int:
        """How many weights it has, each counted once."""
        return sum(p.numel() for p in self.model.parameters())

    @property
    def pad_id(self) -> int:
        """A token to fill with; what it says is never read."""
        pad = getattr(self.model.config.get_text_config(), "pad_token_id", None)
        return int(pad) if isinstance(pad, int) else 0

    @property
    def text_config(self) -> PreTrainedConfig:
        """The text part's configuration."""
        return self.model.config.get_text_config()

    def hidden(self, batch: Batch, *, cache: Cache | None = None, shift: int = 0) -> Tensor:
        """Final hidden states, after the last norm: [B, T, H]. Rows of pads mean nothing.

        Parameters
        ----------
        cache : what was read before these tokens, by the same rows (`model.past`); it grows by them. Pictures may
            stand at the beginning of a text only. `batch.mask` must be None: pads on the right change nothing before
            them.
        shift : how much later (less, if negative) a token's position is than its place in the text: pictures before
            it take another number of positions than of tokens.
        """
        kept: dict[str, Any] = {"use_cache": False}
        if cache is not None:
            kept = {"use_cache": True, self._cache_argument or "cache": cache}
        if batch.pictures is None:
            if shift and cache is not None:
                seen, (rows, tokens) = cache.get_seq_length(), batch.ids.shape
                places = torch.arange(seen + shift, seen + shift + tokens, device=self.device)
                kept["position_ids"] = places.expand(3, rows, tokens)  # text stands alike on all three axes
            out = self._text(input_ids=batch.ids, attention_mask=batch.mask, **kept)
            return out.last_hidden_state
        pixels, grids, types = batch.pictures
        out = self._whole(
            input_ids=batch.ids,
            attention_mask=batch.mask,
            pixel_values=pixels,
            image_grid_thw=grids,
            mm_token_type_ids=types,
            **kept,
        )
        return out.last_hidden_state

    @cached_property
    def goes_on(self) -> bool:
        """Whether a text can be read in parts. Tried once on a few tokens: a model of a family that nobody here has
        met may take a cache and still not use it."""
        if self._cache_argument is None or not covers(self.text_config):
            return False
        ids = torch.arange(1, _TRIAL + 1, device=self.device)[None] % len(self.rows)
        half = _TRIAL // 2
        with torch.inference_mode():
            whole = self.hidden(Batch(ids, None))[:, half:].float()
            cache = self.empty_cache()
            self.hidden(Batch(ids[:, :half], None), cache=cache)
            again = Past.of(cache).cache(self.text_config)
            parts = self.hidden(Batch(ids[:, half:], None), cache=again).float()
        # Far above rounding, far below what another text would give.
        tolerance = 1e-3 if self.dtype == torch.float32 else 0.1
        return bool((parts - whole).norm() <= tolerance * whole.norm())

    def empty_cache(self) -> Cache:
        """A cache for one row that has read nothing."""
        return DynamicCache(config=self.text_config)

    @cached_property
    def _cache_argument(self) -> str | None:
        """What the text part calls its cache: the name changed between versions of transformers."""
        known = inspect.signature(self._text.forward).parameters
        return next((name for name in ("cache", "past_key_values") if name in known), None)


def pad(rows: Sequence[Sequence[int]], fill: int, device: torch.device) -> Tensor:
    """[B, T] long, each row filled up on the right."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[fill] * (longest - len(row))] for row in rows], device=device)


def choose_device(name: str) -> torch.device:
    """ "auto" takes CUDA, else Apple's GPU, else the CPU.

    Raises
    ------
    CheckpointError : there is no such device here.
    """
    cuda, mps = torch.cuda.is_available(), torch.backends.mps.is_available()
    if name == "auto":
        return torch.device("cuda" if cuda else "mps" if mps else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise CheckpointError(f"device {name!r} is not known; use auto, cpu, cuda, cuda:1 or mps") from None
    present = {"cpu": True, "cuda": cuda, "mps": mps}.get(device.type, False)
    if not present or (device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count()):
        raise CheckpointError(f"device {name!r} is not on this machine; use auto or cpu")
    return device


def choose_dtype(name: str, device: torch.device) -> torch.dtype:
    """ "auto" takes bfloat16 on CUDA (what the release is stored in), else float32.

    Raises
    ------
    CheckpointError : not a dtype that weights can have.
    """
    known = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
    if name == "auto":
        return torch.bfloat16 if device.type == "cuda" else torch.float32
    if name not in known:
        raise CheckpointError(f"dtype {name!r} is not known; use auto, {', '.join(known)}")
    return known[name]


def load_backbone(
    checkpoint: Checkpoint, *, device: torch.device, dtype: torch.dtype, progress: Progress | None = None
) -> Backbone:
    """The checkpoint's backbone, every weight from its files.

    Raises
    ------
    CheckpointError : tensors are missing, foreign or misshaped (named), transformers cannot build the model, or the
        device's memory is too small.
    """
    import transformers
    from transformers.utils.import_utils import is_accelerate_available

    if progress is not None:
        progress(f"loading {checkpoint.name}", None)
    sees = checkpoint.pictures is not None
    kind: Any = transformers.AutoModelForCausalLM
    if checkpoint.config.get("model_type") == "qwen3_5":
        kind = transformers.Qwen3_5ForConditionalGeneration
    elif sees:
        raise CheckpointError(
            f"{checkpoint.folder}: pictures are read with qwen3_5 backbones alone, and this is "
            f"{checkpoint.config.get('model_type')!r}; use its text-only checkpoint"
        )
    direct = device.type != "cpu" and is_accelerate_available()
    try:
        model, told = kind.from_pretrained(
            checkpoint.folder,
            dtype=dtype,
            local_files_only=True,
            use_safetensors=True,
            ignore_mismatched_sizes=True,  # so that they are told below, all at once and by name
            output_loading_info=True,
            # Straight to the device where that is possible: no second copy in main memory.
            **({"device_map": {"": str(device)}} if direct else {}),
        )
        if not direct:
            model = model.to(device)
    except torch.OutOfMemoryError:
        raise CheckpointError(
            f"{checkpoint.name} does not fit into the memory of {device} as {str(dtype).removeprefix('torch.')}; "
            "choose a smaller checkpoint, another dtype or another device"
        ) from None
    except (OSError, ValueError, KeyError) as failure:
        raise CheckpointError(f"{checkpoint.folder}: {str(failure).splitlines()[0]}") from None
    shapes = {name: (tuple(found), tuple(due)) for name, found, due in told["mismatched_keys"]}
    problems = tensor_problems(
        {**dict.fromkeys(told["missing_keys"], ()), **{name: due for name, (_, due) in shapes.items()}},
        {**dict.fromkeys(told["unexpected_keys"], ()), **{name: found for name, (found, _) in shapes.items()}},
    )
    if problems:
        raise CheckpointError(f"{checkpoint.folder}: the backbone's tensors do not fit: {'; '.join(problems)}")
    return Backbone(model.requires_grad_(False))


def load_head(checkpoint: Checkpoint, *, device: torch.device, dtype: torch.dtype = torch.float32) -> JointSchemaHead:
    """The checkpoint's head, every tensor from its file.

    Raises
    ------
    CheckpointError : tensors are missing, foreign or misshaped (named).
    """
    from safetensors.torch import load_file

    path = checkpoint.head_folder / "joint_head.safetensors"
    with torch.device("meta"):
        head = JointSchemaHead(checkpoint.head_config)
    tensors = load_file(path)
    expected = {name: tuple(tensor.shape) for name, tensor in head.state_dict().items()}
    problems = tensor_problems(expected, {name: tuple(tensor.shape) for name, tensor in tensors.items()})
    if problems:
        raise CheckpointError(f"{path}: the head's tensors do not fit: {'; '.join(problems)}")
    head.load_state_dict(tensors, strict=True, assign=True)
    return head.to(device=device, dtype=dtype).eval().requires_grad_(False)
