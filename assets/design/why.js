// "Why?" on an answer: where an option looked, and on demand what moves it. One panel for the page, under its answer;
// its marks lie in the state and over the pictures, and a legend under the state says what they mean.
//
// Where it looked follows the answers: it is asked again when they change. What moves it costs many requests, so it is
// asked only when a person wants it, and is taken away when the answers change.

import { button, h, iconButton, setText } from "./dom.js";
import { pressed } from "./keys.js";
import { partMarks, readMarks, wordMarks } from "./marks.js";
import { Probe, progressLine } from "./probe.js";
import { lookedCells, movingBoxes, showSpots } from "./spots.js";
import { LEGENDS, lookedWords, movesWords, partName, pointsWords, strongest, tells } from "./why_words.js";
import { percent, rowName } from "./words.js";

/** Milliseconds between an answer and the question where it looked: while somebody types, nothing is asked. */
const FOLLOWS = 300;

export class Why {
  /** host: {api, statePanel, pictures, store, shown() → {reply, sent} | null, busy(is)} */
  constructor(root, host) {
    this.host = host;
    this.probe = new Probe(host.api, host.busy);
    this.legend = h("div", { class: "cs-legend", hidden: true });
    root.querySelector("[data-cutbar]").after(this.legend);
    this.section = null;
    this.seq = 0;
    this.#make();
  }

  #make() {
    this.title = h("b", { class: "cs-grow" });
    this.choice = h("select", { class: "cs-input is-small", "aria-label": "Option", onchange: () => this.#pick(this.choice.value) });
    const view = (name, text) => h("button", { type: "button", "aria-pressed": "false", onclick: () => this.#view(name), text });
    this.tabs = { looked: view("looked", "Where it looked"), moves: view("moves", "What moves it") };
    this.body = h("div", { class: "cs-why-body", "aria-live": "polite" });
    this.panel = h(
      "section",
      { class: "cs-why" },
      h("div", { class: "cs-line" }, this.title, this.choice, iconButton("x", "Close", { onclick: () => this.close(true) })),
      h("div", { class: "cs-seg", role: "group", "aria-label": "What to show" }, this.tabs.looked, this.tabs.moves),
      this.body,
    );
    this.panel.addEventListener("keydown", (event) => {
      if (!pressed(event, "close")) return;
      event.stopPropagation();
      this.close(true);
    });
  }

  /** Opens under an answer's section for one of its options (null: the leading one); the same again closes it. */
  open(section, option = null) {
    const same = this.section === section;
    if (same && (option === null || option === this.option)) return this.close(true);
    if (!same) {
      this.close(false);
      this.section = section;
      section.el.append(this.panel);
      section.whyOpen(true);
    }
    this.#fill(option);
    this.#view(same ? this.shownView : "looked");
    if (!same) this.panel.scrollIntoView({ block: "nearest" });
  }

  close(refocus) {
    if (!this.section) return;
    const { section } = this;
    this.section = null;
    this.seq += 1;
    clearTimeout(this.timer);
    this.probe.stop();
    this.moves = this.looked = null;
    this.panel.remove();
    section.whyOpen(false, refocus);
    this.#mark(null);
  }

  /** The answers of the page were painted anew. */
  painted() {
    if (!this.section) return;
    if (!this.#asked()) return this.close(false);
    const { signature } = this.host.shown().sent;
    if (signature === this.signature) return;
    const wanted = this.option;
    const ids = this.section.answer.options;
    this.#fill(ids.includes(wanted) ? wanted : null);
    if (this.shownView === "moves") {
      this.probe.stop();
      this.#mark(null);
      this.#again("The answer has changed since.");
      return;
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#look(), FOLLOWS);
  }

  /** There are no answers any more, or the question is gone. */
  follow(doc) {
    if (this.section && !doc.questions.some((q) => q.uid === this.section.uid)) this.close(false);
  }

  #asked() {
    return this.host.shown()?.sent.asked.find((a) => a.uid === this.section.uid) ?? null;
  }

  #fill(option) {
    const { answer, index } = this.section;
    const p = answer.probabilities;
    this.option = option ?? answer.options[p.indexOf(Math.max(...p))];
    this.signature = this.host.shown().sent.signature;
    this.moves = this.looked = null;
    setText(this.title, `Why ${index + 1}?`);
    this.panel.setAttribute("aria-label", `Why, answer ${index + 1}`);
    this.choice.replaceChildren(...answer.options.map((id, i) => h("option", { value: id, text: `${rowName(answer, i)}, ${percent(p[i])}` })));
    this.choice.value = this.option;
  }

  #name(id = this.option) {
    const { answer } = this.section;
    return rowName(answer, answer.options.indexOf(id));
  }

  #pick(option) {
    this.option = option;
    this.moves = this.looked = null;
    this.#view(this.shownView);
  }

  #view(name) {
    this.shownView = name;
    for (const [key, tab] of Object.entries(this.tabs)) tab.setAttribute("aria-pressed", String(key === name));
    if (name === "looked") {
      this.probe.stop();
      if (this.looked) this.#paintLooked();
      else this.#look();
    } else if (this.moves) this.#paintMoves();
    else this.#ask();
  }

  // ------------------------------------------------------------------------------------------------ where it looked

