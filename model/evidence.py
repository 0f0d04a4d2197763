"""What moves it: the state without one part at a time, and what that does to an answer.

Contract
--------
`occlude` asks the request again without each part of its state (sentences, JSON values, pictures, tiles of pictures)
and reports how the probability of an option and of the leading option changed, in percentage points: negative when the
part spoke for the option. A change counts only above the noise (`model.noise`). All questions stay in the request,
since they are answered jointly.

It shows what the answer hangs on when one thing is missing, not what the model thought: two sentences that say the
same hide each other (`Evidence.flip` looks for such sets). Works on any scorer. No torch.

Long states are asked from coarse to fine: half of the budget for large passages, the rest to look inside those that
move the answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

from model.answers import Answer
from model.asking import Ask, baseline
from model.engine import Decision
from model.noise import Noise, Shift, measure, repeats
from model.parts import Atom, Path, Unit, atoms, common, divide, without
from model.questions import FieldError, QuestionsError, render
from model.scorer import Request
from model.state import State

if TYPE_CHECKING:
    from model.images import Picture

Box = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels of the picture as the model sees it; right and bottom are outside."""

GREY = (128, 128, 128)
_TILES = (3, 2)
"""Tiles a side, finest first; the first that the budget allows is used."""
_POOL = 6
"""How many parts the search for a flip combines: 15 pairs, then 4 triples."""
_EXCERPT = 160


@dataclass(frozen=True)
class Part:
    """What was left out.

    text: characters `start`..`end` of the rendered state. value: likewise, and the JSON `path` to it (of several
    values, the path that they share). picture: the whole picture, counted from 0. tile: `box` of it, greyed.
    `atoms` counts the sentences or values inside; `text` is the beginning of what was left out.
    """

    kind: Literal["text", "value", "picture", "tile"]
    text: str = ""
    atoms: int = 1
    start: int | None = None
    end: int | None = None
    path: Path | None = None
    picture: int | None = None
    box: Box | None = None


@dataclass(frozen=True)
class Effect:
    """What leaving a part out did.

    `probability` of the asked option afterwards; `change` of it and `lead_change` of the option that led before, in
    percentage points; `top` leads afterwards, with `top_probability`; `flips` when that is another option than before;
    `above_noise` when either change is.
    """

    part: Part
    probability: float
    change: float
    lead_change: float
    top: str
    top_probability: float
    flips: bool
    above_noise: bool


@dataclass(frozen=True)
class Flip:
    """Few parts that together flip the answer: indices into `Evidence.parts`. None of them can be spared."""

    parts: tuple[int, ...]
    top: str
    probability: float
    """Of the new leading option."""


@dataclass(frozen=True)
class Evidence:
    """What moves one option of one question.

    `parts` do not overlap, save that tiles lie in their picture: the state's text in reading order, then the pictures.
    `passages` are larger passages that moved the answer and were looked into. `asked` counts requests. `read` is the
    number of characters of the state that the scorer read, where it was cut. `left_out` says in words what was not
    looked at.
    """

    question: str
    option: str
    lead: str
    probability: float
    lead_probability: float
    parts: tuple[Effect, ...]
    passages: tuple[Effect, ...]
    noise: Noise
    flip: Flip | None
    asked: int
    scorer: str
    read: int | None = None
    left_out: tuple[str, ...] = ()

    def json(self) -> dict[str, Any]:
        """Plain JSON, with the figures of the noise spelt out."""
        return {**asdict(self), "noise": {**asdict(self.noise), "flips": self.noise.flips}}


@dataclass(frozen=True)
class _Cut:
    """A part, and how to leave it out: atoms of the text, or a picture or tile."""

    part: Part
    atoms: tuple[Atom, ...] = ()


