"""Clef Studio's door: settings from the command line and the environment, then one server.

`user add` and `user remove` say who may sign in to it. `run`, `export` and `import` do their work without a server.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Parses settings and serves until Ctrl+C, or does what a command's name asks for. Returns the exit code."""
    given = sys.argv[1:] if argv is None else list(argv)
    if given[:1] == ["user"]:
        from studio.users import command

        return command(given[1:])
    if given[:1] and given[0] in ("run", "export", "import"):
        from studio.commands.door import command as do

        return do(given[0], given[1:])
    from studio.settings import parse

    settings = parse(given)
    # Only now the heavy imports: `--help` and a wrong setting answer at once.
    from studio.server import serve

    return serve(settings)


if __name__ == "__main__":
    code = main()
    # All is closed and stored by now. Python would take seconds more to take torch and gradio apart, piece by piece.
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
