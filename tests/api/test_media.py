"""Pictures on the wire: three ways in, one answer out, and a defined outcome for every odd file."""

from __future__ import annotations

import json
import os
import struct
import zlib
from io import BytesIO
from typing import Any

import httpx
import pillow_heif
import pytest
from PIL import Image

from tests.api.conftest import Served, serving
from tests.api.hash_scorer import HashScorer
from tests.api.requests import NOUL, body, picture, text
from tests.api.test_bodies import FORM_TYPE, multipart

RED = picture()
URL = "data:image/png;base64,"


def post(served: Served, **fields: Any) -> httpx.Response:
    return served.client.post("/v1/systemone", json=body(**fields))


def noul(served: Served, *images: Any) -> float:
    reply = post(served, images=list(images))
    assert reply.status_code == 200, reply.text
    return float(reply.json()["answers"]["q"]["noul"])


def refused(served: Served, *images: Any) -> dict[str, Any]:
    reply = post(served, images=list(images))
    assert reply.status_code == 422, reply.text
    (error,) = reply.json()["detail"]
    return dict(error)


def gradient(mode: str = "RGB", **save: Any) -> bytes:
    """A picture that looks another way when turned."""
    image = Image.linear_gradient("L").resize((64, 32)).convert(mode)
    out = BytesIO()
    image.save(out, save.pop("format", "PNG"), **save)
    return out.getvalue()


def test_all_ways_in_are_one_picture(hashed: Served) -> None:
    plain = noul(hashed, URL + text(RED))
    assert plain != noul(hashed, URL + text(picture((0, 0, 250))))
    assert plain != post(hashed).json()["answers"]["q"]["noul"]
    assert noul(hashed, text(RED)) == plain
    assert noul(hashed, {"content_type": "image/jpeg", "base64": text(RED)}) == plain
    assert noul(hashed, {"content_type": "image/png", "base64": URL + text(RED)}) == plain
    wrapped = "\n".join(text(RED)[i : i + 76] for i in range(0, len(text(RED)), 76))
    assert noul(hashed, wrapped) == plain


def test_assets_and_parts_reach_the_model_as_the_same_picture(hashed: Served) -> None:
    asset = {"type": "image", "format": "png", "data_base64": text(RED)}
    state = {"page": ["img-1"]}
    by_base64 = post(hashed, state=state, assets={"img-1": asset}).json()["answers"]
    by_images = post(hashed, state=state, images=[text(RED)]).json()["answers"]
    assert by_base64 == by_images
    fields = body(state=state, assets={"img-1": {"type": "image", "part": "asset-0"}})
    form = multipart([("request", json.dumps(fields).encode()), ("asset-0", RED)])
    by_part = hashed.client.post("/v1/systemone", content=form, headers={"content-type": FORM_TYPE}).json()["answers"]
    assert by_part == by_images


@pytest.mark.parametrize(
    "where",
    [
        {"state": "look at <image:ab>!"},
        {"state": {"deep": [{"er": "<image:ab>"}]}},
        {"questions": {"q": {"type": "noul", "instructions": "Is <image:ab> red?"}}},
        {"questions": {"q": {"type": "noul", "criteria": {"true": {"as in": ["<image:ab>"]}}}}},
    ],
)
def test_an_asset_is_referred_to_in_any_text(hashed: Served, where: dict[str, Any]) -> None:
    asset = {"type": "image", "format": "png", "data_base64": text(RED)}
    assert post(hashed, assets={"<image:ab>": asset}, **where).status_code == 200


