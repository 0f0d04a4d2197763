// The live loop: at most one request in flight, the newest document next, stale replies dropped.
//
// No timer while the model is quick: a change is sent at once when nothing is in flight, and a change during a request
// is sent when it returns. After a slow run (over SLOW ms) the loop waits about as long as the model took, at most
// MOST_WAIT, so that typing is not answered letter by letter. Pure but for the timers it is given.

export const SLOW = 100;
export const MOST_WAIT = 600;
const RETRY = [500, 1000, 2000, 4000];

export class Live {
  #busy = false;
  #dirty = false;
  #timer = null;
  #sent = "";
  #seq = 0;
  #shown = 0;
  #took = 0;
  #failures = 0;

  /**
   * ask(payload) → reply; build() → {payload, signature, asked} or null (nothing to ask);
   * on: {asking(sent), result(reply, sent), refused(error, sent), lost(tries), idle(), pending(is)}.
   */
  constructor({ ask, build, on, later = (fn, ms) => setTimeout(fn, ms), cancel = (t) => clearTimeout(t) }) {
    Object.assign(this, { ask, build, on, later, cancel });
  }

  /** Whether the painted answers are still to be replaced: one runs, or one will. */
  get pending() {
    return this.#busy || this.#timer !== null;
  }

  /** The document changed. */
  kick() {
    if (this.#busy || this.#timer !== null) {
      this.#dirty = true;
      return;
    }
    const wait = this.#took > SLOW ? Math.min(this.#took, MOST_WAIT) : 0;
    if (wait) this.#wait(wait);
    else this.#run();
  }

  /** Asks again even if nothing changed: the model became ready, or the person wants it. */
  again() {
    this.#sent = "";
    if (this.#timer !== null) this.cancel(this.#timer);
    this.#timer = null;
    if (this.#busy) this.#dirty = true;
    else this.#run();
  }

  #wait(ms) {
    this.#timer = this.later(() => {
      this.#timer = null;
      this.#dirty = false;
      this.#run();
    }, ms);
    this.on.pending(true);
  }

  async #run() {
    const next = this.build();
    if (next === null) {
      this.#sent = "";
      this.on.idle();
      this.on.pending(false);
      return;
    }
    if (next.signature === this.#sent) return this.on.pending(false);
    this.#sent = next.signature;
    this.#seq += 1;
    const seq = this.#seq;
    this.#busy = true;
    this.on.pending(true);
    this.on.asking(next);
    const started = performance.now();
    let reply = null;
    try {
      reply = await this.ask({ ...next.payload, seq });
    } catch (error) {
      // The server is gone or the network failed; what the page holds is safe, so it tries again.
      console.warn("the studio did not answer", error);
    }
    this.#busy = false;
    this.#took = performance.now() - started;
    if (reply === null) return this.#lost();
    this.#failures = 0;
    if (reply.seq > this.#shown) {
      this.#shown = reply.seq;
      if (reply.error) this.#refused(reply.error, next);
      else this.on.result(reply, next);
    }
    if (this.#dirty) {
      this.#dirty = false;
      this.kick();
    }
    this.on.pending(this.pending);
  }

  #refused(error, sent) {
    if (error.kind === "superseded") return;
    if (error.kind === "busy" || error.kind === "loading") this.#sent = "";
    if (error.kind === "busy") this.#wait(RETRY[0]);
    this.on.refused(error, sent);
  }

  #lost() {
    this.#sent = "";
    this.on.lost(this.#failures);
    this.#wait(RETRY[Math.min(this.#failures, RETRY.length - 1)]);
    this.#failures += 1;
  }
}
