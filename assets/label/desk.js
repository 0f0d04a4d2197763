// What the page holds: the items ahead, what was done with them, and what the server has not confirmed yet. No DOM.
//
// An act counts at once on the page, and is kept when the server says so. Acts wait in an outbox that survives a reload;
// they are sent in order, one request at a time, again and again until there is an answer. Every act has its own uuid,
// so that one which is sent twice is done once. `send(payload)` gives {done, items, status, settings, lost?} or throws.

/** Acts in one request. */
const MOST = 100;
const FIRST_WAIT = 400;
const LAST_WAIT = 8000;
/** Items that a page holds before the server says how many it may. */
const FEW = 10;
export const PREFIX = "clef-studio-label-outbox:";

export class Desk {
  /** on: {changed(), settled(act, result), refused(act, message)}; wait(ms) → promise; storage as localStorage. */
  constructor({ send, on, storage, tab, wait, uuid = () => crypto.randomUUID() }) {
    Object.assign(this, { send, on, storage, tab, wait, uuid });
    this.where = null;
    this.labeller = "";
    this.ahead = [];
    this.past = [];
    this.outbox = [];
    this.acted = new Set();
    this.status = null;
    this.settings = null;
    this.target = FEW;
    this.asked = false;
    this.failures = 0;
    this.problem = null;
    this.busy = false;
    this.round = 0;
    this.wake = null;
  }

  /** The item to be judged now, or null. */
  get current() {
    return this.ahead[0] ?? null;
  }

  /** Whether nothing is there, and the server has said so. */
  get empty() {
    return this.asked && !this.ahead.length;
  }

  /** Begins with what earlier pages left unconfirmed; each is sent as who did it. */
  async recover() {
    for (const key of Object.keys(this.storage).filter((k) => k.startsWith(PREFIX))) {
      let acts = JSON.parse(this.storage.getItem(key));
      if (key === PREFIX + this.tab) {
        this.outbox = acts;
        continue;
      }
      while (acts.length) {
        const now = together(acts);
        const reply = await this.send({ labeller: now[0].by, tab: this.tab, acts: now, want: 0, known: [], where: null });
        if (reply.error) break;
        acts = acts.slice(now.length);
      }
      if (acts.length) this.storage.setItem(key, JSON.stringify(acts));
      else this.storage.removeItem(key);
    }
  }

  /** Labels at another place, or as somebody else: what lies ahead belongs to the one before. */
  open(where, labeller) {
    this.where = where;
    this.labeller = labeller;
    this.ahead = [];
    this.past = [];
    this.status = null;
    this.asked = false;
    this.target = FEW;
    this.round += 1;
    this.on.changed();
    return this.kick();
  }

  /** The person holds `choice` for true (null: can't tell). */
  label(choice, { note = "", seconds = null, hidden = false } = {}) {
    return this.#act({ kind: "label", choice, note, seconds, hidden });
  }

  skip() {
    return this.#act({ kind: "skip" });
  }

  /** Takes back what was done last; its item is the current one again. Returns the item, or null. */
  undo() {
    const last = this.past.pop();
    if (!last) return null;
    this.acted.delete(last.item.lease);
    this.ahead.unshift(last.item);
    this.#push({ id: this.uuid(), kind: "undo", lease: last.item.lease });
    this.on.changed();
    return last;
  }

  #act(what) {
    const item = this.ahead.shift();
    if (!item) return null;
    const act = { id: this.uuid(), lease: item.lease, ...what };
    this.acted.add(item.lease);
    this.past.push({ item, act });
    this.#push(act);
    this.on.changed();
    return act;
  }

  #push(act) {
    this.outbox.push({ ...act, by: this.labeller });
    this.#keep();
    this.kick();
  }

  #keep() {
    const key = PREFIX + this.tab;
    try {
      if (this.outbox.length) this.storage.setItem(key, JSON.stringify(this.outbox));
      else this.storage.removeItem(key);
    } catch (error) {
      console.warn("unsent labels are not kept over a reload", error);
    }
  }

  /** Sends what waits and asks for more, now. */
  kick() {
    this.dirty = true;
    if (!this.busy) this.running = this.#run();
    return this.running;
  }

  async #run() {
    this.busy = true;
    while (this.dirty || this.outbox.length) {
      this.dirty = false;
      const { round } = this;
      const acts = together(this.outbox);
      // What somebody else did at this page before is sent alone, as theirs.
      const labeller = acts.length ? acts[0].by : this.labeller;
      const where = labeller === this.labeller ? this.where : null;
      const known = this.ahead.map((item) => item.lease);
      let reply;
      try {
        reply = await this.send({ labeller, tab: this.tab, where, acts, known, want: this.target });
      } catch (error) {
        console.warn("not sent", error);
        reply = { error: { kind: "lost", message: "The studio does not answer." } };
      }
      if (reply.error) await this.#failed(reply.error);
      else this.#take(reply, acts, round);
    }
    this.busy = false;
    this.on.changed();
  }

  async #failed(error) {
    this.failures += 1;
    this.problem = error.message;
    this.dirty = true;
    this.on.changed();
    // A key pressed meanwhile does not end the pause: a fast hand would storm a server that is down.
    await Promise.race([this.wait(Math.min(LAST_WAIT, FIRST_WAIT * 2 ** (this.failures - 1))), new Promise((resolve) => {
      this.wake = resolve;
    })]);
    this.wake = null;
  }

  /** The network is back, or the person asks: try again now. */
  retry() {
    this.wake?.();
  }

  #take(reply, acts, round) {
    this.failures = 0;
    this.problem = reply.lost ?? null;
    const sent = new Map(acts.map((act) => [act.id, act]));
    this.outbox = this.outbox.filter((act) => !sent.has(act.id));
    this.#keep();
    for (const done of reply.done ?? []) {
      if (done.error) this.on.refused(sent.get(done.id), done.error);
      else this.on.settled(sent.get(done.id), done);
    }
    // Nothing was asked for, or the reply is to a place that was left meanwhile: ask again.
    if (round !== this.round || !reply.items) {
      this.dirty ||= Boolean(this.where) && !reply.lost;
      return this.on.changed();
    }
    const there = new Set(this.ahead.map((item) => item.lease));
    const fresh = reply.items.filter((item) => !there.has(item.lease) && !this.acted.has(item.lease));
    this.ahead.push(...fresh);
    this.asked = true;
    this.status = reply.status;
    this.settings = reply.settings;
    const target = Math.max(FEW, reply.status.ahead);
    // Ask at once for the rest of what the page may hold.
    if (target > this.target && fresh.length) this.dirty = true;
    this.target = target;
    this.on.changed();
  }
}

/** The first acts of one person, as many as one request may hold. */
function together(acts) {
  const end = acts.findIndex((act) => act.by !== acts[0].by);
  return acts.slice(0, Math.min(MOST, end < 0 ? acts.length : end));
}
