// The Design page: puts the parts together around one document.
//
// mount(element, server, config): `element` holds the static template; `server` are the page's functions; config:
// {root, limits, entry}. Everything that changes goes through the store; everything that shows listens to it.

import { Answers } from "./answers.js";
import { makeApi } from "./api.js";
import { Badges } from "./badges.js";
import { mountCode } from "./code_view.js";
import { button, h, icon, setAttr, setText, setValue } from "./dom.js";
import { Draft, restore } from "./draft.js";
import { Editor } from "./editor.js";
import { ExamplePicker } from "./examples.js";
import { exampleDoc, galleryItems } from "./gallery.js";
import { mountHelp } from "./help.js";
import { pressed } from "./keys.js";
import { LintView } from "./lint_view.js";
import { Live } from "./live.js";
import { menuButton } from "./menu.js";
import { Pictures } from "./pictures.js";
import { checkDoc, emptyDoc, placeError, toText, toWire } from "./schema.js";
import { ScorerChip } from "./scorer.js";
import { wantedSchema } from "./schemas.js";
import { mountOnce } from "./server.js";
import { Shelf } from "./shelf.js";
import { Stands } from "./stands.js";
import { StatePanel } from "./state.js";
import { Store } from "./store.js";
import { mountTheme } from "./theme.js";
import { Why } from "./why.js";
import { count } from "./words.js";

export const mount = (element, server, config) =>
  mountOnce(element, async (root) => {
    const api = makeApi(server, config.root);
    const page = new Page(root, new Store(emptyDoc()), api, config);
    const [kept, examples] = await Promise.all([restore(api, wantedSchema()), api.examples()]);
    const first = kept?.doc || !examples.length ? null : await api.example(examples[0].id);
    page.start(kept, first, examples);
  });

class Page {
  constructor(root, store, api, config) {
    Object.assign(this, { root, store, api, limits: config.limits });
    // Not kept over a reload and not shared by a duplicated tab: it tells the engine which requests replace each other.
    this.key = crypto.randomUUID();
    this.errors = new Map();
    this.refusedQuestions = new Map();
    this.shown = null;
    this.outdated = false;
    this.find = (name) => root.querySelector(`[data-${name}]`);
    this.title = this.find("title");
    this.status = this.find("status");
    this.saved = this.find("saved");
    this.alert = this.find("alert");
    this.editor = new Editor(root, store, config.limits);
    this.badges = new Badges(api, this.editor);
    this.statePanel = new StatePanel(root, store);
    this.pictures = new Pictures(root, store, { limit: config.limits.images, upload: (file) => api.upload(file), url: api.pictureUrl, say: (text) => this.say(text) });
    this.examples = new ExamplePicker(root, store);
    this.answers = new Answers(root, {
      label: (section, label) => this.label(section, label),
      unlabel: (uuid) => this.unlabel(uuid),
      spoken: (text) => this.say(text),
      why: (section, option) => this.why.open(section, option),
    });
    let running = 0;
    const busy = (is) => {
      running += is ? 1 : -1;
      this.find("scorer").classList.toggle("is-busy", running > 0);
    };
    const asking = { api, store, statePanel: this.statePanel, pictures: this.pictures, shown: () => this.current, busy };
    this.why = new Why(root, asking);
    this.stands = new Stands(root, asking);
    this.lint = new LintView(root, store, {
      editor: this.editor, limits: config.limits, say: (text) => this.say(text),
      questionIds: () => this.scorer.scorer?.question_ids ?? "neutral",
    });
    this.scorer = new ScorerChip(root, api, () => {
      this.live.kick();
      this.lint.soon();
    });
    this.live = new Live({
      ask: (payload) => api.ask(payload),
      build: () => this.build(),
      on: {
        asking: (sent) => this.asking(sent),
        result: (reply, sent) => this.result(reply, sent),
        refused: (error, sent) => this.refused(error, sent),
        lost: () => this.lost(),
        idle: () => this.idle(),
        pending: (is) => setAttr(this.find("answer-card"), "aria-busy", is ? "true" : null),
      },
    });
    this.title.addEventListener("input", () => {
      const name = this.title.value;
      store.change((doc) => ({ ...doc, name }), { merge: "name" });
    });
    this.#keys();
    mountTheme(this.find("theme-switch"));
    mountHelp(root, this.find("help"));
    mountCode(root, this.find("code"), () => {
      const wrong = this.#check(store.doc);
      return { api, doc: store.doc, refused: (uid) => wrong.has(uid), baseUrl: new URL(config.root || "/", location.href).href.replace(/\/$/, ""), model: this.scorer.scorer?.name ?? "clef", entry: config.entry, say: (text) => this.say(text) };
    });
  }

