"""Bodies: five encodings, each with its caps, and what is refused."""

from __future__ import annotations

import gzip
import json
import tracemalloc
import zlib
from typing import Any

import httpx
import pytest
import zstandard

from studio.api.bodies import MAX_BODY
from studio.api.encodings import decode
from studio.api.errors import ApiError
from tests.api.conftest import Served
from tests.api.requests import THREE, body, picture

PLAIN = json.dumps(body(questions=THREE)).encode()
PHOTO = picture()
GZIP_BOMB = gzip.compress(bytes(MAX_BODY + 1))
BOUNDARY = "----b7"


def zstd(data: bytes, *, sized: bool = True) -> bytes:
    return zstandard.ZstdCompressor(write_content_size=sized).compress(data)


def multipart(parts: list[tuple[str, bytes]], boundary: str = BOUNDARY) -> bytes:
    """As the official SDK writes it: `request` first, then files."""
    out = b""
    for name, data in parts:
        kind = "application/json" if name == "request" else "image/png"
        file = "" if name == "request" else f'; filename="{name}"'
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{file}\r\nContent-Type: {kind}\r\n\r\n'
        out += head.encode() + data + b"\r\n"
    return out + f"--{boundary}--\r\n".encode()


def with_part(**asset: Any) -> bytes:
    fields = body("See <image:1>", assets={"<image:1>": {"type": "image", "part": "asset-0", **asset}})
    return json.dumps(fields).encode()


FORM = multipart([("request", with_part()), ("asset-0", PHOTO)])
FORM_TYPE = f"multipart/form-data; boundary={BOUNDARY}"


def post(served: Served, data: bytes, *, kind: str | None = "application/json", encoding: str = "") -> httpx.Response:
    headers = {} if kind is None else {"content-type": kind}
    if encoding:
        headers["content-encoding"] = encoding
    return served.client.post("/v1/systemone", content=data, headers=headers)


@pytest.mark.parametrize(
    ("data", "kind", "encoding"),
    [
        pytest.param(PLAIN, "application/json", "", id="json"),
        pytest.param(PLAIN, "application/json; charset=utf-8", "identity", id="identity"),
        pytest.param(PLAIN, "application/vnd.api+json", "", id="+json"),
        pytest.param(PLAIN, None, "", id="no type"),
        pytest.param(zstd(PLAIN), "application/json", "zstd", id="zstd"),
        pytest.param(zstd(PLAIN, sized=False), "application/json", "ZSTD", id="zstd without a size"),
        pytest.param(gzip.compress(PLAIN), "application/json", "gzip", id="gzip"),
        pytest.param(zlib.compress(PLAIN), "application/json", "deflate", id="deflate"),
    ],
)
def test_encodings_of_json(hashed: Served, data: bytes, kind: str | None, encoding: str) -> None:
    reply = post(hashed, data, kind=kind, encoding=encoding)
    assert reply.status_code == 200, reply.text
    assert reply.json()["answers"] == post(hashed, PLAIN).json()["answers"]


@pytest.mark.parametrize(
    "encode", [lambda d: (d, ""), lambda d: (zstd(d), "zstd"), lambda d: (gzip.compress(d), "gzip")]
)
def test_encodings_of_multipart(hashed: Served, encode: Any) -> None:
    data, encoding = encode(FORM)
    reply = post(hashed, data, kind=FORM_TYPE, encoding=encoding)
    assert reply.status_code == 200, reply.text


