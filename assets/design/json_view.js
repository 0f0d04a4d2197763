// The whole schema as JSON beside the form, both editable and in step.
//
// Typing here changes the document as long as the text can be read; while it cannot, the form stays as it is and the line
// is named. A change in the form rewrites the text, but never over a text that cannot be read yet.

import { button, h, icon, iconButton, setAttr, setText, setValue } from "./dom.js";
import { pressed } from "./keys.js";
import { JsonError, placeOf } from "./json_text.js";
import { mergeQuestions, readSchema, schemaText } from "./schema_text.js";

const KEY = "clef-studio-json";
/** From this width on the view stands beside the form; on smaller screens the page scrolls to it. */
const BESIDE = 1280;

export class JsonView {
  constructor(root, store) {
    Object.assign(this, { root, store });
    this.toggle = root.querySelector("[data-json-toggle]");
    this.cols = root.querySelector(".cs-cols");
    this.text = h("textarea", {
      class: "cs-json-text", spellcheck: "false", autocomplete: "off", "aria-label": "The whole schema as JSON", "aria-describedby": "json-note",
      oninput: () => this.#typed(),
      onkeydown: (event) => this.#onKey(event),
    });
    this.status = h("span", { class: "cs-small cs-dim" });
    this.note = h("div", { class: "cs-json-note", id: "json-note", role: "status" });
    this.el = h(
      "section", { class: "cs-col cs-col-json", id: "json", "aria-labelledby": "h-j", tabindex: "-1", hidden: true },
      h("div", { class: "cs-col-head" }, h("h2", { class: "cs-h2", id: "h-j", text: "JSON" }), this.status, h("span", { class: "cs-grow" }), iconButton("x", "Close the JSON view", { onclick: () => this.show(false) })),
      h("div", { class: "cs-card" }, this.text, this.note),
    );
    root.querySelector("#questions").after(this.el);
    this.toggle.addEventListener("click", () => this.show(this.el.hidden));
    store.listen((doc, _, why) => this.update(doc, why));
    this.#read(null);
  }

  show(is, focus = true) {
    this.el.hidden = !is;
    this.cols.classList.toggle("has-json", is);
    setAttr(this.toggle, "aria-pressed", String(is));
    sessionStorage.setItem(KEY, is ? "1" : "");
    if (is) {
      this.#rewrite(this.store.doc);
      this.text.setSelectionRange(0, 0);
    }
    if (focus) (is ? this.text : this.toggle).focus({ preventScroll: is && window.innerWidth >= BESIDE });
  }

  /** After the page has its document: open again if it was open before a reload. */
  start() {
    if (sessionStorage.getItem(KEY)) this.show(true, false);
  }

  update(doc, why) {
    if (this.el.hidden || this.typing) return;
    const { seen } = this;
    if (seen && seen.questions === doc.questions && seen.name === doc.name && seen.description === doc.description) return;
    if (this.error && why === "change") {
      // Both went on separately: the person decides which one stays.
      setText(this.status, "the form changed meanwhile");
      return;
    }
    this.#rewrite(doc);
  }

  #rewrite(doc) {
    this.seen = doc;
    setValue(this.text, schemaText(doc));
    this.#read(null);
  }

  #typed() {
    let read;
    try {
      read = readSchema(this.text.value);
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      this.#read(error);
      return;
    }
    this.#read(null);
    this.typing = true;
    this.store.change((doc) => {
      const questions = mergeQuestions(doc.questions, read.questions);
      const next = { ...doc, questions, name: read.name ?? doc.name, description: read.description ?? doc.description };
      return questions === doc.questions && next.name === doc.name && next.description === doc.description ? doc : next;
    }, { merge: "json" });
    this.typing = false;
    this.seen = this.store.doc;
  }

  #read(error) {
    this.error = error;
    setAttr(this.text, "aria-invalid", error ? "true" : null);
    setText(this.status, error ? "not read; the form is as it was" : "in step with the form");
    if (!error) {
      this.note.replaceChildren(h("span", { class: "cs-dim", text: "Editable here or in the form." }));
      return;
    }
    const { line, column } = placeOf(this.text.value, error.at);
    const go = button("is-small", "Go there", { onclick: () => {
      this.text.focus();
      this.text.setSelectionRange(error.at, error.at);
    } });
    const back = button("is-small is-ghost", "Show the form's", { onclick: () => {
      this.#rewrite(this.store.doc);
      this.text.focus();
    } });
    this.note.replaceChildren(h("span", { class: "cs-error cs-grow" }, icon("alert"), h("span", { text: `Line ${line}, column ${column}: ${error.message}` })), go, back);
  }

  #onKey(event) {
    // What cannot be read is not in the document's history: the first undo takes it back.
    if (this.error && pressed(event, "undo")) {
      event.preventDefault();
      event.stopPropagation();
      this.#rewrite(this.store.doc);
    }
  }
}
