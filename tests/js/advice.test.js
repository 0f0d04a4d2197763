// Which hints a card shows, and what "Get code" asks: the document as the page would ask it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { asked } from "../../assets/design/code_view.js";
import { nameOf, sorted } from "../../assets/design/lint_view.js";

const doc = { schema: "s", state: "text", plain: false, questions: [{ uid: "a", id: "one" }, { uid: "b", id: "two" }] };
const finding = (question, rule) => ({ question, rule, message: rule, fix: null });

test("a hint that was put away stays away on its question, and on no other", () => {
  const found = [finding(0, "x"), finding(1, "x"), finding(null, "state")];
  const all = sorted(found, doc, new Set());
  assert.deepEqual([...all.shown.keys()], ["a", "b", ""]);
  const some = sorted(found, doc, new Set([nameOf(found[0], doc), nameOf(found[2], doc)]));
  assert.deepEqual([[...some.shown.keys()], some.hidden], [["b"], 2]);
});

test("code asks what the page asks", () => {
  const refused = (uid) => uid === "a";
  assert.deepEqual(asked(doc, refused), { questions: [doc.questions[1]], state: "text", left: [1] });
  assert.deepEqual(asked({ ...doc, state: '{"a": [1]}' }, refused).state, { a: [1] });
  assert.equal(asked({ ...doc, state: '{"a": [1]}', plain: true }, refused).state, '{"a": [1]}');
});