def occlude(
    ask: Ask,
    request: Request,
    question: str,
    *,
    option: str | None = None,
    unit: Unit = "sentence",
    noise_runs: int = 3,
    limit: int = 64,
    flip: int = 3,
) -> Evidence:
    """What moves `option` (None: the leading one) of `question`.

    Parameters
    ----------
    ask : see `model.asking`.
    unit : the smallest parts of a text, and of texts inside JSON.
    noise_runs : how often the unchanged request is asked again, next to the harmless changes.
    limit : the most parts that are asked. Pictures take at most half of it. The noise and the search for a flip come
        on top: noise_runs + 6 and at most 19 requests.
    flip : the most parts that may be left out together to flip the answer, up to 3; 0: do not search.

    Raises
    ------
    QuestionsError : `question` or `option` is not in the request.
    ValueError : `limit`, `noise_runs` or `flip` is out of range.
    """
    _check(request, question, option, noise_runs, limit, flip)
    whole = request
    request, base, asked = baseline(ask, request)
    before = base.answers[question]
    at = before.lead if option is None else before.options.index(option)
    probe = _Probe(ask, request, question, before, at, asked)

    found = atoms(request.state.value, unit)
    shown, left_out = _pictures(request.state, limit // 2) if base.scorer.sees_pictures else ([], [])
    budget = limit - len(shown)
    groups = divide(found, budget if len(found) <= budget else budget // 2)
    cuts = [_text_part(request.state, group) for group in groups] + shown
    harmless = repeats(request, base, runs=noise_runs)
    decisions = probe.decide([r for _, r in harmless] + [probe.without([cut]) for cut in cuts])
    noise = measure([probe.shift(what, d) for (what, _), d in zip(harmless, decisions, strict=False)])
    done = [(cut, probe.effect(cut, d, noise)) for cut, d in zip(cuts, decisions[len(harmless) :], strict=True)]
    done, passages = _look_inside(probe, done, budget - len(groups), noise)

    if coarse := sum(cut.part.atoms > 1 for cut, _ in done):
        left_out.append(f"{coarse} passages were left out as a whole, not sentence by sentence")
    if flip and noise.flips:
        left_out.append("no set of parts that flips the answer was looked for: it flips although nothing has changed")
    flipped = _search_flip(probe, done, flip) if flip and not noise.flips else None
    return Evidence(
        question=question,
        option=before.options[at],
        lead=before.top,
        probability=before.probabilities[at],
        lead_probability=before.probabilities[before.lead],
        parts=tuple(effect for _, effect in done),
        passages=tuple(passages),
        noise=noise,
        flip=flipped,
        asked=probe.asked,
        scorer=base.scorer.fingerprint,
        read=len(render(request.state.value)) if request is not whole else None,
        left_out=tuple(left_out),
    )


def _check(request: Request, question: str, option: str | None, noise_runs: int, limit: int, flip: int) -> None:
    if question not in request.questions:
        raise QuestionsError([FieldError(("question",), f"{question!r} is not asked in this request", "missing")])
    if option is not None and option not in request.questions[question].option_ids():
        raise QuestionsError([FieldError(("option",), f"{option!r} is no option of {question!r}", "missing")])
    least = 2 * len(request.state.pictures) + 2
    if limit < least:
        raise ValueError(f"limit: must be at least {least} (two for the text and two for each picture)")
    if noise_runs < 1:
        raise ValueError("noise_runs: must be at least 1; without re-runs nothing tells a change from noise")
    if not 0 <= flip <= 3:
        raise ValueError("flip: must be 0 to 3")


class _Probe:
    """One question under one request: variants out, effects back."""

    def __init__(self, ask: Ask, request: Request, question: str, before: Answer, at: int, asked: int) -> None:
        self._ask = ask
        self.request = request
        self._question = question
        self._before = before
        self._at = at
        self.asked = asked

    def decide(self, requests: Sequence[Request]) -> list[Decision]:
        self.asked += len(requests)
        return self._ask(requests) if requests else []

    def without(self, cuts: Iterable[_Cut]) -> Request:
        """The request without these parts."""
        state, cuts = self.request.state, list(cuts)
        gone = {cut.part.picture for cut in cuts if cut.part.kind == "picture"}
        pictures = []
        for i, picture in enumerate(state.pictures):
            if i not in gone:
                boxes = [cut.part.box for cut in cuts if cut.part.picture == i and cut.part.box is not None]
                pictures.append(greyed(picture, boxes))
        value = without(state.value, [atom for cut in cuts for atom in cut.atoms])
        return replace(self.request, state=State(value, tuple(pictures)))

    def margin(self, decision: Decision) -> float:
        """By how much the option that led still leads (negative: it does not), in probability."""
        answer, lead = decision.answers[self._question], self._before.lead
        others = [p for i, p in enumerate(answer.probabilities) if i != lead]
        return answer.probabilities[lead] - max(others, default=0.0)

    def answer(self, decision: Decision) -> Answer:
        return decision.answers[self._question]

    def flips(self, decision: Decision) -> bool:
        return self.answer(decision).top != self._before.top

    def changes(self, decision: Decision) -> tuple[float, float]:
        """Of the asked option and of the one that led, in percentage points."""
        after, before = self.answer(decision).probabilities, self._before.probabilities
        at, lead = self._at, self._before.lead
        return 100 * (after[at] - before[at]), 100 * (after[lead] - before[lead])

    def shift(self, what: str, decision: Decision) -> Shift:
        return Shift(what, max(map(abs, self.changes(decision))), self.flips(decision))

    def effect(self, cut: _Cut, decision: Decision, noise: Noise) -> Effect:
        answer = self.answer(decision)
        change, lead_change = self.changes(decision)
        return Effect(
            part=cut.part,
            probability=answer.probabilities[self._at],
            change=change,
            lead_change=lead_change,
            top=answer.top,
            top_probability=answer.probabilities[answer.lead],
            flips=self.flips(decision),
            above_noise=max(abs(change), abs(lead_change)) > noise.floor,
        )


def _look_inside(
    probe: _Probe, done: list[tuple[_Cut, Effect]], budget: int, noise: Noise
) -> tuple[list[tuple[_Cut, Effect]], list[Effect]]:
    """Splits the passage that moves the answer most, again and again, while the budget lasts."""
    passages: list[Effect] = []
    while budget >= 2:
        large = [i for i, (cut, effect) in enumerate(done) if len(cut.atoms) > 1 and effect.above_noise]
        if not large:
            break
        i = max(large, key=lambda i: _strength(done[i][1]))
        cut, effect = done[i]
        share = len(cut.atoms) if len(cut.atoms) <= budget else max(2, budget // 2)
        finer = [_text_part(probe.request.state, group) for group in divide(cut.atoms, share)]
        decisions = probe.decide([probe.without([part]) for part in finer])
        done[i : i + 1] = [(part, probe.effect(part, d, noise)) for part, d in zip(finer, decisions, strict=True)]
        passages.append(effect)
        budget -= len(finer)
    return done, passages


def _strength(effect: Effect) -> float:
    return max(abs(effect.change), abs(effect.lead_change))


def _search_flip(probe: _Probe, done: Sequence[tuple[_Cut, Effect]], most: int) -> Flip | None:
    """A small set of parts without which another option leads, or None.

    One part if one is enough; else the best of all pairs of the parts that weaken the lead most; else the pair that
    weakens it most with a third. All pairs were tried before any three, so no part of the set can be spared.
    """
    single = [i for i, (_, effect) in enumerate(done) if effect.flips]
    if single:
        i = min(single, key=lambda i: done[i][1].lead_change)
        return Flip((i,), done[i][1].top, done[i][1].top_probability)
    order = sorted(range(len(done)), key=lambda i: done[i][1].lead_change)
    pool = order[:_POOL]
    tried: list[tuple[int, ...]] = [pair for pair in combinations(pool, 2) if _apart(done, pair)]
    for size in range(2, most + 1):
        decisions = probe.decide([probe.without([done[i][0] for i in group]) for group in tried])
        ranked = sorted(
            zip(tried, decisions, strict=True), key=lambda pair: (not probe.flips(pair[1]), probe.margin(pair[1]))
        )
        if not ranked:
            return None
        group, decision = ranked[0]
        if probe.flips(decision):
            answer = probe.answer(decision)
            return Flip(tuple(sorted(group)), answer.top, answer.probabilities[answer.lead])
        if size < most:
            tried = [(*group, i) for i in pool if i not in group and _apart(done, (*group, i))]
    return None


def _apart(done: Sequence[tuple[_Cut, Effect]], group: Sequence[int]) -> bool:
    """Whether no tile of the group lies in a whole picture of the group."""
    parts = [done[i][0].part for i in group]
    gone = {part.picture for part in parts if part.kind == "picture"}
    return not any(part.kind == "tile" and part.picture in gone for part in parts)


def _text_part(state: State, group: Sequence[Atom]) -> _Cut:
    start, end = group[0].start, group[-1].end
    text = render(state.value)[start:end].strip()
    excerpt = text if len(text) <= _EXCERPT else text[: _EXCERPT - 1].rstrip() + "…"
    paths = [atom.path for atom in group if atom.path is not None]
    if not paths:
        return _Cut(Part("text", excerpt, len(group), start, end), tuple(group))
    return _Cut(Part("value", excerpt, len(group), start, end, common(paths)), tuple(group))


def _pictures(state: State, budget: int) -> tuple[list[_Cut], list[str]]:
    """Each picture whole, and as many tiles as the budget allows; and what was left out."""
    cuts = [_Cut(Part("picture", picture=i)) for i in range(len(state.pictures))]
    for side in _TILES:
        tiles = [
            _Cut(Part("tile", picture=i, box=box))
            for i, picture in enumerate(state.pictures)
            for box in tiles_of(picture.width, picture.height, side)
        ]
        if len(cuts) + len(tiles) <= budget:
            return sorted(cuts + tiles, key=lambda cut: cut.part.picture or 0), []
    return cuts, ["the pictures were left out whole, not in tiles"] if cuts else []


def tiles_of(width: int, height: int, side: int) -> list[Box]:
    """`side` × `side` boxes that cover the picture exactly, row by row; fewer where it has fewer pixels."""
    xs = sorted({width * i // side for i in range(side + 1)})
    ys = sorted({height * i // side for i in range(side + 1)})
    return [(xs[i], ys[j], xs[i + 1], ys[j + 1]) for j in range(len(ys) - 1) for i in range(len(xs) - 1)]


def greyed(picture: Picture, boxes: Sequence[Box]) -> Picture:
    """The picture with these boxes grey. It is another picture: its hash differs, so that no cache takes it for it."""
    if not boxes:
        return picture
    image = picture.image.copy()
    for box in boxes:
        image.paste(GREY, box)
    digest = hashlib.sha256(f"{picture.sha256} grey {sorted(boxes)}".encode()).hexdigest()
    return replace(picture, image=image, sha256=digest, notes=(*picture.notes, "a part is grey"))
