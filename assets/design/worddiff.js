// What changed between two texts, by word, and between two schemas, by question. Pure: no DOM.
//
// A diff is a list of {kind: "same" | "added" | "removed", text}. Its same and removed parts, joined, are the first
// text; its same and added parts are the second, white space included. Where both changed, removed comes first.

import { toText } from "./schema.js";
import { alignment, rising } from "./align.js";
import { levelValue } from "./lint_rules/text.js";

/** @typedef {{kind: "same" | "added" | "removed", text: string}} Part */

// Words, single characters of scripts that put no space between words, white space, and punctuation one by one.
const UNSPACED = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]`;
const LETTER = String.raw`[\p{L}\p{N}\p{M}_]`;
const WORD = String.raw`(?:(?!${UNSPACED})${LETTER})+(?:['’]${LETTER}+)*`;
const TOKEN = new RegExp(String.raw`${UNSPACED}|${WORD}|\s+|[\s\S]`, "gu");

const SPACE = /\s/;
const whole = (kind, text) => (text ? [{ kind, text }] : []);

/**
 * @param {string} a
 * @param {string} b
 * @returns {Part[]}
 */
export function diffWords(a, b) {
  if (a === b) return whole("same", a);
  const [start, end] = ends(a, b);
  const left = a.slice(start, a.length - end).match(TOKEN) ?? [];
  const right = b.slice(start, b.length - end).match(TOKEN) ?? [];
  const ids = new Map();
  const id = (token) => {
    let n = ids.get(token);
    if (n === undefined) ids.set(token, (n = ids.size));
    return n;
  };
  return readable(alignment(left.map(id), right.map(id)), left, right, a.slice(0, start), a.slice(a.length - end));
}

/** Lengths of the common start and end, drawn back to white space so that no word is cut. Cheaper than tokens. */
function ends(a, b) {
  const most = Math.min(a.length, b.length);
  let start = 0;
  while (start < most && a.charCodeAt(start) === b.charCodeAt(start)) start += 1;
  while (start > 0 && !SPACE.test(a[start - 1])) start -= 1;
  while (start > 0 && SPACE.test(a[start - 1])) start -= 1;
  let end = 0;
  while (end < most - start && a.charCodeAt(a.length - 1 - end) === b.charCodeAt(b.length - 1 - end)) end += 1;
  while (end > 0 && !SPACE.test(a[a.length - end])) end -= 1;
  return [start, end];
}

/** Runs as parts that people can read: neighbours joined, and a lone space between two changes drawn into them. */
function readable(runs, left, right, before, after) {
  const parts = [];
  let removed = "";
  let added = "";
  const flush = () => {
    if (removed) parts.push({ kind: "removed", text: removed });
    if (added) parts.push({ kind: "added", text: added });
    removed = "";
    added = "";
  };
  const same = (text) => {
    flush();
    const last = parts.at(-1);
    if (last?.kind === "same") last.text += text;
    else parts.push({ kind: "same", text });
  };
  if (before) same(before);
  runs.forEach(([kind, i0, i1, j0, j1], at) => {
    if (kind === "changed") {
      removed += left.slice(i0, i1).join("");
      added += right.slice(j0, j1).join("");
      return;
    }
    const text = left.slice(i0, i1).join("");
    const between = (removed || added) && runs[at + 1]?.[0] === "changed";
    if (between && !text.trim()) {
      removed += text;
      added += text;
      return;
    }
    same(text);
  });
  if (after) same(after);
  flush();
  return parts;
}

// ---------------------------------------------------------------------------------------------------------- schemas

/**
 * @typedef {object} FieldChange
 * @property {string} field   "id", "type", "instructions", "criteria.true", "options.NAME", "options.NAME.description",
 *                            "levels.2" or "levels": a level is named by its place in the newer schema
 * @property {"added" | "removed" | "changed"} kind
 * @property {Part[]} words
 *
 * @typedef {object} QuestionChange
 * @property {"added" | "removed" | "changed" | "moved" | "same"} kind  "moved": nothing but its place changed
 * @property {string} id             the newer id; the older one where the question was removed
 * @property {number | null} before  index in the older schema
 * @property {number | null} after   index in the newer one
 * @property {boolean} moved         its place among the kept questions changed
 * @property {FieldChange[]} fields
 */

/**
 * What changed per question, in the order of the newer schema; a removed question stands where it was.
 *
 * Questions belong together by id; of those left over, by the same type and wording (then it was renamed). The order
 * of a choice's options is not compared: the model reads them sorted.
 * @param {{questions: object[]}} a  the older schema
 * @param {{questions: object[]}} b  the newer one
 * @returns {QuestionChange[]}
 */
export function diffSchema(a, b) {
  const match = matched(a.questions, b.questions);
  const kept = b.questions.map((_, j) => ({ i: match.get(j), j })).filter((pair) => pair.i !== undefined);
  const inPlace = new Set(rising(kept, (pair) => pair.i).map((pair) => pair.j));
  const changes = b.questions.map((question, j) => {
    const i = match.get(j);
    if (i === undefined) {
      return {
        kind: "added",
        id: question.id,
        before: null,
        after: j,
        moved: false,
        fields: allFields(question, "added"),
      };
    }
    const fields = changedFields(a.questions[i], question);
    const moved = !inPlace.has(j);
    return {
      kind: fields.length ? "changed" : moved ? "moved" : "same",
      id: question.id,
      before: i,
      after: j,
      moved,
      fields,
    };
  });
  const gone = new Set(a.questions.keys());
  for (const i of match.values()) gone.delete(i);
  for (const i of gone) {
    const question = a.questions[i];
    const change = {
      kind: "removed",
      id: question.id,
      before: i,
      after: null,
      moved: false,
      fields: allFields(question, "removed"),
    };
    const follows = changes.findLastIndex((c) => c.before !== null && c.before < i && !c.moved);
    changes.splice(follows + 1, 0, change);
  }
  return changes;
}

/** Which question of `older` each of `newer` is: Map newer index → older index. */
function matched(older, newer) {
  const match = new Map();
  const free = new Set(older.keys());
  const take = (same) => {
    newer.forEach((question, j) => {
      if (match.has(j)) return;
      const i = [...free].find((k) => same(older[k], question));
      if (i === undefined) return;
      match.set(j, i);
      free.delete(i);
    });
  };
  take((p, q) => p.id === q.id);
  take(
    (p, q) =>
      p.type === q.type && toText(p.instructions).trim() !== "" && toText(p.instructions) === toText(q.instructions),
  );
  return match;
}

/** The texts of a question by field, in order: [field, text]. Options go by their name. */
function fieldTexts(question) {
  const texts = [
    ["id", question.id],
    ["type", question.type],
    ["instructions", toText(question.instructions)],
  ];
  if (question.type === "noul") {
    for (const side of ["true", "false"]) texts.push([`criteria.${side}`, toText(question.criteria?.[side])]);
  } else if (question.type === "choice") {
    for (const o of question.options ?? [])
      texts.push([`options.${o.name}`, o.name], [`options.${o.name}.description`, toText(o.description)]);
  } else {
    levelTexts(question).forEach((text, i) => texts.push([`levels.${i}`, text]));
  }
  return texts;
}

const levelTexts = (question) => (question.levels ?? []).map((level) => toText(levelValue(level)));

const allFields = (question, kind) =>
  fieldTexts(question)
    .filter(([, text]) => text)
    .map(([field, text]) => ({ field, kind, words: whole(kind, text) }));

function changedFields(p, q) {
  if (p.type !== q.type) {
    // Fields of different types have nothing in common but these.
    const shared = new Set(["id", "type", "instructions"]);
    const before = fieldTexts(p);
    return [
      ...compared(
        new Map(before.filter(([f]) => shared.has(f))),
        fieldTexts(q).filter(([f]) => shared.has(f)),
      ),
      ...allFields(p, "removed").filter((c) => !shared.has(c.field)),
      ...allFields(q, "added").filter((c) => !shared.has(c.field)),
    ];
  }
  if (q.type === "score") {
    const head = (question) => fieldTexts(question).filter(([f]) => !f.startsWith("levels."));
    return [...compared(new Map(head(p)), head(q)), ...levelChanges(levelTexts(p), levelTexts(q))];
  }
  return compared(
    new Map(fieldTexts(q.type === "choice" ? renamed(p, q) : p)),
    fieldTexts(q),
    q.type === "choice" ? renames(p, q) : new Map(),
  );
}

/** Options of `q` that are options of `p` under another name: same description, which no other option has. */
function renames(p, q) {
  const names = (question) => new Set((question.options ?? []).map((o) => o.name));
  const [old, now] = [names(p), names(q)];
  const only = (question, others) => {
    const said = new Map();
    for (const o of question.options ?? []) {
      const text = toText(o.description).trim();
      if (!text || others.has(o.name)) continue;
      said.set(text, said.has(text) ? null : o.name);
    }
    return said;
  };
  const gone = only(p, now);
  const found = new Map();
  for (const [text, name] of only(q, old)) if (name !== null && gone.get(text)) found.set(name, gone.get(text));
  return found;
}

function renamed(p, q) {
  const now = new Map([...renames(p, q)].map(([name, old]) => [old, name]));
  return { ...p, options: (p.options ?? []).map((o) => (now.has(o.name) ? { ...o, name: now.get(o.name) } : o)) };
}

function compared(before, after, oldNames = new Map()) {
  const changes = [];
  const seen = new Set();
  for (const [field, text] of after) {
    seen.add(field);
    const old = oldNames.has(text) && field === `options.${text}` ? oldNames.get(text) : (before.get(field) ?? "");
    if (old === text) continue;
    changes.push({ field, kind: !old ? "added" : !text ? "removed" : "changed", words: diffWords(old, text) });
  }
  for (const [field, text] of before) {
    if (!seen.has(field) && text) changes.push({ field, kind: "removed", words: whole("removed", text) });
  }
  return changes;
}

/** Levels are a sequence: equal ones are kept in order, and what changed between two kept ones is paired off. */
function levelChanges(old, now) {
  const ids = new Map([...old, ...now].map((text, i, all) => [text, all.indexOf(text)]));
  const joined = [];
  for (const run of alignment(
    old.map((text) => ids.get(text)),
    now.map((text) => ids.get(text)),
  )) {
    const last = joined.at(-1);
    if (run[0] === "changed" && last?.[0] === "changed")
      joined[joined.length - 1] = ["changed", last[1], run[2], last[3], run[4]];
    else joined.push(run);
  }
  return joined
    .filter(([kind]) => kind === "changed")
    .flatMap(([, i0, i1, j0, j1]) => {
      const count = Math.max(i1 - i0, j1 - j0);
      return Array.from({ length: count }, (_, k) => {
        const before = i0 + k < i1 ? old[i0 + k] : "";
        const after = j0 + k < j1 ? now[j0 + k] : "";
        const kind = i0 + k >= i1 ? "added" : j0 + k >= j1 ? "removed" : "changed";
        return { field: kind === "removed" ? "levels" : `levels.${j0 + k}`, kind, words: diffWords(before, after) };
      });
    });
}
