// The bar at the bottom: undo, the last ten labels, how far the person came, and whether all is saved.

import { h, icon, setAttr, setText } from "../design/dom.js";
import { count } from "../design/words.js";
import { goal, pace } from "./reason.js";

const TRAIL = 10;
const LOOKS = { right: ["is-right", "check", "model was right"], wrong: ["is-wrong", "x", "model was wrong"], cant_tell: ["", "help", "can’t tell"], pending: ["", "clock", "not saved yet"], skipped: ["", "right", "skipped"] };

export class Dock {
  constructor(root, { undo, retry }) {
    this.undo = root.querySelector("[data-undo]");
    this.trail = root.querySelector("[data-trail]");
    this.last = root.querySelector("[data-last]");
    this.bar = root.querySelector("[data-progress]");
    this.text = root.querySelector("[data-progress-text]");
    this.saved = root.querySelector("[data-saved]");
    this.savedText = root.querySelector("[data-saved-text]");
    this.again = root.querySelector("[data-retry]");
    this.undo.addEventListener("click", undo);
    this.again.addEventListener("click", retry);
    this.done = [];
    this.times = [];
  }

  /** An act of the person's. */
  add(act, word) {
    this.done.push({ id: act.id, look: act.kind === "skip" ? "skipped" : "pending", word });
    if (act.kind === "label") this.times = [...this.times.slice(-29), performance.now()];
    this.#draw();
  }

  /** What the server made of it; `name(option)` is the option's word. */
  settle(id, verdict) {
    const entry = this.done.find((d) => d.id === id);
    if (entry && verdict) entry.look = verdict;
    this.#draw();
  }

  drop(id) {
    this.done = this.done.filter((d) => d.id !== id);
    this.#draw();
  }

  /** Labels in this session. */
  get labelled() {
    return this.done.filter((d) => d.look !== "skipped").length;
  }

  show({ outbox, problem, busy, canUndo, waiting }) {
    this.undo.disabled = !canUndo;
    const open = outbox.length;
    const state = problem ? "retry" : open || busy === "sending" ? "saving" : "saved";
    this.saved.dataset.saved = state;
    setAttr(this.saved.querySelector("use"), "href", state === "saved" ? "#i-check" : state === "saving" ? "#i-clock" : "#i-alert");
    const words = { saved: "all saved", saving: `saving ${count(open)}`, retry: open ? `${count(open)} not saved yet, trying again` : "no connection, trying again" };
    setText(this.savedText, words[state]);
    this.saved.title = problem ?? "";
    this.again.hidden = state !== "retry";
    const n = this.labelled;
    const to = goal(n);
    const rate = pace(this.times);
    setText(this.text, `${count(n)} of ${count(to)}${rate ? ` · ${count(rate)} an hour` : ""}${waiting === null ? "" : ` · ${count(waiting)} waiting`}`);
    this.bar.firstElementChild.style.setProperty("--p", n / to);
    setAttr(this.bar, "aria-valuenow", n);
    setAttr(this.bar, "aria-valuemax", to);
  }

  #draw() {
    const recent = this.done.slice(-TRAIL);
    this.trail.replaceChildren(
      ...recent.map(({ look }) => {
        const [classes, sign, words] = LOOKS[look];
        return h("li", { class: classes }, icon(sign), h("span", { class: "cs-sr", text: words }));
      }),
    );
    const last = this.done.at(-1);
    this.last.replaceChildren(...(last ? ["last: ", h("b", { text: last.word }), `, ${LOOKS[last.look][2]}`] : []));
  }
}
