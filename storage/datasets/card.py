"""The dataset card: a README.md beside every export that says what is in it and what must be known before use.

Contract
--------
Its head is YAML that Hugging Face `datasets` and its hub understand. All text of people is escaped, so that a schema's
words cannot become headings, links or HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from model.questions import Json, Questions, render, schema_hash
from storage.datasets.formats import SPLITS, Exported, Format, Plan

if TYPE_CHECKING:
    from storage.datasets.versions import DatasetVersion

_MARKUP = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~&$])")
RANDOM = ("audit",)


def write_card(path: Path, *, format: Format, plan: Plan, version: DatasetVersion, done: Exported) -> None:
    """Writes the card of an export."""
    path.write_text(card(format=format, plan=plan, version=version, done=done), encoding="utf-8")


def card(*, format: Format, plan: Plan, version: DatasetVersion, done: Exported) -> str:
    """The card as Markdown."""
    head: dict[str, Json] = {
        "pretty_name": f"{version.name} (version {version.number})",
        "license": "other" if plan.licence else "unknown",
        "tags": ["clef-studio", "decisions", format.name],
    }
    if plan.licence:
        head["license_name"] = plan.licence
    files = [split for split in SPLITS if done.rows[split]]
    if format.name == "hf-parquet" and files:
        paths = [{"split": split, "path": f"data/{split}-*.parquet"} for split in files]
        head["configs"] = [{"config_name": "default", "data_files": paths}]
    elif files:
        # Else `load_dataset` would guess at files that are meant for other eyes.
        head["viewer"] = False
    blocks = [
        f"---\n{yaml.safe_dump(head, sort_keys=False, allow_unicode=False)}---",
        f"# {plain(version.name)}, version {version.number}",
        f"Labelled decisions, exported by Clef Studio for {format.title}. {format.about}",
        *_counts(version, done),
        *_sources(version),
        *_left_out(version, done),
        "## Known bias\n\n" + "\n".join(f"- {line}" for line in _bias(version)),
        *_schemas(plan.schemas),
        _made(version),
    ]
    return "\n\n".join(blocks) + "\n"


def plain(text: str) -> str:
    """Text as Markdown that shows exactly it, on one line."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def table(head: Iterable[str], rows: Iterable[Iterable[Json]]) -> str:
    """A Markdown table."""
    names = list(head)
    lines = [f"| {' | '.join(names)} |", f"|{'---|' * len(names)}"]
    lines += [f"| {' | '.join(str(cell) for cell in row)} |" for row in rows]
    return "\n".join(lines)


def _counts(version: DatasetVersion, done: Exported) -> list[str]:
    rows = [(split, f"{done.rows[split]:,}", f"{version.summary['rows'].get(split, 0):,}") for split in SPLITS]
    blocks = ["## Rows\n\n" + table(("split", "in these files", "in the dataset"), rows)]
    options = version.summary["options"]
    for question in dict.fromkeys(q for by in options.values() for q in by):
        names = dict.fromkeys(o for split in SPLITS for o in options.get(split, {}).get(question, {}))
        cells = [
            (
                f"`{option}`" if option.isalnum() else plain(option),
                *(options.get(s, {}).get(question, {}).get(option, 0) for s in SPLITS),
            )
            for option in names
        ]
        blocks.append(f"Answers to {plain(question)}:\n\n" + table(("answer", *SPLITS), cells))
    return blocks


def _sources(version: DatasetVersion) -> list[str]:
    summary = version.summary
    rows = [("sampled by", plain(k), n) for k, n in summary["streams"].items()]
    rows += [("decision came from", plain(k), n) for k, n in summary["sources"].items()]
    rows += [("answered by", plain(k), n) for k, n in summary["scorers"].items()]
    span = f"Decisions made from {summary['first']} to {summary['last']}." if summary["first"] else ""
    how = {
        "agreed": "Only answers on which people agree, or that were settled.",
        "soft": "Where people differ, shares.",
    }
    lines = ["## Where the labels come from", table(("what", "which", "rows"), rows), how[version.recipe.labels]]
    return [block for block in (*lines, span) if block]


def _left_out(version: DatasetVersion, done: Exported) -> list[str]:
    rows = [(plain(entry["reason"]), entry["rows"]) for entry in version.summary["left_out"]]
    rows += [(plain(reason), n) for reason, n in done.left_out.most_common()]
    return ["## What is left out\n\n" + table(("reason", "rows"), rows)] if rows else []


def _bias(version: DatasetVersion) -> Iterable[str]:
    summary: Mapping[str, Json] = version.summary
    chosen = {name: n for name, n in summary["streams"].items() if name not in RANDOM}
    total = summary["total"]
    if chosen:
        share = sum(chosen.values()) / total if total else 0
        yield (
            f"{share:.0%} of the rows were not sampled at random ({', '.join(map(plain, chosen))}): people or "
            "the queue chose them, often because the model was unsure or wrong. Their mix of answers is not that of "
            "real traffic."
        )
    if summary["streams"].get("audit"):
        yield "Rows from the audit were drawn at random; only they can carry a claim about calibration."
    if len(summary["scorers"]) > 1:
        yield "More than one model answered; what people saw first may have steered their labels."
    if summary["repeats"]:
        yield f"{summary['repeats']:,} rows judge a case that another row judges too."
    yield from summary["notes"]


def _schemas(schemas: Iterable[Questions]) -> list[str]:
    blocks = ["## Schema"]
    for questions in schemas:
        lines = [f"Questions with the hash `{schema_hash(questions)}`:", ""]
        for key, question in questions.items():
            asked = "" if question.instructions is None else f": {plain(render(question.instructions))}"
            lines.append(f"- {plain(key)} ({question.type}){asked}")
            lines += [
                f"  - {plain(option.id)}"
                + ("" if option.description is None else f": {plain(render(option.description))}")
                for option in question.options()
            ]
        blocks.append("\n".join(lines))
    return blocks


def _made(version: DatasetVersion) -> str:
    spec = version.recipe.split
    near = (
        ""
        if spec.similar is None
        else f", and states that are nearly the same (MinHash similarity from {spec.similar})"
    )
    return (
        f"## How it was made\n\nDataset hash `{version.sha256}`, frozen {version.created:%Y-%m-%d %H:%M} UTC. Split by "
        f"{'time, newest last' if spec.by == 'time' else 'lot'}, seed {spec.seed}; the same case, the same group"
        f"{near} stay on one side."
    )
