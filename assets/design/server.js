// The page's functions on the server, and how a page begins; for every room.

import { asked } from "./dialog.js";

/** The reply of a function. Gradio's client swallows failures and gives nothing back; here they are errors again. */
export async function heard(server, name, payload = {}) {
  const reply = await server[name](payload);
  if (reply === undefined || reply === null) throw new Error(`${name}: the studio does not answer`);
  return reply;
}

/** {name: (payload) => reply}: a reply is plain; where there is none it is one with `error`, for a person to read. */
export function functions(server, names) {
  return Object.fromEntries(names.map((name) => [name, (payload) => asked(() => heard(server, name, payload))]));
}

/** Begins a page in its static template, once: Gradio may load a script twice. `begin(root)`. */
export async function mountOnce(element, begin) {
  const root = element.querySelector(".cs");
  if (root.dataset.mounted) return;
  root.dataset.mounted = "1";
  await begin(root);
  document.documentElement.dataset.ready = "1";
}
