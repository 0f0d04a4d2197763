"""What was read of states, kept while it is worth its memory: a changed question then costs only the schema's tokens.

Contract
--------
A `Prefix` is one text up to its schema (system words, pictures, state tokens) as the backbone and the head hold it:
the backbone's `Past` and the head's keys and values. It never changes. `Prefixes` keeps the prefixes that were used
last within a number of bytes; a prefix is known by its token ids and its pictures' bytes, so nothing can be taken for
something else.

A linear-attention layer cannot be turned back, so a prefix also holds such layers' states at a few earlier places, its
*stops*: after the pictures, near the end, and where the text before it ended alike. From there another state that
begins with the same tokens can be read on: someone who types at the end of a long state, or changes the text under
four pictures, pays for what is new. Models without linear layers can go on from any place.

When a prefix is made is a question of cost: reading in two parts takes one more pass through the layers. It is made
at once for a lone request of many tokens, and otherwise once the same state is asked again (or, for a lone request,
one that begins like it): runs over many states keep nothing and pay nothing.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from model.backbone import Backbone, Batch
from model.head import JointSchemaHead, Memory
from model.past import Full, Linear, Past, linear_of, turns_back

AT_ONCE = 1024
"""A lone request keeps a state of so many tokens the first time: the second pass is small beside the first."""
STEP = 64
"""Stops lie on multiples of this: the length of a block of the linear layers' chunked form."""
BACK = 32
"""A stop near the end lies at least so many tokens before it: the last words change most."""
ALIKE = 0.5
"""A state begins like another if they share this part of its tokens."""
RECENT = 64
MOST = 256
"""Prefixes kept at most, however small."""


