// The head of a run: what it is, how far it is, and what one may want of it.

import { button, h, icon, setText } from "../design/dom.js";
import { active, count, duration, ended, left, plural, soFar, speed, status } from "./words.js";

const MARKS = { running: "play", waiting: "clock", paused: "clock", done: "check", failed: "alert", cancelled: "refuse" };

export class RunHead {
  /** host: {steer(wish), api} */
  constructor(el, host) {
    Object.assign(this, { el, host });
    this.title = h("h2", { class: "cs-h2 cs-ellipsis", id: "h-run" });
    this.of = h("span", { class: "cs-small cs-dim cs-ellipsis" });
    this.state = h("span", { class: "cs-chip", "data-status": "" });
    this.fill = h("i");
    this.bar = h("span", { class: "cs-progress", role: "progressbar", "aria-label": "Rows that are done", "aria-valuemin": "0" }, this.fill);
    this.far = h("b", { "data-far": "" });
    this.rate = h("span", { class: "cs-small cs-dim", "data-left": "" });
    this.parts = h("p", { class: "cs-small cs-dim", "data-parts": "" });
    this.message = h("p", { class: "cs-hint", hidden: true, "data-message": "" });
    this.acts = h("div", { class: "cs-line" });
    const act = (wish, name, mark) => button("is-small", name, { "data-steer": wish, onclick: () => host.steer(wish) }, icon(mark));
    this.buttons = { pause: act("pause", "Pause", "clock"), resume: act("resume", "Resume", "play"), rest: act("rest", "Run the rest", "play"), cancel: act("cancel", "Cancel", "x") };
    this.acts.append(...Object.values(this.buttons));
    el.replaceChildren(
      h("div", { class: "cs-card-head" }, this.title, this.of, h("span", { class: "cs-grow" }), this.state),
      h("div", { class: "cs-card-body cs-runs-stack" }, h("div", { class: "cs-line" }, this.far, this.rate, h("span", { class: "cs-grow" }), this.acts), this.bar, this.parts, this.message),
    );
  }

  show(run, scorer) {
    setText(this.title, run.title);
    setText(this.of, `${run.version === null ? run.schema : `${run.schema} v${run.version}`}, answered by ${scorer}`);
    this.state.replaceChildren(icon(MARKS[run.status] ?? "clock"), status(run));
    this.el.dataset.status = run.status;
    const p = run.total ? run.done / run.total : 0;
    this.fill.style.setProperty("--p", String(p));
    this.bar.setAttribute("aria-valuenow", String(run.done));
    this.bar.setAttribute("aria-valuemax", String(run.total ?? run.done));
    setText(this.far, soFar(run));
    setText(this.rate, active(run) ? [left(run), run.seconds > 1 ? speed(run.done, run.seconds) : ""].filter(Boolean).join(", ") : run.done ? `in ${duration(run.seconds)}` : "");
    const parts = [`${count(run.decided)} judged`, run.reused ? `${plural(run.reused, "repeat")} took over an answer` : "", run.bad ? `${count(run.bad)} could not be judged` : "", run.truths ? `${plural(run.truths, "true answer")} taken` : "", run.unread ? `${plural(run.unread, "cell was", "cells were")} no option` : "", run.rest && run.rows !== null ? `${count(run.rows - run.done)} rows are left` : ""];
    setText(this.parts, parts.filter(Boolean).join(" · "));
    this.message.hidden = !run.message;
    this.message.replaceChildren(icon("alert"), h("span", { text: run.message }));
    const wanted = run.status === "running" ? run.wanted : "run";
    this.#button("pause", active(run), wanted === "pause");
    this.#button("cancel", !ended(run), wanted === "cancel");
    this.#button("resume", run.status === "paused");
    this.#button("rest", run.rest);
  }

  #button(name, is, disabled = false) {
    const el = this.buttons[name];
    // A button that goes while it has the focus would drop it out of the page.
    const had = el === document.activeElement && !is;
    el.hidden = !is;
    el.disabled = disabled;
    if (had) Object.values(this.buttons).find((other) => !other.hidden)?.focus();
  }
}
