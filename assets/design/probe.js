// A long question to the model: started, watched, stopped. The server keeps it out of the way of typing.

import { button, h, setAttr, setText } from "./dom.js";

const POLL = 250;
/** Polls that may fail in a row: a reply can be lost. */
const PATIENCE = 8;

export class Probe {
  #name = null;

  /** api: {probe, probed, stopProbe}; busy(is): told while one of this page's probes runs. */
  constructor(api, busy) {
    Object.assign(this, { api, busy });
    this.run = 0;
  }

  get running() {
    return this.#name !== null;
  }

  /**
   * Starts `payload` and watches it; a newer start or stop() ends it, and then nothing more is said of the older.
   * on: {progress(done, about), done(result), failed(message)}.
   */
  async start(payload, on) {
    this.stop();
    const run = ++this.run;
    this.#name = "";
    this.busy(true);
    on.progress(0, 0);
    const end = (tell) => {
      if (run !== this.run) return;
      this.#name = null;
      this.busy(false);
      tell();
    };
    let lost = 0;
    try {
      const started = await this.api.probe(payload);
      if (started.error) return end(() => on.failed(started.error.message));
      if (run !== this.run) return void this.api.stopProbe({ probe: started.probe });
      this.#name = started.probe;
      for (;;) {
        await new Promise((resolve) => setTimeout(resolve, POLL));
        if (run !== this.run) return;
        let now;
        try {
          now = await this.api.probed({ probe: started.probe });
          lost = 0;
        } catch (error) {
          if (++lost > PATIENCE) throw error;
          continue;
        }
        if (run !== this.run) return;
        if (now.error) return end(() => on.failed(now.error.message));
        if (now.phase === "stopped") return end(() => on.failed("Stopped."));
        if (now.phase === "done") return end(() => on.done(now.result));
        on.progress(now.done, now.about);
      }
    } catch (error) {
      console.warn("a probe failed", error);
      end(() => on.failed("The studio does not answer. Ask again when it is back."));
    }
  }

  stop() {
    if (this.#name) this.api.stopProbe({ probe: this.#name }).catch((error) => console.warn("not stopped", error));
    if (this.#name !== null) this.busy(false);
    this.#name = null;
    this.run += 1;
  }
}

/** What is shown while a probe runs: {el, show(done, about)}; `stop` is called by its button. */
export function progressLine(what, stop) {
  const said = h("span", { class: "cs-grow" });
  const bar = h("span", { class: "cs-progress", role: "progressbar", "aria-label": what, "aria-valuemin": "0", "aria-valuemax": "100", "aria-valuenow": "0" }, h("i"));
  // Not spoken at every step: a screen reader can ask the bar.
  const el = h("div", { class: "cs-probe", "aria-live": "off" }, h("div", { class: "cs-line" }, said, button("is-small", "Stop", { onclick: stop })), bar);
  return {
    el,
    show(done, about) {
      const share = about ? Math.min(0.97, done / about) : 0;
      setText(said, about ? `${what}: ${done} of about ${about} requests` : `${what}…`);
      setAttr(bar, "aria-valuenow", Math.round(100 * share));
      bar.firstElementChild.style.setProperty("--p", share);
    },
  };
}
