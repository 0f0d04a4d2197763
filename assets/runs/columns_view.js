// The columns of a file: what each is used as, where the true answers stand, and the first rows to compare with.

import { h, icon } from "../design/dom.js";
import { leaks, missing, role, withName, withRole, withTruth } from "./mapping.js";

const ROLES = [["", "not used"], ["text", "the whole state"], ["field", "a field of the state"], ["image", "pictures"]];
/** Different cells that are shown of a column. */
const EXAMPLES = 3;

export class Columns {
  /** changed(mapping) is told of every change. */
  constructor(el, changed) {
    Object.assign(this, { el, changed, mapping: null, seen: null });
  }

  show(seen, mapping) {
    Object.assign(this, { seen, mapping });
    this.el.hidden = !seen || !mapping;
    if (this.el.hidden) return;
    const rows = seen.columns.map((column) => this.#row(column));
    const head = h("tr", {}, ...["column", "first cells", "is", "called"].map((text, i) => h("th", { scope: "col", class: i === 1 ? "cs-wide" : "", text })));
    this.note = h("div", { class: "cs-runs-stack", "data-mapping-notes": "" });
    this.el.replaceChildren(
      h("div", { class: "cs-card-head" }, h("h2", { class: "cs-h2", id: "h-columns", text: "Columns" }), h("span", { class: "cs-small cs-dim", text: "a first guess from names and cells; change what is wrong" })),
      h("div", { class: "cs-scroll cs-runs-columns", tabindex: "0", role: "region", "aria-label": "What columns are used as" },
        h("table", { class: "cs-table" }, h("caption", { class: "cs-sr", text: "What columns are used as" }), h("thead", {}, head), h("tbody", {}, ...rows))),
      h("div", { class: "cs-card-body cs-runs-stack" }, this.#truths(), this.note),
      this.#preview(),
    );
    this.#notes();
  }

  #set(mapping) {
    const focused = document.activeElement?.dataset?.column;
    const which = document.activeElement?.dataset?.part;
    this.show(this.seen, mapping);
    if (focused !== undefined) [...this.el.querySelectorAll(`[data-part="${which}"]`)].find((el) => el.dataset.column === focused)?.focus();
    this.changed(mapping);
  }

  #row(column) {
    const is = role(this.mapping, column);
    const at = this.seen.columns.indexOf(column);
    const cells = this.seen.rows.filter((row) => row.cells).map((row) => row.cells[at]).filter((cell) => cell !== null && cell !== "");
    const select = h("select", { class: "cs-input is-small", "aria-label": `${column} is`, "data-column": column, "data-part": "role", onchange: (event) => this.#set(withRole(this.mapping, column, event.target.value)) },
      ...ROLES.map(([value, text]) => h("option", { value, text, selected: value === is })));
    const name = is === "field"
      ? h("input", { class: "cs-input is-small is-mono", value: this.mapping.fields[column], "aria-label": `${column} is called`, "data-column": column, "data-part": "name", autocomplete: "off", spellcheck: "false", onchange: (event) => this.#set(withName(this.mapping, column, event.target.value)) })
      : null;
    const truth = Object.entries(this.mapping.truth).filter(([, c]) => c === column).map(([question]) => question);
    return h("tr", { "data-row": column }, h("td", { class: "ink cs-mono wrap-name", text: column }),
      h("td", { class: "wrap cs-wide" }, h("span", { class: "cs-runs-cells", text: [...new Set(cells)].slice(0, EXAMPLES).join(" · ") || "empty" })),
      h("td", {}, is || !truth.length ? select : h("div", { class: "cs-line" }, select, h("span", { class: "cs-chip", text: "true answers" }))), h("td", {}, name));
  }

  #truths() {
    const selects = this.seen.questions.map(({ id, type }) =>
      h("label", { class: "cs-runs-truth" }, h("span", { class: "cs-line" }, h("span", { class: "cs-mono cs-small", text: id }), h("span", { class: "cs-chip cs-type", text: type })),
        h("select", { class: "cs-input is-small", "data-column": id, "data-part": "truth", "aria-label": `True answers to ${id}`, onchange: (event) => this.#set(withTruth(this.mapping, id, event.target.value)) },
          h("option", { value: "", text: "not in this file" }), ...this.seen.columns.map((column) => h("option", { value: column, text: column, selected: this.mapping.truth[id] === column })))));
    return h("fieldset", { class: "cs-runs-truths" }, h("legend", { class: "cs-label", text: "True answers, where the file has them" }), ...selects);
  }

  #notes() {
    const sentences = [missing(this.mapping), ...leaks(this.mapping).map((column) => `${column} holds true answers and is part of the state: the model would read what it is asked.`)].filter(Boolean);
    this.note.replaceChildren(...sentences.map((text) => h("p", { class: "cs-hint" }, icon("alert"), h("span", { text }))));
    this.note.hidden = !sentences.length;
  }

  #preview() {
    const { columns, rows } = this.seen;
    const body = rows.map((row) =>
      row.problem
        ? h("tr", {}, h("td", { class: "num", text: String(row.line) }), h("td", { colspan: columns.length, class: "cs-runs-bad" }, icon("alert"), `cannot be read: ${row.problem}`))
        : h("tr", {}, h("td", { class: "num", text: String(row.line) }), ...row.cells.map((cell) => h("td", { class: "cs-runs-cell", text: cell ?? "", title: cell ?? null }))));
    const head = h("tr", {}, h("th", { scope: "col", class: "num", text: "line" }), ...columns.map((column) => h("th", { scope: "col", class: "cs-mono", text: column })));
    const table = h("div", { class: "cs-scroll cs-runs-preview", tabindex: "0", role: "region", "aria-label": "The first rows" }, h("table", { class: "cs-table" }, h("caption", { class: "cs-sr", text: "The first rows of the file" }), h("thead", {}, head), h("tbody", {}, ...body)));
    const details = h("details", { class: "cs-fold cs-runs-fold", open: this.open ?? false, "data-preview": "" }, h("summary", { class: "cs-small", text: `The first ${rows.length === 1 ? "row" : `${rows.length} rows`}` }), table);
    details.addEventListener("toggle", () => (this.open = details.open));
    return details;
  }
}

/** What the file was read as. */
export function aboutFile(seen) {
  const encoding = seen.encoding ? `, ${seen.encoding.toUpperCase().replace("CP", "Windows-")}` : "";
  const chips = h("div", { class: "cs-line" }, h("span", { class: "cs-chip", text: `${seen.kind}${encoding}` }), h("span", { class: "cs-chip", text: `${seen.columns.length} column${seen.columns.length === 1 ? "" : "s"}` }));
  return [chips, ...seen.notes.map((text) => h("p", { class: "cs-hint" }, icon("alert"), h("span", { text })))];
}
