// "Get code": a dialog with the schema and the state as code, to copy. The code is made by code.js.

import { button, h, icon, setText } from "./dom.js";
import { KEY, snippets } from "./code.js";
import { recordingLine } from "./recording.js";
import { stateKind } from "./schema.js";

/** Longest code that is shown whole; all of it is copied. */
const SHOWN = 60_000;

/**
 * What the code asks: {questions, state, left}. `left`: the questions (1-based) that cannot be asked as they stand.
 * `refused(uid)`: whether a question cannot.
 */
export function asked(doc, refused) {
  const left = doc.questions.flatMap((q, i) => (refused(q.uid) ? [i + 1] : []));
  const questions = doc.questions.filter((q) => !refused(q.uid));
  const state = stateKind(doc.state, doc.plain) === "json" ? JSON.parse(doc.state) : doc.state;
  return { questions, state, left };
}

/** trigger: the button; current(): {api, doc, refused(uid), baseUrl, model, entry, say}. entry: how code gets in, "open", "key" or "closed". */
export function mountCode(root, trigger, current) {
  trigger.addEventListener("click", () => {
    if (!root.querySelector("dialog[open]")) open(root, trigger, current());
  });
}

function open(root, trigger, { api, doc, refused, baseUrl, model, entry, say }) {
  const { questions, state, left } = asked(doc, refused);
  const made = snippets({ questions }, state, { baseUrl, model, pictures: doc.pictures.map((p) => p.name), keyed: entry !== "open" });
  const code = h("code");
  const panel = h("pre", { class: "cs-code", role: "tabpanel", id: "code-panel", tabindex: "0" }, code);
  const copied = h("span", { class: "cs-small cs-dim cs-grow", role: "status" });
  let shown = made[0];
  const tabs = made.map((snippet) =>
    h("button", { type: "button", role: "tab", id: `code-${snippet.id}`, "aria-controls": "code-panel", onclick: () => show(snippet), text: snippet.label }),
  );
  const show = (snippet, focus = false) => {
    shown = snippet;
    tabs.forEach((tab, i) => {
      const on = made[i] === snippet;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
      if (on && focus) tab.focus();
    });
    panel.setAttribute("aria-labelledby", `code-${snippet.id}`);
    const { text } = snippet;
    code.textContent = text.length > SHOWN ? `${text.slice(0, SHOWN)}\n…` : text;
    panel.scrollTop = 0;
    setText(copied, text.length > SHOWN ? "Long: shown up to here, copied whole." : "");
  };
  const list = h("div", { class: "cs-seg cs-code-tabs", role: "tablist", "aria-label": "Language" }, ...tabs);
  list.addEventListener("keydown", (event) => {
    const at = made.indexOf(shown);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: made.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    show(made[(to + made.length) % made.length], true);
  });
  const copy = button("is-primary", "Copy", {
    onclick: async () => {
      const done = await toClipboard(shown.text, code, shown.text.length <= SHOWN);
      setText(copied, done ? `${shown.label} copied.` : "This browser does not let the page copy: select the code and press Ctrl C.");
      say(copied.textContent);
    },
  }, icon("copy"));
  const close = button("", "Close", { onclick: () => dialog.close() });
  const notes = [];
  if (entry === "key") notes.push(`The code takes the studio’s key from the environment variable ${KEY}.`);
  if (entry === "closed") notes.push("Code cannot ask this studio yet: it was started with --users and without --api-key.");
  if (doc.pictures.length) notes.push("The code reads the pictures from its own folder: put the files there.");
  if (left.length) notes.push(`Left out, since it cannot be asked yet: question ${left.join(", ")}.`);
  if (!questions.length) notes.push("There is no question that can be asked yet.");
  const dialog = h(
    "dialog",
    { class: "cs-dialog cs-code-dialog", "aria-labelledby": "code-title" },
    h("header", { id: "code-title", text: "Get code" }),
    h("div", { class: "cs-dialog-body" },
      h("p", { class: "cs-small", text: `Asks ${baseUrl} what this page asks: these questions about this state.` }),
      list, panel, ...notes.map((text) => h("p", { class: "cs-small", text })), recordingLine(api, doc.schema, say)),
    h("footer", {}, copied, close, copy),
  );
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => {
    dialog.remove();
    trigger.focus();
  });
  root.append(dialog);
  show(made[0]);
  dialog.showModal();
}

/** Copies; pages that are not served safely (http on a network) have no clipboard but the selection's. */
async function toClipboard(text, code, whole) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch (error) {
    console.warn("no clipboard", error);
  }
  if (!whole) return false;
  getSelection().selectAllChildren(code);
  return document.execCommand("copy");
}
