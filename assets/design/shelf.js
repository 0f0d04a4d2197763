// What keeps a schema's work: schemas, versions, JSON, running all examples, history. Puts these parts beside the page.

import { asked, toast } from "./dialog.js";
import { History, Keep } from "./history.js";
import { JsonView } from "./json_view.js";
import { RunAll } from "./run_all.js";
import { listed } from "./schema_text.js";
import { Schemas } from "./schemas.js";
import { Versions } from "./versions.js";

export class Shelf {
  /** page: {root, store, api, draft, limits, scorer, current, say(text), build(doc, key)}, started. */
  constructor(page) {
    const { root, store, api, draft } = page;
    this.page = page;
    const say = (text) => page.say(text);
    this.json = new JsonView(root, store);
    this.versions = new Versions(root, store, { api, limits: page.limits, say, publish: (doc, note) => this.#publish(doc, note) });
    this.schemas = new Schemas(root, store, { api, draft, model: () => page.scorer.scorer?.name ?? "clef", versions: () => this.versions.open() });
    this.runAll = new RunAll(root, store, { api, build: (doc, key) => page.build(doc, key) });
    this.history = new History(root, store, { api, say, open: (schema) => this.schemas.open(schema) });
    this.keep = new Keep(root, { api, say, shown: () => page.current, schema: async () => {
      const { schema } = store.doc;
      await draft.flush();
      return schema;
    } });
  }

  /** The page has its first document. `missed`: the schema of the address is not kept here. */
  start(missed) {
    const { doc } = this.page.store;
    this.versions.update(doc);
    this.runAll.update(doc);
    this.json.start();
    if (missed) toast(this.page.root, "The schema of this address is not kept here. Another one is shown.");
    else this.schemas.link(doc.schema);
  }

  /** A schema was saved: now it has an address. */
  kept(schema) {
    if (schema === this.page.store.doc.schema) this.schemas.link(schema);
  }

  async #publish(doc, note) {
    const { api, draft } = this.page;
    const why = await draft.flush();
    if (why) return { error: { message: `${why} Nothing was published.` } };
    return asked(() => api.publish({ schema_id: doc.schema, name: doc.name, document: {}, note, questions: listed(doc.questions) }));
  }
}
