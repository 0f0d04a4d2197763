"""A state in parts: sentences of a text, values of JSON; how to group them, and the state without some of them.

Contract
--------
`split` covers a text exactly: its spans are not empty, follow each other, and join to the same text. `atoms` gives the
smallest parts of a state, `divide` groups neighbours along strong boundaries (blank lines before lines before
sentences; shallow paths before deep ones), `without` gives the state with atoms left out and every other atom as it
was. Positions are characters of the rendered state (`model.questions.render`). No torch.

Sentences
---------
A sentence ends at `. ! ? …` (with closing quotes) before white space, and at CJK, Devanagari, Arabic, Armenian,
Ethiopic, Burmese and Khmer full stops anywhere; not after abbreviations, initials, list numbers, or before a small
letter. A line break ends it too, unless the line is long and the next goes on with a small letter (hard-wrapped mail).
List items start a sentence. Quoted mail (`>`) is split at its lines only: a sentence out of the middle would take the
quote mark from the next. White space belongs to the sentence before it.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Literal, TypeAlias

from model.questions import MAX_DEPTH, Json, render

Unit: TypeAlias = Literal["sentence", "line", "paragraph"]
Span: TypeAlias = tuple[int, int]
Path: TypeAlias = tuple[str | int, ...]

LONGEST = 600
"""A sentence of more characters than this is none (a log, base64, chat without stops): it is split further."""


@dataclass(frozen=True)
class Atom:
    """The smallest part that can be left out.

    `start`, `end` in the rendered state. For JSON, `path` leads to the value; `within` are the characters of the
    value (a text of several sentences), None if the atom is the value whole. `level` says how strong the boundary
    before this atom is: 0 same line, 1 new line, 2 new paragraph, more: another JSON value, more the shallower.
    """

    start: int
    end: int
    level: int
    path: Path | None = None
    within: Span | None = None


def atoms(value: Json, unit: Unit = "sentence") -> list[Atom]:
    """The atoms of a state's value, in the order of the rendered text; none for an empty state or white space."""
    if isinstance(value, str):
        if not value.strip():
            return []
        return [Atom(start, end, _level(value, start)) for start, end in split(value, unit)]
    found: list[Atom] = []
    before: Path | None = None
    for path, leaf, start in _leaves(value, (), 0):
        if not path:
            break  # an empty object or list
        level = 0 if before is None else 3 + MAX_DEPTH - len(common((before, path)))
        before = path
        spans = split(leaf, unit) if isinstance(leaf, str) else []
        if len(spans) < 2:
            found.append(Atom(start, start + len(_dumps(leaf)), level, path))
            continue
        at = start + 1  # the opening quote
        for a, b in spans:
            size = len(_dumps(leaf[a:b])) - 2
            found.append(Atom(at, at + size, level if a == 0 else _level(leaf, a), path, (a, b)))
            at += size
    return found


def divide(parts: Sequence[Atom], most: int) -> list[list[Atom]]:
    """Neighbouring atoms in at most `most` groups; every atom is in one.

    The longest group is split until there are enough, each time at its strongest boundary, and of equally strong ones
    at the one nearest to its middle.
    """
    if not parts:
        return []
    groups = [list(parts)]
    while len(groups) < most:
        i = max(range(len(groups)), key=lambda i: (len(groups[i]) > 1, _size(groups[i])))
        if len(groups[i]) == 1:
            break
        group = groups[i]
        middle = (group[0].start + group[-1].end) / 2
        k = max(range(1, len(group)), key=lambda k: (group[k].level, -abs(group[k].start - middle)))
        groups[i : i + 1] = [group[:k], group[k:]]
    return groups


def without(value: Json, parts: Sequence[Atom]) -> Json:
    """The value with these atoms left out.

    An object or list that loses its last member goes too (the root stays): an empty one would still tell its name.
    """
    if isinstance(value, str):
        kept, at = [], 0
        for atom in sorted(parts, key=lambda atom: atom.start):
            kept.append(value[at : atom.start])
            at = atom.end
        return "".join([*kept, value[at:]])
    whole = {atom.path for atom in parts if atom.within is None}
    inside: dict[Path, list[Span]] = {}
    for atom in parts:
        if atom.path is not None and atom.within is not None:
            inside.setdefault(atom.path, []).append(atom.within)
    return _pruned(value, (), whole, inside)


