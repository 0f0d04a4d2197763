// Published versions: the chip that says where the draft stands, the button that publishes, and the dialog that lists,
// compares and restores. Versions never change; publishing the same questions again is no new version.

import { asked, errorLine, openDialog, when } from "./dialog.js";
import { drawChanges } from "./diff_view.js";
import { button, h, setAttr, setText } from "./dom.js";
import { pressed } from "./keys.js";
import { checkDoc } from "./schema.js";
import { asksSame, listed, mergeQuestions } from "./schema_text.js";
import { diffSchema } from "./worddiff.js";

const short = (version) => version.sha256.slice(0, 7);

export class Versions {
  /** host: {api, limits, say(text), saved()}; saved() is called when a version was published. */
  constructor(root, store, host) {
    Object.assign(this, { root, store, host });
    this.chip = root.querySelector("[data-version]");
    this.save = root.querySelector("[data-publish]");
    this.schema = null;
    this.list = [];
    this.chip.addEventListener("click", () => this.open());
    this.save.addEventListener("click", () => this.#publish());
    store.listen((doc) => this.update(doc));
  }

  get latest() {
    return this.list[0] ?? null;
  }

  update(doc) {
    if (doc.schema !== this.schema) {
      this.schema = doc.schema;
      this.list = [];
      this.#load(doc.schema);
    }
    this.#show(doc);
  }

  async #load(schema) {
    const reply = await asked(() => this.host.api.versions({ schema_id: schema }));
    if (schema !== this.schema || reply.error) return;
    this.list = reply.versions;
    this.#show(this.store.doc);
  }

