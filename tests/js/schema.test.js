// The document: to the wire and back, what is wrong with it, and what undo takes back.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  changeType, checkDoc, copyQuestion, emptyDoc, freeId, fromText, fromWire, moved, newOption, newQuestion, opened, placeError, stateKind, toText, toWire,
} from "../../assets/design/schema.js";
import { pretty } from "../../assets/design/state.js";
import { PAUSE, Store, withQuestion } from "../../assets/design/store.js";

const LIMITS = { questions: 64, options: 255, levels: 10, images: 4, id_length: 256 };

test("a map of questions survives the editor: order, JSON values, nulls", () => {
  const wire = {
    b: { type: "noul", instructions: "Is it?", criteria: { true: { any: "JSON" }, false: null } },
    a: { type: "choice", criteria: { zeta: "last letter", "2": null, alpha: ["x"] } },
    s: { type: "score", instructions: { ask: "how" }, criteria: ["low", { level: "high" }] },
  };
  const sent = fromWire(wire).map((q) => [q.id, toWire(q)]);
  assert.deepEqual(sent.map(([id]) => id), ["b", "a", "s"]);
  assert.deepEqual(sent[0][1], wire.b);
  // A JavaScript object puts "2" first by itself; from here on the order is a list's.
  assert.deepEqual(sent[1][1], { type: "choice", options: [["2", null], ["zeta", "last letter"], ["alpha", ["x"]]] });
  assert.deepEqual(sent[2][1], { type: "score", instructions: { ask: "how" }, criteria: ["low", { level: "high" }] });
});

test("rows that nobody filled in are not sent and not wrong", () => {
  const question = { ...newQuestion("choice"), options: [{ uid: "1", name: "yes", description: "" }, { uid: "2", name: "", description: "" }] };
  assert.deepEqual(toWire(question).options, [["yes", null]]);
  assert.equal(checkDoc({ ...emptyDoc(), questions: [question] }, LIMITS).size, 0);
});

test("what is wrong is said at its field", () => {
  const option = (uid, name, description = "") => ({ uid, name, description });
  const cases = [
    [{ id: "" }, "id"],
    [{ id: "x".repeat(257) }, "id"],
    [{ type: "noul", instructions: "" }, "waiting"],
    [{ type: "choice", options: [] }, "options"],
    [{ type: "choice", options: [option("r1", "a"), option("r2", "a")] }, "r2"],
    [{ type: "choice", options: [option("r1", "", "described but not named")] }, "r1"],
    [{ type: "choice", options: Array.from({ length: 256 }, (_, i) => option(`r${i}`, `o${i}`)) }, "options"],
    [{ type: "score", levels: [] }, "levels"],
    [{ type: "score", levels: Array.from({ length: 11 }, (_, i) => ({ uid: `l${i}`, text: `level ${i}` })) }, "levels"],
  ];
  for (const [change, field] of cases) {
    const question = { ...newQuestion("noul"), instructions: "Is it?", ...change };
    const errors = checkDoc({ ...emptyDoc(), questions: [question] }, LIMITS).get(question.uid);
    assert.deepEqual(errors?.map((e) => e.field), [field], JSON.stringify(change).slice(0, 80));
    assert.ok(errors[0].message.length > 10);
  }
});

test("an id that is there twice is wrong on the second, with a free one to take", () => {
  const one = { ...newQuestion("noul"), id: "spam", instructions: "Is it?" };
  const two = { ...newQuestion("noul"), id: "spam", instructions: "Is it?" };
  const errors = checkDoc({ ...emptyDoc(), questions: [one, two] }, LIMITS);
  assert.equal(errors.has(one.uid), false);
  assert.deepEqual(errors.get(two.uid)[0].fix, { label: "spam_2", id: "spam_2" });
});

test("the server's loc finds its field", () => {
  const [noul, choice, score] = fromWire({
    n: { type: "noul", instructions: "?" },
    c: { type: "choice", criteria: { a: null, b: null } },
    s: { type: "score", criteria: ["low", "high"] },
  });
  const asked = [noul, choice, score];
  const cases = [
    [["questions", "n"], noul, "id"],
    [["questions", "n", "noul", "instructions"], noul, "instructions"],
    [["questions", "n", "noul", "criteria", "true"], noul, "criteria.true"],
    [["questions", "c", "choice", "criteria"], choice, "options"],
    [["questions", "c", "criteria", "b"], choice, choice.options[1].uid],
    [["questions", "s", "score", "criteria", 1], score, score.levels[1].uid],
    [["state"], null, "state"],
    [["questions", "gone"], null, "questions"],
  ];
  for (const [loc, question, field] of cases) {
    assert.deepEqual(placeError(loc, asked), { uid: question?.uid ?? null, field }, loc.join("."));
  }
});