  /** kept: {doc, revisions, saves} of a draft, or null; first: the example that a page without a draft shows. */
  start(kept, first, examples) {
    const doc = kept?.doc ?? (first ? exampleDoc(first) : emptyDoc());
    this.store.change(() => doc, { quiet: true });
    this.store.listen((now) => this.changed(now));
    this.draft = new Draft(this.store, this.api, { said: (text) => setText(this.saved, text), kept: (schema) => this.shelf.kept(schema), conflict: (other) => this.conflict(other) }, kept ?? {});
    this.shelf = new Shelf(this);
    menuButton(this.find("gallery"), () => galleryItems(examples, this.api, (next) => this.store.change(() => next)));
    this.changed(doc);
    this.shelf.start(kept?.missed);
    this.scorer.watch();
  }

  changed(doc) {
    this.#show(doc);
    this.live.kick();
  }

  #show(doc) {
    this.errors = this.#check(doc);
    setValue(this.title, doc.name);
    this.editor.update(doc, this.errors);
    this.statePanel.update(doc);
    this.pictures.update(doc);
    this.examples.update(doc);
    this.answers.update(doc, this.errors);
    this.why.follow(doc);
  }

  /** What is wrong, by question: found here, or said by the server of a question that is still the same. */
  #check(doc) {
    const errors = checkDoc(doc, this.limits);
    for (const question of doc.questions) {
      const refused = this.refusedQuestions.get(question.uid);
      if (refused && refused.question === question && !errors.has(question.uid)) errors.set(question.uid, refused.errors);
    }
    return errors;
  }

  /** The request for a document (the one on the page), or null where there is nothing to ask. */
  build(doc = this.store.doc, key = this.key) {
    const wrong = this.#check(doc);
    const asked = doc.questions.filter((q) => !wrong.has(q.uid)).map((question) => ({ uid: question.uid, id: question.id, question }));
    const tokens = doc.pictures.map((p) => p.token);
    if (!asked.length || (doc.state.trim() === "" && !tokens.length)) return null;
    const questions = asked.map(({ id, question }) => ({ id, ...toWire(question) }));
    const payload = { key, run: crypto.randomUUID(), questions, state: doc.state, plain: doc.plain, pictures: tokens, allow_cut: doc.allowCut };
    // With the uids: the same questions on other cards (an example that was taken anew) have no painted answers yet.
    const signature = JSON.stringify([asked.map(({ uid }) => uid), questions, tokens, doc.plain, doc.allowCut, doc.state]);
    return { payload, signature, asked };
  }

  asking({ payload }) {
    this.answers.stale(true);
    if (this.scorer.scorer?.reads_words) this.pictures.reading(payload.pictures, this.scorer.scorer.fingerprint);
  }

  /** The answers that are painted, {reply, sent}, where they are those of the last edit that could be asked; else null. */
  get current() {
    return this.outdated ? null : this.shown;
  }

  /** The last edit was refused: the answers on the page are those of before it, and nothing may be said of them. */
  #outdate(is) {
    this.outdated = is;
    this.answers.outdate(is);
    if (is) this.why.close(false);
    this.stands.painted();
    this.shelf.keep.show();
  }

  idle() {
    this.shown = null;
    this.why.close(false);
    this.#outdate(false);
    this.pictures.reading([]);
    this.answers.clear();
    this.answers.stale(false);
    this.#alert(null);
    this.statePanel.showError(null);
    this.statePanel.showCut(null);
    this.statePanel.showTokens(null);
    this.pictures.showWords(null);
    const { doc } = this.store;
    setText(this.status, doc.questions.length ? "waits for a state" : "");
  }

  result(reply, sent) {
    this.shown = { reply, sent };
    this.outdated = false;
    this.answers.outdate(false);
    this.shelf.keep.show();
    // The studio was started again with another model meanwhile.
    if (reply.fingerprint !== this.scorer.scorer?.fingerprint) this.scorer.watch();
    this.#alert(null);
    const answers = reply.answers.map((answer, i) => {
      const { question } = sent.asked[i];
      const labels = answer.type === "score" ? answer.legend.map(toText) : undefined;
      return { ...answer, labels, uid: question.uid };
    });
    this.answers.paint({ ...reply, answers }, sent.asked);
    this.badges.follow(reply, sent.asked);
    this.why.painted();
    this.stands.painted();
    this.statePanel.showError(null);
    this.statePanel.showTokens(reply.tokens, { reused: reply.reused });
    this.statePanel.showCut(reply.cut, sent.payload.state, reply.tokens);
    this.pictures.hasRead(sent.payload.pictures, reply.fingerprint);
    this.pictures.showWords(reply.words, this.store.doc);
    const read = reply.tokens.read < reply.tokens.state && !reply.cut ? ` · read ${count(reply.tokens.read)} of ${count(reply.tokens.state)} state tokens` : "";
    setText(this.status, `live · ${milliseconds(reply.ms)}${reply.reused ? " · state kept" : ""}${read}`);
    this.status.title = `The model's own time for this answer${reply.reused ? `; ${count(reply.reused)} tokens were not read again` : ""}`;
    this.root.dataset.run = String(reply.seq);
  }

  refused(error, sent) {
    setText(this.status, "");
    this.pictures.reading([]);
    if (error.kind === "loading") {
      this.scorer.ready = false;
      this.scorer.watch();
      return;
    }
    if (error.tokens) this.statePanel.showTokens(error.tokens, { refused: true });
    this.statePanel.showCut(error.cut ?? null, sent.payload.state, error.tokens, true);
    if (error.kind === "too_long") {
      this.#old();
      this.#alert(tooLongWords(error), error.can_cut ? ["Cut the end", () => this.store.change((doc) => ({ ...doc, allowCut: true }), { quiet: true })] : null);
      return;
    }
    if (error.kind === "invalid") this.#fieldErrors(error.errors, sent.asked);
    else if (error.kind !== "busy") this.#old();
    if (error.kind !== "invalid") this.#alert({ title: "Not answered", text: error.message }, error.kind === "busy" ? null : ["Ask again", () => this.live.again()]);
  }

  #old() {
    if (!this.shown) return;
    this.#outdate(true);
    setText(this.status, "from before your last edit");
    this.status.title = "The last edit was not run. The answers below are those of what stood there before it.";
  }

  #fieldErrors(errors, asked) {
    const rest = [];
    const placed = new Map();
    for (const { loc, message } of errors) {
      const { uid, field } = placeError(loc, asked.map(({ question }) => question));
      if (uid) placed.set(uid, [...(placed.get(uid) ?? []), { field, message }]);
      else if (field === "state") this.statePanel.showError(`The state ${message}.`);
      else rest.push(message);
    }
    for (const [uid, found] of placed) {
      const { question } = asked.find((a) => a.uid === uid);
      this.refusedQuestions.set(uid, { question, errors: found });
    }
    this.#alert(rest.length ? { title: "Not asked", text: `${rest.join("; ")}.` } : null);
    this.#show(this.store.doc);
    // A question that the server refused waits for its fix; the others are asked without it.
    if (placed.size) this.live.kick();
    else this.#old();
  }

  lost() {
    this.answers.stale(true);
    this.pictures.reading([]);
    setText(this.status, "the studio does not answer; trying again");
  }

  #alert(words, act = null) {
    this.alert.hidden = !words;
    if (!words) return;
    this.alert.replaceChildren(icon("alert"), h("div", { class: "cs-grow" }, h("b", { text: words.title }), h("span", { text: words.text })));
    if (act) this.alert.append(button("is-small", act[0], { onclick: act[1] }));
  }

  say(text) {
    this.find("live").textContent = text;
  }

  /** Another tab saved this schema meanwhile: the person chooses, nothing is overwritten. */
  conflict({ take, copy }) {
    const box = this.find("conflict");
    box.hidden = false;
    const done = (act) => () => {
      box.hidden = true;
      act();
    };
    box.replaceChildren(
      icon("alert"),
      h("div", { class: "cs-grow" }, h("b", { text: "Another tab changed this schema" }), h("span", { text: "Yours is kept in this tab and was not saved over it." })),
      button("is-small", "Keep mine as a copy", { onclick: done(copy) }),
      button("is-small", "Take the other", { onclick: done(take) }),
    );
  }

  /** Stores a label on the painted answer. Returns null, or a sentence that says why it was not stored. */
  async label(section, label) {
    const { reply, sent } = this.shown ?? {};
    const id = sent?.asked.find((a) => a.uid === section.uid)?.id;
    if (id === undefined) return "There is no answer to label.";
    try {
      const stored = await this.api.label({ ...label, question: id, fingerprint: reply.fingerprint, schema_id: this.store.doc.schema, request: sent.payload });
      return stored.error ? stored.error.message : null;
    } catch (error) {
      console.warn("label not stored", error);
      return "The studio does not answer.";
    }
  }

  async unlabel(uuid) {
    try {
      const reply = await this.api.unlabel({ uuid });
      return reply.error ? reply.error.message : null;
    } catch (error) {
      console.warn("label not taken back", error);
      return "The studio does not answer. The label is still kept.";
    }
  }

  #keys() {
    // On the document: undo may take away the very field that had the focus, and the next key must still be heard.
    document.addEventListener("keydown", (event) => {
      const key = pressed(event, "undo", "redo");
      // A note on a label is not part of the document, nor is what is typed in a dialog.
      if (!key || event.target.closest(".cs-label-panel, dialog")) return;
      event.preventDefault();
      if (key === "redo") this.store.redo();
      else this.store.undo();
    });
  }
}

function milliseconds(ms) {
  return ms < 950 ? `${Math.max(1, Math.round(ms))} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function tooLongWords({ tokens, errors, at_least: atLeast }) {
  const needed = tokens.state + tokens.pictures + tokens.questions + tokens.frame;
  const own = errors.some((e) => e.loc[0] === "questions");
  const what = own ? "the questions and pictures are" : "the state is";
  const fix = own ? "Ask less, or start the studio with a higher --max-tokens." : "Shorten the state, allow a cut, or start the studio with a higher --max-tokens.";
  const least = atLeast ? "at least " : "";
  return { title: `Not run: ${what} ${least}${count(needed - tokens.limit)} tokens too long`, text: `The limit is ${count(tokens.limit)}. ${fix} Nothing was cut.` };
}
