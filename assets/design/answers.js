// The column of answers: one section per question, all on one 0-100 % axis. A section keeps its elements from run to
// run; a new reply only sets --p, the figures and the words.

import { verdictPill } from "./badge.js";
import { arrange, button, h, MANY, setAttr, setText } from "./dom.js";
import { LabelBar } from "./label.js";
import { setName } from "./names.js";
import { filledLevels, filledOptions, toText } from "./schema.js";
import { count, level, moreWords, percent, ranked, rowName, rows, rowShort, verdict } from "./words.js";

/** An edit after this pause starts a new comparison: the grey marks show what the answer was before it. */
const NEW_EDIT = 2500;
/** Moves under this are not worth a mark. */
const WORTH_A_MARK = 0.01;
const SPOKEN_AFTER = 900;

export class Answers {
  constructor(root, host) {
    this.host = host;
    this.list = root.querySelector("[data-answers]");
    this.card = root.querySelector("[data-answer-card]");
    this.spoken = root.querySelector("[data-live]");
    this.sections = new Map();
    this.painted = 0;
    this.words = new Map();
    this.empty = h("div", { class: "cs-a cs-small cs-dim" }, "The answers appear here as soon as there is a question and a state.");
  }

  /** Follows the document: order, numbers, names, what is not asked. */
  update(doc, errors) {
    const wanted = doc.questions.map((question, index) => {
      let section = this.sections.get(question.uid);
      if (!section) {
        section = new Section(question.uid, this.host);
        this.sections.set(question.uid, section);
      }
      section.follow(question, index, errors.get(question.uid));
      return section.el;
    });
    if (this.sections.size > doc.questions.length) {
      const kept = new Set(doc.questions.map((q) => q.uid));
      for (const uid of this.sections.keys()) if (!kept.has(uid)) this.sections.delete(uid);
    }
    this.list.classList.toggle("is-many", wanted.length > MANY);
    arrange(this.list, wanted.length ? wanted : [this.empty]);
  }

  /** Paints a reply. `asked`: [{uid, question}] in the order of reply.answers. */
  paint(reply, asked) {
    const now = performance.now();
    const fresh = now - this.painted > NEW_EDIT;
    this.painted = now;
    reply.answers.forEach((answer, i) => this.sections.get(asked[i].uid)?.paint(answer, reply, fresh));
    this.stale(false);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#speak(), SPOKEN_AFTER);
  }

  /** Bars fade while they are not those of the document any more; words stay. */
  stale(is) {
    this.card.classList.toggle("is-stale", is);
  }

  /** The answers are of before an edit that was refused: nobody may ask why they came out, or label them. */
  outdate(is) {
    for (const section of this.sections.values()) section.outdate(is);
  }

  clear() {
    for (const section of this.sections.values()) section.clear();
    this.words.clear();
  }

  #speak() {
    const news = [];
    for (const [uid, section] of this.sections) {
      if (section.said && this.words.get(uid) !== section.said) news.push(`${section.index + 1}: ${section.said}`);
      this.words.set(uid, section.said);
    }
    if (news.length) this.spoken.textContent = news.slice(0, 8).join(". ");
  }
}

