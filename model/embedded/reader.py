"""The embedded default: a small text model that reads each option together with the state, on any CPU.

Contract
--------
`Embedded` implements `model.scorer.Scorer`; `open_embedded()` opens the committed weights on the installed backbone.

* Each option is one pair (`model.embedded.pairs`). Its logit is `pair · z + prior · c`: z from the tuned encoder, c
  from the vectors of the untuned one (choice: the cosine of option and state; else the gist of question and state,
  `model.embedded.gist`); the two weights are fitted per question type.
* Of a choice with more than `SHORTLIST` options only the nearest are read as pairs; the others get the median z of
  those that were read (mostly wrong options, as they are) and keep their own prior.
* Of a long state each question is read against an excerpt: the first passage and the nearest ones
  (`model.embedded.passages`). The untuned encoder reads every passage to choose them; `Reading.looked` names the ranges
  that an answer rests on, and `Tokens.read` counts all that were embedded.
* Pictures are not seen: their words are read (`model.embedded.ocr`) and stand after the state, named as such. Without
  OCR `Reading.words` is empty and `info.notice` says that pictures are not read.
* Nothing is read twice while it is remembered: passages, options and pairs are kept by content.

Same request, same threads: same numbers. Question ids and the order of questions never matter.
"""

from __future__ import annotations

import hashlib
import json
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from model.embedded import pairs as pairing
from model.embedded.backbone import WEIGHTS_SHA256, open_backbone
from model.embedded.cache import Recent
from model.embedded.encoder import WIDTH, Encoder, untuned_encoder
from model.embedded.ocr import Ocr, open_ocr
from model.embedded.pairs import (
    SHORTLIST,
    TYPES,
    PairModel,
    by_length,
    compared_texts,
    pack,
    pair_texts,
    row_length,
    unit_vectors,
)
from model.embedded.passages import Passage, choose, split
from model.embedded.rendering import Readable, readable_state
from model.embedded.weights import Scales, load_weights
from model.length import ENDLESS
from model.length import words as count_words
from model.questions import CLEF_LIMITS, Choice, FieldError, InvalidRequest, Limits, Noul, Questions, Score
from model.scorer import Reading, Request, ScorerInfo
from model.state import Cut, State, Tokens, TooLong

ASSETS = Path(__file__).resolve().parents[2] / "assets" / "embedded"
NAME = "Clef embedded demo"
NOTICE = "small demo model; load Clef for real work"
NO_OCR = "pictures are not read: pip install 'clef-studio[embedded]'"
MAX_TOKENS = 32_768
"""Longest request. Embedding that many tokens takes some seconds; the pairs cost no more than for a short state."""
READING_VERSION = 2
"""Raised when this code reads the same request differently: part of the fingerprint."""
_BATCH_TOKENS = 1_600
_ROW_TOKENS = 700
"""Longest row: attention grows with its square."""

Ids = tuple[int, ...]


@dataclass(frozen=True)
class _Page:
    """A state made ready: readable text with the pictures' words, its passages, and their vectors."""

    readable: Readable
    words: tuple[str, ...]
    passages: tuple[Passage, ...]
    vectors: Tensor
    tokens: int
    picture_tokens: int
    cut: Cut | None


@dataclass(frozen=True)
class _Asked:
    """One question against one page: which options are read (`read`, indices), as which pairs, with which priors."""

    kind: str
    firsts: tuple[Ids, ...]
    priors: Tensor
    read: tuple[int, ...]
    excerpt: Ids
    looked: tuple[tuple[int, int], ...]


