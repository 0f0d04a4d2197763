// Why an item is shown, where one labels, and what a key means.

import assert from "node:assert/strict";
import { test } from "node:test";

import { meant } from "../../assets/label/keys.js";
import { address, placeName, wanted } from "../../assets/label/places.js";
import { digit, goal, hiddenWords, odds, pace, reason } from "../../assets/label/reason.js";
import { parts } from "../../assets/label/state_view.js";

test("odds are counts that people can picture", () => {
  const table = [[1, "every one"], [0.34, "34 in 100"], [0.1, "10 in 100"], [0.05, "1 in 20"], [0.0004, "1 in 2,500"], [0, "not known yet"], [NaN, "not known yet"]];
  for (const [p, text] of table) assert.equal(odds(p), text);
});

test("the reason names the stream and a second opinion", () => {
  assert.equal(reason({ stream: "queue", inclusion: 0.34, drawn: 0.3 }).text, "Queue · the model doubts this one · shown 34 in 100");
  assert.equal(reason({ stream: "audit", inclusion: 0.5, drawn: 0.05, second: true }).text, "Audit · picked at random, 1 in 20 · a second opinion");
});

test("a hidden answer says why", () => {
  assert.match(hiddenWords({ stream: "audit" }, 1), /All of the audit is/);
  assert.match(hiddenWords({ stream: "queue" }, 0.25), /25 in 100 of the queue is/);
  assert.match(hiddenWords({ stream: "queue" }, null), /You hide all/);
});

test("pace, goals and digits", () => {
  assert.equal(pace([0, 1, 2, 3]), null);
  assert.equal(pace([0, 9000, 18000, 27000, 36000]), 400);
  assert.deepEqual([0, 49, 50, 120].map(goal), [50, 50, 100, 150]);
  assert.deepEqual([0, 8, 9, 10].map(digit), ["1", "9", "0", null]);
});

const PLACES = [
  { questions: "abc0", scorer: "ffff1", schema_id: "s1", schema: "Support", version: 2, asked: [{ id: "team" }, { id: "refund" }] },
  { questions: "abd0", scorer: "ffff2", schema_id: null, schema: null, version: null, asked: [{ id: "spam" }] },
];

test("an address leads to its place and back", () => {
  for (const place of PLACES) {
    for (const { id } of place.asked) {
      const found = wanted(PLACES, address({ place, question: id }));
      assert.equal(found.place, place);
      assert.equal(found.question, id);
    }
  }
  assert.equal(wanted(PLACES, "").place, PLACES[0]);
  assert.equal(wanted(PLACES, "?schema=gone"), null);
  assert.equal(wanted(PLACES, "?question=spam").place, PLACES[1]);
  assert.equal(wanted([], ""), null);
  assert.deepEqual(PLACES.map(placeName), ["Support v2", "No schema, draft"]);
});

test("a state is read as paragraphs and fields", () => {
  assert.deepEqual(parts("a\nb\n\nc"), { paragraphs: ["a\nb", "c"], fields: [] });
  const long = "x".repeat(130);
  assert.deepEqual(parts({ n: 1, text: long, ok: null }), { paragraphs: [long], fields: [["n", "1"], ["ok", "null"]] });
  assert.deepEqual(parts({ a: "b" }).fields, [["a", "b"]]);
  assert.deepEqual(parts(["a", { b: 1 }]).paragraphs.length, 2);
});

test("keys mean nothing in fields, with modifiers, or when turned off", () => {
  const at = (tag) => ({ closest: (selector) => (tag && selector.includes(tag) ? {} : null) });
  const key = (k, more = {}) => ({ key: k, target: at(null), ...more });
  assert.deepEqual(meant(key("3")), { do: "option", key: "3" });
  assert.deepEqual(meant(key("Y")), { do: "option", key: "y" });
  assert.deepEqual(meant(key("Enter")), { do: "accept" });
  assert.equal(meant(key("Enter", { target: at("button") })), null);
  assert.deepEqual(meant(key("3", { target: at("button") })), { do: "option", key: "3" });
  for (const more of [{ ctrlKey: true }, { repeat: true }, { isComposing: true }, { target: at("input") }, { target: at("dialog") }]) assert.equal(meant(key("3", more)), null);
  assert.equal(meant(key("3"), { enabled: false }), null);
  assert.deepEqual(meant(key("?"), { enabled: false }), { do: "help" });
});
