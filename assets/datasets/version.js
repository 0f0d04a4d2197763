// A dataset version: what it holds, how it was made, what changed, and its files for each trainer.

import { button, h, icon, setText } from "../design/dom.js";
import { when } from "../design/dialog.js";
import { summaryOf } from "./summary.js";
import { bytes, count, plural, recipeWords, sentence } from "./words.js";

const PAUSE = 300;

export class Version {
  /** host: {api, again(recipe, name), live(text)} */
  constructor(head, files, host) {
    Object.assign(this, { head, files, host, id: null });
  }

  show(version, sets) {
    this.id = version.id;
    const hash = h("span", { class: "cs-mono cs-sets-hash", "data-hash": "", text: version.sha256 });
    const words = h("dl", { class: "cs-sets-recipe" }, ...recipeWords(version.recipe, sets).flatMap(([name, what]) => [h("dt", { text: name }), h("dd", { text: what })]));
    const parts = [
      h("div", { class: "cs-card-head" }, h("h2", { class: "cs-h2", id: "h-version", text: `${version.name}, version ${version.number}` }), h("span", { class: "cs-small cs-dim", text: `frozen ${when(version.created)}` }), h("span", { class: "cs-grow" }), button("is-small", "Use this recipe again", { onclick: () => this.host.again(version.recipe, version.name) }, icon("copy"))),
      h("div", { class: "cs-sets-made" }, h("div", {}, h("h3", { class: "cs-label", text: "Recipe" }), words), h("div", {}, h("h3", { class: "cs-label", text: "Hash of all rows, answers and sides" }), hash, ...changed(version))),
      ...summaryOf(version.summary),
    ];
    this.head.replaceChildren(...parts);
    this.files.replaceChildren(...version.formats.map((format) => this.#format(format, version.files[format.name])));
  }

  #format(format, state) {
    const body = h("div", { class: "cs-sets-file-body", "data-file-state": "" });
    const el = h("li", { class: "cs-sets-file", "data-format": format.name },
      h("div", {}, h("b", { text: format.title }), h("p", { class: "cs-small cs-dim", text: format.about })), body);
    this.#draw(format, body, state);
    if (state.state === "working") this.#wait(format, body, this.id);
    return el;
  }

  #draw(format, body, state) {
    const { id } = this;
    const make = (text) => button("is-small", text, { "aria-label": `${text} ${format.title}`, onclick: async () => {
      this.#draw(format, body, { state: "working", rows: 0 });
      const reply = await this.host.api.prepare({ dataset: id, format: format.name });
      if (reply.error && !reply.state) return this.#draw(format, body, { state: "failed", error: reply.error.message });
      return this.#wait(format, body, id);
    } });
    body.dataset.fileState = state.state;
    if (state.state === "none") return body.replaceChildren(h("div", { class: "cs-line cs-sets-acts" }, make("Make")));
    if (state.state === "working") return body.replaceChildren(h("div", { class: "cs-line cs-sets-acts" }, h("span", { class: "cs-spin", "aria-hidden": "true" }), h("span", { class: "cs-small", role: "status", text: state.rows ? `${plural(state.rows, "row")} written` : "writing and checking" })));
    if (state.state === "failed") return body.replaceChildren(h("p", { class: "cs-error", role: "alert", text: state.error }), make("Try again"));
    return body.replaceChildren(...this.#report(format, state.report));
  }

  async #wait(format, body, id) {
    let reply;
    do {
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
      if (id !== this.id || !body.isConnected) return;
      reply = await this.host.api.prepared({ dataset: id, format: format.name });
      if (reply.state === "working") this.#draw(format, body, reply);
    } while (reply.state === "working");
    if (id !== this.id) return;
    this.#draw(format, body, reply.state ? reply : { state: "failed", error: reply.error.message });
    if (reply.report) this.host.live(`${format.title}: ${plural(reply.report.total, "row")}${reply.report.broken ? `, ${plural(reply.report.broken, "rule is broken", "rules are broken")}` : ""}`);
  }

  #report(format, report) {
    const out = [];
    const rows = Object.entries(report.rows).map(([split, n]) => `${count(n)} ${split}`).join(", ");
    out.push(report.bytes === null
      ? h("p", { class: "cs-error", role: "alert", text: report.broken ? `Not given out: ${plural(report.broken, "rule of this trainer is broken", "rules of this trainer are broken")}.` : "No row of this dataset can go to this trainer." })
      : h("p", { class: "cs-small" }, h("span", { class: "cs-tag is-right" }, icon("check"), `${plural(report.total, "row")} checked`), ` ${rows}`));
    if (report.problems.length) out.push(h("ul", { class: "cs-sets-why cs-small", "data-problems": "" }, ...report.problems.map((text) => h("li", { text }))));
    for (const entry of report.left_out) out.push(h("details", { class: "cs-fold cs-runs-fold" }, h("summary", { class: "cs-small", text: `${plural(entry.rows, "row")} left out: ${entry.reason}` }), h("ul", { class: "cs-sets-why cs-small" }, ...entry.examples.map((row) => h("li", {}, h("span", { class: "cs-mono cs-dim", text: `${row.id.slice(0, 8)} ` }), row.text)), entry.rows > entry.examples.length ? h("li", { class: "cs-dim", text: "…" }) : null)));
    out.push(h("details", { class: "cs-fold cs-runs-fold", open: report.bytes !== null, "data-card": "" }, h("summary", { class: "cs-small", text: "Card (README.md)" }), h("pre", { class: "cs-sets-card", tabindex: "0", role: "region", "aria-label": `Card of the files for ${format.title}`, text: report.card })));
    if (report.bytes !== null) out.push(h("div", { class: "cs-line cs-sets-acts" }, h("a", { class: "cs-btn is-primary is-small", href: this.host.api.url(`/studio/datasets/${this.id}/${format.name}.zip`), download: "", "data-download": "" }, icon("in"), `Download zip, ${bytes(report.bytes)}`)));
    return out;
  }
}

function changed(version) {
  if (version.before === null) return [];
  return [h("h3", { class: "cs-label cs-sets-since", text: `Against version ${version.before}` }), h("ul", { class: "cs-sets-why cs-small", "data-changes": "" }, ...version.changes.map((text) => h("li", { text: sentence(text) })))];
}

/** The versions so far, newest first. */
export function showList(el, versions, current, { open, href }) {
  el.replaceChildren(...versions.map((version) => h("a", { href: href(version.id), "data-entry": version.id, "aria-current": version.id === current ? "true" : null, onclick: (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    open(version.id);
  } },
  h("span", { class: "cs-runs-entry" }, h("span", { class: "cs-ellipsis cs-grow", text: `${version.name} v${version.number}` }), h("span", { class: "cs-small cs-dim cs-nowrap", text: when(version.created) })),
  h("span", { class: "cs-small cs-dim" }, `${plural(version.total, "row")} · `, h("span", { class: "cs-mono", text: version.sha256.slice(0, 7) })))));
  setText(el.nextElementSibling, versions.length ? "" : "No dataset yet. A dataset version is a recipe, frozen: the same rows on the same sides, whenever its files are made.");
}
