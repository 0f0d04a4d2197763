// Marks on the state: which words are marked, how they follow an edit, and how they share the text with what is cut.

import assert from "node:assert/strict";
import { test } from "node:test";

import { followed, partMarks, pieces, readMarks, wordMarks } from "../../assets/design/marks.js";

const TEXT = "Our card was charged twice.\nPlease pay back.";

test("neighbouring words of one strength are one mark, and a line break ends it", () => {
  const at = (word) => [TEXT.indexOf(word), TEXT.indexOf(word) + word.length];
  const words = [
    [...at("card"), 2],
    [...at("was"), 1.6],
    [...at("charged"), 4],
    [...at("twice"), 1.4],
    [...at("."), 2],
    [...at("Please"), 2],
  ];
  const marks = wordMarks(TEXT, words).map(({ start, end, look }) => [TEXT.slice(start, end), look]);
  assert.deepEqual(marks, [["card was", 2], ["charged", 3], [".", 2], ["Please", 2]]);
});

test("parts below the noise, and parts that hardly move it, are not marked, and a mark ends where its sentence does", () => {
  const parts = [
    { spans: [[0, 28]], change: -42, counts: true },
    { spans: [[28, 44]], change: 3, counts: true },
    { spans: [[4, 8]], change: -8, counts: false },
    { spans: [[9, 12]], change: 1.4, counts: true },
    { spans: [], change: -9, counts: true },
  ];
  assert.deepEqual(partMarks(TEXT, parts), [
    { start: 0, end: 27, look: 3, against: false },
    { start: 28, end: 44, look: 2, against: true },
  ]);
});

test("marks follow an edit", () => {
  const marks = [{ start: 4, end: 8, look: 2 }, { start: 13, end: 20, look: 3 }];
  const words = (text) => followed(marks, TEXT, text).map(({ start, end }) => text.slice(start, end));
  assert.deepEqual(words(TEXT), ["card", "charged"]);
  assert.deepEqual(words(`Hello. ${TEXT}`), ["card", "charged"]);
  assert.deepEqual(words(TEXT.replace("was", "has been")), ["card", "charged"]);
  assert.deepEqual(words(TEXT.replace("charged", "charXged")), ["card", "charXged"]);
  assert.deepEqual(words(TEXT.replace("card ", "")), ["charged"]);
  assert.deepEqual(words(""), []);
});

test("pieces cover the text once, with marks and cuts", () => {
  const found = pieces(TEXT, [{ start: 4, end: 8, look: 2 }], [{ start: 28, end: 999 }]);
  assert.equal(found.map((p) => p.text).join(""), TEXT);
  assert.deepEqual(found.filter((p) => p.mark).map((p) => p.text), ["card"]);
  assert.deepEqual(found.filter((p) => p.cut).map((p) => p.text), ["Please pay back."]);
});

test("what was read is marked whole", () => {
  assert.deepEqual(readMarks(TEXT, [[28, 44], [0, 3]]).map((m) => [m.start, m.end, m.look]), [[0, 3, 2], [28, 44, 2]]);
});
