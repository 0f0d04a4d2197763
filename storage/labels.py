"""Labels: a person's word on an answer. Never overwritten, only superseded.

Contract
--------
* The id is a uuid that the caller made: the same label again is the same row; another one under that id is a
  `Conflict`. Once `add_label` returned, the label is on the disk.
* Of one labeller's labels of an answer the newest stands; each supersedes the one before. Undoing adds a row
  `withdrawn`. Everybody's rows stay, as `history`.
* `true_option` is the option that the labeller holds for true. It is filled in where the verdict implies it (right: the
  model's top; wrong on a noul: the other side), and None where nobody knows (wrong, but not which; can't tell).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

import sqlalchemy as sa
from sqlmodel import Session, col, select

from storage.database import Database
from storage.decisions import find_decision
from storage.errors import Conflict, InvalidLabel, NotFound, checked_id, checked_text, plain_id
from storage.tables import SAMPLED_BY, AnswerRow, DecisionRow, LabelRow

Verdict: TypeAlias = Literal["right", "wrong", "cant_tell"]
SampledBy: TypeAlias = Literal["volunteered", "queue", "audit", "bulk", "import"]

NOTE_LENGTH = 10_000
LABELLER_LENGTH = 200


@dataclass(frozen=True, kw_only=True)
class Label:
    """One row of an answer's history.

    `decision` and `id` are uuids. `verdict` may also be "withdrawn". `propensity` is the probability that the labeller
    was shown this answer, None where it is not known. `seconds` is how long the labeller took. `supersedes` is the id
    of the label that this one replaces.
    """

    serial: int
    id: str
    decision: str
    question: str
    verdict: str
    true_option: str | None
    note: str
    labeller: str
    source: str
    propensity: float | None
    blind: bool
    seconds: float | None
    supersedes: str | None
    created: datetime


def add_label(
    database: Database,
    *,
    id: str,
    decision: str,
    question: str,
    verdict: Verdict,
    labeller: str,
    source: SampledBy,
    true_option: str | None = None,
    note: str = "",
    propensity: float | None = None,
    blind: bool = False,
    seconds: float | None = None,
) -> Label:
    """Keeps a label and returns it as kept.

    Parameters
    ----------
    id : a uuid that the caller made for this label.
    decision : the uuid of the decision; it must be recorded.
    source : why the labeller saw the answer. Only "queue" and "audit" have a `propensity`.
    blind : whether the model's answer was hidden.

    Raises
    ------
    NotFound : `decision` or `question`.
    InvalidLabel : the field that does not fit.
    Conflict : `id` belongs to another label.
    """
    with database.write_session() as session:
        case = find_decision(session, decision)
        answer = session.get(AnswerRow, (case.serial, question))
        if answer is None:
            raise NotFound("question", f"decision {decision} has no question {question!r}")
        return write_label(
            session, answer, id=id, verdict=verdict, true_option=true_option, labeller=labeller, source=source,
            note=note, propensity=propensity, blind=blind, seconds=seconds,
        )  # fmt: skip


def write_label(
    session: Session,
    answer: AnswerRow,
    *,
    id: str,
    verdict: Verdict,
    labeller: str,
    source: SampledBy,
    true_option: str | None = None,
    note: str = "",
    propensity: float | None = None,
    blind: bool = False,
    seconds: float | None = None,
) -> Label:
    """As `add_label`, on an answer that was read in the caller's write session."""
    if verdict not in ("right", "wrong", "cant_tell"):
        raise InvalidLabel("verdict", f"{verdict!r} is not known; use right, wrong or cant_tell")
    _check_sampling(source, propensity)
    if seconds is not None and not (math.isfinite(seconds) and seconds >= 0):
        raise InvalidLabel("seconds", "must be a time in seconds, or nothing")
    row = LabelRow(
        id=checked_id(id, "id"),
        decision=answer.decision,
        question=answer.question,
        verdict=verdict,
        true_option=_true_option(answer, verdict, true_option),
        note=checked_text(note, "note", limit=NOTE_LENGTH),
        labeller=checked_text(labeller, "labeller", limit=LABELLER_LENGTH, blank=False),
        source=source,
        propensity=propensity,
        blind=blind,
        seconds=seconds,
    )
    return _append(session, row)


def undo_label(database: Database, label_id: str, *, id: str) -> Label:
    """Withdraws a label that stands, by a new row with the uuid `id`; returns that row.

    Raises
    ------
    NotFound : `label_id`.
    Conflict : the label does not stand any more (superseded or withdrawn), or `id` belongs to another label.
    """
    with database.write_session() as session:
        return write_undo(session, label_id, id=id)


def write_undo(session: Session, label_id: str, *, id: str) -> Label:
    """As `undo_label`, in the caller's write session."""
    key = checked_id(id, "id")
    undone = session.exec(select(LabelRow).where(LabelRow.id == plain_id(label_id))).first()
    if undone is None:
        raise NotFound("label_id", f"there is no label {label_id!r}")
    if session.exec(select(LabelRow).where(LabelRow.id == key)).first() is None:
        newest = _newest(session, undone)
        if undone.verdict == "withdrawn" or newest is None or newest.serial != undone.serial:
            raise Conflict("label_id", f"label {label_id} does not stand any more; look at its history")
    row = LabelRow(
        id=key,
        decision=undone.decision,
        question=undone.question,
        verdict="withdrawn",
        labeller=undone.labeller,
        source=undone.source,
        propensity=undone.propensity,
        blind=undone.blind,
    )
    return _append(session, row)


