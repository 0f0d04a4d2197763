"""The report: one self-contained page about a schema version for people who decide, in plain words first.

Contract
--------
`report` returns HTML that loads nothing from anywhere and prints well. Whatever came from people (names, wordings) is
escaped. Its figures are those of the page, from the same functions.
"""

from __future__ import annotations

from datetime import UTC, datetime
from html import escape
from typing import Any

from model.questions import render
from storage.cases import Place as Kept
from storage.cases import list_places, questions_of
from storage.errors import NotFound
from storage.policies import Policy, policy_in_force
from studio.calibration.words import percent
from studio.pages.calibration_data import Place, Shelf
from studio.pages.calibration_figures import BARS, figures, question_badge

LAYERS: dict[str, str] = {
    "none": "There are too few labels to say whether its probabilities can be trusted.",
    "provisional": "Nothing speaks against its probabilities so far, on few labels.",
    "calibrated": "Its probabilities can be taken at their word.",
    "too_much": "It promises too much: it is right less often than it says.",
    "too_little": "It promises too little: it is right more often than it says.",
}
_STYLE = """
:root{color-scheme:light;--ink:#1c1b18;--ink2:#4f4b44;--ink3:#686359;--line:#e2dfd8;--answer:#2c4bd2;--soft:#a3b3ee;--bad:#9e1029;--good:#0a6b53}
*{box-sizing:border-box}body{margin:0 auto;max-width:820px;padding:40px 24px;color:var(--ink);background:#fff;
font:15px/1.5 system-ui,"Segoe UI",Roboto,"Noto Sans",Arial,sans-serif;font-variant-numeric:tabular-nums}
h1{font-size:26px;line-height:1.2;margin:0 0 4px}h2{font-size:18px;margin:0}p{margin:8px 0}.dim{color:var(--ink3)}
section{border-top:1px solid var(--line);margin-top:28px;padding-top:20px;break-inside:avoid}
.badge{display:inline-block;border:1px solid var(--ink3);border-radius:11px;padding:1px 9px;font-size:13px;margin-left:8px;vertical-align:2px}
.badge.bad{color:var(--bad);border-color:var(--bad)}.badge.good{color:var(--good);border-color:var(--good)}
.say{font-size:16px}.two{display:grid;grid-template-columns:minmax(0,1.1fr) minmax(0,1fr);gap:24px;align-items:start}
table{border-collapse:collapse;width:100%;font-size:13px}th{font-weight:400;color:var(--ink3);text-align:left}
th,td{padding:4px 8px 4px 0;border-bottom:1px solid var(--line)}.num{text-align:right}svg{width:100%;height:auto;display:block}
svg text{font-size:11px;fill:var(--ink3)}code{font-size:.9em}@media(max-width:640px){.two{grid-template-columns:1fr}}
@media print{body{padding:0;max-width:none}a{color:inherit;text-decoration:none}}
"""  # noqa: E501 - a style sheet


def report(shelf: Shelf, *, questions: str, scorer: str) -> str:
    """The report as HTML. Raises NotFound where nothing was decided under these questions by this scorer."""
    kept = next((p for p in list_places(shelf.database) if (p.questions, p.scorer) == (questions, scorer)), None)
    if kept is None:
        raise NotFound("questions", "nothing was decided under these questions by this scorer")
    asked = questions_of(shelf.database, questions)
    in_force = policy_in_force(shelf.database, questions=questions, scorer=scorer)
    parts = [
        _section(shelf, Place(questions, scorer, key), render(question.instructions or ""), in_force.policies.get(key))
        for key, question in asked.items()
    ]
    title = _title(kept)
    now = datetime.now(UTC).strftime("%d %B %Y, %H:%M UTC")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head><body>'
        f"<h1>{escape(title)}</h1>"
        f'<p class="dim">Can its probabilities be trusted, and from which on may it act alone? {escape(now)}. '
        f"Scorer <b>{escape(kept.scorer_name)}</b> <code>{escape(scorer[:12])}</code>, questions "
        f"<code>{escape(questions[:12])}</code>, {kept.decisions:,} decisions.</p>"
        f"{''.join(parts)}<section><h2>How to read this</h2>{_HOW}</section></body></html>"
    )


_HOW = (
    "<p>People judged answers that were chosen at random, or by doubt with known odds and weighted for it. Labels that "
    "somebody volunteered are in no figure: people speak up where a machine is wrong. The grey band is where the curve "
    "of a scorer lies that keeps its word, 19 times of 20, all along; a curve that leaves it is a real fault. "
    "Intervals are 95 %. A guarantee means: the way in which the threshold was chosen fails at most 1 time in 20.</p>"
)


def _title(kept: Kept) -> str:
    if kept.schema is None:
        return f"Calibration of questions {kept.questions[:7]}"
    return f"Calibration of {kept.schema}{', draft' if kept.version is None else f' v{kept.version}'}"


def _section(shelf: Shelf, place: Place, wording: str, policy: Policy | None) -> str:
    loaded = shelf.load(place)
    badge, shown = question_badge(shelf, loaded), figures(shelf, loaded, "top", "sampled")
    look = {"too_much": " bad", "too_little": " bad", "calibrated": " good"}.get(badge.kind, "")
    few = f" It takes {badge.missing:,} more." if badge.missing else ""
    said = [LAYERS[badge.kind] + few, *_counts(shown), _policy(policy)]
    body = f"<p><b>{escape(shown['title'])}.</b></p>" if shown["n"] else ""
    if shown["n"]:
        body += f'<div class="two"><div>{_plot(shown)}</div><div>{_numbers(shown)}{_table(shown)}</div></div>'
    n = f"{badge.n:,} labels, {int(loaded.sampled.audit.sum()):,} of them drawn at random"
    return (
        f'<section><h2><code>{escape(place.question)}</code><span class="badge{look}">{escape(badge.words)}</span></h2>'
        f'<p class="dim">{escape(wording)}</p><p class="say">{" ".join(escape(s) for s in said)}</p>'
        f'{body}<p class="dim">{n}.</p></section>'
    )


