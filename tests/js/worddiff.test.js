// Word diffs: both texts come back whole, changes read well, large texts stay quick; and what changed in a schema.

import assert from "node:assert/strict";
import { test } from "node:test";

import { diffSchema, diffWords } from "../../assets/design/worddiff.js";

const joined = (parts, kind) =>
  parts
    .filter((p) => p.kind === "same" || p.kind === kind)
    .map((p) => p.text)
    .join("");
const brief = (parts) => parts.map((p) => ({ same: " ", added: "+", removed: "-" })[p.kind] + p.text);

/** A small seeded generator, so that a failure can be repeated. */
function random(seed) {
  let s = seed >>> 0;
  return (n) => {
    s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
    return Math.floor((s / 2 ** 32) * n);
  };
}

function check(a, b, why = "") {
  const parts = diffWords(a, b);
  assert.equal(joined(parts, "removed"), a, why);
  assert.equal(joined(parts, "added"), b, why);
  parts.forEach((part, i) => {
    assert.ok(part.text.length > 0, why);
    if (i) assert.notEqual(part.kind, parts[i - 1].kind, "neighbours are joined");
    if (i) assert.ok(!(part.kind === "removed" && parts[i - 1].kind === "added"), "removed comes first");
  });
  return parts;
}

test("what changed is told by the word", () => {
  const cases = [
    ["", "", []],
    ["same", "same", [" same"]],
    ["", "new words", ["+new words"]],
    ["old words", "", ["-old words"]],
    ["Is it urgent?", "Is it very urgent?", [" Is it", "+ very", "  urgent?"]],
    ["Is it urgent?", "Is it angry?", [" Is it ", "-urgent", "+angry", " ?"]],
    ["a b c", "a b d", [" a b ", "-c", "+d"]],
    ["don't", "don’t", ["-don't", "+don’t"]],
    ["one\ntwo", "one two", [" one", "-\n", "+ ", " two"]],
    // A lone space between two changes is drawn into them: two changed words read as one change.
    ["say old words now", "say new things now", [" say ", "-old words", "+new things", "  now"]],
    ["漢字です", "漢学です", [" 漢", "-字", "+学", " です"]],
    ["résumé", "resume", ["-résumé", "+resume"]],
  ];
  for (const [a, b, expected] of cases) assert.deepEqual(brief(check(a, b)), expected, `${a} → ${b}`);
});

test("both texts come back whole, whatever they are", () => {
  const pick = random(7);
  const tokens = [
    "a",
    "b",
    "c",
    "ab",
    " ",
    "  ",
    "\n",
    "\t",
    ".",
    "?",
    "ж",
    "漢",
    "ก",
    "👍🏽",
    "x'y",
    "\ud800",
    "\u0301",
    "_",
    "1",
  ];
  const text = () => Array.from({ length: pick(14) }, () => tokens[pick(tokens.length)]).join("");
  for (let i = 0; i < 4000; i += 1) {
    const [a, b] = [text(), text()];
    check(a, b, JSON.stringify([a, b]));
  }
});

test("small texts are compared as shortly as can be", () => {
  // The longest common subsequence by the textbook's table, against what the diff keeps.
  const pick = random(11);
  for (let round = 0; round < 300; round += 1) {
    const list = () => Array.from({ length: pick(9) }, () => "abcd"[pick(4)]);
    const [a, b] = [list(), list()];
    const rows = Array.from({ length: a.length + 1 }, () => new Array(b.length + 1).fill(0));
    for (let i = a.length - 1; i >= 0; i -= 1) {
      for (let j = b.length - 1; j >= 0; j -= 1) {
        rows[i][j] = a[i] === b[j] ? rows[i + 1][j + 1] + 1 : Math.max(rows[i + 1][j], rows[i][j + 1]);
      }
    }
    // Punctuation marks are words of their own, without white space between.
    const mark = { a: ".", b: "?", c: ",", d: ";" };
    const parts = check(a.map((c) => mark[c]).join(""), b.map((c) => mark[c]).join(""));
    const kept = parts.filter((p) => p.kind === "same").reduce((n, p) => n + p.text.length, 0);
    assert.equal(kept, rows[0][0], `${a.join("")} ${b.join("")}`);
  }
});

test("20,000 words take under a fifth of a second, changed a little, a lot, or altogether", () => {
  const pick = random(3);
  const words = Array.from({ length: 20_000 }, () => `w${pick(5000)}`);
  const text = words.join(" ");
  const other = (n) => Array.from({ length: 20_000 }, () => `w${pick(n)}`).join(" ");
  const cases = {
    "one word": words.with?.(9999, "zz").join(" ") ?? [...words.slice(0, 9999), "zz", ...words.slice(10_000)].join(" "),
    "one in a hundred": words.map((w) => (pick(100) ? w : "zz")).join(" "),
    "one in ten": words.map((w) => (pick(10) ? w : `q${pick(1e9)}`)).join(" "),
    "halves swapped": [...words.slice(10_000), ...words.slice(0, 10_000)].join(" "),
    "another text of the same words": other(5000),
    "another text of few words": other(50),
    "nothing in common": other(5000).replaceAll("w", "v"),
  };
  for (const [name, b] of Object.entries(cases)) {
    // Processor time, not wall time: other tests may run beside this one. The best of three leaves compilation out.
    const times = [1, 2, 3].map(() => {
      const before = process.cpuUsage().user;
      check(text, b, name);
      return (process.cpuUsage().user - before) / 1000;
    });
    assert.ok(Math.min(...times) < 200, `${name}: ${times.map(Math.round)} ms`);
  }
  assert.equal(check(text, cases["one word"]).length, 4);
});