class Section {
  constructor(uid, host) {
    this.uid = uid;
    this.host = host;
    this.num = h("span", { class: "cs-num" });
    this.word = h("span", { class: "cs-a-word" });
    this.sure = h("span", { class: "cs-a-sure" });
    // Empty until a policy is in force for exactly these questions and this scorer.
    this.policy = h("span", { class: "cs-a-policy" });
    this.label = new LabelBar(this, host);
    this.why = button("is-small is-ghost cs-why-open", "Why?", { hidden: true, "aria-expanded": "false", onclick: () => host.why(this) });
    this.top = h("div", { class: "cs-a-top" }, this.num, h("span", {}, this.word, " ", this.sure, " ", this.policy), this.why, this.label.el);
    // By the keyboard, the option is chosen in the panel that "Why?" opens.
    this.ul = h("ul", { onclick: (event) => this.#pressed(event.target) });
    this.rail = h("span", { class: "cs-rail", "aria-hidden": "true" });
    this.expect = h("span", { class: "cs-expect", "aria-hidden": "true" });
    this.rows = h("div", { class: "cs-rows" }, this.ul, this.rail, this.expect);
    this.more = h("p", { class: "cs-row-more", hidden: true });
    this.note = h("p", { class: "cs-a-note" });
    this.el = h("section", { class: "cs-a" }, this.top, this.rows, this.more, this.label.panel, this.note);
    this.made = [];
    this.answer = null;
    this.before = null;
    this.all = false;
    this.old = false;
    this.said = "";
  }

  follow(question, index, errors) {
    if (this.index !== index) {
      this.index = index;
      this.label.renumber();
    }
    setText(this.num, String(index + 1));
    setAttr(this.el, "aria-label", `Answer ${index + 1}, ${question.id}`);
    const blocked = errors?.[0] ?? null;
    if (blocked) {
      this.clear();
      this.el.classList.add("is-unasked");
      const reason = blocked.field === "waiting" ? blocked.message : `Not asked. ${blocked.message}`;
      this.#words("", reason, true);
      this.rows.hidden = this.more.hidden = this.note.hidden = this.why.hidden = true;
      this.label.show(null);
      this.question = question;
      return;
    }
    this.el.classList.remove("is-unasked");
    this.rows.hidden = this.note.hidden = false;
    if (this.answer && this.question.type !== question.type) this.clear();
    if (this.question === question && (this.answer || this.made.length)) return;
    this.question = question;
    // Until an answer is there, the rows stand with their names and no bar, so that nothing jumps when it comes.
    if (!this.answer) this.#draw(unanswered(question));
  }

  clear() {
    this.answer = this.before = null;
    this.said = "";
    this.all = false;
    this.label.show(null);
    if (this.question && !this.el.classList.contains("is-unasked")) this.#draw(unanswered(this.question));
  }

  paint(answer, reply, fresh) {
    if (this.el.classList.contains("is-unasked")) return;
    if (fresh) this.before = this.answer;
    this.answer = answer;
    this.reply = reply;
    this.#draw(answer);
    this.label.show(answer);
  }

  outdate(is) {
    this.old = is;
    this.why.disabled = is;
    this.label.el.inert = is;
    this.el.classList.toggle("is-old", is);
  }

  /** Whether the reasons of this answer are open; `refocus`: the focus comes back from them. */
  whyOpen(is, refocus = false) {
    setAttr(this.why, "aria-expanded", String(is));
    if (refocus) this.why.focus();
  }

  #pressed(target) {
    const row = this.made.find(({ el }) => el.contains(target));
    if (row && this.answer && !this.old) this.host.why(this, row.option);
  }

  #words(word, sure, none) {
    setText(this.word, word);
    setText(this.sure, sure);
    this.word.classList.toggle("is-none", none);
  }