def common(paths: Sequence[Path]) -> Path:
    """The path that all of them start with."""
    first, n = paths[0], 0
    while n < min(map(len, paths)) and all(path[n] == first[n] for path in paths):
        n += 1
    return first[:n]


def split(text: str, unit: Unit = "sentence") -> list[Span]:
    """Spans that cover the text exactly; only a text of nothing but white space has a span of white space."""
    lines = text.splitlines(keepends=True)
    edges = [0, *accumulate(map(len, lines))]
    starts = [0]
    for i, (line, after) in enumerate(pairwise(lines)):
        if _joined(line, after, unit) or not text[starts[-1] : edges[i + 1]].strip():
            continue
        starts.append(edges[i + 1])
    blocks = list(pairwise([*starts, len(text)])) if text else []
    if unit != "sentence":
        return blocks
    return [piece for block in blocks for span in _sentences(text, block) for piece in _pieces(text, span)]


_QUOTE = re.compile(r"[ \t]*(?:>[ \t]?)+")
_ITEM = re.compile(r"[ \t]*(?:[-*+•·‣▪–—]|\(?\d{1,3}[.)]|\(?[A-Za-z][.)])[ \t]+")
_SPECIAL = re.compile(r"[ \t]*[#|`]")
_WRAPPED = 40
"""Characters that a line has at least if it was broken only to fit."""

_HARD = "。！？｡؟۔։।॥።။។"
_END = re.compile(rf"[.!?…．{_HARD}]+[\"'”’»›)\]」』）》】〕]*")
_SPACE = re.compile(r"\s*")
_WORD = re.compile(r"[^\W_]+(?:\.[^\W_]+)*$")
_ABBREVIATIONS = frozenset({
    "mr", "mrs", "ms", "dr", "prof", "sr", "jr", "rev", "hon", "gen", "capt", "lt", "sgt", "st", "vs", "cf", "approx",
    "dept", "bzw", "ggf", "evtl", "inkl", "zzgl", "hr", "mme", "mlle", "sra",
})  # fmt: skip
"""Abbreviations that seldom end a sentence (English, German, some French and Spanish)."""
_NUMBERED = frozenset({
    "no", "nos", "nr", "fig", "figs", "vol", "p", "pp", "ref", "ext", "tel", "art", "ca", "max", "min", "jan", "feb",
    "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "okt", "nov", "dec", "dez",
})  # fmt: skip
"""Words that are abbreviations when a number follows."""
_LETTERS = re.compile(r"[^\W\d_](?:\.[^\W\d_])*")
"""An initial, or letters with stops between them: J. Smith, e.g., U.S., z. B."""


def _joined(line: str, after: str, unit: Unit) -> bool:
    """Whether the break between two lines is inside one part."""
    if not after.strip() or not _bare(after):
        return True  # white space belongs to what is before it
    if unit == "line" or not _bare(line):
        return False
    if unit == "paragraph":
        return True
    if _depth(line) != _depth(after) or _ITEM.match(after) or _SPECIAL.match(after):
        return False
    told, more = _bare(line), _bare(after)
    ended = told[-1] in ":;" or any(match.end() == len(told) for match in _END.finditer(told))
    return len(told) >= _WRAPPED and not ended and more[0].islower()


def _bare(line: str) -> str:
    """The line without quote marks and outer white space."""
    mark = _QUOTE.match(line)
    return line[mark.end() if mark else 0 :].strip()


def _depth(line: str) -> int:
    mark = _QUOTE.match(line)
    return mark.group().count(">") if mark else 0


def _sentences(text: str, block: Span) -> list[Span]:
    start, end = block
    if _QUOTE.match(text, start, end):
        return [block]
    item = _ITEM.match(text, start, end)
    cuts = [start]
    for match in _END.finditer(text, item.end() if item else start, end):
        space = _SPACE.match(text, match.end(), end)
        after = space.end() if space else match.end()
        if after >= end:
            break
        if _ends(text, match, after) and text[cuts[-1] : after].strip():
            cuts.append(after)
    return list(pairwise([*cuts, end]))


