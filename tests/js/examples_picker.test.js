// Example states: going to another one loses neither what was typed nor the questions.

import assert from "node:assert/strict";
import { test } from "node:test";

import { atExample, copiedExample, renamedExample, withNewExample, withoutExample, writtenBack } from "../../assets/design/examples.js";
import { exampleDoc } from "../../assets/design/gallery.js";
import { emptyDoc } from "../../assets/design/schema.js";

const GIVEN = {
  name: "Triage",
  description: "",
  questions: { spam: { type: "noul", instructions: "Is it spam?" } },
  states: [
    { name: "first", state: "one", pictures: [] },
    { name: "second", state: { a: 1 }, pictures: [{ token: "t" }] },
  ],
};

test("an example's first state is on the page, JSON as text", () => {
  const doc = exampleDoc(GIVEN);
  assert.deepEqual([doc.state, doc.at, doc.questions[0].id], ["one", 0, "spam"]);
  assert.deepEqual(JSON.parse(atExample(doc, 1).state), { a: 1 });
});

test("what was typed is there when one comes back", () => {
  const doc = { ...exampleDoc(GIVEN), state: "one, edited" };
  const back = atExample(atExample(doc, 1), 0);
  assert.deepEqual([back.state, back.questions], ["one, edited", doc.questions]);
  assert.equal(atExample(doc, 7), doc, "there is no such example");
  const untouched = exampleDoc(GIVEN);
  assert.equal(writtenBack(untouched), untouched.examples);
});

test("the first kept example is what is on the page, the next is empty, and the last leaves an empty page", () => {
  const typed = { ...emptyDoc(), state: "From: Maren\nHello" };
  const one = withNewExample(typed);
  assert.deepEqual([one.at, one.examples[0].name, one.state], [0, "Maren", typed.state]);
  const two = withNewExample(one);
  assert.deepEqual([two.at, two.examples.length, two.state], [1, 2, ""]);
  const left = withoutExample(two);
  assert.deepEqual([left.at, left.state], [0, typed.state]);
  assert.deepEqual([withoutExample(left).at, withoutExample(left).examples], [-1, []]);
});

test("renamed and copied, with what was typed", () => {
  const doc = { ...exampleDoc(GIVEN), state: "one, edited" };
  const named = renamedExample(doc, "the edited one");
  assert.deepEqual(named.examples.map((e) => [e.name, e.state]), [["the edited one", "one, edited"], ["second", doc.examples[1].state]]);
  const copied = copiedExample(doc);
  assert.deepEqual([copied.at, copied.examples.map((e) => e.name)], [1, ["first", "first (copy)", "second"]]);
  assert.equal(atExample(copied, 0).state, "one, edited");
});
