"""A bounded map that forgets what was used longest ago."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """At most `size` entries. Not safe for several threads: a scorer is used by one at a time."""

    def __init__(self, size: int) -> None:
        if size < 1:
            raise ValueError(f"size is {size}; it must be at least 1")
        self._size = size
        self._entries: OrderedDict[Key, Value] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Key) -> Value | None:
        """The value, which is now the newest; None where there is none."""
        value = self._entries.get(key)
        if value is not None:
            self._entries.move_to_end(key)
        return value

    def put(self, key: Key, value: Value) -> None:
        """Keeps the value, and forgets the oldest if there is no room."""
        self._entries[key] = value
        self._entries.move_to_end(key)
        while len(self._entries) > self._size:
            self._entries.popitem(last=False)