class Embedded:
    """The scorer. One thread at a time (see `model.scorer`)."""

    def __init__(
        self,
        model: PairModel,
        untuned: Encoder,
        tokenizer: Any,
        scales: Scales,
        *,
        weights_sha256: str,
        ocr: Ocr | None,
        limits: Limits = CLEF_LIMITS,
        max_tokens: int = MAX_TOKENS,
        dtype: str = "float32",
    ) -> None:
        self._model, self._untuned, self._tokenizer, self._scales = model, untuned, tokenizer, scales
        self._ocr, self._limits = ocr, limits
        self._texts: Recent[str, Ids] = Recent(20_000)
        self._vectors: Recent[Ids, Tensor] = Recent(20_000)
        self._pairs: Recent[tuple[Ids, Ids], tuple[float, ...]] = Recent(50_000)
        self._words: Recent[str, str] = Recent(64)
        self.pairs_read = 0
        """Pairs that the tuned encoder has read since opening (what a cache saves is seen here)."""
        self.tokens_read = 0
        """Tokens that either encoder has read since opening, without padding."""
        decides = {
            "weights": weights_sha256,
            "backbone": WEIGHTS_SHA256,
            "scales": scales.__dict__,
            "version": READING_VERSION,
            "dtype": dtype,
            "ocr": ocr.name if ocr else None,
        }
        self._info = ScorerInfo(
            name=NAME,
            kind="embedded",
            fingerprint=hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest(),
            question_ids="neutral",
            max_tokens=max_tokens,
            sees_pictures=False,
            reads_words=ocr is not None,
            dtype=dtype,
            notice=NOTICE if ocr else f"{NOTICE}; {NO_OCR}",
            details={
                "parameters": sum(p.numel() for p in untuned.parameters()) + sum(p.numel() for p in model.parameters()),
                "ocr": ocr.name if ocr else None,
                "pictures": "words in pictures are read; pictures are not seen" if ocr else NO_OCR,
                "excerpt_tokens": pairing.EXCERPT_TOKENS,
                "shortlist": SHORTLIST,
            },
        )

    @property
    def info(self) -> ScorerInfo:
        """Who answers."""
        return self._info

    @property
    def limits(self) -> Limits:
        """How much one request may ask."""
        return self._limits

    def count(self, state: State, questions: Questions) -> Tokens:
        """How the request divides. Words in pictures that were not met before are recognised first (a second each)."""
        words = self._words_of(state)
        readable = readable_state(state.value)
        own = len(self._ids(readable.text))
        pictures = sum(len(self._ids(text)) for text in _picture_texts(words))
        return self._tokens(own, pictures, questions, own)

    def score(self, requests: Sequence[Request]) -> list[Reading]:
        """One reading per request (see `model.scorer`).

        Raises
        ------
        TooLong : the state is longer than the limit and no cut is allowed, or the questions alone are.
        InvalidRequest : instructions and one option together are longer than one pair can hold.
        """
        pages = [self._page(request) for request in requests]
        asked = [
            {key: self._ask(key, question, page) for key, question in request.questions.items()}
            for request, page in zip(requests, pages, strict=True)
        ]
        self._read_pairs([a for questions in asked for a in questions.values()])
        return [
            Reading(
                logits={key: self._logits(a) for key, a in questions.items()},
                tokens=self._tokens(
                    page.tokens,
                    page.picture_tokens,
                    request.questions,
                    page.tokens - (page.cut.tokens if page.cut else 0),
                ),
                cut=page.cut,
                words=page.words,
                looked={key: a.looked for key, a in questions.items() if a.excerpt != self._whole(page)},
            )
            for request, page, questions in zip(requests, pages, asked, strict=True)
        ]

    # What is asked, in tokens.

    def _ids(self, text: str) -> Ids:
        ids = self._texts.get(text)
        if ids is None:
            ids = tuple(self._tokenizer.encode(text, add_special_tokens=False).ids)
            self._texts.put(text, ids)
        return ids

    def _tokens(self, own: int, pictures: int, questions: Questions, read: int) -> Tokens:
        schema = frame = 0
        for question in questions.values():
            schema += len(self._ids(pairing.readable(question.instructions)))
            texts = pair_texts(question)
            schema += 0 if isinstance(question, Noul) else sum(len(self._ids(text.prior)) for text in texts)
            frame += pairing.FRAME * min(len(texts), SHORTLIST if isinstance(question, Choice) else len(texts))
            if isinstance(question, Noul) and question.criteria:
                schema += len(self._ids(texts[0].first)) - len(self._ids(pairing.readable(question.instructions)))
        return Tokens(own, pictures, schema, frame, self._info.max_tokens, read)

    def _words_of(self, state: State) -> tuple[str, ...]:
        if self._ocr is None:
            return ()
        found = []
        for picture in state.pictures:
            words = self._words.get(picture.sha256)
            if words is None:
                words = self._ocr.words(picture.image)
                self._words.put(picture.sha256, words)
            found.append(words)
        return tuple(found)

    # The state: words, cut, passages, vectors.

    def _page(self, request: Request) -> _Page:
        words = self._words_of(request.state)
        readable = readable_state(request.state.value)
        if not request.allow_cut and len(readable.text) > ENDLESS * self._info.max_tokens:
            self._refuse_endless(readable.text, words, request.questions)
        encoding = self._tokenizer.encode(readable.text, add_special_tokens=False)
        ids, offsets = encoding.ids, encoding.offsets
        extra = _picture_texts(words)
        picture_tokens = sum(len(self._ids(text)) for text in extra)
        tokens = self._tokens(len(ids), picture_tokens, request.questions, len(ids))
        cut: Cut | None = None
        kept = len(ids)
        if tokens.needed > tokens.limit:
            kept = tokens.limit - (tokens.needed - tokens.state)
            if kept < 0:
                raise TooLong(tokens)
            shown = readable.original(0, offsets[kept][0]) if kept else None
            cut = Cut(len(ids) - kept, shown[1] if shown else 0)
            if not request.allow_cut:
                raise TooLong(tokens, cut)
        passages = split(ids[:kept], offsets[:kept], readable.text)
        at = len(readable.text)
        for text in extra:
            read = self._tokenizer.encode(text, add_special_tokens=False)
            shifted = [(start + at, end + at) for start, end in read.offsets]
            passages += split(read.ids, shifted, " " * at + text)
            at += len(text)
        vectors = self._vectors_of([p.ids for p in passages])
        return _Page(readable, words, tuple(passages), vectors, len(ids), picture_tokens, cut)

    def _refuse_endless(self, text: str, words: tuple[str, ...], questions: Questions) -> None:
        """Raises TooLong where a state is too long by its number of words alone, before it is tokenised."""
        pictures = sum(len(self._ids(said)) for said in _picture_texts(words))
        tokens = self._tokens(0, pictures, questions, 0)
        room = max(0, tokens.limit - tokens.needed)
        if (least := count_words(text, most=room)) > room:
            raise TooLong(replace(tokens, state=least, read=room), at_least=True)

    def _whole(self, page: _Page) -> Ids:
        return tuple(i for p in page.passages for i in p.ids)

    def _vectors_of(self, texts: Sequence[Ids]) -> Tensor:
        """(N, D) untuned unit vectors; each text is read once while it is remembered."""
        new = sorted({ids for ids in texts if self._vectors.get(ids) is None}, key=lambda ids: (len(ids), ids))
        if new:
            self.tokens_read += sum(map(len, new))
            # Copies: a row of a batch would keep the whole batch alive.
            rows = [row.clone() for row in unit_vectors(self._untuned, new, tokens=_BATCH_TOKENS)]
            for ids, row in zip(new, rows, strict=True):
                self._vectors.put(ids, row)
            held = dict(zip(new, rows, strict=True))
        else:
            held = {}
        found = [held[ids] if ids in held else self._vectors.get(ids) for ids in texts]
        return torch.stack([row for row in found if row is not None]) if found else torch.zeros(0, WIDTH)

    # One question.

    def _ask(self, key: str, question: Noul | Choice | Score, page: _Page) -> _Asked:
        texts = pair_texts(question)
        firsts = tuple(self._ids(text.first) for text in texts)
        longest = max(map(len, firsts))
        if longest > pairing.FIRST_TOKENS:
            message = (
                f"instructions and one option have {longest:,} tokens together; the embedded model reads at most "
                f"{pairing.FIRST_TOKENS}: shorten them, or load Clef"
            )
            raise InvalidRequest([FieldError(("questions", key, "instructions"), message, "too_long")])
        vectors = self._vectors_of(self._compared(question))
        priors = torch.zeros(len(texts))
        chosen: list[int] = []
        if page.passages:
            near = vectors @ page.vectors.T
            chosen = choose(page.passages, near.max(0).values)
            centre = torch.nn.functional.normalize(page.vectors.mean(0), dim=0)
            if isinstance(question, Choice):
                priors = vectors[: len(texts)] @ centre
            else:
                with torch.inference_mode():
                    priors = self._model.gist(question.type, vectors[: len(texts)], centre.expand(len(texts), -1))
        excerpt = tuple(i for index in chosen for i in page.passages[index].ids)
        looked = _ranges(page, [page.passages[index] for index in chosen])
        read = tuple(range(len(texts)))
        if isinstance(question, Choice) and len(texts) > SHORTLIST:
            read = tuple(sorted(priors.argsort(descending=True, stable=True)[:SHORTLIST].tolist()))
        return _Asked(question.type, firsts, priors, read, excerpt, looked)

    def _compared(self, question: Noul | Choice | Score) -> list[Ids]:
        """What the untuned encoder compares with the passages: the options, then a choice's instructions."""
        compared = [self._ids(text) for text in compared_texts(question)]
        instructions = pairing.readable(question.instructions)
        return compared + ([self._ids(instructions)] if instructions and isinstance(question, Choice) else [])

    def _read_pairs(self, asked: Sequence[_Asked]) -> None:
        wanted = {(a.firsts[i], a.excerpt) for a in asked for i in a.read}
        # Sorted, so that batches (and with them the last digit) do not depend on the order of questions.
        new = sorted(pair for pair in wanted if self._pairs.get(pair) is None)
        self.pairs_read += len(new)
        rows = _rows(new)
        lengths = [row_length(row) for row in rows]
        self.tokens_read += sum(lengths)
        with torch.inference_mode():
            for group in by_length(lengths, tokens=_BATCH_TOKENS):
                logits = self._model(pack([rows[i] for i in group])).double().tolist()
                keys = [(first, rows[i][0]) for i in group for first in rows[i][1]]
                for key, row in zip(keys, logits, strict=True):
                    self._pairs.put(key, tuple(row))

    def _logits(self, asked: _Asked) -> list[float]:
        column = TYPES.index(asked.kind)
        read = {i: self._pair(asked.firsts[i], asked.excerpt)[column] for i in asked.read}
        other = statistics.median(read.values())
        pair, prior = self._scales.of(asked.kind)
        many = self._scales.of_many(len(asked.firsts)) if asked.kind == "choice" else 1.0
        logits = [many * (pair * read.get(i, other) + prior * c) for i, c in enumerate(asked.priors.double().tolist())]
        return [*logits, 0.0] if asked.kind == "noul" else logits

    def _pair(self, first: Ids, second: Ids) -> tuple[float, ...]:
        logits = self._pairs.get((first, second))
        assert logits is not None, "one request holds more pairs than are remembered"
        return logits


