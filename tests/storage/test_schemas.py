"""Drafts, versions and examples."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa

from model.questions import Questions, parse_questions, schema_hash
from storage.database import Database
from storage.errors import InvalidValue, NotFound
from storage.pictures import save_picture
from storage.schemas import (
    DraftConflict,
    Example,
    archive_schema,
    create_schema,
    duplicate_schema,
    find_version,
    get_draft,
    get_schema,
    get_version,
    list_schemas,
    list_versions,
    publish,
    record_schema,
    rename_schema,
    save_draft,
)

NOBODY = str(uuid4())


def test_create_list_rename_archive(database: Database) -> None:
    first = create_schema(database, name=" Support ", description="for tickets", document={"questions": []})
    second = create_schema(database, name="Phishing")
    assert (first.name, first.revision, first.latest) == ("Support", 1, None)
    assert [s.name for s in list_schemas(database)] == ["Phishing", "Support"]
    save_draft(database, first.id, document={"questions": [1]}, base_revision=1)
    assert [s.name for s in list_schemas(database)] == ["Support", "Phishing"]
    renamed = rename_schema(database, first.id.upper(), name="Triage")
    assert (renamed.name, renamed.description) == ("Triage", "for tickets")
    archive_schema(database, second.id)
    assert [s.id for s in list_schemas(database)] == [first.id]
    assert [s.id for s in list_schemas(database, archived=True)] == [second.id]
    archive_schema(database, second.id, archived=False)
    assert get_schema(database, second.id).archived is False


def test_creating_twice_under_one_id_makes_one(database: Database) -> None:
    key = str(uuid4())
    once = create_schema(database, name="Support", schema_id=key)
    assert create_schema(database, name="Support", schema_id=key.upper()) == once
    assert len(list_schemas(database)) == 1


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"name": "  "}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": "\ud83d"}, "name"),
        ({"name": "ok", "description": "x" * 10_001}, "description"),
        ({"name": "ok", "schema_id": "7"}, "schema_id"),
        ({"name": "ok", "document": {"a": [float("nan")]}}, "document.a.0"),
        ({"name": "ok", "document": {"a": {1}}}, "document.a"),
        ({"name": "ok", "examples": [Example(name="x", state=3)]}, "examples.0.state"),
        ({"name": "ok", "examples": [Example(name="x", state="", pictures=("0" * 64,))]}, "examples.0.pictures.0"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_kept_is_named(database: Database, arguments: dict[str, Any], field: str) -> None:
    with pytest.raises((InvalidValue, NotFound)) as caught:
        create_schema(database, **arguments)
    assert caught.value.field == field
    assert list_schemas(database) == []


DOCUMENTS: list[Any] = [
    {"b": 1, "a": {"10": None, "2": "two"}},
    [1, 2.5, "ü", "🙏", True, None],
    "just text",
    {"deep": [[[[{"x": "\u0000 and \u2028"}]]]]},
]


@pytest.mark.parametrize("document", DOCUMENTS, ids=["order", "list", "text", "odd"])
def test_a_draft_comes_back_as_it_was(database: Database, document: Any) -> None:
    key = create_schema(database, name="x", document={}).id
    assert save_draft(database, key, document=document, base_revision=1) == 2
    kept = get_draft(database, key).document
    assert kept == document
    if isinstance(document, dict):
        assert list(kept) == list(document)


def test_two_tabs_never_overwrite_each_other(database: Database) -> None:
    key = create_schema(database, name="x", document={"by": "nobody"}).id
    assert save_draft(database, key, document={"by": "first"}, base_revision=1) == 2
    with pytest.raises(DraftConflict) as caught:
        save_draft(database, key, document={"by": "second"}, base_revision=1)
    assert (caught.value.current.revision, caught.value.current.document) == (2, {"by": "first"})
    assert get_draft(database, key).document == {"by": "first"}
    assert save_draft(database, key, document={"by": "second"}, base_revision=2) == 3


def test_saving_the_same_again_is_no_change_even_under_the_old_revision(database: Database) -> None:
    key = create_schema(database, name="x").id
    examples = [Example(name=" one ", state="hello")]
    assert save_draft(database, key, document={"a": 1}, examples=examples, base_revision=1) == 2
    assert save_draft(database, key, document={"a": 1}, examples=examples, base_revision=1) == 2
    assert save_draft(database, key, document={"a": 1}, base_revision=2) == 2


@pytest.mark.parametrize(
    ("before", "after"),
    [({"a": 1, "b": 2}, {"b": 2, "a": 1}), ({"a": 1}, {"a": True}), ({"a": 1}, {"a": 1.0})],
    ids=["order of keys", "true is not 1", "1.0 is not 1"],
)
def test_a_change_that_python_does_not_see_is_a_change(database: Database, before: Any, after: Any) -> None:
    key = create_schema(database, name="x", document=before).id
    assert save_draft(database, key, document=after, base_revision=1) == 2
    assert repr(get_draft(database, key).document) == repr(after)


def test_examples_keep_order_and_pictures_and_can_be_left_alone(database: Database) -> None:
    pictures = tuple(save_picture(database, data, format="png", width=2, height=1).sha256 for data in (b"one", b"two"))
    examples = (
        Example(name="with pictures", state={"k": ["v"]}, pictures=pictures[::-1]),
        Example(name="text", state="Hallo"),
    )
    key = create_schema(database, name="x", examples=examples).id
    assert get_draft(database, key).examples == examples
    save_draft(database, key, document={"n": 1}, base_revision=1)
    assert get_draft(database, key).examples == examples
    save_draft(database, key, document={"n": 1}, examples=examples[::-1], base_revision=2)
    assert get_draft(database, key).examples == examples[::-1]
    save_draft(database, key, document={"n": 1}, examples=[], base_revision=3)
    assert get_draft(database, key).examples == ()


def test_versions_count_and_the_same_questions_are_the_same_version(database: Database, questions: Questions) -> None:
    key = create_schema(database, name="x").id
    first = publish(database, key, questions, note="first")
    assert publish(database, key, questions, note="again") == first
    fewer = {"team": questions["team"]}
    second = publish(database, key, fewer)
    assert (first.number, second.number) == (1, 2)
    assert first.sha256 == schema_hash(questions)
    # Back to the first questions: a step forward, whose document is written once.
    assert publish(database, key, questions).number == 3
    assert [v.number for v in list_versions(database, key)] == [3, 2, 1]
    assert get_version(database, key, 1) == first
    assert list(get_version(database, key).questions["team"].option_ids()) == ["2", "billing", "10"]
    assert get_schema(database, key).latest == 3
    with database.read_session() as session:
        assert session.execute(sa.text("SELECT count(*) FROM question_sets")).scalar() == 2


def test_a_version_larger_than_todays_limits_can_be_read(database: Database) -> None:
    from storage.schemas import ANY_SIZE

    large = parse_questions({"q": {"type": "choice", "criteria": {str(i): None for i in range(300)}}}, limits=ANY_SIZE)
    key = create_schema(database, name="x").id
    publish(database, key, large)
    assert get_version(database, key).questions == large


def test_a_duplicate_has_the_draft_and_no_versions(database: Database, questions: Questions) -> None:
    examples = (Example(name="one", state="hello"),)
    original = create_schema(database, name="x", description="why", document={"a": 1}, examples=examples)
    publish(database, original.id, questions)
    copy = duplicate_schema(database, original.id, name="x, copy")
    assert (copy.name, copy.description, copy.latest, copy.revision) == ("x, copy", "why", None, 1)
    assert (get_draft(database, copy.id).document, get_draft(database, copy.id).examples) == ({"a": 1}, examples)


def test_questions_are_matched_to_a_schema_that_records(database: Database, questions: Questions) -> None:
    first, second = (create_schema(database, name=name).id for name in ("one", "two"))
    version = publish(database, first, questions)
    publish(database, second, questions)

    def found() -> str | None:
        matched = find_version(database, questions, recording=True)
        return None if matched is None else matched.schema_id

    assert found() is None
    assert record_schema(database, first).recording is True
    assert get_schema(database, first).recording is True
    assert (found(), version.number) == (first, 1)
    # Without asking for recording it is the newest.
    newest = find_version(database, questions)
    assert newest is not None
    assert newest.schema_id == second
    # An archived schema is out of use, and out of sight: it keeps nothing.
    archive_schema(database, first)
    assert found() is None
    archive_schema(database, first, archived=False)
    assert found() == first
    assert duplicate_schema(database, first, name="copy").recording is False
    record_schema(database, first, recording=False)
    assert found() is None


CALLS = {
    "get_schema": lambda db: get_schema(db, NOBODY),
    "get_draft": lambda db: get_draft(db, "not even a uuid"),
    "save_draft": lambda db: save_draft(db, NOBODY, document={}, base_revision=1),
    "rename": lambda db: rename_schema(db, NOBODY, name="x"),
    "record": lambda db: record_schema(db, NOBODY),
    "archive": lambda db: archive_schema(db, NOBODY),
    "publish": lambda db: publish(db, NOBODY, parse_questions({"q": {"type": "noul"}})),
    "list_versions": lambda db: list_versions(db, NOBODY),
    "get_version": lambda db: get_version(db, NOBODY, 1),
    "duplicate": lambda db: duplicate_schema(db, NOBODY, name="x"),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_schema_that_is_not_there_is_named(database: Database, call: Any) -> None:
    with pytest.raises(NotFound) as caught:
        call(database)
    assert caught.value.field == "schema_id"


@pytest.mark.parametrize("number", [None, 7])
def test_a_version_that_is_not_there_is_named(database: Database, number: int | None) -> None:
    key = create_schema(database, name="x").id
    with pytest.raises(NotFound, match="publish it first") as caught:
        get_version(database, key, number)
    assert caught.value.field == "version"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE schema_versions SET note = 'other'",
        "DELETE FROM schema_versions",
        "UPDATE question_sets SET document = '{}'",
        "DELETE FROM question_sets",
    ],
)
def test_versions_are_immutable_whoever_writes(database: Database, questions: Questions, statement: str) -> None:
    publish(database, create_schema(database, name="x").id, questions)
    with pytest.raises(sa.exc.IntegrityError, match="never"), database.write_session() as session:
        session.execute(sa.text(statement))
