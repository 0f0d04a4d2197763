// "?": the keys, and what the words mean.

import { button, h } from "./dom.js";

const KEYS = [
  [["?"], "this list"],
  [["Ctrl", "Z"], "undo, across the whole page"],
  [["Ctrl", "Shift", "Z"], "redo"],
  [["Enter"], "in an option or level: the next one"],
  [["Backspace"], "in an empty option or level: remove it"],
  [["Alt", "↑"], "move the question or option up; ↓ down"],
  [["Ctrl", "D"], "duplicate the question"],
  [["Ctrl", "V"], "paste a picture from the clipboard"],
];

const WORDS = [
  ["noul", "is it true? Answered with the probability of yes."],
  ["choice", "which option? One probability for each option; together they make 100 %."],
  ["score", "where on an ordered scale? One probability for each level, and the expected level."],
  ["probability", "what the model gives an option. Very sure from 95 %, fairly sure from 80 %, leaning from 60 %."],
  ["confidence", "0 to 1: how far the whole answer is from knowing nothing. Not a probability of being right."],
];

export function mountHelp(root, trigger) {
  const show = () => {
    if (root.querySelector("dialog[open]")) return;
    const close = button("is-primary", "Close");
    const keys = h("dl", { class: "cs-keys" });
    for (const [caps, text] of KEYS) keys.append(h("dt", {}, ...caps.map((k) => h("kbd", { class: "cs-key", text: k }))), h("dd", { text }));
    const words = h("dl", { class: "cs-keys is-words" });
    for (const [word, text] of WORDS) words.append(h("dt", { class: "cs-mono", text: word }), h("dd", { text }));
    const dialog = h(
      "dialog",
      { class: "cs-dialog", "aria-labelledby": "help-title" },
      h("header", { id: "help-title", text: "Keys and words" }),
      h("div", { class: "cs-dialog-body" }, keys, words),
      h("footer", {}, close),
    );
    close.addEventListener("click", () => dialog.close());
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    dialog.addEventListener("close", () => {
      dialog.remove();
      trigger.focus();
    });
    root.append(dialog);
    dialog.showModal();
  };
  trigger.addEventListener("click", show);
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof Element && event.target.closest("input, textarea, select, [contenteditable]");
    if (event.key === "?" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      show();
    }
  });
}
