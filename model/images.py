"""Pictures: from bytes that anybody sent to RGB pixels, and from pixels to what the backbone reads.

Contract
--------
`read_picture` decides by the bytes alone (never by a name or a declared type), knows the size before it decodes, and
gives a `Picture`: upright, RGB, alpha laid on white, 16-bit scaled, the first frame of an animation. A picture that
cannot be read is a `StateError` whose `loc` and text name it and say what to do. `Caps` is the table of what is
allowed: `API_CAPS` for requests, `PAGE_CAPS` for people, whose large photos are shrunk and told so (`Picture.notes`).

`prepare` gives the vision tower's input; `picture_tokens` how many placeholders a picture takes. torch and
transformers are imported only there.
"""

from __future__ import annotations

import hashlib
import math
import struct
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from PIL import GifImagePlugin, Image, ImageFile, JpegImagePlugin, PngImagePlugin, WebPImagePlugin

from model.questions import FieldError, Loc, StateError

if TYPE_CHECKING:
    import torch

ACCEPTED = "PNG, JPEG, WebP, GIF or HEIC"


@dataclass(frozen=True)
class Caps:
    """How large pictures may be: pixels and bytes of one, bytes of all.

    A picture of more than `kept_pixels` (but at most `pixels`) is shrunk to that many when it is read.
    """

    pixels: int
    kept_pixels: int
    file_bytes: int
    total_bytes: int


_MIB = 1 << 20
API_CAPS = Caps(pixels=16_000_000, kept_pixels=16_000_000, file_bytes=4 * _MIB, total_bytes=8 * _MIB)
"""What Clef's hosted service takes."""
PAGE_CAPS = Caps(pixels=50_000_000, kept_pixels=16_000_000, file_bytes=40 * _MIB, total_bytes=80 * _MIB)
"""What a person may drop on the page: any photo of a present camera."""

MAX_ASPECT = 200
"""The longer side over the shorter one. The picture processor of this family refuses more."""


@dataclass(frozen=True)
class Picture:
    """A picture as the model sees it.

    `image` is RGB and upright; `original` the width and height that the file states; `sha256` (hex) of the file's
    bytes; `notes` what was done to it, each in a few words for a person.
    """

    image: Image.Image = field(repr=False, compare=False)
    sha256: str
    width: int
    height: int
    original: tuple[int, int]
    format: str
    size_bytes: int
    notes: tuple[str, ...] = ()


_BROKEN = (OSError, SyntaxError, ValueError, TypeError, KeyError, IndexError, EOFError, OverflowError, struct.error,
           zlib.error, Image.DecompressionBombError)  # fmt: skip
"""What Pillow's decoders raise on bytes that are not what they claim to be."""


def read_picture(data: bytes, *, caps: Caps = API_CAPS, loc: Loc = ("images",)) -> Picture:
    """Decode one picture.

    Parameters
    ----------
    data : the file, in one of the `ACCEPTED` formats.
    loc : where it sits in the request, such as ("images", 0).

    Raises
    ------
    StateError : empty, not an accepted format, too large, too long and thin, or broken.
    """

    def refuse(message: str, code: str = "image") -> NoReturn:
        raise StateError([FieldError(loc, f"{_name(loc)} {message}", code)])

    if not data:
        refuse("is empty; send the file's bytes", "image_empty")
    kind = sniff(data)
    if kind not in _OPENERS:
        what = f"is {kind}, which is not read" if kind else "is not a picture that can be read"
        refuse(f"{what}; save it as {ACCEPTED}", "image_format")
    if len(data) > caps.file_bytes:
        limit = f"{caps.file_bytes / _MIB:.0f} MiB"
        refuse(f"has {len(data) / _MIB:.1f} MiB; at most {limit} are allowed, so send a smaller copy", "image_bytes")
    try:
        # The WebP decoder sets up its canvas when it opens a file: its size is read from the header first.
        size = _webp_size(data) if kind == "WebP" else _OPENERS[kind](data).size
    except _BROKEN:
        refuse(f"is a broken {kind} file; save it again", "image_broken")
    pixels = size[0] * size[1]
    if pixels > caps.pixels:
        refuse(
            f"is {size[0]}×{size[1]} ({pixels / 1e6:,.1f} megapixels); at most {caps.pixels / 1e6:,.0f} are allowed, "
            "so send a smaller copy",
            "image_pixels",
        )
    if min(size) < 1 or max(size) > MAX_ASPECT * min(size):
        refuse(f"is {size[0]}×{size[1]}, too long and thin; crop it to at most {MAX_ASPECT}:1", "image_aspect")
    try:
        image = _OPENERS[kind](data)
        frames = int(getattr(image, "n_frames", 1))
        turn = None if kind == "HEIC" else _exif_turn(image)  # libheif turns by itself
        kept = _kept_size(size, caps)
        if kept != size and kind == "JPEG":
            image.draft("RGB", kept)
        image.load()
        rgb = to_rgb(image)
    except _BROKEN:
        refuse(f"is a {kind} file that ends early or is damaged; save it again", "image_broken")
    notes = []
    if frames > 1 and kind != "HEIC":  # further images of a HEIC file are no frames of an animation
        notes.append(f"first frame of {frames}")
    if kept != size:
        rgb = rgb.resize(kept, Image.Resampling.LANCZOS, reducing_gap=2.0)
        notes.append(f"shrunk from {size[0]}×{size[1]} to {kept[0]}×{kept[1]}")
    if turn is not None:
        rgb = rgb.transpose(turn)
        notes.append("turned by EXIF")
    digest = hashlib.sha256(data).hexdigest()
    return Picture(rgb, digest, rgb.width, rgb.height, size, kind, len(data), tuple(notes))


