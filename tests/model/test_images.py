"""Pictures by bytes alone: what is read, how it looks then, and what is refused in which words."""

from __future__ import annotations

import hashlib
import json
import struct
import tracemalloc
import zlib
from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np
import pillow_heif
import pytest
from PIL import Image, ImageDraw

from model.images import (
    API_CAPS,
    PAGE_CAPS,
    Caps,
    Picture,
    check_together,
    grid,
    picture_settings,
    picture_tokens,
    prepare,
    read_picture,
    sniff,
    to_rgb,
)
from model.questions import StateError
from tests.model.golden import RELEASE

SETTINGS = picture_settings(json.loads((RELEASE / "processor_config.json").read_text(encoding="utf-8")))
ORIENTATION = 0x0112


def scene(size: tuple[int, int] = (60, 40)) -> Image.Image:
    """Four corners of different colours, so that turns and flips can be told apart."""
    image = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(image)
    w, h = size[0] // 2, size[1] // 2
    draw.rectangle((0, 0, w, h), fill="red")
    draw.rectangle((w, 0, *size), fill="lime")
    draw.rectangle((0, h, w, size[1]), fill="blue")
    return image


def save(image: Image.Image, kind: str, **options: Any) -> bytes:
    out = BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def exif(value: int) -> bytes:
    tags = Image.Exif()
    tags[ORIENTATION] = value
    return tags.tobytes()


def near(picture: Picture, wanted: Image.Image, most: float = 0) -> None:
    """The picture's pixels are those of `wanted`, to a mean difference of `most` of 255."""
    assert picture.image.mode == "RGB"
    assert picture.image.size == wanted.size == (picture.width, picture.height)
    a, b = (np.asarray(image.convert("RGB")).astype(float) for image in (picture.image, wanted))
    assert np.abs(a - b).mean() <= most


def png_chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png(width: int, height: int, depth: int, colour: int, rows: bytes, extra: bytes = b"") -> bytes:
    """A PNG written by hand: headers that Pillow would not write."""
    header = png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))
    body = png_chunk(b"IDAT", zlib.compress(rows)) + png_chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + header + extra + body


def refused(data: bytes, *, caps: Caps = API_CAPS) -> str:
    with pytest.raises(StateError) as told:
        read_picture(data, caps=caps, loc=("images", 1))
    (error,) = told.value.errors
    assert error.loc == ("images", 1)
    assert error.message.startswith("picture 2 ")
    return error.message


@pytest.mark.parametrize(
    ("kind", "options", "most"),
    [
        ("PNG", {}, 0),
        ("GIF", {}, 0),
        ("WEBP", {"lossless": True}, 0),
        ("WEBP", {"quality": 90}, 6),
        ("JPEG", {"quality": 95}, 6),
        ("JPEG", {"quality": 95, "progressive": True}, 6),
    ],
)
def test_accepted_formats(kind: str, options: dict[str, Any], most: float) -> None:
    data = save(scene(), kind, **options)
    picture = read_picture(data)
    near(picture, scene(), most)
    assert picture.format.upper() == kind
    assert picture.sha256 == hashlib.sha256(data).hexdigest()
    assert (picture.original, picture.size_bytes, picture.notes) == ((60, 40), len(data), ())


def test_a_heic_picture_upright_and_turned_by_its_own_decoder_once() -> None:
    upright = BytesIO()
    pillow_heif.from_pillow(scene()).save(upright, quality=95)
    near(read_picture(upright.getvalue()), scene(), 8)
    out = BytesIO()
    pillow_heif.from_pillow(scene()).save(out, quality=95, exif=exif(6))
    assert b"irot" in out.getvalue()
    picture = read_picture(out.getvalue())
    assert picture.format == "HEIC"
    near(picture, scene().transpose(Image.Transpose.ROTATE_270), 8)


@pytest.mark.parametrize(
    ("value", "turn"),
    [
        (1, None),
        (2, Image.Transpose.FLIP_LEFT_RIGHT),
        (3, Image.Transpose.ROTATE_180),
        (4, Image.Transpose.FLIP_TOP_BOTTOM),
        (5, Image.Transpose.TRANSPOSE),
        (6, Image.Transpose.ROTATE_270),
        (7, Image.Transpose.TRANSVERSE),
        (8, Image.Transpose.ROTATE_90),
        (99, None),
    ],
)
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_exif_sets_a_picture_upright(kind: str, value: int, turn: Image.Transpose | None) -> None:
    options = {"lossless": True} if kind == "WEBP" else {"quality": 95}
    picture = read_picture(save(scene(), kind, exif=exif(value), **options))
    near(picture, scene() if turn is None else scene().transpose(turn), 6)
    assert picture.original == (60, 40)
    assert picture.notes == (() if turn is None else ("turned by EXIF",))


