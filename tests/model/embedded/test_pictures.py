"""Words in pictures are read and shown; without OCR that is said."""

from __future__ import annotations

import pytest
from PIL import Image, ImageDraw, ImageFont

from model.embedded import ocr
from model.embedded.backbone import Backbone
from model.embedded.encoder import Encoder
from model.embedded.ocr import Ocr, open_ocr
from model.embedded.pairs import PairModel
from model.embedded.reader import NO_OCR, NOTICE, Embedded
from model.embedded.weights import Scales
from model.images import Picture
from model.questions import parse_questions
from model.scorer import Request
from model.state import State

QUESTIONS = parse_questions({"q": {"type": "noul", "instructions": "Is a payment asked for?"}})


def picture(*lines: str) -> Picture:
    image = Image.new("RGB", (520, 60 + 60 * len(lines)), "white")
    font = ImageFont.load_default(30)
    for i, line in enumerate(lines):
        ImageDraw.Draw(image).text((20, 20 + 60 * i), line, fill="black", font=font)
    return Picture(image, f"{hash(lines):x}", *image.size, image.size, "PNG", 100)


@pytest.fixture(scope="module")
def engine() -> Ocr:
    found = open_ocr(threads=1)
    assert found is not None, "the extra `embedded` brings rapidocr"
    return found


def test_words_are_read_line_by_line_and_enter_the_state(
    engine: Ocr, backbone: Backbone, untuned: Encoder, tuned: tuple[PairModel, Scales]
) -> None:
    scorer = Embedded(tuned[0], untuned, backbone.tokenizer, tuned[1], weights_sha256="0", ocr=engine)
    shown = State("See the picture.", (picture("Your invoice is overdue", "Please pay 240.00 now"), picture()))
    with_words = scorer.score([Request(shown, QUESTIONS)])[0]
    assert with_words.words == ("Your invoice is overdue\nPlease pay 240.00 now", "")
    assert with_words.tokens.pictures > 8
    without = scorer.score([Request(State("See the picture."), QUESTIONS)])[0]
    assert with_words.logits != without.logits
    assert scorer.count(shown, QUESTIONS) == with_words.tokens
    assert scorer.info.notice == NOTICE
    assert not scorer.info.sees_pictures


def test_without_ocr_pictures_are_not_read_and_that_is_said(scorer: Embedded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "PACKAGE", "no_such_package_here")
    assert open_ocr() is None
    assert NO_OCR in scorer.info.notice
    assert scorer.info.details["ocr"] is None
    reading = scorer.score([Request(State("See the picture.", (picture("Pay now"),)), QUESTIONS)])[0]
    assert reading.words == ()
    assert reading.tokens.pictures == 0
