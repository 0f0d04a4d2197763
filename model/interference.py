"""Does each question stand alone? Clef answers jointly, so one question can move another's answer.

Contract
--------
`interference` asks the same state with every question alone, without each other question in turn, in other orders and,
where the scorer reads ids, under neutral ids. For every question it says which of these moved its answer, by how much
(max |Δp| over the options, in percentage points) and whether the answer flipped, against that question's own noise
(`model.noise`). A move *matters* above both the noise and a tolerance. `words` says it in sentences. Works on any
scorer. No torch.

The cost is bounded: what did not fit is named in `Interference.left_out`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeAlias

from model.answers import Answer
from model.asking import Ask, baseline, room
from model.engine import Decision
from model.noise import Noise, Shift, distance, measure, repeats
from model.questions import Questions, QuestionType
from model.scorer import Request

How: TypeAlias = Literal["alone", "without", "reversed", "rotated", "renamed"]


@dataclass(frozen=True)
class Move:
    """What one change of the company did to a question's answer.

    `how` the questions were asked; `other` is the question that was missing, where it was one (of two questions, each
    one's being alone is the other's being left out). `points` is max |Δp|; `top` leads afterwards with `probability`;
    `kept` is what the option that led before has afterwards.
    """

    how: How
    other: str | None
    points: float
    top: str
    probability: float
    kept: float
    flips: bool
    matters: bool


@dataclass(frozen=True)
class Standing:
    """How one question stands: its answer beside the others (`top`, `probability`), and every move that was tried."""

    question: str
    type: QuestionType
    top: str
    probability: float
    noise: Noise
    moves: tuple[Move, ...]

    @property
    def stands_alone(self) -> bool:
        """No move mattered."""
        return not any(move.matters for move in self.moves)

    @property
    def findings(self) -> list[Move]:
        """The moves that matter: flips first, then the largest."""
        found = [move for move in self.moves if move.matters]
        return sorted(found, key=lambda move: (not move.flips, -move.points))

    @property
    def movers(self) -> list[Move]:
        """The other questions that move it, the strongest first."""
        found = [move for move in self.moves if move.matters and move.other is not None]
        return sorted(found, key=lambda move: -move.points)


@dataclass(frozen=True)
class Interference:
    """Every question's standing, in the order of the request; `asked` counts requests, `tolerance` is in points."""

    standings: tuple[Standing, ...]
    tolerance: float
    asked: int
    scorer: str
    left_out: tuple[str, ...] = ()

    def json(self) -> dict[str, Any]:
        """Plain JSON, with the verdict and the words of each question."""
        plain = asdict(self)
        for body, standing in zip(plain["standings"], self.standings, strict=True):
            body["noise"]["flips"] = standing.noise.flips
            body["stands_alone"] = standing.stands_alone
            body["words"] = words(standing)
        return plain


@dataclass(frozen=True)
class _Variant:
    """The questions asked otherwise; `names` maps the ids that were asked to the ids of the schema."""

    how: How
    other: str | None
    request: Request
    names: dict[str, str]


def interference(
    ask: Ask, request: Request, *, tolerance: float = 1.0, noise_runs: int = 3, limit: int = 96
) -> Interference:
    """Which questions move which.

    Parameters
    ----------
    ask : see `model.asking`.
    tolerance : percentage points that a person would not mind.
    noise_runs : how often the unchanged request is asked again, next to the harmless changes.
    limit : how many requests to spend. Noise, each question alone, and the orders are always asked (up to 11 + n
        requests for n questions); what is left goes to leaving questions out, first those that moved when alone.

    Raises
    ------
    ValueError : `tolerance` is negative, or `noise_runs` below 1.
    """
    if tolerance < 0:
        raise ValueError("tolerance: must be 0 or more percentage points")
    if noise_runs < 1:
        raise ValueError("noise_runs: must be at least 1; without re-runs nothing tells a move from noise")
    request, base, asked = baseline(ask, request)
    same = repeats(request, base, runs=noise_runs)
    tried, left_out = _variants(request, base)
    decisions = ask([r for _, r in same] + [variant.request for variant in tried])
    asked += len(decisions)
    noise = {key: _noise(key, base, same, decisions) for key in request.questions}
    moves: dict[str, list[Move]] = {key: [] for key in request.questions}
    _collect(moves, base, noise, tolerance, tried, decisions[len(same) :])

    others = _to_leave_out(list(request.questions), moves)
    chosen = others[: max(0, limit - asked)]
    more = [_without(request, key) for key in request.questions if key in chosen]
    decisions = ask([variant.request for variant in more]) if more else []
    asked += len(decisions)
    _collect(moves, base, noise, tolerance, more, decisions)
    if rest := len(others) - len(chosen):
        left_out.append(f"{rest} of {len(others)} questions were not left out in turn; a higher limit tries them too")

    return Interference(
        standings=tuple(
            Standing(key, answer.type, answer.top, answer.probabilities[answer.lead], noise[key], tuple(moves[key]))
            for key, answer in base.answers.items()
        ),
        tolerance=tolerance,
        asked=asked,
        scorer=base.scorer.fingerprint,
        left_out=tuple(left_out),
    )