@pytest.mark.filterwarnings("ignore:Corrupt EXIF")
def test_exif_that_is_broken_does_not_spoil_the_picture() -> None:
    near(read_picture(save(scene(), "JPEG", quality=95, exif=b"Exif\x00\x00II*\x00\xff\xff\xff\xff")), scene(), 6)


def grey_ramp_16() -> bytes:
    values = np.linspace(0, 65535, 256).astype(">u2")
    return png(256, 2, 16, 0, (b"\x00" + values.tobytes()) * 2)


def test_sixteen_bit_grey_is_scaled_not_clipped() -> None:
    row = np.asarray(read_picture(grey_ramp_16()).image)[0, :, 0]
    assert row.tolist() == list(range(256))


def test_sixteen_bit_colour_is_scaled() -> None:
    values = np.array([[0, 32768, 65535], [65535, 257, 128 * 257]], ">u2")
    pixels = np.asarray(read_picture(png(2, 1, 16, 2, b"\x00" + values.tobytes())).image)[0]
    assert np.abs(pixels.astype(int) - [[0, 128, 255], [255, 1, 128]]).max() <= 1


def test_the_clear_value_of_a_sixteen_bit_picture_is_white() -> None:
    rows = b"\x00" + np.array([0, 30000, 65535], ">u2").tobytes()
    clear = png_chunk(b"tRNS", struct.pack(">H", 30000))
    assert np.asarray(read_picture(png(3, 1, 16, 0, rows, clear)).image)[0, :, 0].tolist() == [0, 255, 255]


@pytest.mark.parametrize(
    ("mode", "values", "grey"),
    [
        ("I;16", [0, 32768, 65535], [0, 128, 255]),
        ("I;16B", [0, 32768, 65535], [0, 128, 255]),
        ("I", [0, 32768, 65535], [0, 128, 255]),
        ("I", [-5, 500_000, 1_000_000], [0, 128, 255]),
        ("F", [0.0, 0.5, 1.0], [0, 128, 255]),
        ("F", [0.0, 128.0, 255.0], [0, 128, 255]),
        ("F", [0.0, 500.0, 1000.0], [0, 128, 255]),
    ],
)
def test_deep_modes(mode: str, values: list[float], grey: list[int]) -> None:
    kinds = {"I;16": "<u2", "I;16B": ">u2", "I": "<i4", "F": "<f4"}
    image = Image.frombytes(mode, (3, 1), np.array(values, kinds[mode]).tobytes())
    out = np.asarray(to_rgb(image))[0]
    assert out[:, 0].tolist() == pytest.approx(grey, abs=1)
    assert (out == out[:, :1]).all()