@pytest.mark.parametrize(
    ("data", "kind", "encoding", "status", "error"),
    [
        pytest.param(zstd(PLAIN)[:-5], "application/json", "zstd", 400, "encoding_invalid", id="zstd ends early"),
        pytest.param(zstd(PLAIN) + b"x", "application/json", "zstd", 400, "encoding_invalid", id="bytes behind zstd"),
        pytest.param(zstd(PLAIN) * 2, "application/json", "zstd", 400, "encoding_invalid", id="two zstd frames"),
        pytest.param(b"\0" * 10, "application/json", "zstd", 400, "encoding_invalid", id="not zstd"),
        pytest.param(b"", "application/json", "zstd", 400, "encoding_invalid", id="empty zstd"),
        pytest.param(gzip.compress(PLAIN)[:-9], "application/json", "gzip", 400, "encoding_invalid", id="gzip early"),
        pytest.param(gzip.compress(PLAIN) * 2, "application/json", "gzip", 400, "encoding_invalid", id="two gzips"),
        pytest.param(PLAIN, "application/json", "gzip", 400, "encoding_invalid", id="not gzip"),
        pytest.param(PLAIN, "application/json", "br", 415, "unsupported_encoding", id="brotli"),
        pytest.param(PLAIN, "application/json", "gzip, zstd", 415, "unsupported_encoding", id="two encodings"),
        pytest.param(PLAIN, "application/x-www-form-urlencoded", "", 415, "unsupported_media_type", id="curl -d"),
        pytest.param(PLAIN, "text/plain", "", 415, "unsupported_media_type", id="text"),
        pytest.param(zstd(b" " * (MAX_BODY + 1)), "application/json", "zstd", 413, "body_too_large", id="zstd bomb"),
        pytest.param(GZIP_BOMB, "application/json", "gzip", 413, "body_too_large", id="gzip bomb"),
        pytest.param(b" " * (MAX_BODY + 1), "application/json", "", 413, "body_too_large", id="too large"),
        pytest.param(FORM, "multipart/form-data", "", 400, "multipart_invalid", id="no boundary"),
        pytest.param(FORM, "multipart/form-data; boundary=other", "", 400, "multipart_invalid", id="other boundary"),
        pytest.param(FORM[:-40], FORM_TYPE, "", 400, "multipart_invalid", id="form ends early"),
        pytest.param(b"", FORM_TYPE, "", 400, "multipart_invalid", id="empty form"),
        pytest.param(multipart([("request", with_part())] * 2), FORM_TYPE, "", 400, "multipart_invalid", id="twice"),
        pytest.param(multipart([("request", PLAIN), ("asset-0", PHOTO)]), FORM_TYPE, "", 400, "asset_part_unclaimed",
                     id="unclaimed"),
    ],
)  # fmt: skip
def test_refused_bodies(hashed: Served, data: bytes, kind: str, encoding: str, status: int, error: str) -> None:
    reply = post(hashed, data, kind=kind, encoding=encoding)
    assert (reply.status_code, reply.json()["detail"]["error_type"]) == (status, error)
    assert reply.json()["detail"]["message"]
    assert reply.headers["x-typesafe-request-id"]


def test_a_form_without_its_request_part_names_it(hashed: Served) -> None:
    reply = post(hashed, multipart([("asset-0", PHOTO)]), kind=FORM_TYPE)
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"] == ["body", "request"]


def test_a_part_beats_base64_beside_it(hashed: Served) -> None:
    data = multipart([("request", with_part(data_base64="@@@", format="png")), ("asset-0", PHOTO)])
    assert post(hashed, data, kind=FORM_TYPE).status_code == 200


def test_a_part_that_two_assets_claim_is_refused(hashed: Served) -> None:
    assets = {ref: {"type": "image", "part": "asset-0"} for ref in ("one", "two")}
    data = multipart([("request", json.dumps(body("one two", assets=assets)).encode()), ("asset-0", PHOTO)])
    reply = post(hashed, data, kind=FORM_TYPE)
    assert (reply.status_code, reply.json()["detail"]["error_type"]) == (400, "asset_part_shared")


def test_a_large_body_that_arrives_whole_is_read(hashed: Served) -> None:
    # The unused field fills the body up to the cap, to the byte.
    fields = json.dumps(body(x_fill="")).encode()
    data = fields.replace(b'"x_fill": ""', b'"x_fill": "' + b"x" * (MAX_BODY - len(fields)) + b'"')
    assert len(data) == MAX_BODY
    assert post(hashed, data).status_code == 200
    assert post(hashed, data + b" ").status_code == 413


@pytest.mark.parametrize("encoding", ["zstd", "gzip"])
def test_a_bomb_takes_little_memory(encoding: str) -> None:
    big = bytes(256 * 2**20)
    data = zstd(big) if encoding == "zstd" else gzip.compress(big, 9)
    del big
    tracemalloc.start()
    try:
        with pytest.raises(ApiError) as refused:
            decode(data, encoding, cap=MAX_BODY)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert refused.value.status == 413
    assert peak < 4 * MAX_BODY
