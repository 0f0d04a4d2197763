// The keys of the page: one table for what listens, and for the list under "?". Single keys can be turned off.

import { button, h } from "../design/dom.js";
import { openDialog } from "../design/dialog.js";

const KEY = "clef-studio-label-keys";

export const KEYS = [
  [["1", "–", "9", "0"], "choose an option: the first ten"],
  [["Y", "N"], "yes or no, of a yes/no question"],
  [["Enter"], "the model's answer is right, where it is shown"],
  [["C"], "can't tell"],
  [["S"], "skip: somebody else may say"],
  [["U"], "undo what you did last"],
  [["E"], "a note to the label that comes next"],
  [["/"], "look for an option, where there are more than ten"],
  [["?"], "this list"],
];

/** What a keydown asks for: {do, key} or null. Nothing while a text field has the focus, or a dialog is open. */
export function meant(event, { enabled = true } = {}) {
  if (event.isComposing || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return null;
  const { target } = event;
  if (target?.closest?.("input, textarea, select, [contenteditable], dialog, [role=menu]")) return null;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (key === "?") return { do: "help" };
  if (!enabled) return null;
  if (key === "Enter") return target?.closest?.("button, a, summary") ? null : { do: "accept" };
  const acts = { c: "cantTell", s: "skip", u: "undo", e: "note", "/": "filter" };
  if (acts[key]) return { do: acts[key] };
  return /^[0-9yn]$/.test(key) ? { do: "option", key } : null;
}

export const keysEnabled = () => localStorage.getItem(KEY) !== "off";

export function openKeys(root) {
  const list = h("dl", { class: "cs-keys" });
  for (const [caps, text] of KEYS) list.append(h("dt", {}, ...caps.map((cap) => (cap === "–" ? "–" : h("kbd", { class: "cs-key", text: cap })))), h("dd", { text }));
  const single = h("input", { type: "checkbox", checked: keysEnabled(), onchange: () => localStorage.setItem(KEY, single.checked ? "on" : "off") });
  const opened = openDialog(root, {
    title: "Keys",
    body: [list, h("label", { class: "cs-line" }, single, "Single keys label"), h("p", { class: "cs-small cs-dim", text: "Keys never label while you type in a field." })],
    acts: [button("is-primary", "Close", { onclick: () => opened.close() })],
  });
}
