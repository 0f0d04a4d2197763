"""Password hashes that cost nothing: a real one takes 64 MiB and some tenths of a second."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from argon2 import PasswordHasher

from studio import users


@contextmanager
def cheap_hashes() -> Iterator[None]:
    """Inside the block, new hashes are cheap; whether a password fits one is decided as ever."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(users, "_HASHER", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
        yield
