"""Who is acting: the name of the person who signed in, for whatever runs inside a request.

Contract
--------
The gate (`studio.gate`) sets the name around a request; it holds in every thread and task that the request starts.
Without sign-in there is one person on this machine, and their labels are kept under `LOCAL`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

LOCAL: Final = "local"
_name: ContextVar[str | None] = ContextVar("signed_in", default=None)


def signed_in() -> str | None:
    """The name of the person who signed in; None where nobody has to, and for programs with a key."""
    return _name.get()


def labeller() -> str:
    """The name under which a label from a page is kept."""
    return _name.get() or LOCAL


@contextmanager
def acting_as(name: str) -> Iterator[None]:
    """Inside the block, `name` is acting."""
    token = _name.set(name)
    try:
        yield
    finally:
        _name.reset(token)
