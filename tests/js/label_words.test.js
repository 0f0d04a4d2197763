// Why an item is shown, where one labels, and what a key means.

import assert from "node:assert/strict";
import { test } from "node:test";

import { meant } from "../../assets/label/keys.js";
import { address, placeName, wanted } from "../../assets/label/places.js";
import { digit, goal, hiddenWords, odds, pace, reason } from "../../assets/label/reason.js";
import { agreementWords, anchoringWords } from "../../assets/label/people_view.js";
import { parts } from "../../assets/label/state_view.js";
import { worthWords } from "../../assets/label/worth.js";

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

test("the meter says what labels buy, and when no more", () => {
  const numbers = { n: 60, above: 40, wrong: 1, threshold: 0.9, next: 20, now: 0.113, then: 0.088, hardly: false };
  assert.match(worthWords(numbers).text, /1 of 40 were wrong\. Only audit labels/);
  assert.deepEqual(worthWords(numbers).scale, { now: 0.113, then: 0.088, next: 20 });
  assert.match(worthWords({ ...numbers, hardly: true }).text, /hardly lower the bound/);
  assert.match(worthWords({ ...numbers, now: null, then: null, n: 0 }).text, /No audit labels yet/);
  assert.match(worthWords({ ...numbers, now: null, then: null, above: 0 }).text, /None of 60 audit labels/);
});

test("agreement and sway are said with their n", () => {
  const base = { n: 40, people: 2, observed: 0.9, kappa: { value: 0.81, low: 0.6, high: 0.95 }, alpha: null, names: ["Ann", "Bob"], ordered: false };
  assert.match(agreementWords(base).join(" "), /Ann, Bob judged 40 answers.*κ is 0\.81 \(95 %: 0\.60 to 0\.95\)/);
  assert.match(agreementWords({ ...base, n: 5, ordered: true }).join(" "), /weighted.*provisional/);
  assert.match(agreementWords({ ...base, kappa: { value: null, low: null, high: null } }).join(" "), /cannot be told/);
  assert.match(agreementWords({ ...base, n: 0 })[0], /Nobody judged/);
  const arm = (value, n) => ({ value, n });
  assert.match(anchoringWords({ blind: arm(0.7, 80), shown: arm(0.9, 200), difference: [0.2, 0.1, 0.3] }).join(" "), /n = 80.*n = 200.*sways people: 20 points/);
  assert.match(anchoringWords({ blind: arm(0.8, 80), shown: arm(0.81, 200), difference: [0.01, -0.1, 0.1] })[1], /No sign of sway/);
  assert.match(anchoringWords({ blind: arm(null, 0), shown: arm(0.8, 9), difference: [null, null, null] })[0], /Not known yet: 0 labels given blind, 9/);
});
