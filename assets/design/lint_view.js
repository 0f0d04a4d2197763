// Hints in the cards: what the lint found, its reason and its fix. Quiet: it waits until nobody types, takes no focus,
// and blocks nothing. A fix goes through the store, so undo takes it back.
//
// A hint can be put away, for one question and one rule; that is remembered by this browser (localStorage), since it is
// a person's taste and no part of the schema.

import { button, h, icon, iconButton, setText } from "./dom.js";
import { lint, RULES } from "./lint.js";

/** Milliseconds without a change before the lint looks. */
export const IDLE = 700;
/** Hints that a card shows at once. */
const MOST = 2;
const KEY = "clef-studio-hints-away";
/** How many hints that were put away are remembered. */
const REMEMBERED = 500;
const REASONS = new Map(RULES.map((rule) => [rule.id, rule.reason]));

/** What a finding is put away by: its rule, on its question or on the schema's state. */
export const nameOf = (finding, doc) => `${finding.question === null ? doc.schema : doc.questions[finding.question].uid} ${finding.rule}`;

/** Findings that are to be shown by the uid of their question ("" for the state), and how many were put away. */
export function sorted(found, doc, away) {
  const shown = new Map();
  let hidden = 0;
  for (const finding of found) {
    if (away.has(nameOf(finding, doc))) {
      hidden += 1;
      continue;
    }
    const uid = finding.question === null ? "" : doc.questions[finding.question].uid;
    shown.set(uid, [...(shown.get(uid) ?? []), finding]);
  }
  return { shown, hidden };
}

export class LintView {
  /** editor: the column of cards; questionIds(): "literal" or "neutral", whether the scorer reads ids; say(text): spoken. */
  constructor(root, store, { editor, questionIds, limits, say }) {
    Object.assign(this, { store, editor, questionIds, limits, say });
    this.away = read();
    this.all = new Set();
    this.places = new Map();
    this.state = h("div", { class: "cs-hints is-state", hidden: true });
    root.querySelector("[data-state-error]").after(this.state);
    this.back = button("is-link cs-small", "", { hidden: true, onclick: () => this.#takeBack() });
    root.querySelector("[data-questions]").after(this.back);
    store.listen(() => this.soon());
    this.soon();
  }

  /** Looks when the page has been still for a while. */
  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.now(), IDLE);
  }

  now() {
    clearTimeout(this.timer);
    const { doc } = this.store;
    const found = lint(doc, { state: doc.state, questionIds: this.questionIds(), limits: this.limits });
    const { shown, hidden } = sorted(found, doc, this.away);
    doc.questions.forEach((question, index) => this.#card(question, index, shown.get(question.uid) ?? []));
    for (const uid of this.places.keys()) if (!doc.questions.some((q) => q.uid === uid)) this.places.delete(uid);
    this.#fill(this.state, shown.get("") ?? [], "", "the state");
    this.back.hidden = !hidden;
    setText(this.back, hidden === 1 ? "Show the hint that was put away" : `Show the ${hidden} hints that were put away`);
  }

  #card(question, index, findings) {
    const card = this.editor.made.get(question.uid);
    if (!card) return;
    let place = this.places.get(question.uid);
    if (!place || place.parentElement !== card.el) {
      if (!findings.length) return;
      place = h("div", { class: "cs-hints", hidden: true });
      this.places.set(question.uid, place);
      card.el.append(place);
    }
    this.#fill(place, findings, question.uid, `question ${index + 1}`);
  }

  /** Draws the hints of one place; leaves them be where they say the same, so that nothing loses its focus. */
  #fill(place, findings, uid, where) {
    const open = this.all.has(uid);
    const signature = JSON.stringify([where, open, ...findings.map((f) => [f.rule, f.message, f.fix?.label])]);
    place.findings = findings;
    if (place.dataset.shown === signature || (!findings.length && place.hidden)) return;
    place.dataset.shown = signature;
    const focused = place.contains(document.activeElement);
    const visible = open ? findings : findings.slice(0, MOST);
    const rest = findings.length - visible.length;
    place.replaceChildren(
      ...visible.map((finding, i) => this.#hint(place, finding, i, where)),
      ...(rest ? [button("is-link cs-small", rest === 1 ? "One more hint" : `${rest} more hints`, { onclick: () => this.#open(uid, place) })] : []),
    );
    place.hidden = !findings.length;
    if (focused) this.#focus(uid, place);
  }

  #hint(place, finding, i, where) {
    const { message, fix, rule } = finding;
    // The fix is looked up when it is pressed: it belongs to the document as it is then.
    const acts = fix ? [button("is-small", fix.label, { onclick: () => this.#fix(place.findings[i]) })] : [];
    const away = iconButton("x", `Put this hint on ${where} away: ${message}`, { title: "Put this hint away", onclick: () => this.#away(place.findings[i]) });
    const said = h("span", {}, h("span", { text: message }), " ", h("small", { class: "cs-hint-why", text: REASONS.get(rule) }));
    return h("div", { class: "cs-hint", "data-rule": rule }, icon("bulb"), said, ...acts, away);
  }

  #fix(finding) {
    this.store.change(finding.fix.apply);
    this.now();
    this.say(`Done: ${finding.fix.label}. Ctrl Z takes it back.`);
  }

  #away(finding) {
    this.away.add(nameOf(finding, this.store.doc));
    write(this.away);
    this.now();
    this.say("Hint put away");
  }

  #takeBack() {
    this.away.clear();
    write(this.away);
    this.now();
    (this.editor.list.querySelector(".cs-hint button") ?? this.state.querySelector("button"))?.focus();
  }

  #open(uid, place) {
    this.all.add(uid);
    this.now();
    place.querySelectorAll(".cs-hint")[MOST]?.querySelector("button").focus();
  }

  /** The pressed button is gone: the next hint's takes the focus, else the question. */
  #focus(uid, place) {
    const next = place.querySelector(".cs-hint button");
    if (next) next.focus();
    else if (uid) this.editor.made.get(uid)?.focusText();
  }
}

function read() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return new Set(Array.isArray(kept) ? kept : []);
  } catch {
    return new Set();
  }
}

function write(away) {
  try {
    localStorage.setItem(KEY, JSON.stringify([...away].slice(-REMEMBERED)));
  } catch (error) {
    console.warn("what was put away is forgotten on reload", error);
  }
}
