// The history: runs that a person kept or labelled. One can be brought back, two can be laid side by side.

import { compareAnswers, points } from "./compare.js";
import { asked, errorLine, openDialog, when } from "./dialog.js";
import { drawChanges, drawWords } from "./diff_view.js";
import { button, h, icon, setAttr, setText } from "./dom.js";
import { atExample, writtenBack } from "./examples.js";
import { setName } from "./names.js";
import { emptyDoc, stateKind } from "./schema.js";
import { mergeQuestions } from "./schema_text.js";
import { humane, percent } from "./words.js";
import { diffSchema, diffWords } from "./worddiff.js";

/** Characters of unchanged state that are shown beside a change. */
const AROUND = 80;
/** Rows of a compared answer: those that moved most. */
const MOST_ROWS = 5;

/** "Keep this run" on the answers that are painted. */
export class Keep {
  /** host: {api, say(text), shown() → {reply, sent} or null, schema() → its id, once it is saved} */
  constructor(root, host) {
    this.host = host;
    this.button = root.querySelector("[data-keep]");
    this.text = this.button.querySelector("[data-keep-text]");
    this.run = null;
    this.button.addEventListener("click", () => this.#toggle());
    this.show();
  }

  /** Other answers are painted, or none. */
  show() {
    const run = this.host.shown()?.reply.run ?? null;
    if (run === this.run && run !== null) return;
    this.run = run;
    this.#set(false);
    this.button.disabled = run === null;
  }

  #set(kept) {
    this.kept = kept;
    setAttr(this.button, "aria-pressed", String(kept));
    setText(this.text, kept ? "Kept" : "Keep");
    this.button.title = kept ? "In the history. Press again to let it go" : "Keeps this run in the history";
  }

  async #toggle() {
    const { reply, sent } = this.host.shown();
    const { run } = this;
    const keep = !this.kept;
    this.button.disabled = true;
    const schema = keep ? await this.host.schema() : null;
    const answer = await asked(() => (keep ? this.host.api.keepRun({ request: sent.payload, fingerprint: reply.fingerprint, schema_id: schema }) : this.host.api.dropRun({ run })));
    if (this.run !== run) return this.host.say(answer.error ? `The run was not kept. ${answer.error.message}` : "The run before your edit is kept");
    this.button.disabled = false;
    if (answer.error) {
      this.button.title = answer.error.message;
      return this.host.say(`Not done. ${answer.error.message}`);
    }
    this.#set(keep);
    this.host.say(keep ? "The run is kept in the history" : "The run is not kept any more");
  }
}

export class History {
  /** host: {api, open(schema) → null or why not, say(text)} */
  constructor(root, store, host) {
    Object.assign(this, { root, store, host });
    root.querySelector("[data-history]").addEventListener("click", () => this.open());
  }

  async open() {
    const view = new View(this);
    await view.load();
    // Nothing of this schema: what there is of others is of more use than an empty list.
    if (!view.runs.length && !view.error.el.textContent) view.scope(true);
  }

  /** Puts a run on the page: in its schema, its state as an example. Returns null, or why not. */
  async restore(id) {
    const reply = await asked(() => this.host.api.oneRun({ run: id }));
    if (reply.error) return reply.error.message;
    const { run } = reply;
    let base = (doc) => doc;
    if (run.schema_id && run.schema_id !== this.store.doc.schema) {
      const why = await this.host.open(run.schema_id);
      if (why) return why;
    } else if (!run.schema_id) base = () => ({ ...emptyDoc(), name: `Run of ${when(run.created)}` });
    this.store.change((doc) => withRun(base(doc), run));
    this.host.say("The run is on the page. Undo brings back what was there.");
    return null;
  }
}

const tokens = (pictures) => pictures.map((p) => p.token).join();

/** The document with a run's questions, and its state as the example on the page. */
function withRun(doc, run) {
  const { examples: _, at: __, ...rest } = doc;
  const questions = mergeQuestions(doc.questions, run.questions);
  const plain = !run.json && stateKind(run.state) === "json";
  const same = (e) => e.state === run.state && tokens(e.pictures) === tokens(run.pictures);
  if (same(doc)) return { ...doc, questions, plain };
  let examples = writtenBack(doc);
  if (!examples.length && (doc.state.trim() || doc.pictures.length)) examples = [{ name: "Before", state: doc.state, pictures: doc.pictures }];
  let at = examples.findIndex(same);
  if (at < 0) {
    examples = [...examples, { name: `Run of ${when(run.created)}`, state: run.state, pictures: run.pictures }];
    at = examples.length - 1;
  }
  return { ...atExample({ ...rest, examples, at: -1 }, at), questions, plain };
}

