// Who labels: a name, typed once and remembered by this browser; or the one that is signed in.

import { button, h } from "../design/dom.js";
import { errorLine, onEnter, openDialog } from "../design/dialog.js";

const KEY = "clef-studio-labeller";

export function remembered() {
  return localStorage.getItem(KEY)?.trim() || null;
}

/** Asks for the name; resolves with it. Where there is one already, it may be left as it is. */
export function askName(root, known) {
  return new Promise((resolve) => {
    const input = h("input", { class: "cs-input", id: "labeller", autocomplete: "name", maxlength: "200", value: known ?? "" });
    const error = errorLine();
    let name = known;
    const save = () => {
      const typed = input.value.trim();
      if (!typed) return error.say("Type a name, so that your labels can be told from those of others.");
      name = typed;
      localStorage.setItem(KEY, typed);
      return opened.close();
    };
    const body = [
      h("p", { class: "cs-small cs-dim", text: "Your name stands beside every label that you give. This browser remembers it." }),
      h("label", { class: "cs-field" }, h("span", { class: "cs-label", text: "Your name" }), input),
      error.el,
    ];
    const opened = openDialog(root, {
      title: "Who labels?", body,
      acts: [...(known ? [button("", "Cancel", { onclick: () => opened.close() })] : []), button("is-primary", "Start labelling", { onclick: save })],
      onClose: () => (name ? resolve(name) : resolve(askName(root, known))),
    });
    onEnter(input, save);
    input.focus();
  });
}