@pytest.mark.parametrize(
    ("assets", "fields", "status", "says"),
    [
        ({"noul": {"type": "image", "data_base64": text(RED)}}, {"state": "nothing"}, 400, "asset_unreferenced"),
        (
            {"R-1": {"type": "image", "data_base64": text(RED)}},
            {"state": {"R-1": "only a key"}},
            400,
            "asset_unreferenced",
        ),
        ({"": {"type": "image", "data_base64": text(RED)}}, {}, 400, "asset_unreferenced"),
        ({"D": {"type": "image", "part": "asset-0"}}, {}, 422, ["body", "assets", "D", "part"]),
        ({"D": {"type": "image"}}, {}, 422, ["body", "assets", "D", "data_base64"]),
        ({"D": {"type": "image", "data_base64": "@@"}}, {}, 422, ["body", "assets", "D", "data_base64"]),
        ({"D": {"type": "image", "data_base64": text(b"GIF89 no")}}, {}, 422, ["body", "assets", "D"]),
        ({"D": {"type": "film", "data_base64": text(RED)}}, {}, 422, ["body", "assets", "D", "type"]),
        ({"D": text(RED)}, {}, 422, ["body", "assets", "D"]),
        ([text(RED)], {}, 422, ["body", "assets"]),
    ],
)
def test_assets_that_are_refused(hashed: Served, assets: Any, fields: Any, status: int, says: Any) -> None:
    reply = post(hashed, **({"state": "D is down"} | fields), assets=assets)
    assert reply.status_code == status, reply.text
    detail = reply.json()["detail"]
    assert (detail[0]["loc"] if status == 422 else detail["error_type"]) == says


def test_five_pictures_are_too_many_however_they_come(hashed: Served) -> None:
    assert refused(hashed, *[text(RED)] * 5)["loc"] == ["body", "images", 4]
    assets = {f"r{i}": {"type": "image", "data_base64": text(RED)} for i in range(3)}
    reply = post(hashed, state="r0 r1 r2", images=[text(RED)] * 2, assets=assets)
    assert (reply.status_code, reply.json()["detail"][0]["loc"]) == (422, ["body", "assets", "r2"])
    assert post(hashed, state="r0 r1", images=[text(RED)] * 2, assets=dict(list(assets.items())[:2])).status_code == 200


@pytest.mark.parametrize("field", ["audio", "videos", "image", "image_url"])
def test_media_that_would_be_ignored_are_refused(hashed: Served, field: str) -> None:
    reply = post(hashed, **{field: ["x"]})
    assert (reply.status_code, reply.json()["detail"][0]["loc"]) == (422, ["body", field])


def test_a_scorer_without_eyes_refuses_pictures() -> None:
    with serving(HashScorer(sees_pictures=False)) as served:
        error = refused(served, text(RED))
        assert error["loc"] == ["body", "images"]
        assert "Clef" in error["msg"]
        assert post(served).status_code == 200


def test_a_scorer_that_reads_words_in_pictures_takes_them_and_says_which_words() -> None:
    with serving(HashScorer(sees_pictures=False, reads_words=True)) as served:
        reply = post(served, images=[text(RED)]).json()
        assert len(reply["x_picture_words"]) == 1
        assert " by " in reply["x_picture_words"][0]
        assert "x_picture_words" not in post(served).json()


# ---- files that are read


def test_a_turned_photo_equals_the_upright_one(hashed: Served) -> None:
    image = Image.open(BytesIO(gradient()))
    exif = Image.Exif()
    exif[0x0112] = 6
    turned, upright = BytesIO(), BytesIO()
    image.save(turned, "PNG", exif=exif)
    image.transpose(Image.Transpose.ROTATE_270).save(upright, "PNG")
    assert noul(hashed, text(turned.getvalue())) == noul(hashed, text(upright.getvalue()))
    assert noul(hashed, text(turned.getvalue())) != noul(hashed, text(gradient()))


@pytest.mark.parametrize(
    ("odd", "plain"),
    [
        pytest.param(picture((200, 30, 30, 0), mode="RGBA"), picture((255, 255, 255)), id="clear is white"),
        pytest.param(gradient("P"), gradient("RGB"), id="palette"),
        pytest.param(gradient("L"), gradient("RGB"), id="grey"),
        pytest.param(gradient("LA"), gradient("RGB"), id="grey with alpha"),
        pytest.param(picture(True, mode="1"), picture((255, 255, 255)), id="one bit"),
        pytest.param(picture(32896, mode="I;16"), picture((128, 128, 128)), id="sixteen bits are scaled"),
        pytest.param(picture(format="WEBP", lossless=True), RED, id="WebP"),
        pytest.param(gradient("P", format="GIF"), gradient("RGB"), id="GIF"),
        pytest.param(
            picture(format="GIF", save_all=True, append_images=[Image.new("RGB", (64, 48), "blue")]),
            picture(format="GIF"),
            id="animation is its first frame",
        ),
        pytest.param(
            picture(format="PNG", save_all=True, append_images=[Image.new("RGB", (64, 48), "blue")]), RED, id="APNG"
        ),
    ],
)
def test_odd_files_equal_their_plain_copies(hashed: Served, odd: bytes, plain: bytes) -> None:
    assert noul(hashed, text(odd)) == noul(hashed, text(plain))


