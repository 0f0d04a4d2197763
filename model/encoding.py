"""The released prompt: one state and a schema of questions become token ids, with the spans that the head reads.

Contract
--------
The prompt is a list of *pieces*, each tokenised on its own; their ids are put end to end (joined text would give other
ids). Order: prefix, pictures (if any), state, schema header, one block per question, suffix. The first three make a
`StatePart`, the rest a `SchemaPart`: the backbone is causal, so what was read of a state part can be kept while the
questions change. `Encoder.join` puts the two together and is the one place where a budget is applied.

* Text of the caller (state, instructions, ids, descriptions) never becomes a control token: a state that holds
  `<|im_end|>` is read as these ten characters. `reference_specials=True` restores what the released code does (it
  parses them); it serves parity tests only.
* `question_ids="literal"` writes ids as the release does, also in place of instructions that are missing or empty.
  `"neutral"` writes `NEUTRAL_ID` in place of every id and `NEUTRAL_INSTRUCTION` in place of instructions that are
  missing or empty, so that renaming a question cannot change an answer and the criteria alone say what is asked.
* The tokenizer is the pipeline of the release's own `tokenizer.json`. transformers would replace the normaliser and
  the pre-tokenizer of this family with its own, which splits words with combining marks differently.

No torch.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

from tokenizers import AddedToken, Tokenizer

from model.length import ENDLESS, Shortest
from model.questions import Json, Question, Questions, QuestionType, canonical_json, render
from model.scorer import QuestionIds
from model.state import Cut, Tokens, TooLong

Span: TypeAlias = tuple[int, int]
"""Half-open range of token positions."""

NEUTRAL_ID = "question"
NEUTRAL_INSTRUCTION = "Decide which of the allowed options holds for the state."

_PREFIX = (
    "<|im_start|>system\nRead the complete state and schema. Decide every field jointly. "
    "Each answer must be exactly one of that field's allowed options.<|im_end|>\n<|im_start|>user\nSTATE:\n"
)
_SCHEMA = "\n\nSCHEMA FIELDS:\n"
_SUFFIX = "\n<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\nJOINT SCHEMA DECISIONS:"
_VISION = ("<|vision_start|>", "<|image_pad|>", "<|vision_end|>")

_MARKUP = re.compile(r"<.+>|\[.+\]", re.DOTALL)
_KEPT_STATES = 16
_KEPT_SCHEMAS = 64
_KEPT_PIECES = 4096
_KEPT_LENGTH = 8
"""Characters of a state that is remembered, per token that a request may hold."""


@dataclass(frozen=True)
class FieldSpans:
    """Where one question stands. `question` covers its instructions, `options` its options in model order."""

    id: str
    type: QuestionType
    question: Span
    options: tuple[Span, ...]
    option_ids: tuple[str, ...]

    def shifted(self, by: int) -> FieldSpans:
        """The same question `by` tokens further on."""
        start, end = self.question
        options = tuple((a + by, b + by) for a, b in self.options)
        return replace(self, question=(start + by, end + by), options=options)


@dataclass(frozen=True)
class StatePart:
    """Everything before the schema, uncut: prefix, pictures, state.

    `picture_spans` are the placeholder runs, one per picture. `offsets` gives for each state token its characters in
    the rendered state.
    """

    head: tuple[int, ...]
    pictures: tuple[int, ...]
    picture_spans: tuple[Span, ...]
    state: tuple[int, ...]
    offsets: tuple[Span, ...]
    text: str

    @property
    def state_at(self) -> int:
        """Position of the first state token."""
        return len(self.head) + len(self.pictures)


@dataclass(frozen=True)
class SchemaPart:
    """Everything after the state. The spans of `fields` count from the first id of this part.

    `frame` of the ids are the fixed words (header and suffix); the rest belongs to the questions.
    """

    ids: tuple[int, ...]
    fields: tuple[FieldSpans, ...]
    frame: int


@dataclass(frozen=True)
class Encoded:
    """One request, ready for the backbone.

    `ids` are all token ids; `ids[:schema_at]` is the part that does not depend on the questions. `fields` carry spans
    in `ids`. `picture_spans` are placeholder runs in `ids`. `state` is the span of the state tokens that are read;
    `offsets[i]` gives the characters of token `state[0] + i` in the rendered state.
    """

    ids: tuple[int, ...]
    fields: tuple[FieldSpans, ...]
    schema_at: int
    state: Span
    offsets: tuple[Span, ...]
    picture_spans: tuple[Span, ...]
    tokens: Tokens
    cut: Cut | None

    def token_types(self) -> list[int]:
        """`mm_token_type_ids`: 1 on picture placeholders, 0 elsewhere; as long as `ids`."""
        types = [0] * len(self.ids)
        for start, end in self.picture_spans:
            types[start:end] = [1] * (end - start)
        return types


class Encoder:
    """Turns states and questions into token ids, by one tokenizer file and one way of writing ids.

    Parts and pieces that were just encoded are remembered, so that counting while someone types is cheap. Safe to use
    from several threads.

    Parameters
    ----------
    tokenizer_file : a `tokenizer.json`.
    max_tokens : the most tokens that one request may hold.
    """

    def __init__(
        self,
        tokenizer_file: Path,
        *,
        max_tokens: int,
        question_ids: QuestionIds = "literal",
        reference_specials: bool = False,
    ) -> None:
        self.max_tokens = max_tokens
        self.question_ids: QuestionIds = question_ids
        self.reference_specials = reference_specials
        self._frame = _open(tokenizer_file)
        self._control = _control_tokens(self._frame)
        self._plain = self._frame if reference_specials else _without_control(tokenizer_file, self._control)
        self._shortest = Shortest(self._plain)
        self._prefix = tuple(self._frame_ids(_PREFIX))
        self._header = tuple(self._frame_ids(_SCHEMA))
        self._suffix = tuple(self._frame_ids(_SUFFIX))
        self._newline = self._frame_ids("\n")
        self._piece_ids = lru_cache(_KEPT_PIECES)(self._piece)
        self._state_part = lru_cache(_KEPT_STATES)(self._encode_state)
        self._schema_part = lru_cache(_KEPT_SCHEMAS)(self._encode_schema)

    @property
    def control_ids(self) -> frozenset[int]:
        """Ids that only the prompt itself may hold."""
        return frozenset(self._control.values())

    @property
    def image_token_id(self) -> int | None:
        """Id of the picture placeholder; None if the tokenizer has none."""
        return self._frame.token_to_id(_VISION[1])

    def state_part(self, state: Json, picture_tokens: Sequence[int] = ()) -> StatePart:
        """Encode everything before the schema.

        Parameters
        ----------
        picture_tokens : how many placeholders each picture takes, in order (`model.images.picture_tokens`).
        """
        text = render(state)
        # What is far too long to be read is not worth remembering: it may be megabytes.
        kept = len(text) <= _KEPT_LENGTH * self.max_tokens
        return (self._state_part if kept else self._encode_state)(text, tuple(picture_tokens))

    def schema_part(self, questions: Questions) -> SchemaPart:
        """Encode everything after the state."""
        return self._schema_part(_Keyed(canonical_json(questions), questions))

    def tokens(self, part: StatePart, schema: SchemaPart) -> Tokens:
        """How the two parts divide. A cut, if one is needed to fit, is counted in `read`."""
        state, pictures = len(part.state), len(part.pictures)
        frame = len(part.head) + schema.frame
        questions = len(schema.ids) - schema.frame
        room = max(0, self.max_tokens - pictures - questions - frame)
        return Tokens(state, pictures, questions, frame, self.max_tokens, min(state, room))

    def join(
        self, part: StatePart, schema: SchemaPart, *, allow_cut: bool = False, state_tokens: int | None = None
    ) -> Encoded:
        """Put the parts together within the budget.

        Parameters
        ----------
        allow_cut : whether the end of a state that does not fit may be left out. The questions are never cut.
        state_tokens : read at most this many tokens of the state; asks for a cut, so it needs `allow_cut`.

        Raises
        ------
        TooLong : the request does not fit and no cut was allowed, or does not fit even without its state.
        """
        if state_tokens is not None and not allow_cut:
            raise ValueError("state_tokens cuts the state: pass allow_cut=True with it")
        tokens = self.tokens(part, schema)
        fixed = tokens.needed - tokens.state
        if fixed > self.max_tokens:
            raise TooLong(tokens)
        if tokens.read < tokens.state and not allow_cut:
            raise TooLong(tokens, _cut(part, tokens.read))
        if state_tokens is not None:
            tokens = replace(tokens, read=min(tokens.read, state_tokens))
        read = tokens.read
        cut = _cut(part, read) if read < tokens.state else None
        at = part.state_at
        ids = (*part.head, *part.pictures, *part.state[:read], *schema.ids)
        return Encoded(
            ids=ids,
            fields=tuple(field.shifted(at + read) for field in schema.fields),
            schema_at=at + read,
            state=(at, at + read),
            offsets=part.offsets[:read],
            picture_spans=part.picture_spans,
            tokens=tokens,
            cut=cut,
        )

    def encode(
        self,
        state: Json,
        questions: Questions,
        *,
        picture_tokens: Sequence[int] = (),
        allow_cut: bool = False,
        state_tokens: int | None = None,
    ) -> Encoded:
        """Both parts, joined. See `join`."""
        schema = self.schema_part(questions)
        if not allow_cut:
            self._refuse_endless(state, picture_tokens, schema)
        return self.join(self.state_part(state, picture_tokens), schema, allow_cut=allow_cut, state_tokens=state_tokens)

    def count(self, state: Json, questions: Questions, *, picture_tokens: Sequence[int] = ()) -> Tokens:
        """How a request divides, without refusing it."""
        return self.tokens(self.state_part(state, picture_tokens), self.schema_part(questions))

    def decode(self, ids: Sequence[int]) -> str:
        """Text of token ids, control tokens written out."""
        return str(self._frame.decode(list(ids), skip_special_tokens=False))

    def _refuse_endless(self, state: Json, picture_tokens: Sequence[int], schema: SchemaPart) -> None:
        """Raises TooLong where a state is too long by its number of characters alone, before it is tokenised."""
        text = render(state)
        if len(text) <= ENDLESS * self.max_tokens:
            return
        tokens = self.tokens(self.state_part("", picture_tokens), schema)
        least = self._shortest(text)
        if tokens.needed + least > self.max_tokens:
            read = max(0, self.max_tokens - tokens.needed)
            raise TooLong(replace(tokens, state=least, read=min(read, least)), at_least=True)

    def _frame_ids(self, text: str) -> list[int]:
        return list(self._frame.encode(text, add_special_tokens=False).ids)

    def _encode_state(self, text: str, picture_tokens: tuple[int, ...]) -> StatePart:
        ids, offsets = self._user(text)
        pictures: list[int] = []
        spans: list[Span] = []
        if picture_tokens:
            start, pad, end = (self._vision_id(name) for name in _VISION)
            for n in picture_tokens:
                at = len(self._prefix) + len(pictures) + 1
                spans.append((at, at + n))
                pictures += [start, *[pad] * n, end]
            pictures += self._newline
        return StatePart(self._prefix, tuple(pictures), tuple(spans), tuple(ids), tuple(offsets), text)

    def _vision_id(self, name: str) -> int:
        found = self._frame.token_to_id(name)
        if found is None:
            raise ValueError(f"the tokenizer has no {name}; this backbone reads no pictures")
        return int(found)

    def _encode_schema(self, keyed: _Keyed) -> SchemaPart:
        ids = list(self._header)
        fields = []
        for number, (key, question) in enumerate(keyed.questions.items(), start=1):
            fields.append(self._field(ids, number, key, question))
        ids += self._suffix
        return SchemaPart(tuple(ids), tuple(fields), len(self._header) + len(self._suffix))

    def _field(self, ids: list[int], number: int, key: str, question: Question) -> FieldSpans:
        """Append one question's pieces to `ids`; its spans."""

        def add(text: str) -> Span:
            start = len(ids)
            ids.extend(self._piece_ids(text))
            return start, len(ids)

        literal = self.question_ids == "literal"
        name = key if literal else NEUTRAL_ID
        add(f"\nFIELD {number}\nID: {name}\nTYPE: {question.type}\nINSTRUCTION: ")
        if question.instructions is None or question.instructions == "":
            asked = add(key if literal else NEUTRAL_INSTRUCTION)
        else:
            asked = add(render(question.instructions))
        if asked[0] == asked[1]:  # a tokenizer may drop blanks; the head needs something to read
            asked = add(NEUTRAL_INSTRUCTION)
        add("\nALLOWED OPTIONS:\n")
        options = question.options()
        spans = []
        for k, option in enumerate(options, start=1):
            add(f"OPTION {k}: ")
            entry = {"option_id": option.id}
            if option.description is not None:
                entry["description"] = option.description
            spans.append(add(render(entry)))
            add("\n")
        add("END FIELD\n")
        return FieldSpans(key, question.type, asked, tuple(spans), tuple(option.id for option in options))

    def _piece(self, text: str) -> tuple[int, ...]:
        return tuple(self._user(text)[0])

    def _user(self, text: str) -> tuple[list[int], list[Span]]:
        """Ids and character offsets of text that the caller wrote."""
        encoding = self._plain.encode(text, add_special_tokens=False)
        ids, offsets = list(encoding.ids), list(encoding.offsets)
        if self.reference_specials or self.control_ids.isdisjoint(ids):
            return ids, offsets
        # Some vocabularies hold control tokens as ordinary words too. Written in two halves they cannot match.
        ids, offsets = [], []
        for start, end in _halves(text, self._control):
            encoding = self._plain.encode(text[start:end], add_special_tokens=False)
            ids += encoding.ids
            offsets += [(start + a, start + b) for a, b in encoding.offsets]
        return ids, offsets


