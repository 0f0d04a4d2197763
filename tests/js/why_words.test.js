// What is said of reasons: where it looked is never called a proof, and nothing below the noise is called a reason.

import assert from "node:assert/strict";
import { test } from "node:test";

import { lookedWords, movesWords, partName, pathName, pointsWords, strongest } from "../../assets/design/why_words.js";

test("where it looked is said with its limits", () => {
  const routing = { how: "routing", words: [[0, 4, 2]], share: 0.31, pictures: [] };
  assert.match(lookedWords(routing, "yes"), /not proof/);
  assert.match(lookedWords(routing, "yes"), /31 % of its attention/);
  assert.match(lookedWords({ ...routing, words: [] }, "yes"), /all of the state about alike/);
  assert.match(lookedWords({ how: "excerpts", words: [[0, 4, 1]], read: [430, 1200] }, "yes"), /430 of 1,200 characters.*cannot tell/);
  assert.match(lookedWords({ how: "whole", words: [] }, "yes"), /whole state.*cannot tell/);
});

test("parts have names", () => {
  assert.equal(partName({ kind: "text", text: "Please." }), "“Please.”");
  assert.equal(partName({ kind: "value", text: "5", path: ["items", 2, "n"] }), "items[2].n: “5”");
  assert.equal(partName({ kind: "picture", picture: 1 }), "picture 2");
  assert.equal(partName({ kind: "tile", picture: 0, box: [0, 0, 1 / 3, 1 / 3] }), "the top left of picture 1");
  assert.equal(partName({ kind: "tile", picture: 0, box: [1 / 3, 1 / 3, 2 / 3, 2 / 3] }), "the middle of picture 1");
  assert.equal(pathName([0, "a"]), "[0].a");
  assert.equal(pointsWords(-48.4), "48 points less");
  assert.equal(pointsWords(1.2), "1 point more");
  assert.equal(pointsWords(0.31), "0.3 points more");
});

const part = (change, counts = true) => ({ kind: "text", text: "x", spans: [[0, 1]], change, counts });
const found = (more) => ({ option: "true", parts: [part(-5), part(-40), part(0.1, false)], floor: 0.4, repeats: 7, shaky: false, flip: null, read: null, left_out: [], ...more });
const name = (id) => ({ true: "yes", false: "no" })[id];

test("the strongest come first, and noise does not come", () => {
  assert.deepEqual(strongest(found({}).parts).shown.map((p) => p.change), [-40, -5]);
  assert.match(movesWords(found({}), name).join(" "), /up to 0\.4 points are noise: 7 repeats.*No set of up to three/);
  assert.match(movesWords(found({ parts: [part(0.1, false)] }), name).join(" "), /Nothing that was left out moved “yes”/);
});

test("a set that flips the answer is told, unless the answer flips by itself", () => {
  const flip = { parts: [0, 1], top: "false", probability: 0.62 };
  assert.match(movesWords(found({ flip }), name).join(" "), /Without 2 parts together another answer leads: “no”, 62 %/);
  assert.match(movesWords(found({ shaky: true }), name).join(" "), /too close to call/);
});
