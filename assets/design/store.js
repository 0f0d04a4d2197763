// The document's store: one immutable value, its listeners, and undo. Pure: no DOM.
//
// `change(fn, {merge})` replaces the document by fn(document). Changes with the same `merge` key that follow each other
// within PAUSE ms are one step of undo, so that undo takes back a burst of typing and not a letter. `quiet` changes
// (folding a card) are kept, but are no step.

export const PAUSE = 900;
const DEPTH = 200;

export class Store {
  #doc;
  #past = [];
  #future = [];
  #merge = null;
  #at = 0;
  #listeners = new Set();
  #now;

  constructor(doc, now = () => performance.now()) {
    this.#doc = doc;
    this.#now = now;
  }

  get doc() {
    return this.#doc;
  }

  get canUndo() {
    return this.#past.length > 0;
  }

  get canRedo() {
    return this.#future.length > 0;
  }

  /** Calls listener(doc, before, why) after each change; returns what ends it. */
  listen(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  change(fn, { merge = null, quiet = false } = {}) {
    const before = this.#doc;
    const after = fn(before);
    if (after === before) return before;
    if (!quiet) {
      const now = this.#now();
      const joins = merge !== null && merge === this.#merge && now - this.#at < PAUSE;
      if (!joins) {
        this.#past.push(before);
        if (this.#past.length > DEPTH) this.#past.shift();
      }
      this.#future = [];
      this.#merge = merge;
      this.#at = now;
    }
    this.#set(after, before, "change");
    return after;
  }

  undo() {
    return this.#step(this.#past, this.#future, "undo");
  }

  redo() {
    return this.#step(this.#future, this.#past, "redo");
  }

  #step(from, to, why) {
    if (!from.length) return false;
    const before = this.#doc;
    to.push(before);
    this.#merge = null;
    this.#set(from.pop(), before, why);
    return true;
  }

  #set(after, before, why) {
    this.#doc = after;
    for (const listener of this.#listeners) listener(after, before, why);
  }
}

/** The document with the question `uid` replaced by fn(question). */
export function withQuestion(doc, uid, fn) {
  let hit = false;
  const questions = doc.questions.map((q) => {
    if (q.uid !== uid) return q;
    const next = fn(q);
    hit = hit || next !== q;
    return next;
  });
  return hit ? { ...doc, questions } : doc;
}

/** The question with the row `uid` of its list `name` replaced by fn(row). */
export function withRow(question, name, uid, fn) {
  return { ...question, [name]: question[name].map((row) => (row.uid === uid ? fn(row) : row)) };
}
