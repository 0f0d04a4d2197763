// A dataset that is not one yet: its form, what it gives now, and freezing it. One count at a time; the newest wins.

import { button, h, icon, setText } from "../design/dom.js";
import { Form } from "./form.js";
import { fresh, missing, recipeOf } from "./recipe.js";
import { summaryOf } from "./summary.js";
import { plural, setName } from "./words.js";

const SOON = 250;
const PAUSE = 250;

export class Choose {
  /** host: {api, frozen(reply)} */
  constructor(root, host) {
    Object.assign(this, { root, host, page: crypto.randomUUID(), form: null, token: null, turn: 0, labelled: { sets: [], streams: [] } });
    this.find = (name) => root.querySelector(`[data-${name}]`);
    this.view = new Form(this.find("in"), this.find("split"), () => this.#changed());
    this.view.recount = () => this.view.show(this.form, this.labelled);
    this.name = h("input", { class: "cs-input", maxlength: "200", required: true, "aria-label": "Name of the dataset" });
    this.licence = h("input", { class: "cs-input", maxlength: "200", placeholder: "not said", "aria-label": "Licence of the states, for the card" });
    this.go = button("is-primary", "Freeze", { disabled: true }, icon("lock"));
    this.go.type = "submit";
    this.said = h("p", { class: "cs-error", role: "alert", hidden: true });
    const form = this.find("freeze");
    form.append(h("label", { class: "cs-field cs-grow" }, h("span", { class: "cs-label", text: "Name" }), this.name), h("label", { class: "cs-field cs-grow" }, h("span", { class: "cs-label", text: "Licence of the states" }), this.licence), this.go, this.said);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#freeze();
    });
    this.name.addEventListener("input", () => (this.named = true));
  }

  /** Shows the form; `form` replaces what was there. */
  async open(form = null, name = null) {
    const reply = await this.host.api.labelled();
    if (reply.error) return reply.error.message;
    this.labelled = reply;
    if (form) this.form = form;
    this.form ??= fresh(reply);
    const known = new Set(reply.sets.map((set) => set.sha256));
    this.form.questions = this.form.questions.filter((hash) => known.has(hash));
    if (!this.form.questions.length && reply.sets.length) this.form.questions = [reply.sets[0].sha256];
    if (name) this.name.value = name;
    this.named ||= Boolean(name);
    this.#name();
    const none = !reply.sets.length;
    this.find("freeze").hidden = none;
    if (none) {
      for (const card of ["in", "split"]) this.find(card).replaceChildren(h("p", { class: "cs-small cs-dim", text: "Nothing is labelled yet." }));
      this.find("gives").replaceChildren(h("div", { class: "cs-empty", "data-empty": "" }, icon("layers"), h("b", { text: "No labels yet" }), h("p", { text: "A dataset is made of decisions that people have labelled, or of a file that brings its labels along." }), h("div", { class: "cs-line" }, h("a", { class: "cs-btn is-primary", href: "label" }, "Label"), h("a", { class: "cs-btn", href: "datasets?import=" }, "Import a file"))));
      return "";
    }
    this.view.show(this.form, reply);
    this.#count();
    return "";
  }

  #name() {
    if (this.named) return;
    const set = this.labelled.sets.find((s) => this.form.questions.includes(s.sha256));
    this.name.value = set ? (set.schema ?? setName(set)) : "";
  }

  #changed() {
    this.#name();
    clearTimeout(this.timer);
    this.token = null;
    this.go.disabled = true;
    this.timer = setTimeout(() => this.#count(), SOON);
  }

  async #count() {
    this.turn += 1;
    const { turn } = this;
    this.token = null;
    this.go.disabled = true;
    this.#error("");
    const why = missing(this.form);
    if (why) return this.#fail(why);
    setText(this.find("counting"), "counting");
    let reply = await this.host.api.survey_recipe({ page: this.page, recipe: recipeOf(this.form) });
    const { token } = reply;
    while (!reply.error && !reply.finished && turn === this.turn) {
      setText(this.find("counting"), reply.rows ? `counting: ${plural(reply.rows, "row")} so far` : "counting");
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
      reply = await this.host.api.surveyed({ token });
    }
    if (turn !== this.turn) return undefined;
    if (reply.error) return this.#fail(reply.error.message ?? reply.error);
    setText(this.find("counting"), "");
    const { survey } = reply;
    this.token = token;
    this.go.disabled = !survey.total;
    this.find("gives").replaceChildren(...summaryOf(survey, survey.order));
    this.find("gives").dataset.counted = survey.sha256;
    return undefined;
  }

  #fail(text) {
    setText(this.find("counting"), "");
    delete this.find("gives").dataset.counted;
    this.find("gives").replaceChildren(h("div", { class: "cs-card-body" }, h("p", { class: "cs-error", role: "alert", text })));
  }

  #error(text) {
    this.said.hidden = !text;
    setText(this.said, text);
  }

  async #freeze() {
    if (!this.token || !this.name.value.trim()) return undefined;
    this.go.disabled = true;
    const reply = await this.host.api.freeze_dataset({ token: this.token, id: crypto.randomUUID(), name: this.name.value, licence: this.licence.value });
    this.go.disabled = false;
    if (reply.error) return this.#error(reply.error.message);
    return this.host.frozen(reply);
  }
}
