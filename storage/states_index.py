"""The index of states: what each says, and the words in its pictures, for `storage.search`.

Contract
--------
A table `searches` with a row for each decision, its `rowid` the decision's serial. It is written with the decision and
emptied with its state; it holds nothing that is not in the decision, and may be made anew from it.

SQLite has an FTS5 table (`text` is the text), PostgreSQL an indexed tsvector (`text` are the words). Both hold words
without regard to case and accents, and find them by their beginning. FTS5 makes its own; for PostgreSQL they are made
here, the same way: its parser would read addresses, numbers and hyphens as something else, and fold no accents.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, TSQUERY
from sqlmodel import Session

from model.questions import Json, render

SEARCHES = sa.table("searches", sa.column("rowid", sa.Integer), sa.column("text", sa.Text))

MOST_WORDS = 32
"""Words of a query that count."""
WORD_LENGTH, ALL_LENGTH = 500, 1_000_000
"""Characters of one word, and bytes of all words of a state, that PostgreSQL keeps: a tsvector has 2 KiB and 1 MiB."""

_TYPED = re.compile(r"\w+")
_WORD = re.compile(r"[^\W_]+")


def text_of(state: Json, words: Sequence[str]) -> str:
    """What the index holds of a decision."""
    return " ".join([render(state), *words]).strip()


def index(session: Session, rows: Iterable[tuple[int, str]]) -> None:
    """Writes new decisions, by serial; those without a text are left out."""
    added = [(serial, text) for serial, text in rows if text]
    if not added:
        return
    if _is_sqlite(session):
        session.execute(sa.insert(SEARCHES), [{"rowid": serial, "text": text} for serial, text in added])
        return
    vector = sa.func.array_to_tsvector(sa.bindparam("words", type_=ARRAY(sa.Text)))
    statement = sa.insert(SEARCHES).values(rowid=sa.bindparam("serial"), text=vector)
    session.execute(statement, [{"serial": serial, "words": _kept(text)} for serial, text in added])


def forget(session: Session, serials: Sequence[int]) -> None:
    """Takes decisions out."""
    session.execute(sa.delete(SEARCHES).where(SEARCHES.c.rowid.in_(serials)))


def matching(session: Session, text: str) -> sa.Select[tuple[int]] | None:
    """The serials of the decisions that hold every word a person typed, by its beginning; None: no word was typed."""
    if _is_sqlite(session):
        # Each is quoted, so that nothing of it is read as a query language.
        query = " ".join(f'"{word}"*' for word in _TYPED.findall(text)[:MOST_WORDS])
        match: sa.ColumnElement[bool] | sa.TextClause = sa.text("searches MATCH :query").bindparams(query=query)
    else:
        query = " & ".join(f"'{word}':*" for word in _words(text)[:MOST_WORDS])
        match = SEARCHES.c.text.bool_op("@@")(sa.cast(query, TSQUERY))
    return sa.select(SEARCHES.c.rowid).where(match) if query else None


def _is_sqlite(session: Session) -> bool:
    return session.get_bind().dialect.name == "sqlite"


def _words(text: str) -> list[str]:
    """The words of a text, small and without accents, in order, each once."""
    plain = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(c) != "Mn")
    return [word[:WORD_LENGTH] for word in dict.fromkeys(_WORD.findall(plain))]


def _kept(text: str) -> list[str]:
    """The words that the index holds: all, but of texts so long that no row could."""
    left, kept = ALL_LENGTH, []
    for word in _words(text):
        left -= len(word.encode())
        if left < 0:
            break
        kept.append(word)
    return kept
