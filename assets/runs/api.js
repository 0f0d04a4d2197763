// What the page asks of the server. Replies are plain values; one with `error` is for a person to read.

import { asked } from "../design/dialog.js";

export function makeApi(server, root) {
  const call = (name, payload = {}) =>
    asked(async () => {
      const reply = await server[name](payload);
      // Gradio's client swallows failures and gives nothing back; here they are errors again.
      if (reply === undefined || reply === null) throw new Error(`${name}: the studio does not answer`);
      return reply;
    });
  const api = { url: (path) => `${root}${path}` };
  for (const name of ["choices", "look", "weigh", "start_run", "runs", "run", "steer", "found", "row"]) api[name] = (payload) => call(name, payload);
  return api;
}
