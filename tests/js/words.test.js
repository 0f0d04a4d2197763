// The words for probabilities: every row of the visual language's table, and the edges between them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { level, moreWords, percent, rowName, rows, shortLevel, verdict } from "../../assets/design/words.js";

const noul = (yes) => ({ type: "noul", options: ["true", "false"], probabilities: [yes, 1 - yes] });
const choice = (...p) => ({ type: "choice", options: ["billing", "delivery", "it_support", "none_of_these"].slice(0, p.length), probabilities: p });
const score = (...p) => ({ type: "score", options: p.map((_, i) => String(i)), labels: ["can wait", "this week", "today", "now"].slice(0, p.length), probabilities: p });
const plain = (text) => text.replaceAll("\u00a0", " ");

test("percent: whole, one decimal at the ends, never a bare 0 or 100", () => {
  const cases = [
    [0, "<0.1 %"], [0.0004, "<0.1 %"], [0.0005, "0.1 %"], [0.004, "0.4 %"], [0.01, "1 %"], [0.224, "22 %"], [0.99, "99 %"],
    [0.996, "99.6 %"], [0.9994, "99.9 %"], [0.9995, ">99.9 %"], [1, ">99.9 %"], [NaN, "–"],
  ];
  for (const [p, text] of cases) assert.equal(plain(percent(p)), text, `percent(${p})`);
});

test("verdict: what is said of each kind of answer", () => {
  const cases = [
    [noul(0.984), "Yes", "very sure, 98 %", 0],
    [noul(0.13), "No", "fairly sure, 87 %", 1],
    [noul(0.71), "Yes", "leaning, 71 %", 0],
    [noul(0.58), "Yes", "leaning weakly, 58 %", 0],
    [noul(0.52), "Could be either", "52 to 48, close to a coin flip", -1],
    [noul(0.519), "Could be either", "52 to 48, close to a coin flip", -1],
    [noul(0.504), "Cannot tell", "an even split", -1],
    [choice(0.05, 0.22, 0.71, 0.02), "It support", "leaning, 71 %", 2],
    [choice(0.45, 0.4, 0.1, 0.05), "Torn between billing and delivery", "45 to 40", -1],
    [choice(0.36, 0.33, 0.29, 0.02), "One of three", "95 % of the probability", -1],
    [choice(0.26, 0.25, 0.25, 0.24), "Cannot tell", "spread evenly over 4 options", -1],
    [choice(1), "Billing", "the only option", -1],
    [score(0.03, 0.09, 0.35, 0.53), "Today to now", "expected 2.4 of 3", 3],
    [score(0.01, 0.02, 0.9, 0.07), "Today", "fairly sure, 90 %, expected 2.0 of 3", 2],
    [score(0.46, 0.04, 0.04, 0.46), "Torn between can wait and now", "expected 1.5 of 3", -1],
    [score(0.25, 0.25, 0.25, 0.25), "Cannot tell", "spread evenly over 4 levels", -1],
  ];
  for (const [answer, word, sure, lead] of cases) {
    const said = verdict(answer);
    assert.deepEqual([said.word, plain(said.sure), said.lead], [word, sure, lead]);
    assert.equal(said.flat, lead < 0, `${word}: what leads nowhere must not shine`);
  }
});

test("rows: all up to six; over six those that make 95 %, at most ten, in their own order", () => {
  const many = (p) => ({ type: "choice", options: p.map((_, i) => `o${i}`), probabilities: p });
  assert.deepEqual(rows(many([0.5, 0.1, 0.1, 0.1, 0.1, 0.1])).shown, [0, 1, 2, 3, 4, 5]);
  const short = rows(many([0.01, 0.6, 0.01, 0.3, 0.02, 0.03, 0.03]));
  assert.deepEqual([short.shown, short.more], [[1, 3, 5, 6], 3]);
  assert.equal(plain(moreWords(short)), "3 more options, 4 % together");
  const flat = rows(many(Array(50).fill(0.02)));
  assert.deepEqual([flat.shown.length, flat.more, plain(moreWords(flat))], [10, 40, "40 more options, 80 % together"]);
  assert.equal(rows(many(Array(50).fill(0.02)), true).shown.length, 50);
  assert.equal(rows({ type: "score", options: [], probabilities: Array(10).fill(0.1) }).shown.length, 10);
});

test("levels: the expected one, and short names", () => {
  assert.equal(level(score(0, 0.5, 0.5)), "1.5");
  assert.equal(shortLevel("now", 3), "now");
  assert.equal(shortLevel("At once: every minute or hour counts", 3), "At once");
  assert.equal(shortLevel("Within the next couple of working days", 1), "Within the next couple of…");
  assert.equal(shortLevel("", 2), "Level 2");
  assert.equal(rowName(score(1, 0), 1), "1 this week");
});
