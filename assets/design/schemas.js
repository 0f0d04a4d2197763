// The schemas: a menu to start, open, name, copy, import, export and archive one, and the address of the one on the page.
//
// The address ?schema=ID is set once the schema is kept, so that a link never leads to nothing. Opening another schema is a
// change like any other: undo brings back what was on the page.

import { asked, errorLine, onEnter, openDialog, toast, when } from "./dialog.js";
import { button, h, iconButton } from "./dom.js";
import { menuButton } from "./menu.js";
import { emptyDoc, NO_NAME } from "./schema.js";
import { JsonError, placeOf } from "./json_text.js";
import { mergeQuestions, readSchema, requestText } from "./schema_text.js";

/** The schema that the address asks for, or null. */
export const wantedSchema = () => new URLSearchParams(window.location.search).get("schema");

export class Schemas {
  /**
   * host: {api, draft: the page's Draft, model(): name of the model, versions(): opens their dialog}
   */
  constructor(root, store, host) {
    Object.assign(this, { root, store, host });
    menuButton(root.querySelector("[data-schema-menu]"), () => this.#items());
    store.listen((doc) => this.link(doc.schema));
  }

  /** Puts a kept schema's id into the address. */
  link(schema) {
    if (!this.host.draft.revisions[schema] || wantedSchema() === schema) return;
    const url = new URL(window.location.href);
    url.searchParams.set("schema", schema);
    window.history.replaceState(window.history.state, "", url);
  }

  #items() {
    return [
      { label: "New schema", icon: "plus", run: () => this.store.change(() => emptyDoc()) },
      { label: "Open…", icon: "folder", run: () => this.#openList(false) },
      { label: "Name and description…", icon: "pen", run: () => this.#describe() },
      { label: "Duplicate", icon: "copy", run: () => this.#duplicate() },
      { label: "Versions…", icon: "layers", run: () => this.host.versions() },
      { label: "Import…", icon: "in", run: () => this.#import() },
      { label: "Export…", icon: "out", run: () => this.#export() },
      { label: "Archive", icon: "box", disabled: !this.host.draft.revisions[this.store.doc.schema], run: () => this.#archive(this.store.doc) },
    ];
  }

  /** Opens a kept schema. Returns null, or a sentence that says why it cannot be opened. */
  async open(schema) {
    const reply = await asked(() => this.host.api.openSchema({ schema_id: schema }));
    if (reply.error) return reply.error.message;
    const doc = this.host.draft.read(reply.document);
    if (!doc) return "This draft was written by another version of the studio, and cannot be shown here.";
    this.host.draft.revisions[schema] = reply.revision;
    this.store.change(() => doc);
    return null;
  }

  #duplicate() {
    this.store.change((doc) => ({ ...doc, schema: crypto.randomUUID(), name: `${doc.name || NO_NAME} (copy)` }));
    toast(this.root, "This is the copy. Undo goes back to the original.");
  }

  #describe() {
    const { doc } = this.store;
    const name = h("input", { class: "cs-input", value: doc.name, maxlength: "200", placeholder: NO_NAME, autocomplete: "off" });
    const about = h("textarea", { class: "cs-input", rows: 3, maxlength: "2000", placeholder: "What it decides, and for whom" });
    about.value = doc.description ?? "";
    const cancel = button("", "Cancel");
    const done = button("is-primary", "Done");
    const { close } = openDialog(this.root, {
      title: "Name and description",
      body: [h("label", { class: "cs-field" }, h("span", { class: "cs-label", text: "Name" }), name), h("label", { class: "cs-field" }, h("span", { class: "cs-label", text: "Description, for people; the model does not read it" }), about)],
      acts: [cancel, done],
    });
    const keep = () => {
      close();
      this.store.change((now) => (now.name === name.value && now.description === about.value ? now : { ...now, name: name.value, description: about.value }));
    };
    cancel.addEventListener("click", close);
    done.addEventListener("click", keep);
    onEnter(name, keep);
    name.select();
  }

  async #archive(doc) {
    const schema = doc.schema;
    const set = (archived) => asked(() => this.host.api.archive({ schema_id: schema, archived }));
    const reply = await set(true);
    if (reply.error) return toast(this.root, `Not archived. ${reply.error.message}`);
    const rest = await asked(() => this.host.api.schemas({ archived: false }));
    const next = rest.schemas?.find((s) => s.id !== schema);
    if (this.store.doc.schema === schema && (!next || (await this.open(next.id)))) this.store.change(() => emptyDoc());
    toast(this.root, `“${doc.name || NO_NAME}” is archived. Nothing is deleted.`, ["Bring it back", async () => {
      const back = await set(false);
      const why = back.error?.message ?? (await this.open(schema));
      if (why) toast(this.root, why);
    }]);
  }

  async #openList(archived) {
    const list = h("ul", { class: "cs-entries", "aria-label": "Schemas" });
    const find = h("input", { class: "cs-input", type: "search", placeholder: "Find by name", "aria-label": "Find a schema" });
    const old = h("label", { class: "cs-line cs-small" }, h("input", { type: "checkbox", checked: archived }), "archived ones");
    const error = errorLine();
    const { close } = openDialog(this.root, { title: "Open a schema", classes: "is-wide", body: [h("div", { class: "cs-line cs-find" }, find, old), error.el, list] });
    let all = [];
    const show = () => {
      const words = find.value.trim().toLowerCase();
      const found = all.filter((s) => `${s.name} ${s.description}`.toLowerCase().includes(words));
      const items = found.map((schema) => this.#entry(schema, { close, error, reload: load }));
      list.replaceChildren(...(items.length ? items : [h("li", { class: "cs-dim", text: all.length ? "No schema has these words." : archived ? "Nothing is archived." : "Nothing is kept yet. A schema is kept as soon as something is typed." })]));
    };
    const load = async () => {
      const reply = await asked(() => this.host.api.schemas({ archived }));
      error.say(reply.error?.message);
      all = reply.schemas ?? [];
      show();
    };
    find.addEventListener("input", show);
    old.querySelector("input").addEventListener("change", (event) => {
      archived = event.target.checked;
      load();
    });
    await load();
  }

  #entry(schema, { close, error, reload }) {
    const here = schema.id === this.store.doc.schema;
    const meta = [schema.latest ? `v${schema.latest}` : "draft", `saved ${when(schema.saved)}`, here ? "open now" : null].filter(Boolean).join(" · ");
    const open = h("button", { type: "button", class: "cs-entry-main", onclick: async () => {
      const why = here ? null : await this.open(schema.id);
      if (why) error.say(why);
      else close();
    } }, h("b", { text: schema.name }), h("span", { class: "cs-small cs-dim", text: meta }), schema.description ? h("span", { class: "cs-small cs-entry-about", text: schema.description }) : null);
    const label = schema.archived ? `Bring ${schema.name} back` : `Archive ${schema.name}`;
    const move = iconButton(schema.archived ? "undo" : "box", label, { disabled: here && !schema.archived, onclick: async () => {
      const reply = await asked(() => this.host.api.archive({ schema_id: schema.id, archived: !schema.archived }));
      if (reply.error) error.say(reply.error.message);
      else reload();
    } });
    return h("li", { class: "cs-entry" }, open, move);
  }

  #import() {
    const text = h("textarea", { class: "cs-input is-mono cs-import", rows: 10, spellcheck: "false", placeholder: '{"state": …, "questions": {…}}', "aria-label": "Schema or System One request body" });
    const file = h("input", { type: "file", accept: ".json,application/json", hidden: true, "aria-label": "Choose a JSON file" });
    const pick = button("", "Choose a file", { onclick: () => file.click() });
    const error = errorLine();
    const cancel = button("", "Cancel");
    const go = button("is-primary", "Import");
    const { close } = openDialog(this.root, {
      title: "Import a schema", classes: "is-wide",
      body: [h("p", { text: "Paste a System One request body, or choose a file. It becomes a new schema; the one on the page stays as it is." }), text, error.el, file],
      acts: [pick, h("span", { class: "cs-grow" }), cancel, go],
    });
    let from = "";
    file.addEventListener("change", async () => {
      const [chosen] = file.files;
      if (!chosen) return;
      from = chosen.name.replace(/\.json$/i, "");
      text.value = await chosen.text();
      file.value = "";
      go.focus();
    });
    cancel.addEventListener("click", close);
    go.addEventListener("click", () => {
      let read;
      try {
        read = readSchema(text.value);
      } catch (fault) {
        if (!(fault instanceof JsonError)) throw fault;
        const { line, column } = placeOf(text.value, fault.at);
        error.say(`Not imported. Line ${line}, column ${column}: ${fault.message}`);
        text.focus();
        text.setSelectionRange(fault.at, fault.at);
        return;
      }
      close();
      this.store.change(() => ({
        ...emptyDoc(), name: read.name ?? from, description: read.description ?? "", questions: mergeQuestions([], read.questions), state: read.state ?? "", plain: read.plain ?? false,
      }));
      const n = read.images;
      if (n) toast(this.root, `Imported without its ${n === 1 ? "picture" : `${n} pictures`}: add ${n === 1 ? "it" : "them"} again beside the state.`);
    });
  }

  #export() {
    const { doc } = this.store;
    const body = requestText(doc, this.host.model());
    const text = h("textarea", { class: "cs-input is-mono cs-import", rows: 14, readonly: true, "aria-label": "System One request body" });
    text.value = body;
    const copy = button("", "Copy");
    const save = button("is-primary", "Download");
    const n = doc.pictures.length;
    openDialog(this.root, {
      title: "Export as a System One request", classes: "is-wide",
      body: [text, n ? h("p", { class: "cs-small", text: `The ${n === 1 ? "picture is" : `${n} pictures are`} not part of the file; “Get code” shows how to send ${n === 1 ? "it" : "them"}.` }) : null].filter(Boolean),
      acts: [copy, save],
    });
    copy.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(body);
        copy.textContent = "Copied";
      } catch (error) {
        console.warn("not copied", error);
        text.focus();
        text.select();
        copy.textContent = "Press Ctrl C";
      }
    });
    save.addEventListener("click", () => {
      const url = URL.createObjectURL(new Blob([body, "\n"], { type: "application/json" }));
      h("a", { href: url, download: `${fileName(doc.name)}.json` }).click();
      setTimeout(() => URL.revokeObjectURL(url), 60_000);
    });
  }
}

const fileName = (name) => name.trim().toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "schema";
