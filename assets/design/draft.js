// The draft: what is on the page outlives a reload, a closed tab and a crash of the browser.
//
// Each tab keeps its own copy in sessionStorage, written at the latest when the page hides, so that a reload restores
// exactly what was there. The server keeps each schema's newest draft, for the next tab; a save names the revision that
// it was made from, so that two tabs never overwrite each other silently. Each save has an id of its own: a page that was
// reloaded before its reply came knows its own save again.

const KEY = "clef-studio-draft";
const FORMAT = 1;
const PAUSE = 500;
const RETRY = 3000;
const OWN_SAVES = 20;

export class Draft {
  /**
   * on: {said(text), conflict({take, copy})}; revisions: schema → revision that this tab knows; saves: ids of
   * this tab's last saves.
   */
  constructor(store, api, on, { revisions = {}, saves = [] } = {}) {
    Object.assign(this, { store, api, on, revisions, saves });
    this.timer = null;
    this.dirty = false;
    this.saving = false;
    this.blocked = null;
    store.listen(() => this.#touch(PAUSE));
    document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && this.keep());
    window.addEventListener("pagehide", () => this.keep());
  }

  #touch(pause) {
    this.dirty = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#save(), pause);
  }

  /** Writes the tab's own copy now. */
  keep() {
    if (!this.dirty) return;
    try {
      sessionStorage.setItem(KEY, JSON.stringify({ format: FORMAT, doc: this.store.doc, revisions: this.revisions, saves: this.saves }));
    } catch (error) {
      // Full or forbidden: the server's copy remains.
      console.warn("the tab's own copy was not written", error);
    }
  }

  async #save() {
    const doc = this.store.doc;
    if (this.blocked === doc.schema || this.saving) {
      this.keep();
      return this.saving ? this.#touch(PAUSE) : this.on.said("kept in this tab only");
    }
    this.saving = true;
    const save = crypto.randomUUID();
    this.saves = [...this.saves, save].slice(-OWN_SAVES);
    this.keep();
    this.on.said("saving…");
    let reply;
    try {
      const revision = this.revisions[doc.schema] ?? 0;
      reply = await this.api.saveDraft({ schema_id: doc.schema, revision, name: doc.name, document: { format: FORMAT, doc, save } });
    } catch (error) {
      console.warn("the draft was not saved", error);
      reply = { error: { message: "The studio does not answer." } };
    }
    this.saving = false;
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
    if (this.store.doc !== doc) return;
    this.on.said(`saved ${new Date().toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })}`);
    this.keep();
    this.dirty = false;
  }

  #conflict(schema, { revision, document: other }) {
    this.blocked = schema;
    this.on.said("kept in this tab only");
    this.on.conflict({
      take: () => {
        this.blocked = null;
        this.revisions[schema] = revision;
        this.store.change(() => valid(other) ?? this.store.doc);
      },
      copy: () => {
        this.blocked = null;
        this.store.change((doc) => ({ ...doc, schema: crypto.randomUUID(), name: `${doc.name || "Untitled schema"} (copy)` }));
      },
    });
  }
}

/** {doc, revisions, saves}: the tab's own copy, else the server's newest draft; null where there is none. */
export async function restore(api) {
  const own = read(sessionStorage.getItem(KEY));
  if (own) return own;
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
    return doc ? { doc, revisions: kept.revisions ?? {}, saves: kept.saves ?? [] } : null;
  } catch {
    return null;
  }
}

function valid(kept) {
  const doc = kept?.format === FORMAT ? kept.doc : null;
  return doc && Array.isArray(doc.questions) && typeof doc.state === "string" && Array.isArray(doc.pictures) ? doc : null;
}