def _variants(request: Request, base: Decision) -> tuple[list[_Variant], list[str]]:
    """Each question alone, other orders, neutral ids; and what cannot be tried, in words."""
    keys = list(request.questions)
    tried: list[_Variant] = []
    left_out: list[str] = []
    if len(keys) > 1:
        only = {key: keys[1 - i] for i, key in enumerate(keys)} if len(keys) == 2 else {}
        tried += [_asked("alone", request, [key], other=only.get(key)) for key in keys]
        tried.append(_asked("reversed", request, keys[::-1]))
    if len(keys) > 2:
        half = len(keys) // 2
        tried.append(_asked("rotated", request, keys[half:] + keys[:half]))
    if base.scorer.question_ids == "literal":
        names = _neutral(request.questions)
        changed = sum(new != old for new, old in names.items())
        # A neutral id has at most four characters.
        if not room(request, base, 4 * changed):
            left_out.append("the ids were not renamed: the request has no room for longer ones")
        elif changed:
            tried.append(_asked("renamed", request, keys, names))
        if unsaid := len(keys) - changed:
            left_out.append(f"{unsaid} ids were not renamed: without instructions the id is the question")
    return tried, left_out


def _asked(
    how: How, request: Request, keys: Sequence[str], names: dict[str, str] | None = None, other: str | None = None
) -> _Variant:
    names = names or {key: key for key in keys}
    questions = {new: request.questions[old] for new, old in names.items()}
    return _Variant(how, other, replace(request, questions=questions), names)


def _without(request: Request, other: str) -> _Variant:
    return _asked("without", request, [key for key in request.questions if key != other], other=other)


def _neutral(questions: Questions) -> dict[str, str]:
    """New id → id. An id keeps its place when it is what the scorer reads for missing instructions."""
    names: dict[str, str] = {}
    number = 0
    for key, question in questions.items():
        if not question.instructions:
            names[key] = key
            continue
        number += 1
        while f"q{number}" in questions:
            number += 1
        names[f"q{number}"] = key
    return names


def _noise(key: str, base: Decision, same: Sequence[tuple[str, Request]], decisions: Sequence[Decision]) -> Noise:
    before = base.answers[key]
    answers = [(what, decision.answers[key]) for (what, _), decision in zip(same, decisions, strict=False)]
    return measure([Shift(what, distance(before, after), after.top != before.top) for what, after in answers])


def _collect(
    moves: dict[str, list[Move]],
    base: Decision,
    noise: dict[str, Noise],
    tolerance: float,
    variants: Sequence[_Variant],
    decisions: Sequence[Decision],
) -> None:
    for variant, decision in zip(variants, decisions, strict=True):
        for name, key in variant.names.items():
            least = max(tolerance, noise[key].floor)
            moves[key].append(_move(variant, base.answers[key], decision.answers[name], least))


def _move(variant: _Variant, before: Answer, after: Answer, least: float) -> Move:
    points = distance(before, after)
    return Move(
        how=variant.how,
        other=variant.other,
        points=points,
        top=after.top,
        probability=after.probabilities[after.lead],
        kept=after.probabilities[before.lead],
        flips=after.top != before.top,
        matters=points > least,
    )


def _to_leave_out(keys: list[str], moves: dict[str, list[Move]]) -> list[str]:
    """Questions in the order in which leaving them out is worth a request.

    What moves when it is alone is coupled to something; coupling is mostly mutual, so it is tried first. Of two
    questions nothing is left to ask: each was asked without the other.
    """
    if len(keys) <= 2:
        return []
    return sorted(keys, key=lambda key: -max(move.points for move in moves[key] if move.how == "alone"))


_BESIDE = "beside the others"
_WHEN = {
    "alone": "alone",
    "reversed": "with the questions in reverse order",
    "rotated": "with the later half of the questions first",
    "renamed": "under neutral ids (q1, q2, …)",
}
_AS_IT_IS = {"alone": _BESIDE, "reversed": "in this order", "rotated": "in this order", "renamed": "under its own id"}


def words(standing: Standing) -> list[str]:
    """What was found about a question, for a person: one sentence per finding, or one that says that it stands alone.

    The figure behind an answer is the probability of that answer: "alone it says no (59 %), beside the others yes
    (63 %)".
    """
    said = [_sentence(standing, move) for move in standing.findings]
    if not said:
        most = max((move.points for move in standing.moves), default=None)
        if most is None:
            said = ["there is nothing beside it that could move it"]
        else:
            said = [f"stands alone: nothing that was tried moved it by more than {most:.1f} points"]
            if standing.noise.floor >= 1:
                said.append(f"changes without meaning move it by up to {standing.noise.floor:.1f} points")
    if standing.noise.flips:
        said.append("its answer flips even when nothing that matters has changed: too close to call")
    return said


def _sentence(standing: Standing, move: Move) -> str:
    if move.how == "without":
        when, as_it_is = f"without “{move.other}”", "with it"
    else:
        when, as_it_is = _WHEN[move.how], _AS_IT_IS[move.how]
    now = _name(standing.type, standing.top)
    if move.flips:
        then = _name(standing.type, move.top)
        after, before = _percent(move.probability), _percent(standing.probability)
        return f"{when} it says {then} ({after}), {as_it_is} {now} ({before})"
    told = f"{when} it says {now} with {_percent(move.kept)}, {as_it_is} with {_percent(standing.probability)}"
    lead = 100 * abs(move.kept - standing.probability)
    if lead >= move.points / 2:
        return told
    points = f"{move.points:.0f}"
    return f"{told}; another option moves by {points} point{'' if points == '1' else 's'}"


def _name(kind: QuestionType, option: str) -> str:
    if kind == "noul":
        return {"true": "yes", "false": "no"}[option]
    return f"level {option}" if kind == "score" else f"“{option}”"


def _percent(probability: float) -> str:
    whole = round(100 * probability)
    if whole == 0 and probability > 0:
        return "<1 %"
    return ">99 %" if whole == 100 and probability < 1 else f"{whole} %"
