// The column of questions: cards by uid, and what adds, moves, copies and removes them.

import { arrange, h, MANY, setText } from "./dom.js";
import { Card } from "./card.js";
import { pressed } from "./keys.js";
import { changeType, copyQuestion, moved, newQuestion, takenIds } from "./schema.js";
import { withQuestion } from "./store.js";

const NONE = [];

export class Editor {
  /** root: the page; store: the document; limits: what one request may ask. */
  constructor(root, store, limits) {
    this.store = store;
    this.limits = limits;
    this.list = root.querySelector("[data-questions]");
    this.total = root.querySelector("[data-question-count]");
    this.made = new Map();
    this.empty = h(
      "div",
      { class: "cs-card cs-empty" },
      h("b", { text: "No question yet" }),
      h("p", { text: "A question is noul (is it true?), choice (which option?) or score (where on a scale?). Add one above, or start from an example." }),
    );
    for (const add of root.querySelectorAll("[data-add]")) add.addEventListener("click", () => this.add(add.dataset.add));
    this.list.addEventListener("keydown", (event) => this.#onKey(event));
  }

  /** Shows the document. `errors`: Map uid → errors. */
  update(doc, errors) {
    const { questions } = doc;
    const wanted = questions.map((question, index) => {
      let card = this.made.get(question.uid);
      if (!card) {
        card = new Card(question.uid, this);
        this.made.set(question.uid, card);
      }
      card.update(question, index, questions.length, errors.get(question.uid) ?? NONE);
      return card.el;
    });
    if (this.made.size > questions.length) {
      const kept = new Set(questions.map((q) => q.uid));
      for (const uid of this.made.keys()) if (!kept.has(uid)) this.made.delete(uid);
    }
    this.list.classList.toggle("is-many", questions.length > MANY);
    arrange(this.list, questions.length ? wanted : [this.empty]);
    setText(this.total, questions.length ? String(questions.length) : "");
  }

  /** `known`: Map uid → {badge, href}; all others show none. */
  showBadges(known) {
    for (const [uid, card] of this.made) card.showBadge(known.get(uid) ?? null);
  }

  cards() {
    return this.store.doc.questions.map((q) => this.made.get(q.uid).el);
  }

  edit(uid, fn, merge) {
    this.store.change((doc) => withQuestion(doc, uid, fn), { merge: merge ?? null });
  }

  fold(uid) {
    this.store.change((doc) => withQuestion(doc, uid, (q) => ({ ...q, open: !q.open })), { quiet: true });
  }

  add(type) {
    const question = newQuestion(type, takenIds(this.store.doc));
    this.store.change((doc) => ({ ...doc, questions: [...doc.questions, question] }));
    const card = this.made.get(question.uid);
    card.el.scrollIntoView({ block: "nearest" });
    card.focusText();
  }

  duplicate(uid) {
    const at = this.store.doc.questions.findIndex((q) => q.uid === uid);
    const copy = copyQuestion(this.store.doc.questions[at], takenIds(this.store.doc));
    this.store.change((doc) => ({ ...doc, questions: [...doc.questions.slice(0, at + 1), copy, ...doc.questions.slice(at + 1)] }));
    const card = this.made.get(copy.uid);
    card.el.scrollIntoView({ block: "nearest" });
    card.focusText();
  }

  remove(uid) {
    const at = this.store.doc.questions.findIndex((q) => q.uid === uid);
    this.store.change((doc) => ({ ...doc, questions: doc.questions.filter((q) => q.uid !== uid) }));
    const near = this.store.doc.questions[Math.min(at, this.store.doc.questions.length - 1)];
    if (near) this.made.get(near.uid).focusText();
  }

  move(uid, step) {
    const from = this.store.doc.questions.findIndex((q) => q.uid === uid);
    this.store.change((doc) => {
      const questions = moved(doc.questions, from, from + step);
      return questions === doc.questions ? doc : { ...doc, questions };
    }, { merge: `move.${uid}` });
  }

  setType(uid, type) {
    this.edit(uid, (q) => (q.type === type ? q : { ...changeType(q, type), open: true }));
  }

  #onKey(event) {
    const uid = this.store.doc.questions.find((q) => this.made.get(q.uid).el.contains(event.target))?.uid;
    const key = uid ? pressed(event, "up", "down", "duplicate") : null;
    if (!key) return;
    event.preventDefault();
    if (key === "duplicate") this.duplicate(uid);
    else this.move(uid, key === "up" ? -1 : 1);
  }
}
