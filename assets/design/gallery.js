// The start gallery: ready schemas with states and pictures. Taking one replaces the page's content; undo brings it back.

import { atExample } from "./examples.js";
import { emptyDoc, fromWire } from "./schema.js";

/** The document of an example: {name, description, questions, states: [{name, state, pictures}]}. */
export function exampleDoc(example) {
  const examples = example.states.map(({ name, state, pictures }) => ({
    name,
    state: typeof state === "string" ? state : JSON.stringify(state, null, 2),
    pictures,
  }));
  const doc = { ...emptyDoc(), name: example.name, description: example.description, examples };
  return atExample({ ...doc, questions: fromWire(example.questions, { open: 1 }) }, 0);
}

/** Menu entries: the examples, and a blank page. `take(doc)` shows a document. */
export function galleryItems(examples, api, take) {
  const items = examples.map((example) => ({
    label: example.name,
    about: example.description,
    run: async () => {
      const whole = await api.example(example.id);
      if (whole) take(exampleDoc(whole));
    },
  }));
  items.push({ label: "Blank page", about: "No questions, no state", icon: "plus", run: () => take(emptyDoc()) });
  return items;
}
