// The runs so far, newest first: what each is at. Drawn again only where something changed.

import { arrange, h, setText } from "../design/dom.js";
import { when } from "../design/dialog.js";
import { active, left, soFar, status } from "./words.js";

export class List {
  #entries = new Map();

  /** open(id) shows a run; href(id) is its address. */
  constructor(el, { open, href }) {
    Object.assign(this, { el, open, href });
  }

  show(runs, current) {
    arrange(this.el, runs.map((run) => this.#entry(run, run.id === current)));
    for (const id of this.#entries.keys()) if (!runs.some((run) => run.id === id)) this.#entries.delete(id);
  }

  #entry(run, here) {
    const known = this.#entries.get(run.id) ?? this.#make(run);
    known.el.dataset.status = run.status;
    if (here) known.el.setAttribute("aria-current", "true");
    else known.el.removeAttribute("aria-current");
    known.bar.hidden = run.status === "done" && !run.rest;
    known.fill.style.setProperty("--p", String(run.total ? run.done / run.total : 0));
    setText(known.state, [status(run), soFar(run), active(run) ? left(run) : ""].filter(Boolean).join(" · "));
    return known.el;
  }

  #make(run) {
    const fill = h("i");
    const bar = h("span", { class: "cs-progress", "aria-hidden": "true" }, fill);
    const state = h("span", { class: "cs-small cs-dim" });
    const el = h("a", { href: this.href(run.id), "data-entry": run.id, onclick: (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      this.open(run.id);
    } },
    h("span", { class: "cs-runs-entry" }, h("span", { class: "cs-ellipsis cs-grow", text: run.title }), h("span", { class: "cs-small cs-dim", text: when(run.created) })),
    h("span", { class: "cs-small cs-ellipsis", text: run.version === null ? run.schema : `${run.schema} v${run.version}` }), bar, state);
    const made = { el, bar, fill, state };
    this.#entries.set(run.id, made);
    return made;
  }
}