/** The dialog. */
class View {
  constructor(history) {
    this.history = history;
    this.runs = [];
    this.chosen = [];
    this.all = false;
    this.error = errorLine();
    this.list = h("ul", { class: "cs-entries", "aria-label": "Runs, newest first" });
    this.older = button("is-small", "Older runs", { hidden: true, onclick: () => this.load(this.runs.at(-1)?.serial) });
    this.side = h("section", { class: "cs-diff-area", "aria-label": "Comparison", "aria-live": "polite" });
    const scope = (text, all) => h("button", { type: "button", "aria-pressed": String(this.all === all), text, onclick: () => this.scope(all) });
    this.scopes = [scope("This schema", false), scope("All", true)];
    const seg = h("div", { class: "cs-seg", role: "group", "aria-label": "Which runs" }, ...this.scopes);
    const { close } = openDialog(history.root, {
      title: "History", classes: "is-broad",
      body: [h("div", { class: "cs-line" }, seg, h("span", { class: "cs-small cs-dim", text: "Runs that were kept or labelled. Tick two to compare them." })), this.error.el, h("div", { class: "cs-halves" }, h("div", { class: "cs-col" }, this.list, this.older), this.side)],
    });
    this.close = close;
    this.#compare();
  }

  scope(all) {
    this.all = all;
    this.scopes.forEach((el, i) => setAttr(el, "aria-pressed", String(Boolean(i) === all)));
    this.chosen = [];
    this.runs = [];
    this.load();
    this.#compare();
  }

