// How far each answer moved between two runs. Pure.
//
// A run's answers are [{id, type, options, probabilities, legend}]. Answers belong together by the question's id, options
// by their own id; a level of a score goes by its number.

import { toText } from "./schema.js";
import { verdict } from "./words.js";

const said = (answer) => verdict(answer.type === "score" ? { ...answer, labels: (answer.legend ?? []).map(toText) } : answer);

/**
 * @returns {{id: string, before: object | null, after: object | null, rows: {option: string, was: number | null, now: number | null}[], most: number}[]}
 *   before, after: what `verdict` says of the answer, null where the run does not have it; rows in the newer order;
 *   most: the largest move of one option, 0 to 1.
 */
export function compareAnswers(older, newer) {
  const old = new Map(older.map((answer) => [answer.id, answer]));
  const now = new Set(newer.map((answer) => answer.id));
  const both = newer.map((answer) => pair(answer.id, old.get(answer.id) ?? null, answer));
  return [...both, ...older.filter((answer) => !now.has(answer.id)).map((answer) => pair(answer.id, answer, null))];
}

function pair(id, a, b) {
  const newest = b ?? a;
  const p = (answer, option) => {
    const at = answer ? answer.options.indexOf(option) : -1;
    return at < 0 ? null : answer.probabilities[at];
  };
  const options = [...newest.options, ...(a && b ? a.options.filter((option) => !b.options.includes(option)) : [])];
  const labels = newest.type === "score" ? (newest.legend ?? []).map(toText) : null;
  const rows = options.map((option) => ({ option, label: labels ? `${option} ${labels[Number(option)] ?? ""}`.trim() : newest.type === "noul" ? (option === "true" ? "yes" : "no") : option, was: p(a, option), now: p(b, option) }));
  const most = a && b ? Math.max(...rows.map((row) => Math.abs((row.now ?? 0) - (row.was ?? 0)))) : 0;
  return { id, before: a && said(a), after: b && said(b), rows, most };
}

/** "+7 points", "−12 points", "under 1 point": a move between two probabilities. */
export function points(was, now) {
  const move = 100 * (now - was);
  if (Math.abs(move) < 0.5) return "under 1 point";
  const whole = Math.round(Math.abs(move));
  return `${move > 0 ? "+" : "−"}${whole} point${whole === 1 ? "" : "s"}`;
}
