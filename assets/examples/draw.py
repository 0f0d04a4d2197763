"""Draws the pictures of the example schemas from the HTML in `drawings/`.

    python assets/examples/draw.py [NAME ...]

Every firm, person and address in them is invented. `screen` is a screenshot; `scan` makes paper of it: grey, a little
crooked, with shade and specks. The same input gives the same file. Needs Pillow, numpy, playwright and a Chromium
(`$CHROMIUM`, by default `/usr/bin/chromium`); only needed by who changes a drawing.
"""

from __future__ import annotations

import io
import os
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from PIL import Image, ImageFilter
from playwright.sync_api import Browser, sync_playwright

HERE = Path(__file__).parent
BYTES = 150_000
"""A picture above this is not worth its place in the repository."""


@dataclass(frozen=True)
class Drawing:
    """One picture: `drawings/NAME.html` drawn `width` x `height` pixels large; paper is turned by `turn` degrees."""

    name: str
    width: int
    height: int
    finish: Literal["screen", "scan"] = "screen"
    turn: float = 0.0


DRAWINGS = [
    Drawing("parcel-fee", 1100, 690),
    Drawing("parcel-status", 1100, 540),
    Drawing("mailbox-full", 1100, 770),
    Drawing("college-sign-in", 1100, 640),
    Drawing("parking-notice", 1100, 600),
    Drawing("phishing-exercise", 1100, 520),
    Drawing("support-chat", 480, 720),
    Drawing("group-chat", 480, 720),
    Drawing("invoice", 900, 1240, "scan", 0.6),
    Drawing("letter", 900, 1240, "scan", -0.5),
    Drawing("till-receipt", 440, 700, "scan", 1.1),
    Drawing("directory-offer", 900, 1240, "scan", 0.4),
]


def shot(browser: Browser, drawing: Drawing) -> Image.Image:
    """The HTML as RGB pixels, `drawing.width` x `drawing.height`."""
    page = browser.new_page(viewport={"width": drawing.width, "height": drawing.height})
    page.goto((HERE / "drawings" / f"{drawing.name}.html").as_uri())
    png = page.screenshot()
    page.close()
    return Image.open(io.BytesIO(png)).convert("RGB")


def scanned(picture: Image.Image, drawing: Drawing) -> Image.Image:
    """The picture as a scan: grey (L), softened, turned, darker at the right edge as under a lid, with a few specks.

    A PNG pays for noise by the pixel, so the shade depends on the column only and specks are rare. They keep away from
    the ink: a speck beside a digit would be a decimal point.
    """
    turned = picture.convert("L").rotate(drawing.turn, Image.Resampling.BICUBIC, fillcolor=255)
    near_ink = np.asarray(turned.filter(ImageFilter.MinFilter(25))) < 200
    ink = 1 - np.asarray(turned.filter(ImageFilter.GaussianBlur(0.5)), dtype=np.float64) / 255
    height, width = ink.shape
    shade = 247 - 60 * (np.arange(width) / width)[None, :] ** 70
    paper = shade * (1 - 0.86 * ink)
    random = np.random.default_rng(zlib.crc32(drawing.name.encode()))
    for y, x in zip(random.integers(2, height - 2, 40), random.integers(2, width - 2, 40), strict=True):
        if not near_ink[y, x]:
            paper[y : y + 2, x : x + random.integers(1, 3)] -= 60
    return Image.fromarray(paper.clip(0, 255).astype(np.uint8))


def save(picture: Image.Image, path: Path) -> int:
    """Writes a small PNG (64 colours or greys); returns its bytes."""
    if picture.mode == "L":
        picture = picture.point([round(level / 4) * 4 for level in range(256)])
    small = picture.quantize(64, dither=Image.Dither.NONE)
    small.save(path, optimize=True)
    return path.stat().st_size


def main(names: list[str]) -> int:
    """Draws the named pictures, or all; 1 when a name is unknown or a file came out too large."""
    if unknown := set(names) - {d.name for d in DRAWINGS}:
        print(f"no such drawing: {', '.join(sorted(unknown))}; there are {', '.join(d.name for d in DRAWINGS)}")
        return 1
    heavy = False
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"))
        for drawing in DRAWINGS:
            if names and drawing.name not in names:
                continue
            picture = shot(browser, drawing)
            if drawing.finish == "scan":
                picture = scanned(picture, drawing)
            size = save(picture, HERE / f"{drawing.name}.png")
            heavy |= size > BYTES
            print(f"{drawing.name}.png  {picture.width} x {picture.height}  {size / 1000:.0f} kB")
        browser.close()
    return int(heavy)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