  async load(before = null) {
    const { history, all } = this;
    const reply = await asked(() => history.host.api.runs({ schema_id: all ? null : history.store.doc.schema, before }));
    if (all !== this.all) return;
    this.error.say(reply.error?.message);
    if (reply.error) return;
    this.runs = before ? [...this.runs, ...reply.runs] : reply.runs;
    this.older.hidden = !reply.more;
    const empty = h("li", { class: "cs-dim", text: this.all ? "Nothing is kept yet. “Keep” beside the answers keeps a run; a label keeps its run too." : "No run of this schema is kept yet. “Keep” beside the answers keeps one; a label keeps its run too." });
    this.list.replaceChildren(...(this.runs.length ? this.runs.map((run) => this.#entry(run)) : [empty]));
  }

  #entry(run) {
    const name = `run of ${when(run.created)}`;
    const tick = h("input", { type: "checkbox", "aria-label": `Compare the ${name}`, checked: this.chosen.includes(run.id), "data-run": run.id, onchange: (event) => this.#tick(run.id, event.target.checked) });
    const restore = button("is-small", "Restore", { "aria-label": `Restore the ${name}`, onclick: async () => {
      const why = await this.history.restore(run.id);
      if (why) this.error.say(`Not restored. ${why}`);
      else this.close();
    } });
    const marks = [run.version ? `v${run.version}` : null, run.labels ? `${run.labels} label${run.labels === 1 ? "" : "s"}` : null, run.pictures ? `${run.pictures} picture${run.pictures === 1 ? "" : "s"}` : null, run.scorer].filter(Boolean).join(" · ");
    const answers = run.answers.slice(0, 3).map((a) => `${a.id}: ${a.type === "noul" ? (a.top === "true" ? "yes" : "no") : humane(a.top)} ${percent(a.probability)}`);
    if (run.answers.length > 3) answers.push(`${run.answers.length - 3} more`);
    return h(
      "li", { class: "cs-entry" }, tick,
      h("div", { class: "cs-grow cs-entry-text" }, h("div", { class: "cs-line" }, h("b", { text: when(run.created) }), h("span", { class: "cs-small cs-dim", text: marks })), h("p", { class: "cs-small cs-ellipsis", text: run.preview || "no text" }), h("p", { class: "cs-small cs-dim", text: answers.join(" · ") })),
      restore,
    );
  }

  #tick(id, is) {
    this.chosen = this.chosen.filter((other) => other !== id);
    if (is) this.chosen = [...this.chosen, id].slice(-2);
    for (const box of this.list.querySelectorAll("input[data-run]")) box.checked = this.chosen.includes(box.dataset.run);
    this.#compare();
  }

  async #compare() {
    const { chosen } = this;
    if (chosen.length < 2) {
      this.side.replaceChildren(h("p", { class: "cs-dim", text: chosen.length ? "Tick one more run." : "Tick two runs, and what changed between them stands here." }));
      return;
    }
    const replies = await Promise.all(chosen.map((run) => asked(() => this.history.host.api.oneRun({ run }))));
    if (this.chosen !== chosen) return;
    const failed = replies.find((reply) => reply.error);
    if (failed) return this.error.say(failed.error.message);
    const serial = (id) => this.runs.find((run) => run.id === id)?.serial ?? 0;
    const [older, newer] = replies.map((reply) => reply.run).sort((a, b) => serial(a.id) - serial(b.id));
    this.side.replaceChildren(...comparison(older, newer));
  }
}

/** What differs between two runs: the answers first, then the words that moved them. */
function comparison(older, newer) {
  const asDoc = (run) => ({ questions: mergeQuestions([], run.questions) });
  const parts = [h("h3", { class: "cs-h2", text: `${when(older.created)} and ${when(newer.created)}` })];
  if (older.fingerprint !== newer.fingerprint) parts.push(h("div", { class: "cs-hint" }, icon("alert"), h("span", { text: `Two models answered: ${older.scorer} first, ${newer.scorer} then. A move may be the model's and not the words'.` })));
  parts.push(h("h4", { class: "cs-small cs-dim", text: "Answers" }), h("ul", { class: "cs-shifts" }, ...compareAnswers(older.answers, newer.answers).map(drawMove)));
  parts.push(h("h4", { class: "cs-small cs-dim", text: "Questions" }), ...drawChanges(diffSchema(asDoc(older), asDoc(newer))));
  parts.push(h("h4", { class: "cs-small cs-dim", text: "State" }), stateDiff(older, newer));
  return parts;
}

function stateDiff(older, newer) {
  const same = older.state === newer.state;
  const pictures = tokens(older.pictures) === tokens(newer.pictures);
  if (same) return h("p", { class: "cs-dim", text: pictures ? "The state is the same." : "The text is the same, the pictures differ." });
  const parts = diffWords(older.state, newer.state);
  const short = parts.map((part, i) => {
    if (part.kind !== "same" || part.text.length <= 2 * AROUND) return part;
    const start = i ? part.text.slice(0, AROUND) : "";
    const end = i < parts.length - 1 ? part.text.slice(-AROUND) : "";
    return { kind: "same", text: `${start} … ${end}` };
  });
  return h("div", {}, h("p", { class: "cs-state-diff" }, ...drawWords(short)), pictures ? null : h("p", { class: "cs-dim", text: "The pictures differ." }));
}

function drawMove({ id, before, after, rows, most }) {
  const head = h("div", { class: "cs-line" }, h("b", { class: "cs-mono", text: id }));
  if (!before || !after) {
    head.append(h("span", { class: "cs-chip", text: before ? "only in the older run" : "only in the newer run" }), h("span", { class: "cs-small", text: (before ?? after).word }));
    return h("li", {}, head);
  }
  head.append(h("span", { class: "cs-small", text: before.word === after.word ? `${after.word}, as before` : `${before.word} → ${after.word}` }));
  const moved = rows.map((row) => ({ ...row, move: Math.abs((row.now ?? 0) - (row.was ?? 0)) }));
  const shown = moved.length <= MOST_ROWS ? moved : [...moved].sort((a, b) => b.move - a.move).slice(0, MOST_ROWS).sort((a, b) => moved.indexOf(a) - moved.indexOf(b));
  if (most < 0.005) return h("li", {}, head, h("p", { class: "cs-small cs-dim", text: "No option moved by half a point." }));
  const rest = moved.length - shown.length;
  return h("li", {}, head, h("ul", { class: "cs-rows" }, ...shown.map(drawRow)), rest ? h("p", { class: "cs-small cs-dim", text: `${rest} more moved less.` }) : null);
}

function drawRow({ label, was, now }) {
  const bar = h("span", { class: "cs-bar" });
  bar.style.setProperty("--p", now ?? 0);
  const track = h("span", { class: "cs-track", "aria-hidden": "true" }, bar);
  if (was !== null) {
    const tick = h("i", { class: "cs-at is-was" });
    tick.style.setProperty("--x", was);
    track.append(tick);
  }
  const figure = was === null ? `new, ${percent(now)}` : now === null ? `${percent(was)}, gone` : `${percent(was)} → ${percent(now)}`;
  const move = was === null || now === null ? "" : points(was, now);
  const name = h("span", { class: "cs-row-name" });
  setName(name, label);
  return h("li", { class: "cs-row cs-shift" }, name, track, h("span", { class: "cs-row-fig", text: figure }), h("span", { class: "cs-row-move", text: move }));
}
