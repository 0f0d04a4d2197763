// The question, and its options as buttons with a key each; the model's answer beside them unless it is hidden.

import { arrange, h, setText } from "../design/dom.js";
import { percent, verdict } from "../design/words.js";
import { digit } from "./reason.js";

/** From so many options on, a field narrows them. */
const MANY = 10;

export class AskView {
  /** pick(option id) is called with what the person holds for true. */
  constructor(root, pick) {
    this.pick = pick;
    this.type = root.querySelector("[data-type]");
    this.id = root.querySelector("[data-question-id]");
    this.wording = root.querySelector("[data-wording]");
    this.says = root.querySelector("[data-says]");
    this.hint = root.querySelector("[data-hidden]");
    this.hintText = root.querySelector("[data-hidden-text]");
    this.list = root.querySelector("[data-choices]");
    this.filter = root.querySelector("[data-filter]");
    this.question = null;
    this.rows = [];
    this.list.addEventListener("click", (event) => {
      const row = this.rows.find(({ el }) => el.contains(event.target));
      if (row) this.pick(row.id);
    });
    this.filter.addEventListener("input", () => this.#narrow());
    this.filter.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      if (event.key === "Escape") this.filter.blur();
      if (event.key !== "Enter") return;
      event.preventDefault();
      const [first] = this.rows.filter(({ el }) => !el.hidden);
      if (first && this.filter.value.trim()) this.pick(first.id);
    });
  }

  /** Another question is asked. */
  ask(question) {
    this.question = question;
    setText(this.type, question.type);
    setText(this.id, question.id);
    setText(this.wording, question.wording || question.id);
    this.rows = question.options.map(([id, name, about], i) => makeRow(question, id, name, about, i));
    arrange(this.list, this.rows.map(({ el }) => el));
    this.filter.parentElement.hidden = this.rows.length <= MANY;
    this.list.classList.toggle("is-many", this.rows.length > MANY);
  }

  /** The item's answer, or nothing of it. hiddenWords: a sentence that stands in its place, or null. */
  show(item, hidden, hiddenWords) {
    const known = Boolean(item?.probabilities) && !hidden;
    this.filter.value = "";
    this.#narrow();
    this.list.classList.toggle("is-blind", !known);
    this.hint.hidden = !hiddenWords;
    if (hiddenWords) setText(this.hintText, hiddenWords);
    const answer = known ? { type: this.question.type, options: item.options, probabilities: item.probabilities, labels: this.question.options.map(([, name]) => name) } : null;
    const said = answer ? verdict(answer) : null;
    this.says.hidden = !said;
    if (said) setText(this.says, `The model: ${said.word}, ${said.sure}`);
    for (const row of this.rows) {
      const at = known ? item.options.indexOf(row.id) : -1;
      const p = at < 0 ? null : item.probabilities[at];
      const lead = known && row.id === item.top;
      row.el.classList.toggle("is-lead", lead);
      row.model.hidden = !lead;
      setText(row.fig, p === null ? "" : percent(p));
      row.bar.style.setProperty("--p", p ?? 0);
      row.el.disabled = !item;
    }
  }

  /** The option of a key, or null. */
  optionOf(key) {
    if (this.question?.type === "noul" && (key === "y" || key === "n")) return key === "y" ? "true" : "false";
    return this.rows.find((row) => row.key === key)?.id ?? null;
  }

  focusFilter() {
    if (!this.filter.parentElement.hidden) this.filter.focus();
  }

  #narrow() {
    const text = this.filter.value.trim().toLowerCase();
    for (const { el, name } of this.rows) el.hidden = text !== "" && !name.toLowerCase().includes(text);
  }
}

function makeRow(question, id, name, about, index) {
  const key = digit(index);
  const letter = question.type === "noul" ? (id === "true" ? "y" : "n") : null;
  const model = h("small", { text: "model", hidden: true });
  const fig = h("span");
  const bar = h("span", { class: "cs-choice-p", "aria-hidden": "true" });
  const cap = letter ?? key;
  const el = h(
    "button",
    { type: "button", class: "cs-choice", "aria-keyshortcuts": [letter, key].filter(Boolean).join(" ") || null },
    cap === null ? h("span") : h("kbd", { class: "cs-key", "aria-hidden": "true", text: cap.toUpperCase() }),
    h("span", {}, h("b", { text: name }), about ? h("small", { text: about }) : null),
    h("span", { class: "cs-choice-fig" }, model, fig),
    bar,
  );
  return { id, name, el, key, model, fig, bar };
}
