// A run that is not one yet: a file, a schema version, what the columns mean, and what a run of it would be. The upload
// stands in the address and what was chosen in this tab's memory, so that a reload loses nothing.

import { h, icon, setText } from "../design/dom.js";
import { Before, OPTIONS } from "./before.js";
import { Columns, aboutFile } from "./columns_view.js";
import { missing } from "./mapping.js";
import { dropped, named, send, usable } from "./upload.js";
import { count, plural } from "./words.js";

const KEPT = "clef-studio-run-";
const SOON = 300;
const LOOK = 400;

export class NewRun {
  /** host: {api, go(query), started(run), choices(): the newest reply of `choices`} */
  constructor(root, host) {
    Object.assign(this, { root, host, upload: null, seen: null, mapping: null, weighed: null, schema: null, version: null, turn: 0 });
    this.find = (name) => root.querySelector(`[data-${name}]`);
    this.columns = new Columns(this.find("columns"), (mapping) => this.#mapped(mapping));
    this.before = new Before(this.find("before"), { changed: () => this.#keep(), start: () => this.#start(), url: host.api.url });
    const file = this.find("file");
    const folder = this.find("folder");
    this.find("choose-file").addEventListener("click", () => file.click());
    this.find("choose-folder").addEventListener("click", () => folder.click());
    this.find("another").addEventListener("click", () => host.go({}));
    for (const input of [file, folder]) {
      input.addEventListener("change", () => {
        const files = named(input.files);
        input.value = "";
        if (files.length) this.send(files);
      });
    }
    this.#drops();
  }

  /** Shows the upload that the address names; null: none yet. */
  async open(upload) {
    if (upload !== null && upload === this.upload && this.seen) return this.draw();
    Object.assign(this, { upload, seen: null, mapping: null, weighed: null });
    this.turn += 1;
    this.#error("");
    if (upload === null) {
      this.#pick(this.schema, this.version);
      this.before.set(OPTIONS);
      return this.draw();
    }
    const kept = remembered(upload);
    this.#pick(kept.schema, kept.version);
    this.before.set(kept.options ?? OPTIONS);
    return this.#look(kept.mapping);
  }

  async send(files) {
    const taken = usable(files);
    if (!taken.length) return this.#error(files.length === 1 ? `The studio does not read ${files[0].file.name}. Use CSV, TSV, JSONL, JSON, Parquet, Excel, pictures, or a zip of them.` : "There is no table and no picture among these files.");
    this.#error("");
    const upload = crypto.randomUUID();
    const what = taken.length === 1 ? taken[0].file.name : `${count(taken.length)} files`;
    this.find("drop").hidden = true;
    this.find("sending").hidden = false;
    const told = (sent, all) => {
      this.find("sending-bar").style.setProperty("--p", String(all ? sent / all : 1));
      setText(this.find("sending-text"), sent < all ? `Sending ${what}: ${megabytes(sent)} of ${megabytes(all)}` : `Reading ${what}`);
    };
    told(0, taken.reduce((sum, { file }) => sum + file.size, 0));
    const refused = await send(taken, { url: this.host.api.url(`/studio/runs/uploads/${upload}`), told });
    this.find("sending").hidden = true;
    this.find("drop").hidden = false;
    if (refused) return this.#error(refused);
    return this.host.go({ upload });
  }

  /** After the list of schemas or the model changed. */
  refresh() {
    this.#pick(this.schema, this.version);
    this.draw();
    // A model that is here now counts tokens and time.
    if (this.upload && this.seen && this.mapping && (!this.weighed || this.weighed.tokens.mean === null)) this.#weigh();
  }

  draw() {
    const choices = this.host.choices();
    const { upload, seen } = this;
    this.find("drop").hidden = Boolean(upload) || !this.find("sending").hidden;
    this.find("another").hidden = !upload;
    setText(this.find("file-name"), seen ? seen.title : "");
    this.find("file-about").hidden = !seen;
    if (seen) this.find("file-about").replaceChildren(...aboutFile(seen));
    this.#schemas(choices);
    this.columns.show(seen, this.mapping);
    this.before.show(this.weighed, this.#blocked(choices), seen && this.mapping ? upload : null);
  }

  #blocked({ model }) {
    if (!this.mapping) return "";
    const why = missing(this.mapping);
    if (why) return why;
    if (model.phase === "loading") return `${model.message}. The run can be started when it is there.`;
    if (model.phase !== "ready") return `There is no model: ${model.message}`;
    return "";
  }

  #pick(schema, version) {
    const { schemas } = this.host.choices();
    const found = schemas.find((s) => s.id === schema) ?? schemas[0] ?? null;
    this.schema = found?.id ?? null;
    this.version = found?.versions.includes(version) ? version : found?.versions[0] ?? null;
  }

  #schemas({ schemas, drafts, model }) {
    const box = this.find("schema");
    if (!schemas.length) {
      const text = drafts ? `${plural(drafts, "schema has", "schemas have")} no published version yet. A run asks a version, which cannot change under it: publish one on the Design page.` : "There is no schema yet. Write one on the Design page and publish a version of it; a run asks a version, which cannot change under it.";
      return box.replaceChildren(h("div", { class: "cs-empty", "data-no-schema": "" }, icon("layers"), h("b", { text: "No published schema" }), h("p", { text }), h("a", { class: "cs-btn is-primary", href: "./" }, "Design")));
    }
    const chosen = schemas.find((s) => s.id === this.schema);
    const pick = (change) => {
      Object.assign(this, change);
      this.#pick(this.schema, this.version);
      this.#keep(null);
      if (this.upload) this.#look(null);
      else this.draw();
    };
    const schema = h("select", { class: "cs-input", "aria-label": "Schema", "data-pick": "schema", onchange: (event) => pick({ schema: event.target.value, version: null }) }, ...schemas.map((s) => h("option", { value: s.id, text: s.name, selected: s.id === this.schema })));
    const version = h("select", { class: "cs-input", "aria-label": "Version", "data-pick": "version", onchange: (event) => pick({ version: Number(event.target.value) }) }, ...chosen.versions.map((n) => h("option", { value: String(n), text: `v${n}`, selected: n === this.version })));
    const questions = (this.seen?.questions ?? []).map(({ id }) => h("span", { class: "cs-chip cs-mono", text: id }));
    const blind = this.mapping?.images.length && model.phase === "ready" && !model.pictures ? h("p", { class: "cs-hint" }, icon("alert"), h("span", { text: `${model.name} sees no pictures: it judges by the text alone.` })) : null;
    const focus = document.activeElement?.dataset?.pick;
    box.replaceChildren(h("div", { class: "cs-runs-stack" }, h("div", { class: "cs-runs-schema" }, schema, version), questions.length ? h("div", { class: "cs-line" }, ...questions) : null, blind));
    if (focus) box.querySelector(`[data-pick="${focus}"]`)?.focus();
    return undefined;
  }

  async #look(mapping) {
    this.turn += 1;
    const { turn, upload } = this;
    const where = this.schema ? { schema_id: this.schema, version: this.version } : {};
    const seen = await this.host.api.look({ upload, ...where });
    if (turn !== this.turn) return;
    if (seen.error) {
      this.upload = null;
      this.#error(seen.error.message);
      return this.host.go({}, "replaceState", false);
    }
    const fits = mapping && [mapping.text, ...Object.keys(mapping.fields), ...mapping.images, ...Object.values(mapping.truth)].every((column) => column === null || seen.columns.includes(column));
    Object.assign(this, { seen, weighed: null, mapping: fits ? mapping : seen.mapping });
    this.draw();
    if (this.mapping) this.#weigh();
  }