  #show(doc) {
    if (doc.questions === this.shownQuestions && this.list === this.shownList) return;
    this.shownQuestions = doc.questions;
    this.shownList = this.list;
    const { latest } = this;
    const same = latest && asksSame(doc.questions, latest.questions);
    const words = !latest ? "draft" : same ? `v${latest.number}` : `draft after v${latest.number}`;
    this.chip.replaceChildren(words, ...(latest ? [" ", h("span", { class: "cs-mono", text: short(latest) })] : []));
    setAttr(this.chip, "aria-label", `${this.chip.textContent}: versions of this schema`);
    this.chip.title = latest ? "Versions never change. Opens the list of versions." : "Nothing is published yet";
    const next = (latest?.number ?? 0) + 1;
    setText(this.save, same ? `Saved as v${latest.number}` : `Save as v${next}`);
    this.save.disabled = same || !doc.questions.length;
    this.save.title = same ? "The draft asks what this version asks" : "Publishes the questions as a version that never changes";
  }

  /** The questions as diffSchema compares them: without rows that nobody filled in. */
  #draft() {
    return { questions: mergeQuestions([], listed(this.store.doc.questions)) };
  }

  #asDoc(version) {
    return { questions: mergeQuestions([], version.questions) };
  }

  #publish() {
    const { doc } = this.store;
    const wrong = checkDoc(doc, this.host.limits);
    const ids = doc.questions.filter((q) => wrong.has(q.uid)).map((q) => q.id || "without id");
    const next = (this.latest?.number ?? 0) + 1;
    if (ids.length) {
      const first = wrong.values().next().value[0].message;
      const rest = ids.length === 1 ? "" : ` ${ids.length} questions are not ready.`;
      openDialog(this.root, { title: `Not saved as v${next} yet`, body: [h("p", { text: `“${ids[0]}” cannot be asked: ${first}${rest}` }), h("p", { text: "The draft is kept as it is." })] });
      return;
    }
    const note = h("textarea", { class: "cs-input", rows: 2, maxlength: "2000", placeholder: "What changed, and why? (optional)", "aria-label": "Note" });
    const error = errorLine();
    const go = button("is-primary", `Save as v${next}`);
    const cancel = button("", "Cancel");
    const changes = this.latest ? [h("h3", { class: "cs-small cs-dim", text: `Since v${this.latest.number}` }), ...drawChanges(diffSchema(this.#asDoc(this.latest), this.#draft()))] : [h("p", { text: `${doc.questions.length} question${doc.questions.length === 1 ? "" : "s"}. A version never changes; you go on writing on the draft.` })];
    const { close } = openDialog(this.root, { title: `Save as v${next}`, classes: "is-wide", body: [note, error.el, ...changes], acts: [cancel, go] });
    cancel.addEventListener("click", close);
    const send = async () => {
      go.disabled = true;
      const reply = await asked(() => this.host.publish(doc, note.value));
      go.disabled = false;
      if (reply.error) return error.say(reply.error.message);
      close();
      this.#published(doc.schema, reply.version);
    };
    go.addEventListener("click", send);
    note.addEventListener("keydown", (event) => {
      if (!pressed(event, "save")) return;
      event.preventDefault();
      send();
    });
  }

  #published(schema, version) {
    if (schema === this.schema) {
      this.list = [version, ...this.list.filter((v) => v.number !== version.number)];
      this.#show(this.store.doc);
    }
    this.chip.focus();
    this.host.say(`Saved as version ${version.number}`);
  }

  /** The dialog: versions at the left, what differs at the right. */
  open() {
    const versions = this.list;
    if (!versions.length) {
      openDialog(this.root, { title: "Versions", body: [h("p", { text: "Nothing is published yet. “Save as v1” keeps the questions as they are now, under a number and a note; the draft goes on." })] });
      return;
    }
    const names = [["draft", "the draft"], ...versions.map((v) => [String(v.number), `v${v.number}`])];
    const select = (label, value) => {
      const el = h("select", { class: "cs-input is-small", "aria-label": label }, ...names.map(([id, text]) => h("option", { value: id, text })));
      el.value = value;
      return el;
    };
    const same = asksSame(this.store.doc.questions, versions[0].questions);
    const from = select("Compare from", String((same && versions[1] ? versions[1] : versions[0]).number));
    const to = select("Compare to", same && versions[1] ? String(versions[0].number) : "draft");
    const result = h("div", { class: "cs-diff-area", "aria-live": "polite" });
    const of = (id) => (id === "draft" ? this.#draft() : this.#asDoc(versions.find((v) => String(v.number) === id)));
    const compare = () => result.replaceChildren(...(from.value === to.value ? [h("p", { class: "cs-dim", text: "Choose two different ones." })] : drawChanges(diffSchema(of(from.value), of(to.value)))));
    from.addEventListener("change", compare);
    to.addEventListener("change", compare);
    const rows = versions.map((version) => {
      const n = version.questions.length;
      const look = button("is-small is-ghost", "Compare", { "aria-label": `Compare v${version.number} with the draft`, onclick: () => {
        from.value = String(version.number);
        to.value = "draft";
        compare();
      } });
      const restore = button("is-small", "Restore", { "aria-label": `Restore v${version.number} into the draft`, title: "Into the draft; undo brings the draft back", onclick: () => {
        this.#restore(version);
        close();
      } });
      return h(
        "li", { class: "cs-entry" },
        h("div", { class: "cs-grow" },
          h("div", { class: "cs-line" }, h("b", { text: `v${version.number}` }), h("span", { class: "cs-mono cs-dim", text: short(version) }), h("span", { class: "cs-small cs-dim", text: `${when(version.created)} · ${n} question${n === 1 ? "" : "s"}` })),
          version.note ? h("p", { class: "cs-small", text: version.note }) : null),
        look, restore,
      );
    });
    compare();
    const { close } = openDialog(this.root, {
      title: "Versions", classes: "is-broad",
      body: [h("div", { class: "cs-halves" }, h("ul", { class: "cs-entries", "aria-label": "Versions" }, ...rows), h("section", { "aria-label": "What changed" }, h("div", { class: "cs-line cs-compare-bar" }, h("span", { class: "cs-small cs-dim", text: "From" }), from, h("span", { class: "cs-small cs-dim", text: "to" }), to), result))],
    });
  }

  #restore(version) {
    this.store.change((doc) => {
      const questions = mergeQuestions(doc.questions, version.questions);
      return questions === doc.questions ? doc : { ...doc, questions };
    });
    this.host.say(`Version ${version.number} is in the draft. Undo brings the draft back.`);
  }
}
