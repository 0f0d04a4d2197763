// "Was this right?" on an answer: right, wrong (then the true option), or can't tell, with a note and undo.
// A label is a word on the answer that is painted, not on a draft that is already newer. It counts when it is stored.

import { button, h, icon, iconButton, setText } from "./dom.js";
import { pressed } from "./keys.js";
import { optionWord, rowName, verdict } from "./words.js";

export class LabelBar {
  /** section: the answer's section; host.label(section, {verdict, truth, note, uuid}) and host.unlabel(uuid) store. */
  constructor(section, host) {
    this.section = section;
    this.host = host;
    this.el = h("span", { class: "cs-label-bar" });
    this.panel = h("div", { class: "cs-label-panel", hidden: true });
    this.answer = null;
    this.done = null;
    this.panel.addEventListener("keydown", (event) => {
      if (pressed(event, "close")) this.#close();
    });
  }

  /** The section has another number now: the buttons' names carry it. */
  renumber() {
    if (this.done === null && this.panel.hidden) this.#ask();
  }

  /** A new answer is painted (or none): a label belongs to the one before. */
  show(answer) {
    const same = answer !== null && this.answer !== null && this.done === null && this.panel.hidden && verdict(answer).flat === verdict(this.answer).flat;
    this.answer = answer;
    if (same) return;
    this.done = null;
    this.panel.hidden = true;
    this.#ask();
  }

  #ask() {
    if (this.answer === null) {
      this.el.replaceChildren();
      return;
    }
    const flat = verdict(this.answer).lead < 0;
    const n = this.section.index + 1;
    const right = iconButton("check", `Answer ${n} is right`, { onclick: () => this.#save("right", this.#top()) });
    const wrong = iconButton("x", flat ? `Say what is true for answer ${n}` : `Answer ${n} is wrong`, { onclick: () => this.#wrong() });
    const open = iconButton("help", `Can't tell for answer ${n}`, { onclick: () => this.#save("cant_tell", null) });
    this.el.replaceChildren(...(flat ? [wrong, open] : [right, wrong, open]));
    if (flat) wrong.querySelector("use").setAttribute("href", "#i-pen");
  }

  #top() {
    const p = this.answer.probabilities;
    return this.answer.options[p.indexOf(Math.max(...p))];
  }

  #wrong() {
    const { answer } = this;
    const flat = verdict(answer).lead < 0;
    const others = answer.options.map((id, i) => ({ id, i })).filter(({ id }) => flat || id !== this.#top());
    // A yes/no that is wrong has one truth left.
    if (others.length === 1) return this.#save("wrong", others[0].id);
    const pick = (id) => this.#save(id === this.#top() ? "right" : "wrong", id);
    const cancel = button("is-small is-ghost", "Cancel", { onclick: () => this.#close() });
    const title = h("span", { class: "cs-small", text: flat ? "What is true?" : "What is true instead?" });
    let choose;
    if (others.length <= 8) {
      choose = others.map(({ id, i }) => button("is-small", answer.type === "noul" ? optionWord(answer, i) : rowName(answer, i), { onclick: () => pick(id) }));
    } else {
      const select = h("select", { class: "cs-input is-small", "aria-label": "True option" }, ...others.map(({ id, i }) => h("option", { value: id, text: rowName(answer, i) })));
      choose = [select, button("is-small", "This one", { onclick: () => pick(select.value) })];
    }
    this.panel.replaceChildren(title, ...choose, cancel);
    this.panel.hidden = false;
    this.panel.querySelector("button, select").focus();
  }

  #close() {
    this.panel.hidden = true;
    this.el.querySelector("button")?.focus();
  }

  async #save(verdictWord, truth, note = "") {
    const label = { verdict: verdictWord, truth, note, uuid: crypto.randomUUID() };
    const before = this.done;
    this.done = { ...label, saved: false };
    this.panel.hidden = true;
    this.#said("saving…");
    const error = await this.host.label(this.section, { ...label, supersedes: before?.uuid ?? null });
    if (this.done?.uuid !== label.uuid) {
      // A newer answer took the place of the one that was labelled.
      this.host.spoken(error ? `${error} The label was not kept.` : "Label saved on the answer before your edit");
      return;
    }
    if (error) {
      this.done = before;
      this.panel.replaceChildren(h("span", { class: "cs-error" }, icon("alert"), `${error} The label was not kept.`));
      this.panel.hidden = false;
      if (before) this.#said("saved");
      else this.#ask();
      return;
    }
    this.done.saved = true;
    this.#said("saved");
    this.host.spoken(`Label saved: ${this.#word()}`);
  }

  #word() {
    const { verdict: word, truth } = this.done;
    if (word === "cant_tell") return "can't tell";
    if (word === "right") return "right";
    const i = this.answer.options.indexOf(truth);
    return `wrong, ${this.answer.type === "noul" ? optionWord(this.answer, i).toLowerCase() : rowName(this.answer, i)}`;
  }

  #said(state) {
    const { verdict: word } = this.done;
    const look = { right: ["is-right", "check"], wrong: ["is-wrong", "x"], cant_tell: ["", "help"] }[word];
    const tag = h("span", { class: `cs-tag ${look[0]}`, "data-label": state }, icon(look[1]), h("span", { class: "cs-tag-text" }));
    setText(tag.querySelector(".cs-tag-text"), `${this.#word()} · ${state}`);
    const acts = state === "saved" ? [iconButton("note", this.done.note ? "Change the note" : "Add a note", { onclick: () => this.#note() }), iconButton("undo", "Take the label back", { onclick: () => this.#undo() })] : [];
    this.el.replaceChildren(tag, ...acts);
  }

  #note() {
    const input = h("input", { class: "cs-input is-small", placeholder: "Why? (optional)", "aria-label": "Note", value: this.done.note, maxlength: "2000" });
    const save = () => this.#save(this.done.verdict, this.done.truth, input.value.trim());
    input.addEventListener("keydown", (event) => {
      if (pressed(event, "next")) save();
    });
    this.panel.replaceChildren(input, button("is-small", "Save", { onclick: save }), button("is-small is-ghost", "Cancel", { onclick: () => this.#close() }));
    this.panel.hidden = false;
    input.focus();
  }

  async #undo() {
    const { uuid } = this.done;
    this.#said("taking back…");
    const error = await this.host.unlabel(uuid);
    if (this.done?.uuid !== uuid) return;
    if (error) {
      this.#said("saved");
      this.panel.replaceChildren(h("span", { class: "cs-error" }, icon("alert"), error));
      this.panel.hidden = false;
      return;
    }
    this.done = null;
    this.#ask();
    this.host.spoken("Label taken back");
  }
}