test("copies and other types have their own identity and lose nothing", () => {
  const [question] = fromWire({ team: { type: "choice", instructions: "Which?", criteria: { a: "A", b: "B" } } });
  const copy = copyQuestion(question, new Set(["team"]));
  assert.equal(copy.id, "team_2");
  assert.notEqual(copy.options[0].uid, question.options[0].uid);
  const there = changeType(question, "score");
  assert.deepEqual([there.levels.length, changeType(there, "choice").options], [3, question.options]);
  assert.equal(freeId("x", new Set(["x", "x_2"])), "x_3");
  assert.deepEqual(moved([1, 2, 3], 0, 1), [2, 1, 3]);
  const list = [1, 2];
  assert.equal(moved(list, 1, 2), list, "past the end nothing moves");
});

test("fields: JSON stays JSON while it parses", () => {
  assert.equal(toText({ a: 1 }), '{"a":1}');
  assert.deepEqual(fromText('{"a":2}', { a: 1 }), { a: 2 });
  assert.equal(fromText('{"a":', { a: 1 }), '{"a":');
  assert.equal(fromText('{"a":2}', "text before"), '{"a":2}', "typed text is text");
});

test("a state is JSON when it is an object or a list, and text otherwise", () => {
  const cases = [["{\"a\":1}", "json"], [" [1]", "json"], ["{a:1}", "text"], ["12", "text"], ["[tag] hello", "text"], ["", "text"]];
  for (const [text, kind] of cases) assert.equal(stateKind(text), kind, text);
  assert.equal(stateKind("[1]", true), "text");
});

test("tidying JSON changes its spaces and nothing else", () => {
  const text = '{"n":12345678901234567890.10,"t":"a, {b}: \\"c\\"","e":{},"l":[1,[ ]],"x":null}';
  const tidy = pretty(text);
  assert.match(tidy, /12345678901234567890\.10/);
  assert.equal(tidy.replace(/\n\s*/g, "").replaceAll('": ', '":'), text.replace("[ ]", "[]"));
  assert.deepEqual(JSON.parse(tidy), JSON.parse(text));
  assert.equal(pretty(tidy), tidy);
});

test("undo takes back a burst of typing, a row, a burst", () => {
  let now = 0;
  const store = new Store({ ...emptyDoc(), name: "" }, () => now);
  const type = (name) => store.change((doc) => ({ ...doc, name }), { merge: "name" });
  for (const name of ["a", "ab", "abc"]) type(name);
  now += PAUSE + 1;
  type("abcd");
  store.change((doc) => ({ ...doc, questions: [newQuestion("noul")] }));
  store.change((doc) => withQuestion(doc, doc.questions[0].uid, (q) => ({ ...q, open: false })), { quiet: true });
  const seen = [];
  while (store.undo()) seen.push([store.doc.name, store.doc.questions.length]);
  assert.deepEqual(seen, [["abcd", 0], ["abc", 0], ["", 0]]);
  store.redo();
  assert.equal(store.doc.name, "abc");
  type("new");
  assert.equal(store.canRedo, false, "a change ends what could be redone");
});

test("a document of more open rows than a page can hold opens folded, a smaller one as it was left", () => {
  const of = (questions, rows) => ({
    ...emptyDoc(),
    questions: Array.from({ length: questions }, (_, i) => ({ ...newQuestion("choice"), id: `q${i}`, options: Array.from({ length: rows }, (_, j) => newOption(`o${j}`)) })),
  });
  for (const [questions, rows] of [[64, 10], [1, 255]]) {
    const doc = of(questions, rows);
    assert.equal(opened(doc), doc, `${questions} × ${rows}`);
  }
  const huge = of(64, 255);
  assert.ok(opened(huge).questions.every((q) => !q.open && q.options.length === 255));
  const folded = { ...huge, questions: huge.questions.map((q, i) => ({ ...q, open: i === 3 })) };
  assert.equal(opened(folded), folded, "the one that is open stays open");
});
