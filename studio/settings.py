"""Settings: from the command line and from environment variables of the same names.

Contract
--------
`parse` reads `--name` or, where that is absent, `CLEF_STUDIO_NAME`. Everything is checked here, once, with an error
that names the setting. Never imports torch or gradio, so `--help` is quick. `Settings` is immutable, passed on whole.
"""

from __future__ import annotations

import argparse
import ipaddress
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import platformdirs

from model.questions import CLEF_LIMITS, Limits

PREFIX = "CLEF_STUDIO_"
DEFAULT_MODEL = "embedded"
KEY_LENGTH = 8
"""Fewest characters of an API key."""


@dataclass(frozen=True)
class Settings:
    """All that can be set. `model` is "embedded", a folder, or a hub name such as "Cloudflare/clef-flash".
    `state_memory` is in MB (2^20 bytes)."""

    model: str = DEFAULT_MODEL
    device: str = "auto"
    dtype: str = "auto"
    max_tokens: int | None = None
    question_ids: str | None = None
    threads: int | None = None
    state_memory: int | None = None
    data: Path = field(default_factory=lambda: Path(platformdirs.user_data_dir("clef-studio")))
    database: str | None = field(default=None, repr=False)
    host: str = "127.0.0.1"
    port: int = 7860
    allowed_hosts: tuple[str, ...] = ()
    root_path: str = ""
    api_key: str | None = field(default=None, repr=False)
    users: Path | None = None
    api_only: bool = False
    record: bool = False
    limits: Limits = CLEF_LIMITS
    open_browser: bool = False
    log_level: str = "info"

    @property
    def url(self) -> str:
        """Where a person on this machine finds the studio."""
        host = "127.0.0.1" if self.host in ("", "0.0.0.0", "::") else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}{self.root_path}/"


def parse(argv: Sequence[str] | None = None, environ: Mapping[str, str] = os.environ) -> Settings:
    """Settings from `argv` (default: the process's) over `environ` over the defaults; exits with a plain error."""
    parser = _parser()
    for action in parser._actions:
        value = environ.get(f"{PREFIX}{action.dest.upper()}")
        if value is not None and action.dest != "help":
            # argparse checks a default that is a string like an argument, so errors name the setting either way.
            action.default = _flag(value) if isinstance(action, argparse.BooleanOptionalAction) else value
            if action.choices is not None and value not in action.choices:
                parser.error(f"{PREFIX}{action.dest.upper()}: {value!r} is not one of {', '.join(action.choices)}")
    given = parser.parse_args(argv)
    limits = Limits(given.max_questions, given.max_options, given.max_levels, given.max_images)
    hosts = given.allowed_hosts
    settings = Settings(
        model=given.model,
        device=given.device,
        dtype=given.dtype,
        max_tokens=given.max_tokens,
        question_ids=given.question_ids,
        threads=given.threads,
        state_memory=given.state_memory,
        data=Path(given.data).expanduser().resolve(),
        database=given.database,
        host=given.host,
        port=given.port,
        allowed_hosts=tuple(h.strip() for h in hosts.split(",") if h.strip()),
        root_path=given.root_path.rstrip("/"),
        api_key=given.api_key,
        users=given.users,
        api_only=given.api_only,
        record=given.record,
        limits=limits,
        open_browser=given.open,
        log_level=given.log_level,
    )
    if (why := unguarded(settings)) is not None:
        parser.error(why)
    return settings


def options() -> dict[str, bool]:
    """Every option of the command line, such as "--data", and whether a value follows it."""
    return {name: action.nargs != 0 for action in _parser()._actions for name in action.option_strings}


