"""JSON as the APIs read it: an object, UTF-8, every key once, no NaN, not bottomless, not endless.

Contract
--------
`parse_object` accepts what RFC 8259 calls interoperable and nothing that Python's parser adds. What it refuses is an
`InvalidRequest` whose `loc` points at the place, and whose text never repeats a value of the caller's.
"""

from __future__ import annotations

import json
from typing import Any

from model.questions import FieldError, InvalidRequest, Json, Loc

MAX_VALUES = 500_000
"""More values than this in one body are refused before they are parsed: each takes some 200 bytes as Python objects,
and no scorer reads a state of half a million values."""


def parse_object(data: bytes) -> dict[str, Json]:
    """The JSON object in `data`. Raises InvalidRequest."""
    if data.count(b",") + data.count(b"[") + data.count(b"{") > MAX_VALUES:
        raise _invalid((), f"holds more than {MAX_VALUES:,} values; send less at once", "too_many_values")
    twice: list[_Twice] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        out = dict(items)
        if len(out) != len(items):
            out = _Twice(out)
            seen: set[str] = set()
            out.key = next(key for key, _ in items if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            twice.append(out)
        return out

    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=pairs, parse_constant=_constant)
    except UnicodeDecodeError as error:
        raise _invalid((error.start,), "is not UTF-8", "json_invalid") from None
    except json.JSONDecodeError as error:
        raise _invalid((error.pos,), f"is not JSON: {error.msg}", "json_invalid") from None
    except RecursionError:
        raise _invalid((), "is nested too deeply; flatten it", "too_deep") from None
    except _Constant as error:
        raise _invalid((), f"holds {error}, which is not JSON; send null or text", "json_invalid") from None
    except ValueError:
        # Python refuses integers of more than 4,300 digits.
        raise _invalid((), "holds a number with too many digits; send it as text", "json_invalid") from None
    if not isinstance(value, dict):
        raise _invalid((), "must be a JSON object", "dict_type")
    if twice:
        raise _invalid(_path(value), "stands twice in one object, and only one could be read", "duplicate_key")
    return value


class _Twice(dict[str, Any]):
    """An object in which `key` stood more than once."""

    key: str


class _Constant(Exception):
    """NaN, Infinity or -Infinity: what Python's parser adds to JSON."""


def _constant(name: str) -> None:
    raise _Constant(name)


def _path(root: Json) -> Loc:
    """Where the first repeated key stands. Walks without recursion."""
    stack: list[tuple[Json, Loc]] = [(root, ())]
    while stack:
        item, at = stack.pop()
        if isinstance(item, _Twice):
            return (*at, item.key)
        if isinstance(item, dict):
            stack.extend((inner, (*at, key)) for key, inner in reversed(item.items()))
        elif isinstance(item, list):
            stack.extend((inner, (*at, i)) for i, inner in enumerate(item))
    # The object with the repeated key was itself under a repeated key, and so is gone.
    return ()


def _invalid(loc: Loc, message: str, code: str) -> InvalidRequest:
    return InvalidRequest([FieldError(loc, message, code)])