def test_cmyk_and_heic_are_read(hashed: Served) -> None:
    cmyk = picture((0, 255, 255, 0), mode="CMYK", format="JPEG")
    assert 0 <= noul(hashed, text(cmyk)) <= 1
    heic = BytesIO()
    pillow_heif.from_pillow(Image.new("RGB", (64, 64), "red")).save(heic)
    assert 0 <= noul(hashed, "data:image/jpeg;base64," + text(heic.getvalue())) <= 1


# ---- files that are refused


def png_header(width: int, height: int) -> bytes:
    """A PNG that claims a size and holds one empty row."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(
    ("image", "names"),
    [
        pytest.param("https://example.com/a.png", "address", id="URL"),
        pytest.param("file:///etc/passwd", "address", id="file"),
        pytest.param("/etc/passwd", "address", id="path"),
        pytest.param("HTTP://169.254.169.254/", "address", id="upper case"),
        pytest.param("data:image/png,plain", "base64", id="data URL without base64"),
        pytest.param("@@@@", "base64", id="not base64"),
        pytest.param(URL, "empty", id="empty"),
        pytest.param(7, "data URL", id="number"),
        pytest.param(None, "data URL", id="null"),
        pytest.param({"content_type": "image/png"}, "data URL", id="object without base64"),
        pytest.param(text(b"hello"), "not a picture", id="text"),
        pytest.param(text(b"<svg xmlns='http://www.w3.org/2000/svg'/>"), "SVG", id="SVG"),
        pytest.param(text(b"\0\0\0\x1cftypavif\0\0\0\0avifmif1"), "AVIF", id="AVIF"),
        pytest.param(text(b"BM" + bytes(60)), "BMP", id="BMP"),
        pytest.param(text(b"%PDF-1.7"), "PDF", id="PDF"),
        pytest.param(text(RED[: len(RED) // 2]), "", id="truncated PNG"),
        pytest.param(text(picture(format="JPEG")[:300]), "JPEG", id="truncated JPEG"),
        pytest.param(text(b"\x89PNG\r\n\x1a\n" + picture(format="JPEG")), "PNG", id="wrong magic"),
        pytest.param(text(png_header(30_000, 30_000)), "30000×30000", id="bomb"),
        pytest.param(text(png_header(2**31 - 1, 2**31 - 1)), "2147483647", id="larger bomb"),
        pytest.param(text(png_header(0, 5)), "PNG", id="no pixels"),
        pytest.param(text(picture(size=(5000, 10))), "thin", id="thin"),
        pytest.param("A" * (7 * 2**20), "4 MiB", id="long"),
    ],
)  # fmt: skip
def test_refused_pictures(hashed: Served, image: Any, names: str) -> None:
    error = refused(hashed, text(RED), image)
    assert error["loc"][:3] == ["body", "images", 1]
    assert names in error["msg"]
    assert error["type"]


def test_pictures_that_are_too_large_together(hashed: Served) -> None:
    noise = [Image.frombytes("RGB", (1000, 1000), os.urandom(3_000_000)) for _ in range(3)]
    files = []
    for image in noise:
        out = BytesIO()
        image.save(out, "PNG", compress_level=0)
        files.append(text(out.getvalue()))
    error = refused(hashed, *files)
    assert error["loc"] == ["body", "images"]
    assert "8 MiB" in error["msg"]


def test_images_must_be_a_list(hashed: Served) -> None:
    reply = post(hashed, images="data:image/png;base64," + text(RED))
    assert reply.json()["detail"][0]["loc"] == ["body", "images"]
    assert post(hashed, images=[], questions=NOUL).status_code == 200
