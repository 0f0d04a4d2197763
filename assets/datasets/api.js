// What the page asks of the server. Replies are plain values; one with `error` is for a person to read.

import { asked } from "../design/dialog.js";

const NAMES = ["labelled", "survey_recipe", "surveyed", "freeze_dataset", "datasets", "dataset", "prepare", "prepared", "recognise", "recognised", "bring_in", "brought"];

export function makeApi(server, root) {
  const api = { url: (path) => `${root}${path}` };
  for (const name of NAMES) {
    api[name] = (payload = {}) =>
      asked(async () => {
        const reply = await server[name](payload);
        // Gradio's client swallows failures and gives nothing back; here they are errors again.
        if (reply === undefined || reply === null) throw new Error(`${name}: the studio does not answer`);
        return reply;
      });
  }
  return api;
}
