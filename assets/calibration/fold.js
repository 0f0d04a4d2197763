// A card that is closed until somebody opens it; what it shows is asked for only then, and again when it is outdated.

import { h } from "../design/dom.js";

export class Fold {
  #el;
  #body;
  #fill;
  #where = null;
  #shown = null;

  /** fill(where) → a promise of elements. */
  constructor(el, title, fill) {
    this.#el = el;
    this.#fill = fill;
    this.#body = h("div", { class: "cs-card-body cs-fold-body" });
    el.replaceChildren(h("summary", { class: "cs-card-head" }, h("h2", { class: "cs-h2", text: title })), this.#body);
    el.addEventListener("toggle", () => this.#load());
  }

  /** What is looked at now. */
  show(where) {
    if (JSON.stringify(where) !== JSON.stringify(this.#where)) {
      this.#where = where;
      this.#shown = null;
    }
    this.#load();
  }

  /** Asks again, after something changed. */
  async again() {
    this.#shown = null;
    await this.#load();
  }

  async #load() {
    const where = this.#where;
    if (!this.#el.open || !where || this.#shown === where) return;
    this.#shown = where;
    if (!this.#body.childElementCount) this.#body.replaceChildren(h("p", { class: "cs-small cs-dim", role: "status", text: "Reading" }));
    const made = await this.#fill(where);
    if (where === this.#where) this.#body.replaceChildren(...made);
  }
}

/** A sentence for what went wrong. */
export const failed = (reply) => [h("p", { class: "cs-error", role: "alert", text: reply.error.message })];

/** A table: columns = [[title, numeric?, classes?, unseen?]], rows = arrays of text or elements. */
export function tableOf(label, columns, rows) {
  const head = h("tr", {}, ...columns.map(([title, numeric, , unseen]) => h("th", { scope: "col", class: numeric ? "num" : "" }, unseen ? h("span", { class: "cs-sr", text: title }) : title)));
  const body = rows.map((cells) => h("tr", {}, ...cells.map((cell, i) => h("td", { class: columns[i][1] ? "num" : columns[i][2] ?? "" }, cell))));
  const table = h("table", { class: "cs-table" }, h("caption", { class: "cs-sr", text: label }), h("thead", {}, head), h("tbody", {}, ...body));
  return h("div", { class: "cs-scroll", tabindex: "0", role: "region", "aria-label": label }, table);
}