def check_together(sizes: Iterable[int], *, caps: Caps = API_CAPS, loc: Loc = ("images",)) -> None:
    """Refuse pictures that are too large together.

    Parameters
    ----------
    sizes : bytes of each picture.

    Raises
    ------
    StateError
    """
    total = sum(sizes)
    if total > caps.total_bytes:
        limit = f"{caps.total_bytes / _MIB:.0f} MiB"
        message = f"the pictures have {total / _MIB:.1f} MiB together; at most {limit} are allowed, so send fewer"
        raise StateError([FieldError(loc, message, "image_bytes")])


def sniff(data: bytes) -> str:
    """Name of the format that the first bytes state, accepted or not; "" if they state none that is known."""
    if data[4:8] == b"ftyp":
        return _ftyp(data)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "WebP"
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            return kind
    start = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<svg", b"<?xml", b"<!--", b"<!doctype svg")) and b"<svg" in data[:4096].lower():
        return "SVG"
    return ""


_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF87a", "GIF"),
    (b"GIF89a", "GIF"),
    (b"BM", "BMP"),
    (b"II*\x00", "TIFF"),
    (b"MM\x00*", "TIFF"),
    (b"II+\x00", "TIFF"),
    (b"MM\x00+", "TIFF"),
    (b"%PDF", "PDF"),
    (b"8BPS", "Photoshop"),
    (b"\x00\x00\x01\x00", "an icon (ICO)"),
    (b"\xff\x0a", "JPEG XL"),
    (b"\x00\x00\x00\x0cJXL ", "JPEG XL"),
    (b"\x00\x00\x00\x0cjP  ", "JPEG 2000"),
)
_HEIC_BRANDS = frozenset({b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"hevm", b"hevs"})


def _ftyp(data: bytes) -> str:
    """Format of an ISO media file: its brands tell still pictures by codec from films."""
    size = min(int.from_bytes(data[:4], "big"), len(data), 256)
    brands = {data[8:12], *(data[i : i + 4] for i in range(16, size - 3, 4))}
    if brands & {b"avif", b"avis"}:
        return "AVIF"
    if brands & _HEIC_BRANDS or data[8:12] in (b"mif1", b"msf1"):
        return "HEIC"
    return "a video"


def _webp_size(data: bytes) -> tuple[int, int]:
    chunk = data[12:16]
    if chunk == b"VP8X":
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    if chunk == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if chunk == b"VP8 ":
        width, height = struct.unpack("<HH", data[26:30])
        return width & 0x3FFF, height & 0x3FFF
    raise ValueError("not a WebP header")


def _open_heic(data: bytes) -> ImageFile.ImageFile:
    from pillow_heif import HeifImageFile

    return HeifImageFile(BytesIO(data))


_OPENERS: Mapping[str, Callable[[bytes], ImageFile.ImageFile]] = {
    "PNG": lambda data: PngImagePlugin.PngImageFile(BytesIO(data)),
    "JPEG": lambda data: JpegImagePlugin.JpegImageFile(BytesIO(data)),
    "WebP": lambda data: WebPImagePlugin.WebPImageFile(BytesIO(data)),
    "GIF": lambda data: GifImagePlugin.GifImageFile(BytesIO(data)),
    "HEIC": _open_heic,
}
"""One decoder per accepted format. `Image.open` is not used: it would try others, and refuses bombs without a size."""

_ORIENTATION = 0x0112
_TURNS: Mapping[int, Image.Transpose] = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def _exif_turn(image: Image.Image) -> Image.Transpose | None:
    """What sets the picture upright. A note that cannot be read is no note: the picture itself may be sound."""
    try:
        return _TURNS.get(image.getexif().get(_ORIENTATION, 1))
    except _BROKEN:
        return None