def _ends(text: str, match: re.Match[str], after: int) -> bool:
    """Whether a sentence ends at this run of stops; `after` is where the next character that is not space stands."""
    mark, following = match.group(), text[after]
    if any(c in _HARD for c in mark):
        # 「はい。」と言った: the quotation is over, the sentence is not.
        return not (mark[-1] in "」』" and "ぁ" <= following <= "ゟ" and after == match.end())
    if mark.startswith("．"):
        return not following.isdigit()
    if after == match.end():
        return False  # 3.5, example.com
    if "!" in mark or "?" in mark:
        return True
    if following.islower():
        return False
    word = _WORD.search(text, max(0, match.start() - 24), match.start())
    if mark != "." or word is None:
        return True
    last = word.group().lower()
    return not (last in _ABBREVIATIONS or (last in _NUMBERED and following.isdigit()) or _LETTERS.fullmatch(last))


def _pieces(text: str, span: Span) -> Iterator[Span]:
    """A span in pieces of at most `LONGEST` characters, cut at white space near the middle where there is any."""
    stack = [span]
    while stack:
        start, end = stack.pop()
        if end - start <= LONGEST:
            yield start, end
            continue
        middle, reach = (start + end) // 2, LONGEST // 4
        spaces = [i + 1 for i in range(middle - reach, middle + reach) if text[i].isspace() and _solid(text, i + 1)]
        cut = min(spaces, key=lambda i: abs(i - middle), default=middle)
        while cut < middle + reach and not _solid(text, cut):
            cut += 1
        # A piece of white space alone would be a part that says nothing.
        if not text[start:cut].strip() or not text[cut:end].strip():
            yield start, end
            continue
        stack += [(cut, end), (start, cut)]


def _solid(text: str, i: int) -> bool:
    """Whether a cut before character `i` leaves letters with their marks, and white space with what is before it."""
    c = text[i]
    return not (c.isspace() or unicodedata.category(c) in ("Mn", "Mc", "Me", "Cf") or text[i - 1] == "\u200d")


def _level(text: str, start: int) -> int:
    """How strong the boundary at `start` is: 2 after a blank line, 1 after a line break, 0 otherwise."""
    if start == 0:
        return 0
    tail = text[max(0, start - 64) : start]
    breaks = len(tail[len(tail.rstrip()) :].splitlines())
    return 0 if not tail.splitlines(keepends=True)[-1].endswith(_BREAKS) else min(2, max(1, breaks))


_BREAKS = ("\n", "\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")
"""What `str.splitlines` takes for the end of a line."""


def _size(group: Sequence[Atom]) -> int:
    return group[-1].end - group[0].start


def _dumps(value: Json) -> str:
    """A JSON value as it stands in the rendered state: as `render`, but text in quotes."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else render(value)


def _leaves(value: Json, path: Path, at: int) -> Iterator[tuple[Path, Json, int]]:
    """Path, value and start in the rendered text of each value that has no members."""
    if isinstance(value, Mapping) and value:
        at += 1
        for key in sorted(value):
            at += len(_dumps(key)) + 1
            yield from _leaves(value[key], (*path, key), at)
            at += len(_dumps(value[key])) + 1
    elif isinstance(value, list | tuple) and value:
        at += 1
        for i, inner in enumerate(value):
            yield from _leaves(inner, (*path, i), at)
            at += len(_dumps(inner)) + 1
    else:
        yield path, value, at


_GONE = object()


def _pruned(value: Json, path: Path, whole: set[Path | None], inside: Mapping[Path, Sequence[Span]]) -> Json:
    if path in whole:
        return _GONE
    if isinstance(value, Mapping) and value:
        members = {key: _pruned(inner, (*path, key), whole, inside) for key, inner in value.items()}
        kept = {key: inner for key, inner in members.items() if inner is not _GONE}
        return kept if kept or not path else _GONE
    if isinstance(value, list | tuple) and value:
        items = [_pruned(inner, (*path, i), whole, inside) for i, inner in enumerate(value)]
        rest = [inner for inner in items if inner is not _GONE]
        return rest if rest or not path else _GONE
    if path in inside:
        text = without(value, [Atom(a, b, 0) for a, b in inside[path]])
        return text or _GONE
    return value