@dataclass(frozen=True)
class _Keyed:
    """Questions under their canonical text, so that they can be a cache's key."""

    text: str
    questions: Questions

    def __hash__(self) -> int:
        return hash(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Keyed) and self.text == other.text


def _cut(part: StatePart, read: int) -> Cut:
    """What is left out of a state of which `read` tokens are read."""
    return Cut(len(part.state) - read, part.offsets[read][0] if read else 0)


def _open(path: Path) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(path))
    # A file may carry truncation or padding of its training; neither belongs to a prompt.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _control_tokens(tokenizer: Tokenizer) -> dict[str, int]:
    """Added tokens that steer a model: those marked special, and markup such as `<think>`, which not all files mark.

    Added tokens that are plain text (runs of spaces, say) stay what they are.
    """
    added = tokenizer.get_added_tokens_decoder()
    return {token.content: i for i, token in added.items() if token.special or _MARKUP.fullmatch(token.content)}


def _without_control(path: Path, control: dict[str, int]) -> Tokenizer:
    """The same pipeline, reading control tokens as the text that they are made of."""
    tokenizer = _open(path)
    # `encode_special_tokens` passes over tokens marked special only, so all control tokens are marked so first.
    marked = [token for token in tokenizer.get_added_tokens_decoder().values() if token.content in control]
    tokenizer.add_special_tokens([_as_special(token) for token in marked])
    tokenizer.encode_special_tokens = True
    return tokenizer


def _as_special(token: AddedToken) -> AddedToken:
    return AddedToken(
        token.content,
        single_word=token.single_word,
        lstrip=token.lstrip,
        rstrip=token.rstrip,
        normalized=token.normalized,
        special=True,
    )


def _halves(text: str, control: dict[str, int]) -> list[Span]:
    """Ranges that cover `text`, with a border after the first character of every control token in it."""
    pattern = re.compile("|".join(re.escape(name) for name in sorted(control, key=len, reverse=True)))
    borders = [0, *(found.start() + 1 for found in pattern.finditer(text)), len(text)]
    return [(a, b) for a, b in pairwise(borders) if a < b]