def _kept_size(size: tuple[int, int], caps: Caps) -> tuple[int, int]:
    scale = math.sqrt(caps.kept_pixels / (size[0] * size[1]))
    if scale >= 1:
        return size
    return max(1, int(size[0] * scale)), max(1, int(size[1] * scale))


def _name(loc: Loc) -> str:
    """ "picture 1" for ("images", 0): people count from one."""
    return f"picture {loc[-1] + 1}" if loc and isinstance(loc[-1], int) else "the picture"


def to_rgb(image: Image.Image) -> Image.Image:
    """RGB on white, of any mode that Pillow has.

    Deep grey is scaled, not clipped: 16-bit from 0..65535; mode `I` likewise, or by its largest value if that is
    more; mode `F` from 0..1, or 0..255, or by its largest value.
    """
    if image.mode.startswith("I") or image.mode == "F":
        return _deep_grey(image)
    if image.mode == "RGB" and "transparency" not in image.info:
        return image.copy()
    if "transparency" in image.info or image.mode in ("RGBA", "RGBa", "LA", "La", "PA"):
        layer = image.convert("RGBA")
        white = Image.new("RGBA", layer.size, (255, 255, 255, 255))
        return Image.alpha_composite(white, layer).convert("RGB")
    return image.convert("RGB")


def _deep_grey(image: Image.Image) -> Image.Image:
    values = np.asarray(image).astype(np.float32)
    top = float(values.max(initial=0.0))
    floats = 1.0 if top <= 1 else max(255.0, top)
    full = floats if image.mode == "F" else max(65535.0, top)
    grey = np.clip(np.rint(values * (255 / full)), 0, 255).astype(np.uint8)
    clear = image.info.get("transparency")
    if isinstance(clear, int):  # one value of a 16-bit PNG may stand for "nothing here"
        grey[values == clear] = 255
    return Image.fromarray(grey, "L").convert("RGB")


@dataclass(frozen=True)
class PictureSettings:
    """How the release cuts pictures into patches: `patch` pixels, `merge` patches a side per token, area in pixels."""

    patch: int
    merge: int
    least_pixels: int
    most_pixels: int
    processor: Mapping[str, Any] = field(repr=False)
    """The settings as written, for the processor itself."""


def picture_settings(config: Mapping[str, Any]) -> PictureSettings:
    """Settings from a release's `processor_config.json` (or a plain `preprocessor_config.json`).

    Raises
    ------
    ValueError : a setting is missing.
    """
    plain = dict(config.get("image_processor", config))
    # The class is ours to choose: the one that needs no torchvision.
    for name in ("image_processor_type", "processor_class"):
        plain.pop(name, None)
    try:
        size = plain["size"]
        patch, merge = int(plain["patch_size"]), int(plain["merge_size"])
        return PictureSettings(patch, merge, int(size["shortest_edge"]), int(size["longest_edge"]), plain)
    except KeyError as missing:
        raise ValueError(f"the picture processor's settings lack {missing}") from None


def grid(width: int, height: int, settings: PictureSettings) -> tuple[int, int, int]:
    """Patches of one picture as (1, rows, columns), after the release's resize.

    Sides are rounded to whole tokens; an area out of bounds is scaled by the square root, rounding inward.
    """
    unit = settings.patch * settings.merge
    rows, columns = round(height / unit), round(width / unit)
    area = rows * columns * unit * unit
    if area > settings.most_pixels:
        shrink = math.sqrt(height * width / settings.most_pixels)
        rows = max(1, math.floor(height / shrink / unit))
        columns = max(1, math.floor(width / shrink / unit))
    elif area < settings.least_pixels:
        stretch = math.sqrt(settings.least_pixels / (height * width))
        rows, columns = math.ceil(height * stretch / unit), math.ceil(width * stretch / unit)
    return 1, rows * settings.merge, columns * settings.merge


def picture_tokens(picture: Picture, settings: PictureSettings) -> int:
    """How many placeholder tokens the picture takes."""
    _, rows, columns = grid(picture.width, picture.height, settings)
    return rows * columns // settings.merge**2


def prepare(pictures: Sequence[Picture], settings: PictureSettings) -> tuple[torch.Tensor, torch.Tensor]:
    """Input of the vision tower.

    Returns
    -------
    pixel_values : float32 [patches of all pictures, 3 · temporal · patch · patch]
    image_grid_thw : int64 [pictures, 3], as `grid`
    """
    import torch
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    processor = Qwen2VLImageProcessorPil(**settings.processor)
    out = processor.preprocess([picture.image for picture in pictures], return_tensors="np")
    return torch.from_numpy(out["pixel_values"]), torch.from_numpy(out["image_grid_thw"])
