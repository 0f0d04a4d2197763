"""What can go wrong with what is kept: one small family, each error naming its field.

Contract
--------
`field` is the argument (or column) that is wrong; `message` says what to do about it; `str()` joins both. A failure of
the database itself, which no caller can mend, is a `DatabaseError` instead.
"""

from __future__ import annotations

import uuid

from model.questions import Json, check_json


class DatabaseError(RuntimeError):
    """The data folder or its database cannot be used; the message is for a person."""


class StorageError(ValueError):
    """Base of the family."""

    def __init__(self, field: str, message: str) -> None:
        self.field = field
        self.message = message
        super().__init__(f"{field}: {message}")


class NotFound(StorageError):
    """There is no such row."""


class Conflict(StorageError):
    """Something else is already kept under this id, or it changed since it was read."""


class InvalidValue(StorageError):
    """A value that cannot be kept."""


class InvalidLabel(InvalidValue):
    """A label that does not fit its answer."""


def checked_id(value: str | uuid.UUID, field: str) -> str:
    """A uuid as its canonical text. Raises InvalidValue."""
    try:
        return str(uuid.UUID(str(value)))
    except ValueError:
        raise InvalidValue(field, f"{str(value)[:60]!r} is not a uuid; send one such as {uuid.uuid4()}") from None


def plain_id(value: str) -> str:
    """A uuid as its canonical text, to look it up; anything else as it is (and so not found)."""
    try:
        return str(uuid.UUID(value))
    except ValueError:
        return value


def checked_text(value: str, field: str, *, limit: int, blank: bool = True) -> str:
    """`value` without outer blanks, at most `limit` characters. Raises InvalidValue."""
    text = value.strip()
    if not text and not blank:
        raise InvalidValue(field, "must not be empty")
    if len(text) > limit:
        raise InvalidValue(field, f"has {len(text):,} characters; at most {limit:,} are kept")
    return checked_json(text, field)


def checked_json(value: Json, field: str) -> Json:
    """`value`, if it is JSON that can be written and read back. Raises InvalidValue."""
    for error in check_json(value, (field,)):
        raise InvalidValue(".".join(map(str, error.loc)), error.message)
    return value