// ---------------------------------------------------------------------------------------------------------- schemas

const question = (id, type, instructions, fields = {}) => ({
  id,
  type,
  instructions,
  criteria: {},
  options: [],
  levels: [],
  ...fields,
});
const noul = (id, text, criteria = {}) => question(id, "noul", text, { criteria });
const choice = (id, text, options) =>
  question(id, "choice", text, { options: options.map(([name, description]) => ({ name, description })) });
const score = (id, text, ...levels) =>
  question(id, "score", text, { levels: levels.map((level) => ({ text: level })) });
const doc = (...questions) => ({ questions });
const kinds = (changes) => changes.map((c) => `${c.id} ${c.kind}${c.moved && c.kind !== "moved" ? ", moved" : ""}`);
const fields = (change) => change.fields.map((f) => `${f.kind} ${f.field}: ${brief(f.words).join("|")}`);

const [A, B, C] = [noul("a", "Is it open?"), noul("b", "Is it free?"), noul("c", "Is it red?")];

test("questions are added, removed, moved, changed, or the same", () => {
  const cases = [
    [doc(), doc(), []],
    [doc(A, B), doc(A, B), ["a same", "b same"]],
    [doc(A), doc(A, B), ["a same", "b added"]],
    [doc(A, B, C), doc(A, C), ["a same", "b removed", "c same"]],
    [doc(A, B), doc(), ["a removed", "b removed"]],
    [doc(A, B, C), doc(C, A, B), ["c moved", "a same", "b same"]],
    [doc(A, B), doc(B, noul("a", "Is it closed?")), ["b moved", "a changed"]],
    [doc(A, B, C), doc(noul("c", "Is it blue?"), A, B), ["c changed, moved", "a same", "b same"]],
    [doc(A), doc(noul("z", "Is it open?")), ["z changed"]],
    [doc(noul("a", "")), doc(noul("z", "")), ["a removed", "z added"]],
  ];
  for (const [a, b, expected] of cases) assert.deepEqual(kinds(diffSchema(a, b)), expected);
});

test("every field is told by the word", () => {
  const changed = (p, q) => fields(diffSchema(doc(p), doc(q))[0]);
  assert.deepEqual(changed(A, noul("a", "Is it closed?", { true: "shut" })), [
    "changed instructions:  Is it |-open|+closed| ?",
    "added criteria.true: +shut",
  ]);
  assert.deepEqual(changed(A, noul("is_open", "Is it open?")), ["changed id: -a|+is_open"]);
  assert.deepEqual(
    changed(
      choice("k", "Which?", [
        ["bill", "To pay"],
        ["letter", "A letter"],
        ["note", ""],
      ]),
      choice("k", "Which?", [
        ["letter", "A long letter"],
        ["invoice", "To pay"],
        ["other", ""],
      ]),
    ),
    [
      "changed options.letter.description:  A|+ long|  letter",
      "changed options.invoice: -bill|+invoice",
      "added options.other: +other",
      "removed options.note: -note",
    ],
  );
  assert.deepEqual(
    changed(score("s", "How?", "low", "medium", "high"), score("s", "How?", "none", "low", "mid", "high")),
    ["added levels.0: +none", "changed levels.2: -medium|+mid"],
  );
  assert.deepEqual(changed(score("s", "How?", "low", "high"), score("s", "How?", "low")), ["removed levels: -high"]);
  assert.deepEqual(changed(A, choice("a", "Is it open?", [["yes", ""]])), [
    "changed type: -noul|+choice",
    "added options.yes: +yes",
  ]);
});

test("options in another order are the same options, JSON fields are compared as text", () => {
  const p = choice("k", { ask: "which" }, [
    ["a", { x: 1 }],
    ["b", null],
  ]);
  const q = choice("k", { ask: "which" }, [
    ["b", ""],
    ["a", { x: 1 }],
  ]);
  assert.deepEqual(kinds(diffSchema(doc(p), doc(q))), ["k same"]);
  const r = { ...p, instructions: { ask: "what" } };
  assert.deepEqual(fields(diffSchema(doc(p), doc(r))[0]), ['changed instructions:  {"ask":"|-which|+what| "}']);
});

test("the diff accounts for every question of both schemas exactly once", () => {
  const pick = random(5);
  const some = () => {
    const ids = ["a", "b", "c", "d", "e"].filter(() => pick(3));
    return doc(...ids.sort(() => pick(3) - 1).map((id) => noul(id, pick(2) ? `Is it ${id}?` : "Is it open?")));
  };
  for (let i = 0; i < 500; i += 1) {
    const [a, b] = [some(), some()];
    const changes = diffSchema(a, b);
    assert.deepEqual(
      changes.flatMap((c) => (c.after === null ? [] : [c.after])),
      [...b.questions.keys()],
    );
    assert.deepEqual(changes.flatMap((c) => (c.before === null ? [] : [c.before])).sort(), [...a.questions.keys()]);
    for (const change of changes) {
      for (const { field, words } of change.fields) assert.ok(words.length, field);
      assert.equal(change.kind === "same" || change.kind === "moved", change.fields.length === 0);
    }
  }
});
