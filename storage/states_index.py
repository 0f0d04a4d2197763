"""The index of states: what each says, and the words in its pictures, for `storage.search`.

Contract
--------
An FTS5 table whose rowid is the decision's serial. It is written with the decision and emptied with its state; it holds
nothing that is not in the decision, and may be made anew from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import sqlalchemy as sa
from sqlmodel import Session

from model.questions import Json, render

SEARCHES = sa.table("searches", sa.column("rowid", sa.Integer), sa.column("text", sa.Text))


def text_of(state: Json, words: Sequence[str]) -> str:
    """What the index holds of a decision."""
    return " ".join([render(state), *words]).strip()


def index(session: Session, rows: Iterable[tuple[int, str]]) -> None:
    """Writes new decisions, by serial; those without a text are left out."""
    added = [{"rowid": serial, "text": text} for serial, text in rows if text]
    if added:
        session.execute(sa.insert(SEARCHES), added)


def forget(session: Session, serials: Sequence[int]) -> None:
    """Takes decisions out."""
    session.execute(sa.delete(SEARCHES).where(SEARCHES.c.rowid.in_(serials)))