def clear(image: Image.Image) -> Image.Image:
    """Half of it transparent, over a colour that must not show."""
    alpha = Image.new("L", image.size, 255)
    alpha.paste(0, (0, 0, image.width // 2, image.height))
    image.putalpha(alpha)
    return image


def on_white(image: Image.Image) -> Image.Image:
    image.paste("white", (0, 0, image.width // 2, image.height))
    return image


def palette_with_clear() -> bytes:
    image = Image.new("P", (4, 2), 1)
    image.putpalette([0, 0, 0, 255, 0, 0])
    image.putpixel((0, 0), 0)
    return save(image, "PNG", transparency=0)


def test_transparency_is_laid_on_white() -> None:
    near(read_picture(save(clear(scene()), "PNG")), on_white(scene()))
    near(read_picture(save(clear(scene()), "WEBP", lossless=True)), on_white(scene()))
    near(read_picture(save(clear(scene().convert("L")), "PNG")), on_white(scene().convert("L").convert("RGB")))
    pixels = np.asarray(read_picture(palette_with_clear()).image)
    assert pixels[0, 0].tolist() == [255, 255, 255]
    assert pixels[1, 3].tolist() == [255, 0, 0]
    half = read_picture(save(Image.new("RGBA", (2, 2), (0, 0, 0, 128)), "PNG"))
    assert np.asarray(half.image)[0, 0].tolist() == pytest.approx([127, 127, 127], abs=1)


def test_a_clear_colour_of_an_opaque_png_is_white() -> None:
    image = Image.new("RGB", (2, 1), "red")
    image.putpixel((0, 0), (1, 2, 3))
    pixels = np.asarray(read_picture(save(image, "PNG", transparency=(1, 2, 3))).image)
    assert pixels[0].tolist() == [[255, 255, 255], [255, 0, 0]]


def test_palette_grey_and_one_bit_pictures() -> None:
    near(read_picture(save(scene().convert("P"), "PNG")), scene().convert("P").convert("RGB"))
    near(read_picture(save(scene().convert("L"), "PNG")), scene().convert("L"))
    near(read_picture(save(scene().convert("1"), "PNG")), scene().convert("1"))
    near(read_picture(save(scene().convert("L"), "JPEG", quality=95)), scene().convert("L"), 4)


def test_a_cmyk_jpeg_looks_like_its_rgb_copy() -> None:
    near(read_picture(save(scene().convert("CMYK"), "JPEG", quality=95)), scene(), 6)


def frames() -> list[Image.Image]:
    return [Image.new("RGB", (20, 10), colour) for colour in ("red", "lime", "blue")]


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_the_first_frame_of_an_animation_is_read_the_same_every_time(kind: str) -> None:
    options = {"lossless": True} if kind == "WEBP" else {}
    first, *rest = frames()
    data = save(first, kind, save_all=True, append_images=rest, **options)
    one, two = read_picture(data), read_picture(data)
    near(one, first)
    assert one == two
    assert one.notes == ("first frame of 3",)


def test_a_large_photo_is_shrunk_for_a_person_and_told() -> None:
    caps = Caps(pixels=200_000, kept_pixels=10_000, file_bytes=1 << 20, total_bytes=1 << 20)
    for kind in ("JPEG", "PNG"):
        picture = read_picture(save(scene((400, 300)), kind, exif=exif(6)), caps=caps)
        assert picture.original == (400, 300)
        assert (picture.width, picture.height) == (86, 115)
        assert picture.notes == ("shrunk from 400×300 to 115×86", "turned by EXIF")
        near(picture, scene((115, 86)).transpose(Image.Transpose.ROTATE_270), 8)


def test_the_page_takes_what_a_request_may_not_hold() -> None:
    data = save(Image.new("1", (6000, 4000)), "PNG")
    assert "24.0 megapixels" in refused(data)
    picture = read_picture(data, caps=PAGE_CAPS)
    assert picture.width * picture.height <= 16_000_000
    assert picture.notes == ("shrunk from 6000×4000 to 4898×3265",)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"hello, world", "is not a picture"),
        (save(scene(), "BMP"), "is BMP"),
        (save(scene(), "TIFF"), "is TIFF"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "is SVG"),
        (b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- x --><svg/>", "is SVG"),
        (b"\x00\x00\x00\x1cftypavif\x00\x00\x00\x00avifmif1miaf", "is AVIF"),
        (b"\x00\x00\x00\x1cftypmif1\x00\x00\x00\x00avifmif1miaf", "is AVIF"),
        (b"\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isomiso2", "is a video"),
        (b"%PDF-1.7", "is PDF"),
    ],
)
def test_other_formats_are_refused_by_name_with_what_is_accepted(data: bytes, words: str) -> None:
    message = refused(data)
    assert words in message
    assert not data or "PNG, JPEG, WebP, GIF or HEIC" in message


def test_a_lying_declaration_does_not_matter() -> None:
    """A HEIC that calls itself JPEG, an HTML page that calls itself PNG: only bytes are asked."""
    out = BytesIO()
    pillow_heif.from_pillow(scene()).save(out)
    assert sniff(out.getvalue()) == "HEIC"
    assert "broken PNG" in refused(b"\x89PNG\r\n\x1a\n<html>not a picture</html>")


def _webp() -> bytes:
    return save(scene((300, 200)), "WEBP", quality=90)


def _heic() -> bytes:
    out = BytesIO()
    pillow_heif.from_pillow(scene((300, 200))).save(out)
    return out.getvalue()


@pytest.mark.parametrize(
    "whole",
    [
        lambda: save(scene((300, 200)), "PNG"),
        lambda: save(scene((300, 200)), "JPEG"),
        lambda: save(scene((300, 200)), "GIF"),
        _webp,
        _heic,
    ],
    ids=["PNG", "JPEG", "GIF", "WebP", "HEIC"],
)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_picture_that_ends_early_is_refused(whole: Callable[[], bytes], share: float) -> None:
    data = whole()
    message = refused(data[: int(len(data) * share)])
    assert "save it again" in message


BOMBS = {
    "PNG": png(30_000, 30_000, 1, 0, b"\x00" * 100),
    "GIF": b"GIF89a" + struct.pack("<HH", 30_000, 30_000) + save(scene(), "GIF")[10:],
    "WebP": b"RIFF\xff\xff\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00"
    + (15_999).to_bytes(3, "little") * 2
    + b"\x00" * 40,
}


@pytest.mark.parametrize("kind", BOMBS)
def test_a_bomb_is_refused_by_its_header(kind: str) -> None:
    tracemalloc.start()
    try:
        for caps in (API_CAPS, PAGE_CAPS):
            assert "send a smaller copy" in refused(BOMBS[kind], caps=caps)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_a_bomb_inside_a_picture_is_refused() -> None:
    text = png_chunk(b"zTXt", b"note\x00\x00" + zlib.compress(b"a" * (80 << 20)))
    assert "broken PNG" in refused(png(1, 1, 8, 0, b"\x00\x00", text))


def test_a_file_of_too_many_bytes_is_refused_before_it_is_opened() -> None:
    assert "4.0 MiB; at most 4 MiB" in refused(b"\xff\xd8\xff" + b"\x00" * (4 << 20))


def test_a_thread_is_no_picture() -> None:
    assert "at most 200:1" in refused(save(Image.new("1", (2010, 10)), "PNG"))
    assert read_picture(save(Image.new("1", (2000, 10)), "PNG")).width == 2000


def test_pictures_are_counted_together() -> None:
    check_together([4 << 20, 4 << 20])
    with pytest.raises(StateError, match=r"8\.0 MiB together") as told:
        check_together([4 << 20, 4 << 20, 1])
    assert told.value.errors[0].loc == ("images",)
    check_together([30 << 20] * 2, caps=PAGE_CAPS)


def test_a_picture_alone_is_called_so() -> None:
    with pytest.raises(StateError, match="the picture is empty"):
        read_picture(b"", loc=("image",))


SIZES = [
    (441, 330),
    (320, 416),
    (896, 288),
    (1, 1),
    (10, 10),
    (3, 600),
    (2000, 10),
    (17, 3000),
    (255, 257),
    (1024, 768),
]


@pytest.mark.parametrize("size", SIZES)
def test_the_grid_is_the_processors(size: tuple[int, int]) -> None:
    picture = read_picture(save(Image.new("RGB", size, "teal"), "PNG"))
    pixels, grids = prepare([picture], SETTINGS)
    assert grids.tolist() == [list(grid(*size, SETTINGS))]
    assert pixels.shape == (grids.prod(), 3 * 2 * 16 * 16)
    assert picture_tokens(picture, SETTINGS) == grids.prod() // 4


def test_a_picture_too_large_for_the_settings_is_scaled_inward() -> None:
    small = picture_settings(
        {"patch_size": 16, "merge_size": 2, "size": {"shortest_edge": 1024, "longest_edge": 100_000}}
    )
    picture = read_picture(save(Image.new("RGB", (1000, 700), "teal"), "PNG"))
    _, grids = prepare([picture], small)
    assert grids.tolist() == [list(grid(1000, 700, small))] == [[1, 16, 22]]


def test_the_known_size_gives_140_tokens() -> None:
    assert grid(441, 330, SETTINGS) == (1, 20, 28)


def test_several_pictures_are_put_end_to_end() -> None:
    pictures = [read_picture(save(scene(size), "PNG")) for size in ((320, 416), (896, 288))]
    pixels, grids = prepare(pictures, SETTINGS)
    assert grids.tolist() == [[1, 26, 20], [1, 18, 56]]
    first, _ = prepare(pictures[:1], SETTINGS)
    assert (pixels[: len(first)] == first).all()
    assert float(pixels.min()) == -1.0
    assert float(pixels.max()) == 1.0


def test_settings_that_lack_something_say_what() -> None:
    with pytest.raises(ValueError, match="merge_size"):
        picture_settings({"image_processor": {"patch_size": 16, "size": {"shortest_edge": 1, "longest_edge": 2}}})
