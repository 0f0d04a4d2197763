// The start gallery under the lint: whoever starts from an example should not be told at once what is wrong with it.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { lint } from "../../assets/design/lint.js";

const folder = new URL("../../assets/examples/", import.meta.url);
const examples = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .map((name) => JSON.parse(readFileSync(new URL(name, folder), "utf8")));

const edited = ([id, { type, instructions, criteria }]) => ({
  id,
  type,
  instructions,
  criteria: type === "noul" ? criteria : {},
  options: type === "choice" ? Object.entries(criteria).map(([name, description]) => ({ name, description })) : [],
  levels: type === "score" ? criteria.map((text) => ({ text })) : [],
});
const written = (state) => (typeof state === "string" ? state : JSON.stringify(state, null, 2));
const findings = (example, state, questionIds) =>
  lint({ questions: Object.entries(example.questions).map(edited) }, { state: written(state), questionIds, limits: {} });

for (const example of examples) {
  for (const questionIds of ["literal", "neutral"]) {
    test(`${example.id} asks its questions well (ids ${questionIds})`, () => {
      assert.deepEqual(findings(example, "", questionIds), []);
    });
  }
}

test("only the hijacking page is told to give orders", () => {
  const told = examples.flatMap((example) =>
    example.states.filter(({ state }) => findings(example, state, "neutral").length).map(({ name }) => name),
  );
  assert.deepEqual(told, ["Hijacked by a web page"]);
});
