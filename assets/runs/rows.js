// The rows of a run: filtered, a page at a time, and as files.

import { button, h, icon, setText } from "../design/dom.js";
import { percent } from "../design/words.js";
import { FILTERS, count, foundWords, readable } from "./words.js";

const UNSURE = [0.5, 0.6, 0.7, 0.8, 0.9];

export class Rows {
  /** host: {api, pictureUrl(token), change(filter), open(row)} */
  constructor(el, host) {
    Object.assign(this, { el, host, run: null, filter: null, turn: 0, before: [], rows: [] });
    const select = (part, label, onchange) => h("select", { class: "cs-input is-small", "aria-label": label, "data-filter": part, onchange });
    this.option = select("option", "Answered", () => host.change({ option: this.option.value || null }));
    this.truth = select("truth", "Truly", () => host.change({ truth: this.truth.value || null }));
    this.below = select("below", "Unsure under", () => host.change({ below: Number(this.below.value) }));
    this.below.replaceChildren(...UNSURE.map((p) => h("option", { value: String(p), text: `under ${Math.round(100 * p)} %` })));
    this.tabs = h("div", { class: "cs-seg cs-runs-tabs", role: "group", "aria-label": "Which rows" }, ...FILTERS.map(([value, text]) => h("button", { type: "button", value, text, onclick: () => host.change({ show: value }) })));
    this.told = h("span", { class: "cs-small cs-dim", role: "status", "data-found": "" });
    this.body = h("tbody");
    const head = ["line", "state", "answer", "probability", "true answer", ""].map((text, i) => h("th", { scope: "col", class: i === 0 ? "num" : i === 1 ? "cs-runs-wide" : "" }, i === 5 ? h("span", { class: "cs-sr", text: "whole row" }) : text));
    this.earlier = button("is-small", "Earlier", { disabled: true, "data-earlier": "", onclick: () => this.#page(false) }, icon("left"));
    this.later = button("is-small", "Later", { disabled: true, "data-later": "", onclick: () => this.#page(true) }, icon("right"));
    const save = (ending, text) => h("a", { class: "cs-btn is-small is-ghost", download: "", "data-save": ending }, icon("in"), text);
    this.saves = { "results.csv": save("results.csv", "CSV"), "results.parquet": save("results.parquet", "Parquet"), "problems.csv": save("problems.csv", "Not judged, CSV") };
    el.replaceChildren(
      h("div", { class: "cs-card-head" }, h("h2", { class: "cs-h2", id: "h-rows", text: "Rows" }), this.told),
      h("div", { class: "cs-runs-filters" }, this.tabs, h("div", { class: "cs-line" }, this.below, this.option, this.truth)),
      h("div", { class: "cs-scroll", tabindex: "0", role: "region", "aria-label": "Rows of the run" }, h("table", { class: "cs-table cs-runs-table" }, h("caption", { class: "cs-sr", text: "Rows of the run" }), h("thead", {}, h("tr", {}, ...head)), this.body)),
      h("div", { class: "cs-foot" }, this.earlier, this.later, h("span", { class: "cs-grow" }), ...Object.values(this.saves)),
    );
  }

  /** Shows the rows of a run under a filter: {question, show, option, truth, below}. */
  async show(run, question, filter) {
    const key = JSON.stringify([run.id, question.id, filter]);
    if (key !== this.key) Object.assign(this, { before: [], after: -1 });
    Object.assign(this, { key, run, filter, asked: question, names: new Map(question.options) });
    for (const tab of this.tabs.children) tab.setAttribute("aria-pressed", String(tab.value === filter.show));
    this.below.hidden = filter.show !== "unsure";
    this.below.value = String(filter.below);
    const options = (none) => [h("option", { value: "", text: none }), ...question.options.map(([id, name]) => h("option", { value: id, text: name }))];
    this.option.replaceChildren(...options("any answer"));
    this.option.value = filter.option ?? "";
    this.truth.replaceChildren(...options("any true answer"));
    this.truth.value = filter.truth ?? "";
    const free = filter.show !== "bad";
    this.option.hidden = !free;
    this.truth.hidden = !free || !run.truth.includes(question.id);
    for (const [ending, link] of Object.entries(this.saves)) link.href = this.host.api.url(`/studio/runs/${run.id}/${ending}`);
    this.saves["problems.csv"].hidden = !run.bad;
    await this.#read();
  }

  /** After more rows were run. */
  async grown(run) {
    this.run = run;
    this.saves["problems.csv"].hidden = !run.bad;
    await this.#read();
  }

  async #page(on) {
    // Pressed twice before the answer, it would count from the same row twice.
    this.earlier.disabled = true;
    this.later.disabled = true;
    if (on) {
      this.before.push(this.after);
      this.after = this.rows.at(-1).row;
    } else this.after = this.before.pop() ?? -1;
    await this.#read();
    this.el.scrollIntoView({ block: "start" });
  }

  async #read() {
    this.turn += 1;
    const { turn, filter } = this;
    const reply = await this.host.api.found({ run: this.run.id, question: this.asked.id, ...filter, after: this.after });
    if (turn !== this.turn) return;
    if (reply.error) {
      this.later.disabled = false;
      this.earlier.disabled = !this.before.length;
      return setText(this.told, reply.error.message);
    }
    // A page that is full stays as it is while the run goes on: nothing moves under the pointer.
    const drawn = JSON.stringify([this.key, reply.rows]);
    const same = drawn === this.drawn;
    Object.assign(this, { rows: reply.rows, drawn });
    setText(this.told, foundWords(filter, reply.count, this.names));
    if (!same) this.#draw();
    this.earlier.disabled = !this.before.length;
    this.later.disabled = !reply.more;
    this.el.dataset.shown = `${this.asked.id} ${filter.show} ${reply.count}`;
  }

  #draw() {
    const focused = document.activeElement?.dataset?.open;
    const none = h("tr", {}, h("td", { colspan: 6, class: "cs-dim", text: this.run.done ? "Nothing fits." : "Nothing is judged yet." }));
    this.body.replaceChildren(...(this.rows.length ? this.rows.map((row) => this.#row(row)) : [none]));
    if (focused !== undefined) this.body.querySelector(`[data-open="${focused}"]`)?.focus();
  }

  #row(row) {
    const open = button("is-small is-ghost", "Show", { "data-open": row.row, "aria-label": `Show line ${count(row.line)} whole`, onclick: () => this.host.open(row) });
    const said = row.problem === null && row.top !== null;
    const state = row.picture ? h("img", { class: "cs-runs-thumb", loading: "lazy", src: this.host.pictureUrl(row.picture), alt: `Picture of line ${row.line}` }) : h("span", { class: "cs-runs-state", text: readable(row.preview) || (row.problem ? "" : "not kept") });
    const cells = said
      ? [h("td", { class: "ink", text: this.names.get(row.top) ?? row.top }), h("td", {}, h("span", { class: "cs-runs-p", style: `--p:${row.probability}` }, h("i", { "aria-hidden": "true" }), percent(row.probability))), h("td", {}, this.#truth(row))]
      : [h("td", { colspan: 3, class: "wrap" }, h("span", { class: "cs-tag is-wrong" }, icon("alert"), "not judged"), ` ${row.problem ?? ""}`)];
    return h("tr", { "data-line": row.line }, h("td", { class: "num", text: count(row.line) }), h("td", { class: "wrap" }, state, row.same === null ? null : h("span", { class: "cs-chip", text: "repeat" })), ...cells, h("td", {}, open));
  }

  #truth(row) {
    if (row.truth === null) return h("span", { class: "cs-dim", text: "–" });
    const right = row.truth === row.top;
    return h("span", { class: `cs-tag ${right ? "is-right" : "is-wrong"}` }, icon(right ? "check" : "x"), h("span", { class: "cs-sr", text: right ? "right: " : "wrong: " }), this.names.get(row.truth) ?? row.truth);
  }
}
