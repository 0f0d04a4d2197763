// Two runs side by side: answers by question, options by name, and how far they moved.

import assert from "node:assert/strict";
import { test } from "node:test";

import { compareAnswers, points } from "../../assets/design/compare.js";

const choice = (id, options, probabilities) => ({ id, type: "choice", options, probabilities, legend: [] });

test("answers belong together by id, options by name, in the newer order", () => {
  const older = [choice("team", ["a", "b"], [0.7, 0.3]), choice("gone", ["x", "y"], [0.5, 0.5])];
  const newer = [choice("new", ["x", "y"], [0.9, 0.1]), choice("team", ["b", "c"], [0.9, 0.1])];
  const [fresh, team, gone] = compareAnswers(older, newer);
  assert.deepEqual([fresh.id, fresh.before, fresh.after.word], ["new", null, "X"]);
  assert.deepEqual(team.rows.map(({ option, was, now }) => [option, was, now]), [["b", 0.3, 0.9], ["c", null, 0.1], ["a", 0.7, null]]);
  assert.equal(team.most, 0.7);
  assert.deepEqual([gone.id, gone.after, gone.most], ["gone", null, 0]);
});

test("levels go by number and carry their text", () => {
  const score = (probabilities, legend) => ({ id: "how", type: "score", options: ["0", "1"], probabilities, legend });
  const [one] = compareAnswers([score([0.2, 0.8], ["low", "high"])], [score([0.6, 0.4], ["calm", { a: 1 }])]);
  assert.deepEqual(one.rows.map((r) => r.label), ["0 calm", '1 {"a":1}']);
  assert.ok(Math.abs(one.most - 0.4) < 1e-9);
});

test("moves in points", () => {
  const cases = [[0.64, 0.71, "+7 points"], [0.5, 0.38, "−12 points"], [0.5, 0.504, "under 1 point"], [0.5, 0.51, "+1 point"]];
  for (const [was, now, words] of cases) assert.equal(points(was, now), words);
});