def _counts(shown: dict[str, Any]) -> list[str]:
    """ "At 96 % and above it was right 98 of 111 times." """
    rows = shown["rows"]
    if not rows or rows[-1]["verdict"] is None:
        return []
    last = rows[-1]
    if len(rows) == 1:
        return [f"It was right {last['right']:,} of {last['n']:,} times."]
    return [f"At {percent(last['low'])} % and above it was right {last['right']:,} of {last['n']:,} times."]


def _policy(policy: Policy | None) -> str:
    if policy is None or policy.basis is None:
        return "No policy is in force: it does not act alone."
    parts = ["It never acts alone" if policy.act is None else f"It acts alone from {percent(policy.act)} %"]
    if policy.refuse is not None:
        parts.append(f"answers below {percent(policy.refuse)} % are refused")
    tail = ""
    if policy.act is not None:
        tail = f" ({policy.basis['kind']}, for {100 * policy.basis['budget']:g} wrong in 100)"
    return f"Policy {policy.number}: {', '.join(parts)}{tail}; a human is asked for the rest."


def _numbers(shown: dict[str, Any]) -> str:
    numbers = shown["numbers"]
    rows = [
        ("Right", numbers["share"], 100, " %", 1),
        ("Brier score (0 is perfect)", numbers["brier"], 1, "", 3),
        (f"Calibration error (chance: up to {_number(numbers['floor'])})", numbers["error"], 1, "", 3),
    ]
    cells = "".join(
        f'<tr><td>{escape(name)}</td><td class="num">{_figure(found, scale, unit, digits)}</td></tr>'
        for name, found, scale, unit, digits in rows
    )
    return f"<table>{cells}</table>"


def _figure(found: dict[str, Any], scale: int, unit: str, digits: int) -> str:
    if found["value"] is None:
        return f"not enough labels: {found['missing']} more"
    value, low, high = (f"{scale * found[key]:.{digits}f}" for key in ("value", "low", "high"))
    return f"{value}{unit} ({low}–{high})"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _table(shown: dict[str, Any]) -> str:
    head = '<tr><th>answers at</th><th class="num">said</th><th class="num">was right</th><th>verdict</th></tr>'
    rows = "".join(
        f"<tr><td>{percent(r['low'])}–{percent(r['high'])} %</td><td class=num>{percent(r['said'])} %</td>"
        f"<td class=num>{percent(r['rate'])} % ({r['right']:,} / {r['n']:,})</td><td>{escape(r['words'])}</td></tr>"
        for r in shown["rows"]
    )
    return f'<table style="margin-top:12px">{head}{rows}</table>'


def _plot(shown: dict[str, Any]) -> str:
    """The reliability plot as SVG: 0 to 100 both ways, histogram below."""

    def at(x: float, y: float) -> str:
        return f"{34 + 300 * x:.1f} {8 + 240 * (1 - y):.1f}"

    ticks = "".join(
        f'<path d="M{at(0, t)}L{at(1, t)}M{at(t, 0)}L{at(t, 1)}" stroke="#e6e3dc"/>'
        f'<text x="28" y="{12 + 240 * (1 - t):.0f}" text-anchor="end">{100 * t:.0f}</text>'
        f'<text x="{34 + 300 * t:.0f}" y="318" text-anchor="middle">{100 * t:.0f}</text>'
        for t in (0, 0.25, 0.5, 0.75, 1)
    )
    parts = [ticks]
    band = shown["band"]
    if band is not None:
        outline = [at(x, y) for x, y in zip(band["x"], band["high"], strict=True)]
        outline += [at(x, y) for x, y in zip(reversed(band["x"]), reversed(band["low"]), strict=True)]
        parts.append(f'<path d="M{"L".join(outline)}Z" fill="#1c1b18" fill-opacity=".12"/>')
    parts.append(f'<path d="M{at(0, 0)}L{at(1, 1)}" stroke="#686359" stroke-dasharray="2 4"/>')
    if shown["steps"]:
        line = [at(x, fitted) for low, high, fitted, _ in shown["steps"] for x in (low, high)]
        parts.append(f'<path d="M{"L".join(line)}" fill="none" stroke="#2c4bd2" stroke-width="2.2"/>')
    for row in shown["rows"]:
        x, y = at(row["said"], row["rate"]).split()
        colour = "#b3182f" if row["verdict"] in ("too_sure", "not_sure_enough") else "#2c4bd2"
        parts.append(f'<circle cx="{x}" cy="{y}" r="4" fill="#fff" stroke="{colour}" stroke-width="2"/>')
    most = max([*shown["bars"], 1])
    for i, n in enumerate(shown["bars"]):
        height = 40 * n / most
        left = 34 + 300 * i / BARS
        parts.append(f'<rect x="{left:.1f}" y="{302 - height:.1f}" width="5" height="{height:.1f}" fill="#a3b3ee"/>')
    label = escape(f"What it said against how often it was right. {shown['title']}")
    return f'<svg viewBox="0 0 344 324" role="img" aria-label="{label}">{"".join(parts)}</svg>'