def unguarded(settings: Settings) -> str | None:
    """Why these settings would let strangers in, and what to do; None where they do not."""
    if settings.api_only and settings.users is not None:
        return "--users guards the pages, and --api-only serves none: give an --api-key instead of --users"
    if is_loopback(settings.host):
        return None
    if settings.api_only:
        if settings.api_key is not None:
            return None
        return f"--host {settings.host!r} lets other machines in: --api-only needs an --api-key then"
    if settings.users is None:
        return (
            f"--host {settings.host!r} lets other machines in, and nobody has to sign in yet. Add a person with "
            "`python app.py user add NAME --users FILE` and start with --users FILE; or, for programs alone, "
            "start with --api-only and an --api-key"
        )
    return None


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a server that listens on `host`."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _parser() -> argparse.ArgumentParser:
    defaults = Settings()
    parser = argparse.ArgumentParser(
        prog="app.py",
        description="Clef Studio: design, label, measure and improve decision schemas.",
        epilog=f"Every setting can also be an environment variable: --max-tokens is {PREFIX}MAX_TOKENS.",
    )
    model = parser.add_argument_group("model")
    model.add_argument(
        "--model",
        default=defaults.model,
        metavar="DIR|NAME",
        help='"embedded" (small, runs anywhere), a release folder, or a hub name such as Cloudflare/clef-flash '
        "(default: %(default)s)",
    )
    model.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1, mps (default: %(default)s)")
    model.add_argument(
        "--dtype",
        default="auto",
        choices=["auto", "float32", "bfloat16", "float16"],
        help="of the backbone; the head always runs in float32 (default: bfloat16 on a GPU, else float32)",
    )
    model.add_argument(
        "--max-tokens",
        type=_positive,
        default=None,
        metavar="N",
        help="most tokens of one request; longer states are refused, or cut where the person allows it "
        "(default: the model's own, 16384 for Clef)",
    )
    model.add_argument(
        "--question-ids",
        default=None,
        choices=["literal", "neutral"],
        help="whether the model reads question ids (default: a property of the checkpoint)",
    )
    model.add_argument("--threads", type=_positive, default=None, metavar="N", help="CPU threads (default: torch's)")
    model.add_argument(
        "--state-memory",
        type=_not_negative,
        default=None,
        metavar="MB",
        help="memory for what was read of states, so that a changed question does not pay for its state again; "
        "0 keeps nothing (default: 1024; on a GPU 2048, or a quarter of what is free)",
    )
    server = parser.add_argument_group("server")
    server.add_argument(
        "--data", default=str(defaults.data), metavar="DIR", help="where everything is kept (default: %(default)s)"
    )
    server.add_argument(
        "--database",
        type=_database,
        default=None,
        metavar="URL",
        help="keep the rows there instead of in a file, such as postgresql://name@host/studio (needs the extra "
        "`postgres`); pictures and uploads stay in --data. Other users of this machine can read a password on the "
        f"command line: better set {PREFIX}DATABASE (default: SQLite in --data)",
    )
    server.add_argument("--host", default=defaults.host, help="address to listen on (default: %(default)s)")
    server.add_argument("--port", type=_port, default=defaults.port, help="0 takes a free one (default: %(default)s)")
    server.add_argument(
        "--allowed-hosts",
        default="",
        metavar="NAMES",
        help="further host names, with commas, under which browsers may reach the studio; * allows all "
        "(default: localhost and --host)",
    )
    server.add_argument("--root-path", default="", metavar="PATH", help="prefix behind a proxy, such as /studio")
    server.add_argument(
        "--api-key",
        type=_key,
        default=None,
        metavar="KEY",
        help="what programs must send as `Authorization: Bearer KEY`. Other users of this machine can read it on the "
        f"command line: better set {PREFIX}API_KEY (default: none is asked for)",
    )
    server.add_argument(
        "--users",
        type=_file,
        default=None,
        metavar="FILE",
        help="who may sign in; without it nobody has to, and only this machine may be listened on. Add people with "
        "`app.py user add NAME --users FILE` (default: none)",
    )
    server.add_argument(
        "--api-only",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="serve the APIs and no pages, for programs alone",
    )
    server.add_argument(
        "--record",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="keep every decision that the APIs make, with its state and pictures, for labels from code "
        "(default: those of the schemas for which a person turned it on)",
    )
    server.add_argument(
        "--open", action=argparse.BooleanOptionalAction, default=False, help="open the page in a browser"
    )
    server.add_argument(
        "--log-level", default="info", choices=["debug", "info", "warning", "error"], help="default: %(default)s"
    )
    limits = parser.add_argument_group("limits of one request (defaults: Clef's)")
    limits.add_argument("--max-questions", type=_positive, default=CLEF_LIMITS.questions, metavar="N")
    limits.add_argument("--max-options", type=_positive, default=CLEF_LIMITS.options, metavar="N")
    limits.add_argument("--max-levels", type=_positive, default=CLEF_LIMITS.levels, metavar="N")
    limits.add_argument("--max-images", type=_positive, default=CLEF_LIMITS.images, metavar="N")
    return parser


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


def _positive(text: str) -> int:
    number = _whole(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return number


def _not_negative(text: str) -> int:
    number = _whole(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is less than 0")
    return number


def _port(text: str) -> int:
    number = _whole(text)
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"{text} is not a port (0-65535)")
    return number


def _file(text: str) -> Path:
    if not text.strip():
        raise argparse.ArgumentTypeError("names no file; leave it out where nobody signs in")
    return Path(text).expanduser().resolve()


def _database(text: str) -> str:
    if "://" not in text:
        # Never the URL itself: it may hold a password, and errors end up in logs.
        raise argparse.ArgumentTypeError("is not a database's URL, such as postgresql://name@host/studio")
    return text


def _key(text: str) -> str:
    if len(text) < KEY_LENGTH or not text.isascii() or not text.isprintable() or " " in text:
        # Never the key itself: errors end up in logs.
        raise argparse.ArgumentTypeError(f"a key has at least {KEY_LENGTH} printable ASCII characters and no space")
    return text


def _flag(text: str) -> bool:
    return text.strip().lower() in ("1", "true", "yes", "on")
