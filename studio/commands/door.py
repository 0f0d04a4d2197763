"""Which command an argument names, and how its failures are told.

Contract
--------
`COMMANDS` are imported only when they are asked for, so that serving pays for none of them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from model.questions import InvalidRequest
from storage.database import DatabaseError
from storage.errors import StorageError

COMMANDS = {"run": "run", "export": "export", "import": "bring"}


def command(name: str, argv: Sequence[str]) -> int:
    """Does a command of `COMMANDS`; a failure that a person can mend is one sentence, and exit code 1."""
    module = import_module(f"studio.commands.{COMMANDS[name]}")
    try:
        code: int = module.command(argv)
    except (StorageError, DatabaseError, InvalidRequest, OSError, RuntimeError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    return code
