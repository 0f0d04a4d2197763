// Changes as people read them: what was added is underlined, what was removed is struck through, and words say which.

import { h } from "./dom.js";

const KIND = { added: "added", removed: "removed", changed: "changed", moved: "moved" };

/** Parts of a word diff. */
export function drawWords(parts) {
  return parts.map(({ kind, text }) => (kind === "same" ? text : h(kind === "added" ? "ins" : "del", { text })));
}

/** "options.billing.description" → "what billing means" */
function fieldName(field) {
  const [head, ...rest] = field.split(".");
  if (head === "instructions") return "wording";
  if (head === "criteria") return rest[0] === "true" ? "what yes means" : "what no means";
  if (head === "levels") return rest.length ? `level ${rest[0]}` : "level";
  if (head !== "options") return head;
  return field.endsWith(".description") ? `what ${rest.slice(0, -1).join(".")} means` : "option";
}

/** The changes of `diffSchema` as a list; says so where there are none. */
export function drawChanges(changes) {
  const changed = changes.filter((c) => c.kind !== "same");
  const same = changes.length - changed.length;
  const items = changed.map((change) => {
    const tag = h("span", { class: "cs-chip", text: KIND[change.kind] });
    const head = h("div", { class: "cs-line" }, h("b", { class: "cs-mono", text: change.id }), tag, change.moved && change.kind !== "moved" ? h("span", { class: "cs-chip", text: "moved" }) : null);
    const fields = change.fields.map((field) =>
      h("div", { class: "cs-diff-field" }, h("dt", { text: fieldName(field.field) }), h("dd", {}, ...drawWords(field.words))),
    );
    return h("li", { class: "cs-diff-q" }, head, fields.length ? h("dl", {}, ...fields) : null);
  });
  const rest = same ? h("p", { class: "cs-small cs-dim", text: `${same} question${same === 1 ? " is" : "s are"} the same.` }) : null;
  if (!items.length) return [h("p", { class: "cs-dim", text: "Nothing changed in the questions." })];
  return [h("ul", { class: "cs-diff" }, ...items), rest].filter(Boolean);
}
