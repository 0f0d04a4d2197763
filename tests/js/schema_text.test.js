// A schema as text: what is written is read back, the order is kept, and what is wrong is said with its place.

import assert from "node:assert/strict";
import { test } from "node:test";

import { JsonError, placeOf, readJson } from "../../assets/design/json_text.js";
import { emptyDoc, toWire } from "../../assets/design/schema.js";
import { asksSame, listed, mergeQuestions, readSchema, requestText, schemaText } from "../../assets/design/schema_text.js";

const BODY = `{
  "model": "clef",
  "state": {"amount": 1.50, "id": 12345678901234567890},
  "questions": {
    "b": {"type": "noul", "instructions": "Is it?", "criteria": {"true": {"any": [1]}}},
    "a": {"type": "choice", "criteria": {"zeta": "last", "2": null, "10": ["x"]}},
    "s": {"type": "score", "instructions": {"ask": "how"}, "criteria": ["low", {"level": "high"}]}
  }
}`;

const doc = () => ({ ...emptyDoc(), name: "Triage", questions: mergeQuestions([], readSchema(BODY).questions) });

test("a request body is read in its order, and its numbers stay as they were written", () => {
  const read = readSchema(BODY);
  assert.deepEqual(read.questions.map((q) => q.id), ["b", "a", "s"]);
  assert.deepEqual(read.questions[1].options, [["zeta", "last"], ["2", null], ["10", ["x"]]]);
  assert.equal(read.state, '{\n  "amount": 1.50,\n  "id": 12345678901234567890\n}');
});

test("what is written is read back as the same questions", () => {
  const written = doc();
  assert.deepEqual(readSchema(schemaText(written)).questions, listed(written.questions));
  assert.equal(readSchema(schemaText(written)).name, "Triage");
  const state = '{"amount": 1.50}';
  const body = requestText({ ...written, state }, "clef");
  assert.match(body, /"amount": 1\.50/);
  assert.deepEqual(readSchema(body).questions, listed(written.questions));
  assert.equal(readSchema(requestText({ ...written, state, plain: true }, "clef")).plain, true);
});

test("a map of questions alone is a schema too", () => {
  assert.deepEqual(readSchema('{"a": {"type": "noul", "instructions": "Is it?"}}').questions, [{ id: "a", type: "noul", instructions: "Is it?" }]);
});

test("what is wrong is said with its line", () => {
  const cases = [
    ["", 1, /value is missing/],
    ['{"questions": {', 1, /double quotes/],
    ['{\n  "questions": {},\n}', 3, /comma stands before/],
    ['{"a": 1\n"b": 2}', 2, /comma or a closing brace/],
    ['{\n"a": 1,\n"a": 2}', 3, /twice/],
    ['{"questions": {"a": {"type": "noul", "instructions": "x\n"}}}', 1, /closing quote/],
    ['{"questions": {\n"a": {"type": "maybe"}}}', 2, /“noul”, “choice” or “score”/],
    ['{"questions": {"a": {"type": "choice",\n"criteria": ["x"]}}}', 2, /must be an object/],
    ['{"questions": {"a": {"type": "score"}}}', 1, /list of levels/],
    ['{"questions": {"a": {"type": "noul",\n"criteria": {\n"yes": "x"}}}}', 3, /Only “true” and “false”/],
    ['{"questions": {"a": {"type": "noul",\n"weight": 2}}}', 2, /not a field/],
    ['{"name": 3, "questions": {}}', 1, /“name” must be text/],
    ['{"questions": {}} more', 1, /after the end/],
    ['{"questions": tru}', 1, /value belongs here/],
    [`${"[".repeat(80)}`, 1, /deeper/],
  ];
  for (const [text, line, message] of cases) {
    assert.throws(
      () => readSchema(text),
      (error) => error instanceof JsonError && message.test(error.message) && placeOf(text, error.at).line === line,
      text,
    );
  }
});

test("numbers and texts are those of JSON.parse", () => {
  for (const text of ["0", "-1.5e+3", '"\\u00e9\\n"', "[true, false, null]", " 12 "]) assert.deepEqual(readJson(text).value, JSON.parse(text));
  for (const text of ["01", "+1", "1.", ".5", "NaN", "'a'", '"\\x"', '"\t"']) assert.throws(() => readJson(text), JsonError, text);
});

test("questions and rows keep their identity while the text is edited", () => {
  const { questions } = doc();
  assert.equal(mergeQuestions(questions, listed(questions)), questions, "nothing changed");
  const reworded = mergeQuestions(questions, listed(questions).map((q) => (q.id === "b" ? { ...q, instructions: "Was it?" } : q)));
  assert.equal(reworded[0].uid, questions[0].uid);
  assert.equal(reworded[1], questions[1], "the others are the same objects");
  const renamed = mergeQuestions(questions, listed(questions).map((q) => (q.id === "a" ? { ...q, id: "team", options: [["zeta", "last"], ["two", null], ["10", ["x"]]] } : q)));
  assert.equal(renamed[1].uid, questions[1].uid);
  assert.deepEqual(renamed[1].options.map((o) => o.uid), questions[1].options.map((o) => o.uid));
  assert.equal(renamed[1].options[1].name, "two");
  const moved = mergeQuestions(questions, [...listed(questions)].reverse());
  assert.deepEqual(moved, [...questions].reverse());
});

test("rows that nobody filled in stay while another question is edited in the text", () => {
  const { questions } = doc();
  const open = questions.map((q) => (q.id === "a" ? { ...q, options: [...q.options, { uid: "new", name: "", description: "" }] } : q));
  const edited = mergeQuestions(open, listed(open).map((q) => (q.id === "b" ? { ...q, instructions: "Was it?" } : q)));
  assert.equal(edited[1].options.length, 4);
  assert.equal(asksSame(open, listed(questions)), true);
  assert.deepEqual(toWire(edited[1]), toWire(questions[1]));
});
