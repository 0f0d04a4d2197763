"""The rooms: which there are, the frame that their pages share, and the scripts that the browser loads for them.

Contract
--------
A room is one entry of `ROOMS` and one folder of `assets`. The navigation of every page is made of `ROOMS`, so that a
room which is not built is nowhere linked. `template` is what a room's `gr.HTML` starts from; in its `page.html`,
`<!--icons-->` stands for all icons (`assets/icons.html`) and `<!--rooms-->` for the brand and the links.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from html import escape

from studio.look import ASSETS


@dataclass(frozen=True)
class Room:
    """`name` is its folder and, but for the first room, its address; `title` its name for people."""

    name: str
    title: str


ROOMS = (
    Room("design", "Design"),
    Room("label", "Label"),
    Room("calibration", "Calibration"),
    Room("runs", "Runs"),
    Room("datasets", "Datasets"),
)
"""In the order of the navigation. The first one is at the root."""

_BRAND = (
    '<span class="cs-brand"><svg viewBox="0 0 22 22" aria-hidden="true">'
    '<rect x="1" y="1" width="20" height="20" rx="5" fill="var(--ink)"/>'
    '<rect x="5" y="5.5" width="12" height="2.6" rx="1.3" fill="var(--answer-soft)"/>'
    '<rect x="5" y="9.7" width="5" height="2.6" rx="1.3" fill="var(--on-ink)" opacity=".75"/>'
    '<rect x="5" y="13.9" width="3" height="2.6" rx="1.3" fill="var(--on-ink)" opacity=".75"/>'
    "</svg><span>Clef Studio</span></span>"
)


def path(room: Room) -> str:
    """Where its page is, under the studio's root; empty for the first room."""
    return "" if room is ROOMS[0] else room.name


@cache
def template(name: str) -> str:
    """The page of the room `name`, with icons and navigation; ValueError where it has no place for them."""
    page = (ASSETS / name / "page.html").read_text(encoding="utf-8")
    for mark, filling in (("<!--icons-->", _icons()), ("<!--rooms-->", _navigation(name))):
        if page.count(mark) != 1:
            raise ValueError(f"assets/{name}/page.html must have {mark} once")
        page = page.replace(mark, filling)
    return page


def _icons() -> str:
    return (ASSETS / "icons.html").read_text(encoding="utf-8").strip()


def _navigation(current: str) -> str:
    links = []
    for room in ROOMS:
        here = ' aria-current="page"' if room.name == current else ""
        # Relative: the studio may live under a path of another server.
        links.append(f'<a href="{escape(path(room) or "./")}"{here}>{escape(room.title)}</a>')
    return f'{_BRAND}\n  <div class="cs-nav-links">{"".join(links)}</div>'


@cache
def scripts() -> dict[str, bytes]:
    """The scripts of all rooms by their path under `assets`, as they were when the studio started."""
    paths = (path for room in ROOMS for path in sorted((ASSETS / room.name).rglob("*.js")))
    return {path.relative_to(ASSETS).as_posix(): path.read_bytes() for path in paths}


@cache
def version() -> str:
    """Changes with every edit of a script: part of their address, so that no browser mixes two versions."""
    digest = hashlib.sha256()
    for name, script in scripts().items():
        digest.update(name.encode() + script)
    return digest.hexdigest()[:12]