  #mapped(mapping) {
    Object.assign(this, { mapping, weighed: null });
    this.turn += 1;
    this.#keep();
    this.before.show(null, this.#blocked(this.host.choices()), this.upload);
    this.#schemas(this.host.choices());
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#weigh(), SOON);
  }

  /** Asks what a run would be until all is counted. */
  async #weigh() {
    if (missing(this.mapping) || !this.schema) return;
    this.turn += 1;
    const { turn } = this;
    for (;;) {
      const seen = await this.host.api.weigh(this.#wanted());
      if (turn !== this.turn) return;
      this.weighed = seen.error?.message ? null : seen;
      const blocked = this.#blocked(this.host.choices()) || (seen.error?.message ?? "");
      this.before.show(this.weighed, blocked, this.upload);
      if (!this.weighed || seen.finished) return;
      await new Promise((resolve) => setTimeout(resolve, LOOK));
      if (turn !== this.turn) return;
    }
  }

  #wanted() {
    return { upload: this.upload, schema_id: this.schema, version: this.version, mapping: this.mapping };
  }

  async #start() {
    // The same id for the same wish: pressed twice, or answered too late, it is still one run.
    this.wish ??= crypto.randomUUID();
    const reply = await this.host.api.start_run({ ...this.#wanted(), id: this.wish, ...this.before.options });
    if (reply.error) return this.before.show(this.weighed, reply.error.message, this.upload);
    this.wish = null;
    return this.host.started(reply.run);
  }

  #keep(mapping = this.mapping) {
    this.wish = null;
    if (!this.upload) return;
    sessionStorage.setItem(KEPT + this.upload, JSON.stringify({ schema: this.schema, version: this.version, mapping, options: this.before.options }));
  }

  #error(text) {
    const el = this.find("file-error");
    el.hidden = !text;
    el.replaceChildren(...(text ? [icon("alert"), h("span", { text })] : []));
  }

  #drops() {
    const drop = this.find("drop");
    const over = (is) => drop.classList.toggle("is-over", is);
    drop.addEventListener("dragover", (event) => {
      event.preventDefault();
      over(true);
    });
    drop.addEventListener("dragleave", () => over(false));
    drop.addEventListener("drop", async (event) => {
      event.preventDefault();
      over(false);
      const files = await dropped(event.dataTransfer);
      if (files.length) this.send(files);
    });
  }
}

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;

function remembered(upload) {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT + upload)) ?? {};
  } catch {
    return {};
  }
}