@dataclass(frozen=True)
class Text:
    """What identifies a prefix, and what a backbone needs to read it.

    ids : int32 [tokens]
    state_at : place of the first token of the state itself; before it stand the system's words and the pictures
    pictures : one key per picture, which stands for its pixels
    shift : position minus place of the tokens after the pictures (`Backbone.hidden`)
    """

    ids: np.ndarray
    state_at: int
    pictures: tuple[str, ...] = ()
    shift: int = 0
    key: tuple[bytes, tuple[str, ...]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", (self.ids.tobytes(), self.pictures))

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def after_pictures(self) -> int:
        """Tokens up to the end of the pictures, which are read in one go; 0 without pictures."""
        return self.state_at if self.pictures else 0

    def alike(self, other: Text) -> int:
        """How many tokens both begin with; 0 if their pictures differ."""
        if self.pictures != other.pictures:
            return 0
        n = min(len(self), len(other))
        differ = self.ids[:n] != other.ids[:n]
        return int(differ.argmax()) if differ.any() else n

    def begins_like(self, other: Text) -> bool:
        """Whether much of it need not be read again where the other is kept: its pictures, or half of its state."""
        if self.pictures:
            return self.pictures == other.pictures
        return self.alike(other) - self.state_at >= ALIKE * (len(self) - self.state_at)


@dataclass(frozen=True)
class Prefix:
    """A text that was read. `full` as in `Past`; `stops` the linear layers' states after so many tokens, the whole text
    among them; `memory` the head's keys and values, each [1, heads, tokens, width of a head]."""

    text: Text
    full: Full
    stops: Mapping[int, Linear]
    memory: tuple[tuple[Tensor, Tensor], ...]

    @property
    def past(self) -> Past:
        """Of the whole text."""
        return self.upto(len(self.text))

    def upto(self, tokens: int) -> Past:
        """Of the beginning up to a stop (of any place, without linear layers)."""
        whole = Past(len(self.text), self.full, {})
        return whole.upto(tokens, self.stops[tokens] if self._has_linear else {})

    def stop(self, alike: int) -> int:
        """The last place to go on from for a text that begins with the same `alike` tokens; 0 if there is none."""
        places = [at for at in self.stops if at <= alike] if self._has_linear else [alike]
        return max((at for at in places if at >= self.text.after_pictures), default=0)

    @property
    def bytes(self) -> int:
        """Memory that it takes."""
        tensors = [*_flat(self.full.values()), *_flat(self.memory)]
        for linear in self.stops.values():
            tensors += _flat(linear.values())
        return sum(t.numel() * t.element_size() for t in tensors)

    @property
    def _has_linear(self) -> bool:
        return any(self.stops.values())


class Prefixes:
    """Prefixes of one scorer, the least recently used dropped first. Used by one thread at a time.

    Parameters
    ----------
    budget : bytes that all kept prefixes may take together; 0 keeps nothing.
    """

    def __init__(self, backbone: Backbone, head: JointSchemaHead, *, budget: int) -> None:
        self.budget = budget
        self._backbone = backbone
        self._head = head
        self._kept: OrderedDict[tuple[bytes, tuple[str, ...]], Prefix] = OrderedDict()
        self._recent: deque[Text] = deque(maxlen=RECENT)
        self._too_long: int | None = None
        self.bytes = 0
        """Memory that the kept prefixes take."""

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, text: Text) -> Prefix | None:
        """The kept prefix of exactly this text."""
        if (found := self._kept.get(text.key)) is not None:
            self._kept.move_to_end(text.key)
        return found

    def wanted(self, text: Text, *, asked: int, lone: bool) -> bool:
        """Whether to make a prefix of a text that is not kept; remembers that it was asked for.

        Parameters
        ----------
        asked : how many requests of this call are about it.
        lone : whether it is the only text of this call.
        """
        again = any(text.key == t.key for t in self._recent)
        typed = lone and any(text.begins_like(t) for t in self._recent)
        if not again:
            self._recent.append(text)
        if (
            not self.budget
            or not self._backbone.goes_on
            or (self._too_long is not None and len(text) >= self._too_long)
        ):
            return False
        return asked > 1 or again or typed or (lone and len(text) >= AT_ONCE)

    def read(self, text: Text, pictures: tuple[Tensor, Tensor, Tensor] | None = None) -> tuple[Prefix, int]:
        """A prefix of the text, kept if it fits the budget, and how many of its tokens had been read before.

        Parameters
        ----------
        pictures : as in `Batch`, token types of this text alone; needed with pictures where `begun` is 0.
        """
        prefix, start = self._read(text, pictures)
        self._keep(prefix)
        return prefix, start

    def begun(self, text: Text) -> int:
        """How many of its tokens `read` would not read again."""
        return self._nearest(text)[1]

    def forget(self) -> None:
        """Drop everything: the weights have changed, or the memory is needed."""
        self._kept.clear()
        self._recent.clear()
        self._too_long = None
        self.bytes = 0

    def _nearest(self, text: Text) -> tuple[Prefix | None, int]:
        """The kept prefix from which the most of the text need not be read, and up to where."""
        stops = [(prefix.stop(text.alike(prefix.text)), prefix) for prefix in self._kept.values()]
        at, prefix = max(stops, key=lambda pair: pair[0], default=(0, None))
        return (prefix, at) if at else (None, 0)

    @torch.inference_mode()
    def _read(self, text: Text, pictures: tuple[Tensor, Tensor, Tensor] | None) -> tuple[Prefix, int]:
        backbone, near, start = self._backbone, *self._nearest(text)
        cache = backbone.empty_cache() if near is None else near.upto(start).cache(backbone.text_config)
        parts = [] if near is None else [tuple((k[:, :, :start], v[:, :, :start]) for k, v in near.memory)]
        places = self._stops(text)
        # Of the stops on the way those alone that this text would make: states that grow must not collect them.
        known = {} if near is None else near.stops
        stops = {at: known[at] for at in {*places, start} if at <= start and at in known}
        ids = torch.from_numpy(text.ids.astype(np.int64)).to(backbone.device)[None]
        for begin, end in pairwise([start, *(at for at in places if at > start)]):
            shown = None
            if begin < text.after_pictures:
                assert pictures is not None
                pixels, grids, types = pictures
                shown = pixels, grids, types[:, begin:end]
            hidden = backbone.hidden(Batch(ids[:, begin:end], None, shown), cache=cache, shift=text.shift)
            parts.append(self._head.remember(hidden).keys_values)
            stops[end] = linear_of(cache)
        if near is not None and start == len(text):
            # Nothing new was read: own copies, so that the bytes of a longer prefix can be freed.
            full: Full = {i: (k.clone(), v.clone()) for i, (k, v) in near.upto(start).full.items()}
        else:
            full = Past.of(cache).full
        return Prefix(text, full, stops, _joined(parts)), start

    def _stops(self, text: Text) -> list[int]:
        """Where to keep the linear layers' states; the text's end is the last."""
        if turns_back(self._backbone.text_config):
            return [len(text)]
        known = [*self._recent, *(prefix.text for prefix in self._kept.values())]
        others = [n for n in (text.alike(t) for t in known if t.key != text.key) if n]
        places = [text.after_pictures, len(text) - BACK, max(others, default=0) - BACK // 2]
        rounded = {places[0], *(place // STEP * STEP for place in places[1:])}
        return sorted({at for at in rounded if max(1, text.after_pictures) <= at < len(text)} | {len(text)})

    def _keep(self, prefix: Prefix) -> None:
        size, length = prefix.bytes, len(prefix.text)
        if size > self.budget:
            self._too_long = length if self._too_long is None else min(length, self._too_long)
            return
        if (old := self._kept.pop(prefix.text.key, None)) is not None:
            self.bytes -= old.bytes
        self._kept[prefix.text.key] = prefix
        self.bytes += size
        while self.bytes > self.budget or len(self._kept) > MOST:
            _, dropped = self._kept.popitem(last=False)
            self.bytes -= dropped.bytes


def continued(prefix: Prefix, rows: int, later: Memory) -> Memory:
    """The head's memory of `rows` texts that begin with the prefix and go on with `later`."""
    begun = tuple((k.expand(rows, -1, -1, -1), v.expand(rows, -1, -1, -1)) for k, v in prefix.memory)
    return Memory(later.normed, begun).then(later)


def _joined(parts: Sequence[tuple[tuple[Tensor, Tensor], ...]]) -> tuple[tuple[Tensor, Tensor], ...]:
    """Keys and values of a text's parts, end to end; always own memory."""
    if len(parts) == 1:
        return tuple((k.clone(), v.clone()) for k, v in parts[0])
    layers = zip(*parts, strict=True)
    return tuple((torch.cat([k for k, _ in pairs], 2), torch.cat([v for _, v in pairs], 2)) for pairs in layers)


def _flat(pairs: Iterable[tuple[Tensor, Tensor | None]]) -> list[Tensor]:
    return [t for pair in pairs for t in pair if t is not None]