  async #look() {
    const asked = this.#asked();
    if (!asked) return;
    const { reply, sent } = this.host.shown();
    const seq = ++this.seq;
    if (!this.body.firstChild) this.#say("Asking where it looked…");
    let found;
    try {
      found = await this.host.api.look({ seq, request: sent.payload, fingerprint: reply.fingerprint, question: asked.id, option: this.option });
    } catch (error) {
      console.warn("not told where it looked", error);
      found = { error: { message: "The studio does not answer." } };
    }
    if (seq !== this.seq || !this.section) return;
    if (found.error) {
      // A newer question of this tab took its place, and its reply comes.
      if (found.error.kind === "superseded") return;
      this.#mark(null);
      return this.#say(found.error.message);
    }
    this.looked = { ...found, text: sent.payload.state };
    if (this.shownView === "looked") this.#paintLooked();
  }

  #paintLooked() {
    const { how, words, pictures, text } = this.looked;
    const marks = how === "routing" ? wordMarks(text, words) : readMarks(text, words);
    this.#say(lookedWords(this.looked, this.#name()));
    const told = tells(this.looked);
    setText(this.tabs.looked, told ? "Where it looked" : "What it read");
    if (!told) {
      this.body.append(h("div", { class: "cs-line" }, h("span", { class: "cs-grow", text: "What moves it can be measured: one part of the state is left out at a time." }), button("is-small", "Ask what moves it", { onclick: () => this.#view("moves") })));
    }
    if (marks.length) {
      this.body.append(h("div", {}, button("is-link", "Show the first in the text", { onclick: () => this.host.statePanel.reveal(marks[0].start) })));
    }
    if (how === "routing") this.#mark("routing", marks, text, (i) => (pictures?.[i] ? lookedCells(pictures[i]) : []));
    else this.#mark(how === "excerpts" ? "excerpts" : null, marks, text);
  }

  // ------------------------------------------------------------------------------------------------- what moves it

  #ask() {
    const asked = this.#asked();
    if (!asked) return;
    this.#mark(null);
    const { sent } = this.host.shown();
    const line = progressLine("Leaving out one part at a time", () => {
      this.probe.stop();
      this.#again("Stopped.");
      this.body.querySelector("button")?.focus();
    });
    this.body.replaceChildren(line.el);
    this.probe.start(
      { request: sent.payload, what: "moves", question: asked.id, option: this.option },
      {
        progress: line.show,
        failed: (message) => this.#again(message),
        done: (found) => {
          this.moves = { ...found, text: sent.payload.state };
          this.#paintMoves();
        },
      },
    );
  }

  #again(message) {
    this.body.replaceChildren(h("div", { class: "cs-line" }, h("span", { class: "cs-grow", text: message }), button("is-small", "Ask what moves it", { onclick: () => this.#ask() })));
  }

  #paintMoves() {
    const found = this.moves;
    const before = found.probability;
    const list = h("ol", { class: "cs-moves", "aria-label": "What moves it, the strongest first" });
    for (const part of strongest(found.parts).shown) {
      const flips = part.flips ? `, then “${this.#name(part.top)}” leads` : "";
      list.append(
        h("li", {},
          h("button", { type: "button", class: "cs-move", "data-look": Math.abs(part.change) >= 10 ? 3 : 2, "data-against": part.change > 0, title: "Show it in the state", onclick: () => part.spans.length && this.host.statePanel.reveal(part.spans[0][0]) },
            h("span", { class: "cs-move-part" }, h("span", { class: "cs-dim", text: "without " }), partName(part)),
            h("span", { class: "cs-move-fig" }, h("b", { text: `${percent(before)} → ${percent(part.probability)}` }), ` ${pointsWords(part.change)}${flips}`))),
      );
    }
    const flip = found.flip && found.flip.parts.length > 1 ? h("ul", { class: "cs-flip" }, ...found.flip.parts.map((i) => h("li", { text: partName(found.parts[i]) }))) : null;
    const said = movesWords(found, (id) => this.#name(id));
    const at = said.findIndex((text) => text.startsWith("Without "));
    const notes = said.flatMap((text, i) => (i === at && flip ? [h("p", { text: text }), flip] : [h("p", { text })]));
    const head = h("p", { text: `How “${this.#name()}” changes when one part is left out:` });
    this.body.replaceChildren(...(list.children.length ? [head, list] : []), ...notes, h("p", { class: "cs-dim", text: `${found.asked} requests, ${found.seconds.toFixed(1)} s` }));
    this.#mark("moves", partMarks(found.text, found.parts), found.text, (i) => movingBoxes(found.parts, i));
  }

  // ---------------------------------------------------------------------------------------------------------- marks

  #say(text) {
    this.body.replaceChildren(h("p", { text }));
  }

  #mark(kind, marks = [], text = "", spots = () => []) {
    const { statePanel, pictures, store } = this.host;
    statePanel.showMarks(marks, text);
    showSpots(pictures, store.doc, spots);
    this.legend.hidden = kind === null;
    if (kind === null) return;
    const title = { routing: "Where it looked for ", excerpts: "Read for question ", moves: "What moves " }[kind];
    const keys = LEGENDS[kind].map(([look, words]) => h("span", { class: "cs-nowrap" }, h("i", { class: `cs-sw is-${look}` }), ` ${words}`));
    if (kind === "moves") keys.push(h("span", { class: "cs-nowrap" }, h("i", { class: "cs-sw is-against" }), " spoke against"));
    const about = h("span", { class: "cs-grow" }, title, h("b", { text: kind === "excerpts" ? String(this.section.index + 1) : `${this.section.index + 1} ${this.#name()}` }), kind === "routing" ? ", not proof" : "");
    this.legend.replaceChildren(about, ...keys);
  }
}
