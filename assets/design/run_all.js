// "Run all": every example of the schema asked one after another, as a compact table of leading answers.
//
// It uses the same path as the live answers, under a key of its own, so that neither takes the other's place.

import { asked, openDialog } from "./dialog.js";
import { h, setText } from "./dom.js";
import { atExample, writtenBack } from "./examples.js";
import { toText } from "./schema.js";
import { percent, verdict } from "./words.js";

export class RunAll {
  /** host: {api, build(doc, key) → {payload, asked} or null} */
  constructor(root, store, host) {
    Object.assign(this, { root, store, host });
    this.button = root.querySelector("[data-run-all]");
    this.button.addEventListener("click", () => this.#run());
    store.listen((doc) => this.update(doc));
  }

  update(doc) {
    const n = doc.examples?.length ?? 0;
    this.button.hidden = n < 2;
    setText(this.button.querySelector("[data-run-all-text]"), `Run ${n} examples`);
  }

  async #run() {
    const { doc } = this.store;
    const examples = writtenBack(doc);
    const total = examples.length;
    const status = h("p", { class: "cs-small cs-dim", role: "status" });
    const columns = doc.questions.map((q) => h("th", { scope: "col" }, h("span", { class: "cs-mono", text: q.id })));
    const rows = h("tbody");
    const table = h("table", { class: "cs-table" }, h("thead", {}, h("tr", {}, h("th", { scope: "col", text: "example" }), ...columns)), rows);
    let open = true;
    const { close } = openDialog(this.root, {
      title: `${total} examples`, classes: "is-broad",
      body: [status, h("div", { class: "cs-scroll", tabindex: "0", role: "region", "aria-label": "Answers by example" }, table)],
      onClose: () => (open = false),
    });
    const lines = examples.map((example, at) => this.#line(doc, example, at, close));
    rows.append(...lines.map((line) => line.el));
    const key = crypto.randomUUID();
    let failed = 0;
    for (let at = 0; at < total && open; at += 1) {
      setText(status, `${at + 1} of ${total}…`);
      const reason = await this.#ask(doc, examples[at], lines[at], key);
      if (reason) failed += 1;
    }
    setText(status, failed ? `${total - failed} of ${total} answered. Click an example to open it.` : `All ${total} answered. Click an example to open it. Nothing is kept.`);
  }

  #line(doc, example, at, close) {
    const open = () => {
      close();
      this.store.change((now) => (now.examples?.length ? atExample(now, at) : now));
    };
    const cells = doc.questions.map(() => h("td", { text: "…" }));
    const el = h("tr", { class: at === doc.at ? "is-on" : "" }, h("th", { scope: "row" }, h("button", { type: "button", class: "cs-btn is-link", onclick: open, text: example.name || `Example ${at + 1}` })), ...cells);
    el.addEventListener("click", (event) => event.target.closest("button") || open());
    return { el, cells };
  }

  /** Asks one example and fills its line. Returns null, or why there is no answer. */
  async #ask(doc, example, line, key) {
    const built = this.host.build({ ...doc, state: example.state, pictures: example.pictures }, key);
    const reply = built ? await asked(() => this.host.api.ask({ ...built.payload, seq: 1 })) : { error: { message: "nothing to ask" } };
    if (reply.error) {
      const reason = reply.error.message;
      line.cells.forEach((cell, i) => {
        setText(cell, i ? "" : "not answered");
        cell.title = reason;
      });
      return reason;
    }
    const by = new Map(built.asked.map((a, i) => [a.uid, reply.answers[i]]));
    doc.questions.forEach((question, i) => fill(line.cells[i], by.get(question.uid)));
    return null;
  }
}

function fill(cell, answer) {
  if (!answer) {
    cell.replaceChildren(h("span", { class: "cs-dim", text: "not asked" }));
    return;
  }
  const full = answer.type === "score" ? { ...answer, labels: answer.legend.map(toText) } : answer;
  const said = verdict(full);
  const p = Math.max(...full.probabilities);
  cell.title = `${said.word}, ${said.sure}`;
  cell.replaceChildren(h("span", { class: said.flat ? "cs-cell-word is-none" : "cs-cell-word", text: said.word }), " ", h("span", { class: "cs-dim", text: percent(p) }));
}
