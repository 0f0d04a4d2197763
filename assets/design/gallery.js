// The start gallery: ready schemas with states and pictures. Taking one replaces the page's content; undo brings it back.

import { emptyDoc, fromWire } from "./schema.js";

/** The document of an example: {name, description, questions, states: [{name, state, pictures}]}. */
export function exampleDoc(example, index = 0) {
  const given = example.states[index] ?? { state: "", pictures: [] };
  const state = typeof given.state === "string" ? given.state : JSON.stringify(given.state, null, 2);
  return {
    ...emptyDoc(),
    name: example.name,
    description: example.description,
    questions: fromWire(example.questions, { open: 1 }),
    state,
    pictures: given.pictures ?? [],
  };
}

/** Menu entries: the examples, each with its states, and a blank page. `take(doc)` shows a document. */
export function galleryItems(examples, api, take) {
  const items = [];
  for (const example of examples) {
    example.states.forEach((state, index) => {
      const label = index ? state.name : example.name;
      const about = index ? null : example.description;
      items.push({
        label,
        about,
        nested: index > 0,
        run: async () => {
          const whole = await api.example(example.id);
          if (whole) take(exampleDoc(whole, index));
        },
      });
    });
  }
  items.push({ label: "Blank page", about: "No questions, no state", icon: "plus", run: () => take(emptyDoc()) });
  return items;
}
