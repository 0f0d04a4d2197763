"""Clef Studio's door: settings from the command line and the environment, then one server."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Parses settings and serves until Ctrl+C. Returns the exit code."""
    from studio.settings import parse

    settings = parse(argv)
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
