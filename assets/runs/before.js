// Before the run: how many rows, what cannot be judged, repeats, tokens and time; how it is run; and its start.

import { button, h, icon } from "../design/dom.js";
import { count, duration, plural, short, speed } from "./words.js";

export const OPTIONS = { limit: null, repeats: "reuse", allow_cut: false };
const FIRST = 100;

export class Before {
  /** host: {changed(options), start(), url(path)} */
  constructor(el, host) {
    Object.assign(this, { el, host, options: { ...OPTIONS } });
    this.figures = h("div", { class: "cs-figs", role: "group", "aria-label": "What a run of this file would be", "data-figures": "" });
    this.told = h("div", { class: "cs-runs-stack", "data-told": "" });
    this.all = h("input", { type: "radio", name: "run-rows", onchange: () => this.#limit() });
    this.first = h("input", { type: "radio", name: "run-rows", onchange: () => this.#limit() });
    this.number = h("input", { class: "cs-input is-small", type: "number", min: "1", value: String(FIRST), "aria-label": "How many rows first", oninput: () => this.#limit(true) });
    this.repeats = h("input", { type: "checkbox", onchange: () => this.#option({ repeats: this.repeats.checked ? "judge" : "reuse" }) });
    this.cut = h("input", { type: "checkbox", onchange: () => this.#option({ allow_cut: this.cut.checked }) });
    this.cutRow = h("label", { class: "cs-runs-check" }, this.cut, h("span", { text: "Read the start of states that are too long; each answer says what was cut" }));
    this.go = button("is-primary", "Start the run", { disabled: true, "data-start": "", onclick: () => host.start() }, icon("play"));
    this.why = h("span", { class: "cs-small cs-dim", role: "status", "data-start-why": "" });
    el.replaceChildren(
      h("div", { class: "cs-card-head" }, h("h2", { class: "cs-h2", id: "h-before", text: "Before the run" }), h("span", { class: "cs-grow" }), (this.busy = h("span", { class: "cs-spin", "aria-hidden": "true" }))),
      this.figures,
      h("div", { class: "cs-card-body cs-runs-stack" }, this.told,
        h("fieldset", { class: "cs-runs-how" }, h("legend", { class: "cs-label", text: "How it is run" }),
          h("label", { class: "cs-runs-check" }, this.all, h("span", { text: "all rows" })),
          h("div", { class: "cs-line" }, h("label", { class: "cs-runs-check" }, this.first, h("span", { text: "only the first" })), this.number, h("span", { class: "cs-small", text: "rows; the rest can be run later" })),
          h("label", { class: "cs-runs-check" }, this.repeats, h("span", { text: "Judge repeats again, instead of taking over the first answer" })), this.cutRow)),
      h("div", { class: "cs-foot" }, this.go, this.why),
    );
    this.set(this.options);
  }

  set(options) {
    this.options = { ...OPTIONS, ...options };
    this.all.checked = this.options.limit === null;
    this.first.checked = this.options.limit !== null;
    if (this.options.limit !== null) this.number.value = String(this.options.limit);
    this.repeats.checked = this.options.repeats === "judge";
    this.cut.checked = this.options.allow_cut;
  }

  #limit(typed = false) {
    if (typed) this.first.checked = true;
    const n = Math.round(Number(this.number.value));
    this.#option({ limit: this.first.checked && n >= 1 ? n : null });
  }

  #option(change) {
    this.options = { ...this.options, ...change };
    this.host.changed(this.options);
    if (this.weighed) this.show(this.weighed, this.blocked, this.upload);
  }

  /** weighed: the server's view, or null; blocked: why it cannot be started, or "". */
  show(weighed, blocked, upload) {
    Object.assign(this, { weighed, blocked, upload });
    this.el.hidden = !upload;
    const finished = Boolean(weighed?.finished) && !weighed.error;
    this.busy.hidden = !weighed || weighed.finished || Boolean(blocked);
    this.go.disabled = Boolean(blocked) || !finished || !this.#judged();
    this.why.textContent = blocked || (weighed?.error ?? "") || (!weighed ? "" : !finished ? `looking through the file: ${plural(weighed.rows, "row")} so far` : this.#judged() ? "" : "No row of this file can be judged.");
    this.el.dataset.weighed = finished ? "1" : "0";
    this.figures.hidden = !weighed;
    this.told.hidden = !weighed;
    if (!weighed) return;
    this.cutRow.hidden = !weighed.tokens.too_long && !this.options.allow_cut;
    this.figures.replaceChildren(...this.#figures(weighed));
    const opened = this.told.querySelector("details")?.open ?? false;
    this.told.replaceChildren(...this.#sentences(weighed, opened));
    this.told.hidden = !this.told.childElementCount;
  }

  #judged() {
    return this.weighed?.judged ?? 0;
  }

  /** Rows that the model would really read. */
  #toJudge(seen) {
    const most = this.options.limit === null ? 1 : Math.min(1, this.options.limit / Math.max(1, seen.rows));
    return Math.round((seen.judged - (this.options.repeats === "reuse" ? seen.repeats : 0)) * most);
  }

  #figures(seen) {
    const rows = this.options.limit === null ? seen.rows : Math.min(seen.rows, this.options.limit);
    const { tokens } = seen;
    const judge = this.#toJudge(seen);
    const near = seen.near === null ? (seen.finished ? "" : "counting near-duplicates") : `${count(seen.near)} near-duplicates${seen.compared < seen.judged - seen.repeats - seen.pictures ? ` among the first ${count(seen.compared)}` : ""}`;
    return [
      figure("Rows", count(rows), rows < seen.rows ? `of ${count(seen.rows)}` : "", seen.bad ? `${count(seen.bad)} cannot be judged` : "all can be judged"),
      figure("Repeats", count(seen.repeats), "", near || "no text to compare"),
      figure("Tokens", tokens.mean === null ? "–" : short(tokens.mean * judge), "", tokens.mean === null ? "not counted yet" : `${count(Math.round(tokens.mean))} a row, ${count(tokens.most)} at most; counted in ${plural(tokens.counted, "row")}`),
      seen.seconds_per_row === null
        ? figure("Time", "–", "", seen.finished ? "not measured" : "measured on a few rows when they are read")
        : figure("Time", duration(seen.seconds_per_row * judge).replace("about ", "≈ "), "", `${speed(1, seen.seconds_per_row)}, measured on ${plural(seen.tried, "row")}`),
    ];
  }

  #sentences(seen, opened) {
    const out = [];
    if (seen.tokens.too_long) {
      const fate = this.options.allow_cut ? "only their start is read" : "they are not judged, unless their start is enough for you";
      out.push(hint(`${count(seen.tokens.too_long)} of ${plural(seen.tokens.counted, "counted row")} are longer than the model reads (${count(seen.tokens.limit)} tokens): ${fate}.`));
    }
    for (const [question, n] of Object.entries(seen.truths)) {
      const odd = seen.odd[question];
      const missed = odd ? ` ${plural(odd.n, "cell is", "cells are")} none of its options and not taken: ${odd.cells.map((cell) => `“${cell}”`).join(", ")}${odd.kinds > odd.cells.length ? " …" : ""}` : "";
      out.push(h("p", { class: "cs-small" }, h("b", { class: "cs-mono", text: question }), ` has a true answer in ${plural(n, "row")}.${missed}`));
    }
    if (seen.bad) {
      const rows = seen.problems.map(([line, reason]) => h("tr", {}, h("td", { class: "num", text: count(line) }), h("td", { class: "wrap", text: reason })));
      const table = h("table", { class: "cs-table" }, h("caption", { class: "cs-sr", text: "Rows that cannot be judged" }), h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "num", text: "line" }), h("th", { scope: "col", text: "why" }))), h("tbody", {}, ...rows));
      const all = seen.finished ? h("a", { class: "cs-btn is-small", href: this.host.url(`/studio/runs/uploads/${this.upload}/problems.csv`), download: "" }, icon("in"), "All as CSV") : null;
      out.push(h("details", { class: "cs-fold cs-runs-fold", open: opened, "data-problems": "" }, h("summary", { class: "cs-small", text: `${plural(seen.bad, "row")} cannot be judged; ${seen.bad === 1 ? "it is" : "they are"} kept aside` }),
        h("div", { class: "cs-scroll cs-runs-problems", tabindex: "0", role: "region", "aria-label": "Rows that cannot be judged" }, table), h("div", { class: "cs-line" }, all, seen.bad > rows.length ? h("span", { class: "cs-small cs-dim", text: `the first ${rows.length} are shown` }) : null)));
    }
    return out;
  }
}

const hint = (text) => h("p", { class: "cs-hint" }, icon("alert"), h("span", { text }));

function figure(name, value, unit, note) {
  return h("div", {}, h("span", { class: "cs-fig-name", text: name }), h("span", { class: "cs-fig-num" }, value, unit ? h("small", { text: unit }) : null), h("span", { class: "cs-fig-n", text: note }));
}