  #draw(answer) {
    const known = answer.probabilities.length > 0 && Number.isFinite(answer.probabilities[0]);
    const said = known ? verdict(answer) : { word: "", sure: "", flat: true, lead: -1 };
    const ruled = (known && answer.policy) || null;
    this.said = known ? `${said.word}, ${said.sure}${ruled ? `: ${RULED[ruled.outcome]}` : ""}` : "";
    this.#policy(ruled);
    this.why.hidden = !known;
    setAttr(this.why, "aria-label", `Why? Reasons for answer ${this.index + 1}`);
    this.#words(said.word, said.sure, said.flat);
    const shown = known ? rows(answer, this.all) : { shown: answer.options.slice(0, 6).map((_, i) => i), more: 0, share: 0 };
    this.#rows(answer, shown.shown, said, ruled);
    const isScore = answer.type === "score";
    this.rows.classList.toggle("is-score", isScore);
    this.el.classList.toggle("is-flat", said.flat);
    this.rail.hidden = !isScore;
    this.expect.hidden = !isScore || !known || answer.options.length < 2;
    this.rows.style.setProperty("--n", answer.options.length);
    if (!this.expect.hidden) this.expect.style.setProperty("--e", Number(level(answer)) / (answer.options.length - 1));
    this.#more(shown);
    this.#note(answer, said, known);
  }

  #policy(ruled) {
    const outcome = ruled?.outcome ?? "";
    setAttr(this.policy, "title", ruled && policyWords(ruled));
    if (this.policy.dataset.outcome === outcome) return;
    this.policy.dataset.outcome = outcome;
    this.policy.replaceChildren(...(ruled ? [verdictPill(outcome)] : []));
  }

  #rows(answer, shown, said, ruled) {
    const top = ruled ? ranked(answer.probabilities)[0] : -1;
    while (this.made.length < shown.length) this.made.push(makeRow());
    arrange(this.ul, this.made.slice(0, shown.length).map((row) => row.el));
    shown.forEach((i, at) => {
      const row = this.made[at];
      const p = answer.probabilities[i];
      const known = Number.isFinite(p);
      const name = rowName(answer, i);
      row.option = answer.options[i];
      row.el.classList.toggle("is-asked", known);
      setName(row.name, rowShort(answer, i), name);
      row.bar.style.setProperty("--p", known ? p : 0);
      setText(row.fig, known ? percent(p) : "");
      setAttr(row.el, "title", known ? `${name}: probability ${(100 * p).toFixed(2)} %` : null);
      row.el.classList.toggle("is-lead", i === said.lead);
      this.#zones(row, i === top ? ruled : null);
      const was = i === said.lead ? this.#was(answer, i) : null;
      row.was.hidden = was === null;
      if (was !== null) row.was.style.setProperty("--x", was);
    });
  }

  /** On the leading row: orange where a human is asked, blue where the machine acts, a tick where that begins. */
  #zones(row, ruled) {
    const { ask, act, tick } = row.zones;
    ask.hidden = !ruled;
    act.hidden = tick.hidden = !ruled || ruled.act === null;
    if (!ruled) return;
    ask.style.setProperty("--from", ruled.refuse ?? 0);
    ask.style.setProperty("--to", ruled.act ?? 1);
    if (ruled.act === null) return;
    act.style.setProperty("--from", ruled.act);
    act.style.setProperty("--to", 1);
    tick.style.setProperty("--x", ruled.act);
  }

  /** What option `i` had before the last edit, where that is worth a mark; else null. */
  #was(answer, i) {
    const at = this.before?.options.indexOf(answer.options[i]) ?? -1;
    if (at < 0 || this.before.type !== answer.type) return null;
    const was = this.before.probabilities[at];
    return Math.abs(was - answer.probabilities[i]) >= WORTH_A_MARK ? was : null;
  }

  #more(shown) {
    this.more.hidden = !shown.more && !this.all;
    if (this.more.hidden) return;
    const toggle = button("is-link", this.all ? "Show the short list" : "Show all", {
      onclick: () => {
        this.all = !this.all;
        this.#draw(this.answer);
      },
    });
    this.more.replaceChildren(shown.more ? `${moreWords(shown)} · ` : "", toggle);
  }

  #note(answer, said, known) {
    const parts = [];
    if (known) {
      if (said.lead >= 0) {
        const was = this.#was(answer, said.lead);
        if (was !== null) parts.push(`${was < answer.probabilities[said.lead] ? "Up" : "Down"} from ${percent(was)} (grey mark) by your last edit`);
      }
      if (answer.type === "score") parts.push("The diamond marks the expected level");
      parts.push(h("span", { title: CONFIDENCE, text: `confidence ${answer.confidence.toFixed(2)}` }));
      if (!answer.policy) parts.push("no threshold yet");
      if (answer.read) parts.push(`read ${count(answer.read[0])} of ${count(answer.read[1])} characters of the state`);
    }
    this.note.replaceChildren(...parts.flatMap((part, i) => (i ? [" · ", part] : [part])));
  }
}

const RULED = { act: "act", ask: "ask a human", refuse: "refuse" };

/** "Acts from 93 %, refuses under 40 %", of the leading probability. */
function policyWords({ act, refuse }) {
  const acts = act === null ? "Never acts alone" : `Acts from ${percent(act)}`;
  return `${acts}${refuse === null ? "" : `, refuses under ${percent(refuse)}`}; by the policy of this question`;
}

const CONFIDENCE =
  "Confidence (0 to 1) says how far the whole distribution is from knowing nothing. It is TypeSafe's formula, and not the probability of being right.";

function makeRow() {
  const name = h("span", { class: "cs-row-name" });
  const bar = h("span", { class: "cs-bar" });
  const was = h("i", { class: "cs-at is-was", hidden: true });
  const fig = h("span", { class: "cs-row-fig" });
  const zones = { ask: h("i", { class: "cs-zone", hidden: true }), act: h("i", { class: "cs-zone is-act", hidden: true }), tick: h("i", { class: "cs-at", hidden: true }) };
  const track = h("span", { class: "cs-track", "aria-hidden": "true" }, bar, zones.ask, zones.act, was, zones.tick);
  return { el: h("li", { class: "cs-row" }, name, track, fig), name, bar, was, fig, zones };
}

/** The rows of a question that has no answer yet. */
function unanswered(question) {
  const type = question.type;
  if (type === "noul") return { type, options: ["true", "false"], probabilities: [NaN, NaN] };
  if (type === "choice") {
    const options = filledOptions(question).map((o) => o.name);
    return { type, options, probabilities: options.map(() => NaN) };
  }
  const labels = filledLevels(question).map((l) => toText(l.text));
  return { type, options: labels.map((_, i) => String(i)), labels, probabilities: labels.map(() => NaN) };
}

