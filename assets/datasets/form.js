// The form of a recipe: which labels, and how they are split. It holds no state but the recipe; changed() tells.

import { h } from "../design/dom.js";
import { AGREED, BY_LOT, BY_TIME, SOFT, STREAMS, count, plural, setName } from "./words.js";

export class Form {
  /** changed() after every change of `form`. */
  constructor(into, split, changed) {
    Object.assign(this, { into, split, changed, form: null });
  }

  show(form, labelled) {
    this.form = form;
    const { sets, streams } = labelled;
    const chosen = sets.filter((set) => form.questions.includes(set.sha256));
    const inStream = (name) => chosen.reduce((sum, set) => sum + (set.streams[name] ?? 0), 0);
    this.counts = new Map();
    this.into.replaceChildren(
      group("Schema versions", sets.map((set) => this.#many("questions", set.sha256, setName(set), plural(set.rows, "labelled decision"), set.questions.map((q) => q.id).join(", ")))),
      group("Label sources", streams.map((name) => this.#many("streams", name, STREAMS[name][0], "", STREAMS[name][1], (el) => this.counts.set(name, el)))),
      group("Answers", [this.#one("labels", "agreed", AGREED), this.#one("labels", "soft", SOFT)]),
      h("div", { class: "cs-sets-pair" }, this.#text("since", "Decided from", { type: "date" }), this.#text("until", "Decided before", { type: "date" })),
    );
    this.counting = () => streams.forEach((name) => (this.counts.get(name).textContent = count(inStream(name))));
    this.counting();
    this.split.replaceChildren(
      group("How", [this.#one("by", "random", BY_LOT), this.#one("by", "time", BY_TIME)]),
      h("div", { class: "cs-sets-pair" }, this.#text("validation", "Validation, in a hundred", { type: "number", min: "0", max: "99", step: "any" }), this.#text("test", "Test, in a hundred", { type: "number", min: "0", max: "99", step: "any" })),
      group("Kept on one side", [
        h("p", { class: "cs-small cs-dim", text: "The same case always stays on one side." }),
        this.#yes("similar", "Texts that are nearly the same, too"),
      ]),
      this.#text("group_field", "And what is the same in this field of the state (if any)", { placeholder: "customer.id", class: "cs-input is-mono", spellcheck: "false" }),
      group("Audit", [this.#yes("reserve_audit", "Keep labels from the audit for evaluation"), h("p", { class: "cs-small cs-dim", text: "A model that was trained on them cannot be measured by them." })]),
      this.#text("seed", "Seed of the lot", { type: "number", step: "1" }),
    );
  }

  #set(change) {
    Object.assign(this.form, change);
    this.changed();
  }

  #many(field, value, title, figure, about, figureAt = () => {}) {
    const input = h("input", { type: "checkbox", checked: this.form[field].includes(value), "data-value": value, onchange: () => {
      const rest = this.form[field].filter((v) => v !== value);
      this.#set({ [field]: input.checked ? [...rest, value] : rest });
      if (field === "questions") this.recount?.();
    } });
    const number = h("span", { class: "cs-small cs-dim cs-nowrap", text: figure });
    figureAt(number);
    return h("label", { class: "cs-runs-check cs-sets-row" }, input, h("span", { class: "cs-grow" }, h("b", { text: title }), h("span", { class: "cs-small cs-dim cs-sets-about", text: about })), number);
  }

  #one(field, value, title) {
    return h("label", { class: "cs-runs-check" }, h("input", { type: "radio", name: `set-${field}`, checked: this.form[field] === value, onchange: () => this.#set({ [field]: value }) }), h("span", { text: title }));
  }

  #yes(field, title) {
    const input = h("input", { type: "checkbox", checked: this.form[field], onchange: () => this.#set({ [field]: input.checked }) });
    return h("label", { class: "cs-runs-check" }, input, h("span", { text: title }));
  }

  #text(field, title, props) {
    const input = h("input", { class: "cs-input", value: this.form[field], ...props, oninput: () => this.#set({ [field]: input.value }) });
    return h("label", { class: "cs-field" }, h("span", { class: "cs-label", text: title }), input);
  }
}

const group = (title, rows) => h("fieldset", { class: "cs-runs-how" }, h("legend", { class: "cs-label", text: title }), ...rows);
