"""Rules that several trainers have in common, each on plain JSON as it stands in a file.

Contract
--------
Every function returns sentences, one per broken rule, that name the field; an empty list is a clean bill. They judge
rows that we wrote and rows that came from elsewhere alike, so they expect anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from model.questions import Json

QuestionRule = Callable[[str, Mapping[str, Json]], list[str]]


def questions_of(row: Json, *, rule: QuestionRule, extra: tuple[str, ...] = ()) -> list[str]:
    """Problems of a row that must hold a state, questions, and the fields `extra`."""
    if not isinstance(row, Mapping):
        return ["a row must be an object"]
    found = [f"{field}: is required" for field in ("state", *extra) if field not in row]
    questions = row.get("questions")
    if not isinstance(questions, Mapping) or not questions:
        return [*found, "questions: must be an object with at least one question"]
    for key, question in questions.items():
        if not isinstance(question, Mapping) or question.get("type") not in ("noul", "choice", "score"):
            found.append(f"questions.{key}: type must be noul, choice or score")
            continue
        found += rule(key, question)
    return found


def criteria(at_least: int) -> QuestionRule:
    """Options as an object, levels as a list, and at least so many of either."""

    def rule(key: str, question: Mapping[str, Json]) -> list[str]:
        given = question.get("criteria")
        if question["type"] == "noul":
            if given is not None and (not isinstance(given, Mapping) or set(given) - {"true", "false"}):
                return [f"questions.{key}.criteria: may describe only true and false"]
            return []
        kind, what = (dict, "options") if question["type"] == "choice" else (list, "levels")
        if not isinstance(given, kind) or len(given) < at_least:
            return [f"questions.{key}.criteria: needs at least {at_least} {what}"]
        return []

    return rule


def instructions(key: str, question: Mapping[str, Json]) -> list[str]:
    """The question must say what it asks."""
    given = question.get("instructions")
    if given is None or given in ("", [], {}) or (isinstance(given, str) and not given.strip()):
        return [f"questions.{key}.instructions: is empty; this trainer wants every question in words"]
    return []


def both(*rules: QuestionRule) -> QuestionRule:
    """Several rules as one."""
    return lambda key, question: [problem for rule in rules for problem in rule(key, question)]


def labels(row: Mapping[str, Json], field: str, *, noul: tuple[type, ...] = (bool,)) -> list[str]:
    """Problems of a map of hard labels: a boolean (or what `noul` allows), an option's id, a level from 0."""
    given = row.get(field)
    if not isinstance(given, Mapping):
        return [f"{field}: must be an object that maps questions to answers"]
    questions = row.get("questions")
    found = []
    for key, value in given.items():
        question = questions.get(key) if isinstance(questions, Mapping) else None
        if not isinstance(question, Mapping):
            found.append(f"{field}.{key}: there is no such question")
        elif not allowed(question, value, noul=noul):
            found.append(f"{field}.{key}: {value!r} is not an answer of this {question.get('type')}")
    return found


def allowed(question: Mapping[str, Json], value: Json, *, noul: tuple[type, ...] = (bool,)) -> bool:
    """Whether a hard label answers its question."""
    criteria = question.get("criteria")
    if question.get("type") == "noul":
        return isinstance(value, noul) and value in (True, False, "true", "false")
    if question.get("type") == "choice":
        return isinstance(value, str) and isinstance(criteria, Mapping) and value in criteria
    levels = len(criteria) if isinstance(criteria, list) else 0
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < levels


def option_names(question: Mapping[str, Json]) -> list[str]:
    """The options of a question as plain JSON, as text."""
    given = question.get("criteria")
    if question.get("type") == "noul":
        return ["true", "false"]
    if isinstance(given, list):
        return [str(level) for level in range(len(given))]
    return [str(name) for name in given] if isinstance(given, Mapping) else []


def soft(row: Mapping[str, Json], field: str, *, unwrap: str | None = None) -> list[str]:
    """Problems of a map of soft labels: known options, numbers that are not negative, some of them positive."""
    given = row.get(field)
    if not isinstance(given, Mapping):
        return [f"{field}: must be an object that maps questions to shares"]
    questions = row.get("questions")
    found = []
    for key, shares in given.items():
        question = questions.get(key) if isinstance(questions, Mapping) else None
        if unwrap is not None and isinstance(shares, Mapping):
            shares = shares.get(unwrap, shares)
        if not isinstance(question, Mapping):
            found.append(f"{field}.{key}: there is no such question")
        elif not isinstance(shares, Mapping) or not set(map(str, shares)) <= set(option_names(question)):
            found.append(f"{field}.{key}: names an option that the question does not have")
        elif not all(isinstance(s, int | float) and not isinstance(s, bool) and s >= 0 for s in shares.values()):
            found.append(f"{field}.{key}: a share must be a number that is not negative")
        elif not sum(shares.values()) > 0:
            found.append(f"{field}.{key}: the shares sum to nothing")
    return found


def texts(value: Json) -> Iterator[str]:
    """Every text inside a JSON value, keys aside."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
