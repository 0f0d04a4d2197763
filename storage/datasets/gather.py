"""From labels to examples: which labelled decisions a recipe takes, and why the others stay out.

Contract
--------
* A recipe names everything that decides which rows there are, and how far the labels were read (`Marks`). Labels are
  never changed, only followed by others: so the same recipe gives the same rows later, except for what was deleted.
* People vote: the newest label of each labeller counts, if its stream was chosen. What an adjudicator decided
  (`verdicts`) stands above all votes. `labels="agreed"` keeps questions on which all agree; `"soft"` gives the votes'
  shares where they do not.
* Rows come in the order in which their decisions were made, a few hundred at a time: memory does not grow.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa
from sqlmodel import Session, col, select

from model.questions import Json, Questions
from storage.database import Database
from storage.datasets.example import Example, parse_time
from storage.datasets.split import SplitSpec
from storage.datasets.terms import refusal
from storage.errors import InvalidValue, checked_text
from storage.schemas import read_questions
from storage.tables import (
    SAMPLED_BY,
    DecisionBodyRow,
    DecisionPictureRow,
    DecisionRow,
    LabelRow,
    QuestionSetRow,
    ScorerRow,
    VerdictRow,
)

CHUNK = 400

DELETED = "its state was deleted"
DISAGREE = "people disagree and nobody has settled it"
UNNAMED = "labelled, but nobody names the right answer"
WITHDRAWN = "its labels were withdrawn"


def other_stream(streams: Collection[str]) -> str:
    """The reason of a decision that is labelled in these streams only, none of which was chosen."""
    return f"labelled in streams that were not chosen ({', '.join(s for s in SAMPLED_BY if s in streams)})"


@dataclass(frozen=True, kw_only=True)
class Marks:
    """How far was read: the last serials of labels, verdicts and decisions that count."""

    label: int
    verdict: int
    decision: int


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """All that decides what a dataset holds.

    `questions` are hashes of question sets. `since` and `until` bound when decisions were made. `group_field` is a path
    into states that are objects, such as "customer.id": what is the same there stays on one side of the split.
    """

    name: str
    questions: tuple[str, ...]
    streams: tuple[str, ...] = SAMPLED_BY
    labels: Literal["agreed", "soft"] = "agreed"
    since: datetime | None = None
    until: datetime | None = None
    group_field: str = ""
    licence: str = ""
    split: SplitSpec = field(default_factory=SplitSpec)
    marks: Marks | None = None

    def json(self) -> dict[str, Json]:
        """Plain JSON."""
        plain = asdict(self)
        for name in ("since", "until"):
            plain[name] = plain[name] and plain[name].isoformat()
        return {**plain, "questions": list(self.questions), "streams": list(self.streams)}


def parse_recipe(raw: Mapping[str, Json]) -> Recipe:
    """A recipe from JSON. Raises InvalidValue, naming the field."""
    name = checked_text(str(raw.get("name") or ""), "name", limit=200, blank=False)
    questions = raw.get("questions")
    if not isinstance(questions, list) or not questions or not all(isinstance(q, str) for q in questions):
        raise InvalidValue("questions", "choose at least one schema version")
    streams = raw.get("streams") or list(SAMPLED_BY)
    if unknown := [stream for stream in streams if stream not in SAMPLED_BY]:
        raise InvalidValue("streams", f"{unknown[0]!r} is not known; use {', '.join(SAMPLED_BY)}")
    labels = raw.get("labels") or "agreed"
    if labels not in ("agreed", "soft"):
        raise InvalidValue("labels", "must be agreed or soft")
    times = {}
    for key in ("since", "until"):
        if raw.get(key) and (moment := parse_time(raw[key])) is None:
            raise InvalidValue(key, f"{raw[key]!r} is not a date; write it as 2026-11-30")
        times[key] = moment if raw.get(key) else None
    try:
        spec = SplitSpec(**(raw.get("split") or {}))
    except (TypeError, ValueError) as error:
        raise InvalidValue("split", str(error)) from None
    marks = raw.get("marks")
    return Recipe(
        name=name,
        questions=tuple(sorted(questions)),
        streams=tuple(stream for stream in SAMPLED_BY if stream in streams),
        labels="soft" if labels == "soft" else "agreed",
        since=times["since"],
        until=times["until"],
        group_field=checked_text(str(raw.get("group_field") or ""), "group_field", limit=200),
        licence=checked_text(str(raw.get("licence") or ""), "licence", limit=200),
        split=spec,
        marks=Marks(**marks) if marks else None,
    )


def read_marks(database: Database) -> Marks:
    """How far labels, verdicts and decisions go now."""
    with database.read_session() as session:
        last = [session.scalar(sa.select(sa.func.max(row.serial))) or 0 for row in (LabelRow, VerdictRow, DecisionRow)]
    return Marks(label=last[0], verdict=last[1], decision=last[2])


@dataclass(frozen=True)
class Labelled:
    """A set of questions under which something is labelled: `rows` decisions have a label, `streams` counts them by
    stream (one decision may be in several), and they were made from `first` to `last`."""

    sha256: str
    questions: Questions
    rows: int
    streams: Mapping[str, int] = field(default_factory=dict)
    first: datetime | None = None
    last: datetime | None = None


def labelled_schemas(database: Database) -> list[Labelled]:
    """The sets of questions that have labels, those with most first."""
    with database.read_session() as session:
        count = sa.func.count(sa.distinct(col(LabelRow.decision)))
        key, made = col(DecisionRow.questions), col(DecisionRow.created)
        joined = sa.select(key, count, sa.func.min(made), sa.func.max(made)).join(
            LabelRow, col(LabelRow.decision) == col(DecisionRow.serial)
        )
        streams: dict[str, dict[str, int]] = {}
        by_stream = (
            sa.select(key, col(LabelRow.source), count)
            .join(LabelRow, col(LabelRow.decision) == col(DecisionRow.serial))
            .group_by(key, col(LabelRow.source))
        )
        for asked, stream, rows in session.execute(by_stream):
            streams.setdefault(asked, {})[stream] = rows
        return [
            Labelled(asked, read_questions(session, asked), rows, streams[asked], first, last)
            for asked, rows, first, last in session.execute(joined.group_by(key).order_by(count.desc()))
        ]


@dataclass(frozen=True)
class Aside:
    """Decisions of a recipe's schema versions that it does not even look at: without any label (`unlabelled`, within
    the dates), and labelled but made at another time (`outside`)."""

    unlabelled: int
    outside: int


def count_aside(database: Database, recipe: Recipe) -> Aside:
    """What a recipe never comes to see."""
    marks = recipe.marks or read_marks(database)
    serial, made = col(DecisionRow.serial), col(DecisionRow.created)
    within = sa.and_(
        *([made >= recipe.since] if recipe.since is not None else []),
        *([made < recipe.until] if recipe.until is not None else []),
        sa.true(),
    )
    labelled = _judged(marks)
    of = (serial <= marks.decision, col(DecisionRow.questions).in_(recipe.questions))
    with database.read_session() as session:
        counts = [
            session.scalar(sa.select(sa.func.count()).select_from(DecisionRow).where(*of, *which)) or 0
            for which in ((within, ~labelled), (~within, labelled))
        ]
    return Aside(*counts)


def _judged(marks: Marks) -> sa.ColumnElement[bool]:
    """Whether anybody said anything of a decision."""
    serial = col(DecisionRow.serial)
    labelled = sa.exists().where(col(LabelRow.decision) == serial, col(LabelRow.serial) <= marks.label)
    decided = sa.exists().where(col(VerdictRow.decision) == serial, col(VerdictRow.serial) <= marks.verdict)
    return labelled | decided


def gather(database: Database, recipe: Recipe, left_out: Callable[[str, str], None]) -> Iterator[Example]:
    """The examples of a recipe; `left_out` is told the id of every labelled decision that stays out, and the reason.

    Raises
    ------
    InvalidValue : a set of questions is not known.
    """
    marks = recipe.marks or read_marks(database)
    with database.read_session() as session:
        for key in recipe.questions:
            if session.get(QuestionSetRow, key) is None:
                raise InvalidValue("questions", f"no schema version with the hash {key[:12]} is kept here")
        asked = {key: read_questions(session, key) for key in recipe.questions}
        scorers = {row.fingerprint: row for row in session.exec(select(ScorerRow))}
    after = 0
    while True:
        with database.read_session() as session:
            rows = _chunk(session, recipe, marks, after)
            if not rows:
                return
            found = _Parts.of(session, [row.serial or 0 for row in rows], marks)
        for row in rows:
            example = _example(row, found, recipe, asked[row.questions], scorers[row.scorer])
            if isinstance(example, str):
                left_out(row.id, example)
            else:
                yield example
        after = rows[-1].serial or 0


def _chunk(session: Session, recipe: Recipe, marks: Marks, after: int) -> Sequence[DecisionRow]:
    serial = col(DecisionRow.serial)
    query = select(DecisionRow).where(
        serial > after,
        serial <= marks.decision,
        col(DecisionRow.questions).in_(recipe.questions),
        _judged(marks),
    )
    if recipe.since is not None:
        query = query.where(col(DecisionRow.created) >= recipe.since)
    if recipe.until is not None:
        query = query.where(col(DecisionRow.created) < recipe.until)
    return session.exec(query.order_by(serial).limit(CHUNK)).all()


@dataclass
class _Parts:
    """What belongs to the decisions of a chunk, by their serials."""

    states: dict[int, Json]
    pictures: dict[int, list[str]]
    labels: dict[int, dict[tuple[str, str], LabelRow]]
    verdicts: dict[int, dict[str, VerdictRow]]

    @classmethod
    def of(cls, session: Session, serials: list[int], marks: Marks) -> _Parts:
        parts = cls({}, {}, {}, {})
        for body in session.exec(select(DecisionBodyRow).where(col(DecisionBodyRow.decision).in_(serials))):
            parts.states[body.decision] = body.state
        shown = select(DecisionPictureRow).where(col(DecisionPictureRow.decision).in_(serials))
        for picture in session.exec(shown.order_by(col(DecisionPictureRow.position))):
            parts.pictures.setdefault(picture.decision, []).append(picture.sha256)
        given = select(LabelRow).where(col(LabelRow.decision).in_(serials), col(LabelRow.serial) <= marks.label)
        for label in session.exec(given.order_by(col(LabelRow.serial))):
            # The newest of a labeller replaces what came before.
            parts.labels.setdefault(label.decision, {})[label.question, label.labeller] = label
        decided = select(VerdictRow).where(
            col(VerdictRow.decision).in_(serials), col(VerdictRow.serial) <= marks.verdict
        )
        for verdict in session.exec(decided.order_by(col(VerdictRow.serial))):
            parts.verdicts.setdefault(verdict.decision, {})[verdict.question] = verdict
        return parts


def _example(row: DecisionRow, parts: _Parts, recipe: Recipe, questions: Questions, scorer: ScorerRow) -> Example | str:
    """The example of a decision, or why there is none."""
    serial = row.serial or 0
    standing = [label for label in parts.labels.get(serial, {}).values() if label.verdict != "withdrawn"]
    chosen = [label for label in standing if label.source in recipe.streams]
    verdicts = parts.verdicts.get(serial, {})
    if not chosen and not verdicts:
        return other_stream({label.source for label in standing}) if standing else WITHDRAWN
    if row.redacted is not None or serial not in parts.states:
        return DELETED
    labels, soft, disagreed = {}, {}, False
    for key in questions:
        votes = Counter(
            label.true_option for label in chosen if label.question == key and label.true_option is not None
        )
        if key in verdicts:
            if (settled := verdicts[key].true_option) is not None:
                labels[key] = settled
        elif len(votes) == 1:
            labels[key] = next(iter(votes))
        elif votes and recipe.labels == "soft":
            total = sum(votes.values())
            options = questions[key].option_ids()
            soft[key] = {option: votes[option] / total for option in options if votes[option]}
        elif votes:
            disagreed = True
    if not labels and not soft:
        return DISAGREE if disagreed else UNNAMED
    streams = [label.source for label in chosen]
    state = parts.states[serial]
    return Example(
        id=row.id,
        state=state,
        questions=questions,
        labels=labels,
        soft=soft,
        pictures=tuple(parts.pictures.get(serial, ())),
        group=group_of(state, recipe.group_field),
        time=row.created,
        source=row.source,
        # One audit label makes it a row of the audit: only so can it be kept out of training.
        stream="audit" if "audit" in streams else streams[0] if streams else "",
        scorer=f"{scorer.name} {scorer.fingerprint[:12]}",
        licence=recipe.licence,
        refused=refusal(scorer.info),
    )


def group_of(state: Json, path: str) -> str | None:
    """What a state says at a path such as "customer.id", as text; None where it says nothing."""
    value: Any = state
    for part in path.split(".") if path else []:
        value = value.get(part) if isinstance(value, Mapping) else None
    if not path or value is None or value == "":
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def case_of(example: Example) -> str:
    """What is judged, as a hash: the same state and pictures are the same case, whoever was asked whatever about it."""
    text = json.dumps([example.state, example.pictures], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