def current_labels(database: Database, decision: str) -> list[Label]:
    """The labels of a decision that stand: at most one per question and labeller, oldest first. Raises NotFound."""
    with database.read_session() as session:
        newest: dict[tuple[str, str], Label] = {}
        for label in _labels(session, decision):
            newest[label.question, label.labeller] = label
        return sorted((label for label in newest.values() if label.verdict != "withdrawn"), key=lambda x: x.serial)


def history(database: Database, decision: str, question: str) -> list[Label]:
    """All labels of an answer, oldest first, superseded and withdrawn ones too. Raises NotFound."""
    with database.read_session() as session:
        return [label for label in _labels(session, decision) if label.question == question]


def _check_sampling(source: str, propensity: float | None) -> None:
    if source not in SAMPLED_BY:
        raise InvalidLabel("source", f"{source!r} is not known; use one of {', '.join(SAMPLED_BY)}")
    if propensity is None:
        return
    # Weights from labels that people volunteered would poison every estimate.
    if source not in ("queue", "audit"):
        raise InvalidLabel("propensity", f"nobody knows it for labels that are {source}; leave it out")
    if not 0 < propensity <= 1:
        raise InvalidLabel("propensity", f"must be over 0 and at most 1, not {propensity}")


def _true_option(answer: AnswerRow, verdict: str, given: str | None) -> str | None:
    """The option that the labeller holds for true. Raises InvalidLabel where the parts do not fit."""
    options: list[str] = answer.options
    if given is not None and given not in options:
        some = ", ".join(options[:10]) + (", ..." if len(options) > 10 else "")
        raise InvalidLabel("true_option", f"{given!r} is not an option of {answer.question!r}; use one of {some}")
    if verdict == "cant_tell":
        if given is not None:
            raise InvalidLabel("true_option", "whoever cannot tell names no option; leave it out")
        return None
    if verdict == "right":
        if given not in (None, answer.top):
            raise InvalidLabel("true_option", f"right means {answer.top!r}, the model's answer; send wrong instead")
        return answer.top
    if given == answer.top:
        raise InvalidLabel("true_option", f"{given!r} is the model's answer; send right instead, or another option")
    if given is None and answer.type == "noul":
        return next(option for option in options if option != answer.top)
    return given


def _newest(session: Session, like: LabelRow) -> LabelRow | None:
    """The newest label of the same answer by the same labeller."""
    query = select(LabelRow).where(
        LabelRow.decision == like.decision, LabelRow.question == like.question, LabelRow.labeller == like.labeller
    )
    return session.exec(query.order_by(col(LabelRow.serial).desc()).limit(1)).first()


def standing() -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    """Conditions on labels: nobody superseded or withdrew them."""
    newer = sa.orm.aliased(LabelRow)
    replaced = sa.exists().where(col(newer.supersedes) == col(LabelRow.serial))
    return ~replaced, col(LabelRow.verdict) != "withdrawn"


def _append(session: Session, row: LabelRow) -> Label:
    """Adds `row` after its labeller's newest label of the answer; returns what is kept if its id is there already."""
    kept = session.exec(select(LabelRow).where(LabelRow.id == row.id)).first()
    if kept is None:
        before = _newest(session, row)
        row.supersedes = None if before is None else before.serial
        session.add(row)
        session.flush()
        return _one(session, row.id)
    # How long it took is not compared: a page that sends again may measure again.
    for name in ("decision", "question", "verdict", "true_option", "note", "labeller", "source", "propensity", "blind"):
        if getattr(kept, name) != getattr(row, name):
            raise Conflict("id", f"label {row.id} is already kept with another {name}; use a new uuid")
    return _one(session, row.id)


_REPLACED = sa.orm.aliased(LabelRow)
_VIEW = (
    sa.select(LabelRow, col(DecisionRow.id), col(_REPLACED.id))
    .join(DecisionRow, col(DecisionRow.serial) == col(LabelRow.decision))
    .outerjoin(_REPLACED, col(_REPLACED.serial) == col(LabelRow.supersedes))
)


def _one(session: Session, label_id: str) -> Label:
    return _label(*session.execute(_VIEW.where(col(LabelRow.id) == label_id)).one())


def _labels(session: Session, decision: str) -> list[Label]:
    serial = find_decision(session, decision).serial
    rows = session.execute(_VIEW.where(col(LabelRow.decision) == serial).order_by(col(LabelRow.serial)))
    return [_label(*row) for row in rows]


def _label(row: LabelRow, decision: str, supersedes: str | None) -> Label:
    assert row.serial is not None
    return Label(
        serial=row.serial,
        id=row.id,
        decision=decision,
        question=row.question,
        verdict=row.verdict,
        true_option=row.true_option,
        note=row.note,
        labeller=row.labeller,
        source=row.source,
        propensity=row.propensity,
        blind=row.blind,
        seconds=row.seconds,
        supersedes=supersedes,
        created=row.created,
    )
