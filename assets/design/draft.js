// The draft: what is on the page outlives a reload, a closed tab and a crash of the browser.
//
// Each tab keeps its own copy in sessionStorage, written at the latest when the page hides, so that a reload restores
// exactly what was there. The server keeps each schema's newest draft, for the next tab; a save names the revision that
// it was made from, so that two tabs never overwrite each other silently. Each save has an id of its own: a page that was
// reloaded before its reply came knows its own save again.

import { NO_NAME, opened } from "./schema.js";

const KEY = "clef-studio-draft";
const FORMAT = 1;
const PAUSE = 500;
const RETRY = 3000;
const OWN_SAVES = 20;

export class Draft {
  /**
   * on: {said(text), kept(schema), conflict({take, copy})}; revisions: schema → revision that this tab knows; saves: ids of
   * this tab's last saves; unsaved: whether the restored document is newer than the server's.
   */
  constructor(store, api, on, { revisions = {}, saves = [], unsaved = false } = {}) {
    Object.assign(this, { store, api, on, revisions, saves });
    this.timer = null;
    this.dirty = false;
    this.saving = null;
    // Of each schema that was on the page, the newest document that the server does not have.
    this.unsaved = new Map();
    this.blocked = new Set();
    this.clean = null;
    store.listen((doc, before) => {
      if (doc === this.clean) return;
      this.unsaved.set(doc.schema, doc);
      this.#touch(doc.schema === before.schema ? PAUSE : 0);
    });
    document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && this.keep());
    window.addEventListener("pagehide", () => this.keep());
    if (unsaved) {
      this.unsaved.set(store.doc.schema, store.doc);
      this.#touch(0);
    }
  }

  /** The document of a kept draft, or null where it cannot be read. */
  read(kept) {
    return valid(kept);
  }

  /** Puts a document on the page that the server has at `revision`: nothing is to be saved. */
  adopt(doc, revision) {
    this.revisions[doc.schema] = revision;
    this.unsaved.delete(doc.schema);
    this.blocked.delete(doc.schema);
    this.clean = doc;
    this.store.change(() => doc);
    this.clean = null;
    this.dirty = true;
    this.keep();
    this.on.said("");
  }

  /** Saves what is on the page now. Returns null, or a sentence that says why it is not saved. */
  async flush() {
    const { doc } = this.store;
    if (!this.revisions[doc.schema]) this.unsaved.set(doc.schema, doc);
    clearTimeout(this.timer);
    this.timer = null;
    await this.saving;
    if (this.unsaved.has(doc.schema)) await this.#save(doc.schema);
    return this.unsaved.has(doc.schema) ? "The draft could not be saved first." : null;
  }

  #touch(pause) {
    this.dirty = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.timer = null;
      this.#save();
    }, pause);
  }

  /** Writes the tab's own copy now. */
  keep() {
    if (!this.dirty) return;
    try {
      sessionStorage.setItem(KEY, JSON.stringify({ format: FORMAT, doc: this.store.doc, revisions: this.revisions, saves: this.saves, unsaved: this.unsaved.has(this.store.doc.schema) }));
    } catch (error) {
      // Full or forbidden: the server's copy remains.
      console.warn("the tab's own copy was not written", error);
    }
  }

  /** Saves one document that waits: of `schema`, or the first. */
  async #save(schema = null) {
    const doc = schema ? this.unsaved.get(schema) : [...this.unsaved.values()].find((d) => !this.blocked.has(d.schema));
    if (!doc || this.blocked.has(doc.schema) || this.saving) {
      this.keep();
      if (this.saving) this.#touch(PAUSE);
      else if (this.blocked.has(this.store.doc.schema)) this.on.said("kept in this tab only");
      return;
    }
    this.saving = this.#send(doc);
    await this.saving;
  }

  async #send(doc) {
    const save = crypto.randomUUID();
    this.saves = [...this.saves, save].slice(-OWN_SAVES);
    this.keep();
    this.on.said("saving…");
    let reply;
    try {
      const revision = this.revisions[doc.schema] ?? 0;
      const document = { format: FORMAT, doc, save };
      reply = await this.api.saveDraft({ schema_id: doc.schema, revision, name: doc.name, description: doc.description ?? "", document });
    } catch (error) {
      console.warn("the draft was not saved", error);
      reply = { error: { message: "The studio does not answer." } };
    }
    this.saving = null;
    if (reply.conflict) {
      if (!this.saves.includes(reply.conflict.document?.save)) return this.#conflict(doc.schema, reply.conflict);
      this.revisions[doc.schema] = reply.conflict.revision;
      return this.#touch(0);
    }
    if (reply.error) {
      this.on.said("kept in this tab only");
      return this.#touch(RETRY);
    }
    this.revisions[doc.schema] = reply.revision;
    if (this.unsaved.get(doc.schema) === doc) this.unsaved.delete(doc.schema);
    this.on.kept(doc.schema);
    const waits = [...this.unsaved.keys()].filter((key) => !this.blocked.has(key));
    // What is being typed has its own timer, unless a second try at another schema used it up; the rest goes now.
    if (waits.length) return this.timer !== null && waits.includes(this.store.doc.schema) ? undefined : this.#touch(0);
    if (this.store.doc.schema !== doc.schema) return this.on.said("");
    this.on.said(`saved ${new Date().toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })}`);
    this.keep();
    this.dirty = false;
  }

  #conflict(schema, { revision, document: other }) {
    this.blocked.add(schema);
    this.on.said("kept in this tab only");
    this.on.conflict({
      take: () => {
        const doc = valid(other);
        if (doc) this.adopt(doc, revision);
      },
      copy: () => {
        const mine = this.unsaved.get(schema) ?? this.store.doc;
        this.unsaved.delete(schema);
        this.blocked.delete(schema);
        this.store.change(() => ({ ...mine, schema: crypto.randomUUID(), name: `${mine.name || NO_NAME} (copy)` }));
      },
    });
  }
}

/**
 * {doc, revisions, saves}: the schema `wanted` (of the address), the tab's own copy, else the server's newest draft; null
 * where there is none. `missed` says why the wanted one is not it.
 */
export async function restore(api, wanted = null) {
  const own = read(sessionStorage.getItem(KEY));
  if (own && (!wanted || own.doc.schema === wanted)) return own;
  try {
    const reply = wanted ? await api.openSchema({ schema_id: wanted }) : null;
    const doc = valid(reply?.document);
    if (doc) return { doc, revisions: { ...own?.revisions, [wanted]: reply.revision }, saves: own?.saves };
    if (wanted && own) return { ...own, missed: true };
    if (wanted) return { ...(await newest(api)), missed: true };
  } catch (error) {
    console.warn("the schema of the address could not be opened", error);
    if (own) return own;
  }
  return newest(api);
}

async function newest(api) {
  try {
    const { draft } = await api.loadDraft();
    const doc = draft ? valid(draft.document) : null;
    return doc ? { doc, revisions: { [draft.schema_id]: draft.revision } } : null;
  } catch (error) {
    console.warn("no draft could be loaded", error);
    return null;
  }
}

function read(text) {
  if (!text) return null;
  try {
    const kept = JSON.parse(text);
    const doc = valid(kept);
    return doc ? { doc, revisions: kept.revisions ?? {}, saves: kept.saves ?? [], unsaved: kept.unsaved } : null;
  } catch {
    return null;
  }
}

function valid(kept) {
  const doc = kept?.format === FORMAT ? kept.doc : null;
  return doc && Array.isArray(doc.questions) && typeof doc.state === "string" && Array.isArray(doc.pictures) ? opened(doc) : null;
}
