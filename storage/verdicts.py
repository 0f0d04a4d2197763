"""Where people differ: what each said, and what was settled.

Contract
--------
* An answer is in conflict when the standing labels of those who were asked differ (an option, or can't tell), and no
  verdict was given since the last of these labels.
* A verdict is a row of its own: labels stay as they are, and so does the history of verdicts. The newest counts.
* The id of a verdict is a uuid that the caller made; the same verdict again is the same row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlmodel import Session, col, select

from storage.database import Database
from storage.decisions import find_decision
from storage.errors import Conflict, InvalidLabel, NotFound, checked_id, checked_text
from storage.labels import LABELLER_LENGTH, NOTE_LENGTH, standing
from storage.queue import queue_row
from storage.samples import asked_for
from storage.tables import AnswerRow, DecisionRow, LabelRow, VerdictRow


@dataclass(frozen=True, kw_only=True)
class Opinion:
    """What a person said: `option` is None for can't tell."""

    labeller: str
    option: str | None
    note: str
    blind: bool
    created: datetime


@dataclass(frozen=True, kw_only=True)
class Opinions:
    """What people said of one answer, by label; `settled` whether a verdict came after the last of them."""

    decision: str
    question: str
    said: tuple[Opinion, ...]
    settled: bool

    @property
    def differ(self) -> bool:
        """Whether they differ."""
        return len({opinion.option for opinion in self.said}) > 1


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What stands: `true_option` is None where nobody can tell."""

    id: str
    decision: str
    question: str
    true_option: str | None
    note: str
    labeller: str
    created: datetime


def opinions(database: Database, queue: int, *, people: int = 2) -> list[Opinions]:
    """What was said of the queue's answers that at least so many people judged, oldest first. Raises NotFound."""
    with database.read_session() as session:
        question = queue_row(session, queue).question
        query = (
            sa.select(LabelRow, col(DecisionRow.id))
            .join(DecisionRow, col(DecisionRow.serial) == col(LabelRow.decision))
            .where(col(LabelRow.question) == question, *standing(), asked_for(queue))
        )
        found: dict[int, list[tuple[LabelRow, str]]] = defaultdict(list)
        for row, decision in session.execute(query.order_by(col(LabelRow.serial))):
            found[row.decision].append((row, decision))
        several = {serial: rows for serial, rows in found.items() if len(rows) >= people}
        last = _last_verdicts(session, question, list(several))
        return [_opinions(rows, last.get(serial)) for serial, rows in sorted(several.items())]


def conflicts(database: Database, queue: int) -> list[Opinions]:
    """Answers on which people differ and that nobody settled since, oldest first. Raises NotFound."""
    return [found for found in opinions(database, queue) if found.differ and not found.settled]


def settle(
    database: Database,
    *,
    id: str,
    decision: str,
    question: str,
    true_option: str | None,
    labeller: str,
    note: str = "",
) -> Verdict:
    """Says what stands of an answer. Raises NotFound, InvalidLabel, InvalidValue, Conflict (the id is another's)."""
    key = checked_id(id, "id")
    who = checked_text(labeller, "labeller", limit=LABELLER_LENGTH, blank=False)
    said = checked_text(note, "note", limit=NOTE_LENGTH)
    with database.write_session() as session:
        case = find_decision(session, decision)
        answer = session.get(AnswerRow, (case.serial, question))
        if answer is None:
            raise NotFound("question", f"decision {decision} has no question {question!r}")
        if true_option is not None and true_option not in answer.options:
            raise InvalidLabel("true_option", f"{true_option!r} is not an option of {question!r}")
        row = session.exec(select(VerdictRow).where(VerdictRow.id == key)).first()
        if row is None:
            row = VerdictRow(
                id=key, decision=answer.decision, question=question, true_option=true_option, labeller=who, note=said
            )
            session.add(row)
            session.flush()
        elif (row.decision, row.question, row.true_option) != (answer.decision, question, true_option):
            raise Conflict("id", f"verdict {key} is already kept and says something else; use a new uuid")
        return Verdict(
            id=row.id,
            decision=case.id,
            question=question,
            true_option=row.true_option,
            note=row.note,
            labeller=row.labeller,
            created=row.created,
        )


def _last_verdicts(session: Session, question: str, decisions: Sequence[int]) -> dict[int, datetime]:
    """When each answer was settled last."""
    found: dict[int, datetime] = {}
    for start in range(0, len(decisions), 1000):
        query = select(VerdictRow).where(
            VerdictRow.question == question, col(VerdictRow.decision).in_(decisions[start : start + 1000])
        )
        for row in session.exec(query.order_by(col(VerdictRow.serial))):
            found[row.decision] = row.created
    return found


def _opinions(rows: Sequence[tuple[LabelRow, str]], settled: datetime | None) -> Opinions:
    last = max(row.created for row, _ in rows)
    return Opinions(
        decision=rows[0][1],
        question=rows[0][0].question,
        said=tuple(
            Opinion(labeller=row.labeller, option=row.true_option, note=row.note, blind=row.blind, created=row.created)
            for row, _ in rows
        ),
        settled=settled is not None and settled >= last,
    )