def _rows(pairs: Sequence[tuple[Ids, Ids]]) -> list[tuple[Ids, list[Ids]]]:
    """Pairs as rows: those that share an excerpt share a row, up to `_ROW_TOKENS`."""
    rows: list[tuple[Ids, list[Ids]]] = []
    for first, excerpt in sorted(pairs, key=lambda pair: (pair[1], pair[0])):
        if rows and rows[-1][0] == excerpt and row_length(rows[-1]) + len(first) <= _ROW_TOKENS:
            rows[-1][1].append(first)
        else:
            rows.append((excerpt, [first]))
    return rows


def _picture_texts(words: Sequence[str]) -> list[str]:
    """What stands after the state for each picture that holds words."""
    return [f"\nWords in picture {i}:\n{text}" for i, text in enumerate(words, 1) if text]


def _ranges(page: _Page, passages: Sequence[Passage]) -> tuple[tuple[int, int], ...]:
    """The passages' ranges in the rendered state, joined where they touch; words of pictures have none."""
    ranges: list[tuple[int, int]] = []
    for passage in passages:
        found = page.readable.original(passage.start, passage.end) if passage.start < len(page.readable.text) else None
        if found is None:
            continue
        if ranges and found[0] <= ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], max(ranges[-1][1], found[1]))
        else:
            ranges.append(found)
    return tuple(ranges)


def open_embedded(
    *,
    threads: int | None = None,
    limits: Limits = CLEF_LIMITS,
    max_tokens: int | None = None,
    progress: Callable[[str, float | None], None] | None = None,
    folder: Path = ASSETS,
) -> Embedded:
    """The embedded scorer.

    Parameters
    ----------
    threads : torch's threads for the whole process; None leaves them as they are.
    progress : is told what is being done, and how much of it is done (0-1, or None).
    folder : our weights.

    Raises
    ------
    BackboneError : the package with the untuned model is missing or another one.
    WeightsError : our weights are missing or damaged.
    """
    say = progress or (lambda text, share: None)
    if threads is not None:
        torch.set_num_threads(threads)
    say("Checking the untuned model", 0.1)
    backbone = open_backbone()
    say("Opening the tuned layers", 0.5)
    model, scales, config = load_weights(folder, backbone.tensors)
    say("Looking for OCR", 0.9)
    return Embedded(
        model,
        untuned_encoder(backbone.tensors),
        backbone.tokenizer,
        scales,
        weights_sha256=config["weights_sha256"],
        ocr=open_ocr(threads=threads or torch.get_num_threads()),
        limits=limits,
        max_tokens=max_tokens or MAX_TOKENS,
    )
