// How the queue chooses: the shares, the measure of doubt, near-duplicates, and what is hidden.

import { button, h } from "../design/dom.js";
import { asked, errorLine, openDialog } from "../design/dialog.js";

const SHARES = [
  ["audit_share", "Picked at random (audit)", "The labels that measure. The rest is what the model doubts."],
  ["overlap", "Asked of two people", "To see how far people agree."],
  ["blind_audit", "Audit with the answer hidden", "So that the answer sways nobody."],
  ["blind_queue", "Queue with the answer hidden", "To see how much the answer sways us."],
];
const MEASURES = [
  ["margin", "the lead over the second option"],
  ["entropy", "how spread the answer is"],
  ["cost", "what being wrong would cost: levels by their distance"],
];

/** save(changes) → a reply; changed(settings) once they are kept. */
export function openSettings(root, settings, { save, changed }) {
  const error = errorLine();
  const inputs = new Map();
  const shares = SHARES.map(([name, label, about]) => {
    const input = h("input", { class: "cs-input is-small", type: "number", min: "0", max: "100", step: "1", value: String(Math.round(100 * settings[name])), "aria-describedby": `about-${name}` });
    inputs.set(name, input);
    return h("label", { class: "cs-share" }, h("span", {}, h("b", { text: label }), h("small", { class: "cs-dim", id: `about-${name}`, text: about })), h("span", { class: "cs-line" }, input, "%"));
  });
  const measure = h("select", { class: "cs-input is-small" }, ...MEASURES.map(([id, about]) => h("option", { value: id, text: `${id}: ${about}` })));
  measure.value = settings.measure;
  const apart = h("input", { type: "checkbox", checked: settings.apart });
  const keep = async () => {
    const changes = { measure: measure.value, apart: apart.checked };
    for (const [name, input] of inputs) {
      const value = Number(input.value);
      if (input.value.trim() === "" || !(value >= 0 && value <= 100)) {
        input.focus();
        return error.say("A share is a number from 0 to 100.");
      }
      changes[name] = value / 100;
    }
    const reply = await asked(() => save(changes));
    if (reply.error) return error.say(reply.error.message);
    changed(reply.settings);
    return opened.close();
  };
  const opened = openDialog(root, {
    title: "What is shown", classes: "cs-desk-settings",
    body: [
      ...shares,
      h("label", { class: "cs-share" }, h("span", {}, h("b", { text: "Doubt" }), h("small", { class: "cs-dim", text: "What comes first in the queue." })), measure),
      h("label", { class: "cs-line" }, apart, "Leave out of the queue what says nearly the same as something shown"),
      h("p", { class: "cs-small cs-dim", text: "What was shown already keeps the odds that it was shown with. A change counts from the next item on." }),
      error.el,
    ],
    acts: [button("", "Cancel", { onclick: () => opened.close() }), button("is-primary", "Save", { onclick: keep })],
  });
}
