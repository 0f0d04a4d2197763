// A replay: how many labelled cases another version has not judged yet, the button that has them judged, and how far it is.

import { button, h, icon } from "../design/dom.js";
import { errorLine } from "../design/dialog.js";
import { count, plural } from "./words.js";

const POLL_MS = 1000;
const active = (job) => job !== null && ["waiting", "running", "paused"].includes(job.status);

export class Replay {
  #api;
  #done;
  #given = null;
  #name = "";
  #state = null;
  #timer = 0;

  /** done(): some cases were judged, and no more come by themselves. */
  constructor(api, done) {
    this.#api = api;
    this.#done = done;
    this.error = errorLine();
    this.said = h("span", { class: "cs-grow", "data-replay-said": "" });
    this.acts = h("span", { class: "cs-line" });
    this.fill = h("i");
    this.bar = h("span", { class: "cs-progress", role: "progressbar", "aria-label": "Labelled cases judged", "aria-valuemin": "0" }, this.fill);
    this.about = h("p", { class: "cs-small cs-dim", text: "The model that is loaded judges them in the background; what it says is kept, for this comparison only: neither the queue nor drift counts it." });
    this.el = h("div", { class: "cs-replay", hidden: true, "data-replay": "" }, h("div", { class: "cs-line" }, this.said, this.acts), this.bar, this.about, this.error.el);
  }

  /** given: what `replay_state` takes, or null where nothing can be replayed. Resolves to the state, or null. */
  async show(given, name) {
    clearTimeout(this.#timer);
    this.#given = given;
    this.#name = name;
    this.#state = null;
    this.error.say("");
    if (!given) {
      this.el.hidden = true;
      return null;
    }
    const reply = await this.#api.replay_state(given);
    if (given !== this.#given) return null;
    if (reply.error) {
      this.el.hidden = false;
      this.error.say(reply.error.message);
      return null;
    }
    this.#state = reply;
    this.#draw();
    return reply;
  }

  #draw() {
    const { total, open, job } = this.#state;
    const works = active(job);
    this.el.hidden = !works && open === 0;
    this.bar.hidden = !works;
    this.about.hidden = works;
    if (works) {
      this.fill.style.setProperty("--p", String(job.total ? job.done / job.total : 0));
      this.bar.setAttribute("aria-valuenow", String(job.done));
      this.bar.setAttribute("aria-valuemax", String(job.total));
    }
    this.said.textContent = works ? this.#progress(job) : this.#offer(total, open, job);
    this.#buttons(works, job, open);
    clearTimeout(this.#timer);
    if (works && job.status !== "paused") this.#timer = setTimeout(() => this.#poll(), POLL_MS);
  }

  #progress(job) {
    const far = `${count(job.done)} of ${plural(job.total, "labelled case")} judged`;
    if (job.status === "waiting") return `${far}; waits for other work to end`;
    if (job.status === "paused") return `${far}; paused. ${job.message}`.trim();
    return job.wanted === "run" ? far : `${far}; ending`;
  }

  #offer(total, open, job) {
    const bad = job?.status === "done" && job.bad ? ` ${count(job.bad)} of them cannot be judged, such as for being too long.` : "";
    const failed = job?.status === "failed" ? ` The last replay failed: ${job.message}` : "";
    return `${this.#name} has judged ${count(total - open)} of ${plural(total, "labelled case")}.${bad}${failed}`;
  }

  #buttons(works, job, open) {
    const act = (name, mark, run, disabled = false) => button("is-small", name, { disabled, onclick: run }, icon(mark));
    const had = this.acts.contains(document.activeElement);
    const ending = works && job.status === "running" && job.wanted !== "run";
    const wanted = works
      ? [
          job.status === "paused" ? act("Resume", "play", () => this.#steer("run")) : act("Pause", "clock", () => this.#steer("pause"), ending),
          act("Cancel", "x", () => this.#steer("cancel"), ending),
        ]
      : [act(`Replay ${this.#short()} over ${open === this.#state.total ? "the labelled cases" : `the other ${count(open)}`}`, "play", () => this.#start())];
    const names = (list) => [...list].map((b) => `${b.textContent} ${b.disabled}`).join();
    // Redrawn only when they change: a button under somebody's finger stays.
    if (names(wanted) === names(this.acts.children)) return;
    this.acts.replaceChildren(...wanted);
    if (had) wanted.find((b) => !b.disabled)?.focus();
  }

  #short() {
    return `v${this.#given.version}`;
  }

  async #start() {
    const given = this.#given;
    const reply = await this.#api.start_replay({ ...given, id: crypto.randomUUID() });
    this.#took(given, reply);
  }

  async #steer(wish) {
    const given = this.#given;
    const reply = await this.#api.steer_replay({ job: this.#state.job.id, wish });
    this.#took(given, reply);
  }

  async #poll() {
    const given = this.#given;
    const reply = await this.#api.replay_job({ job: this.#state.job.id });
    this.#took(given, reply);
  }

  #took(given, reply) {
    if (given !== this.#given) return;
    this.error.say(reply.error?.message);
    if (reply.error) {
      // The studio may be starting again: the replay goes on then, and so does this.
      if (active(this.#state.job)) this.#timer = setTimeout(() => this.#poll(), 4 * POLL_MS);
      return;
    }
    this.#state.job = reply.job;
    if (active(reply.job)) this.#draw();
    else this.#done();
  }
}
