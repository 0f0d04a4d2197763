// The list of questions at the left, each with its badge. Badges come one after the other: each needs its labels read.

import { badgeChip, badgeNote } from "../design/badge.js";
import { arrange, h } from "../design/dom.js";

export class Questions {
  #el;
  #api;
  #open;
  #run = 0;

  constructor(el, api, open) {
    this.#el = el;
    this.#api = api;
    this.#open = open;
  }

  /** Lists the questions of a place; href(id) is where each leads. */
  show(place, list, current, href) {
    const rows = list.map((question) => {
      const badge = h("span", { class: "cs-line", "data-badge": question.id });
      const note = h("span", { class: "cs-small cs-dim", text: "…" });
      const link = h("a", { href: href(question.id), title: question.wording || question.id, "aria-current": question.id === current ? "true" : null, "data-question": question.id }, h("span", { class: "cs-list-id" }, h("span", { class: "cs-grow cs-ellipsis", text: question.id }), h("span", { class: "cs-chip cs-type", text: question.type })), badge, note);
      link.addEventListener("click", (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        this.#open(question.id);
      });
      return { question, link, badge, note };
    });
    arrange(this.#el, rows.map((row) => row.link));
    this.#badges(place, rows.sort((a, b) => (b.question.id === current) - (a.question.id === current)));
  }

  mark(current) {
    for (const link of this.#el.children) {
      if (link.dataset.question === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  async #badges(place, rows) {
    this.#run += 1;
    const run = this.#run;
    for (const { question, badge, note } of rows) {
      const reply = await this.#api.badge({ questions: place.questions, scorer: place.scorer, question: question.id });
      if (run !== this.#run) return;
      if (reply.error) {
        note.textContent = reply.error.message;
        continue;
      }
      badge.replaceChildren(badgeChip(reply.badge));
      note.textContent = badgeNote(reply.badge);
    }
  }
}
