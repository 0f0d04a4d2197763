// Finding decisions: by words and by what was said of them; one of them whole; many at once; and what is kept.
// Labels given here were chosen by the person: they teach, they never measure, and the page says so.

import { button, h, setText } from "../design/dom.js";
import { asked, errorLine, openDialog } from "../design/dialog.js";
import { count, percent } from "../design/words.js";
import { parts } from "./state_view.js";

const SOON = 250;

/** host: {where, labeller, question, call(name, payload), pictureUrl, caseUrl(id), say(text), changed()} */
export function openFind(root, host) {
  new Find(root, host).open();
}

class Find {
  constructor(root, host) {
    Object.assign(this, { root, host, rows: [], chosen: new Set(), asking: 0 });
    const options = host.question.options;
    const field = (label, el) => h("label", { class: "cs-field" }, h("span", { class: "cs-label", text: label }), el);
    const select = (choices) => h("select", { class: "cs-input is-small" }, ...choices.map(([value, text]) => h("option", { value, text })));
    this.text = h("input", { class: "cs-input", type: "search", placeholder: "Words of the state", "aria-label": "Words of the state", autocomplete: "off" });
    this.option = select([["", "any"], ...options.map(([id, name]) => [id, name])]);
    this.low = h("input", { class: "cs-input is-small", type: "number", min: "0", max: "100", placeholder: "0" });
    this.high = h("input", { class: "cs-input is-small", type: "number", min: "0", max: "100", placeholder: "100" });
    this.stream = select([["", "any"], ["none", "not labelled"], ["queue", "queue"], ["audit", "audit"], ["volunteered", "volunteered"], ["bulk", "bulk"], ["import", "imported"]]);
    this.labeller = h("input", { class: "cs-input is-small", autocomplete: "off", placeholder: "anybody" });
    this.differs = select([["", "no matter"], ["model", "from the model"], ["people", "among people"]]);
    this.filters = h(
      "div", { class: "cs-find-filters" },
      field("Option", this.option), field("Model from %", this.low), field("to %", this.high),
      field("Labelled by way of", this.stream), field("Labeller", this.labeller), field("Labels differ", this.differs),
    );
    this.status = h("p", { class: "cs-small cs-dim", role: "status" });
    this.list = h("ul", { class: "cs-found" });
    this.more = button("is-small", "Older ones", { hidden: true, onclick: () => this.#ask(true) });
    this.all = h("input", { type: "checkbox", onchange: () => this.#chooseAll() });
    this.bulkOption = select([["", "the model’s answer, of each"], ...options.map(([id, name]) => [id, name])]);
    this.bulk = button("is-small", "Label these", { disabled: true, onclick: () => this.#bulk() });
    this.bar = h("div", { class: "cs-line cs-bulk", role: "group", "aria-label": "All chosen" }, h("label", { class: "cs-line" }, this.all, "all shown"), h("label", { class: "cs-line" }, "is true:", this.bulkOption), this.bulk);
    this.error = errorLine();
    for (const el of [this.text, this.low, this.high, this.labeller]) el.addEventListener("input", () => this.#soon());
    for (const el of [this.option, this.stream, this.differs]) el.addEventListener("change", () => this.#ask());
  }

  open() {
    openDialog(this.root, {
      title: "Find", classes: "cs-find-dialog",
      body: [this.text, this.filters, h("p", { class: "cs-small cs-dim", text: "What you label here you chose yourself: it teaches the model, and never counts as a measurement." }), this.error.el, this.status, this.bar, h("div", { class: "cs-found-scroll" }, this.list, this.more)],
      onClose: () => this.host.changed(),
    });
    this.text.focus();
    this.#ask();
  }

  #soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#ask(), SOON);
  }

  #wanted() {
    const share = (input) => (input.value.trim() === "" ? null : Math.min(1, Math.max(0, Number(input.value) / 100)));
    const stream = this.stream.value;
    return {
      where: this.host.where, text: this.text.value, option: this.option.value || null, low: share(this.low), high: share(this.high),
      stream: stream && stream !== "none" ? stream : null, labelled: stream === "none" ? false : null,
      labeller: this.labeller.value.trim() || null, differs: this.differs.value || null,
    };
  }

  async #ask(older = false) {
    this.asking += 1;
    const turn = this.asking;
    const before = older ? this.rows.at(-1)?.serial ?? null : null;
    const reply = await asked(() => this.host.call("search", { ...this.#wanted(), before }));
    if (turn !== this.asking) return;
    this.error.say(reply.error?.message ?? "");
    if (reply.error) return;
    this.rows = older ? [...this.rows, ...reply.found] : reply.found;
    if (!older) {
      this.chosen.clear();
      this.list.replaceChildren();
    }
    this.list.append(...reply.found.map((row) => this.#row(row)));
    this.more.hidden = !reply.more;
    setText(this.status, this.rows.length ? `${count(this.rows.length)}${reply.more ? " or more" : ""} found, newest first` : "Nothing fits. Fewer words or wider limits find more.");
    this.#bar();
  }

  #row(row) {
    const box = h("input", { type: "checkbox", "aria-label": `Choose ${row.preview.slice(0, 60)}`, onchange: () => {
      if (box.checked) this.chosen.add(row.id);
      else this.chosen.delete(row.id);
      this.#bar();
    } });
    const said = row.labels.map((label) => `${label.labeller}: ${this.#word(label)} (${label.source})`).join(" · ");
    const open = h("button", { type: "button", class: "cs-found-open", "aria-expanded": "false" },
      h("b", { text: row.redacted ? "State not kept" : row.preview || "Pictures only" }),
      h("small", { text: `model: ${this.#name(row.top)}, ${percent(row.probability)}${said ? ` · ${said}` : ""}` }));
    const el = h("li", { "data-found": row.id }, box, open);
    open.addEventListener("click", () => this.#toggle(row, el, open));
    return el;
  }

  #name = (id) => this.host.question.options.find(([option]) => option === id)?.[1] ?? id;

  #word = ({ verdict, option }) => (verdict === "withdrawn" ? "took it back" : option === null ? (verdict === "wrong" ? "wrong" : "can’t tell") : this.#name(option));

  async #toggle(row, el, open) {
    const there = el.querySelector(".cs-found-case");
    open.setAttribute("aria-expanded", String(!there));
    if (there) return there.remove();
    const body = h("div", { class: "cs-found-case" }, h("span", { class: "cs-spin", "aria-hidden": "true" }));
    el.append(body);
    return this.#case(row, body);
  }

  async #case(row, body) {
    const reply = await asked(() => this.host.call("case", { decision: row.id, where: this.host.where }));
    if (reply.error) return body.replaceChildren(h("p", { class: "cs-error", role: "alert", text: reply.error.message }));
    const { paragraphs, fields } = parts(reply.case.state);
    const error = errorLine();
    const run = async (name, payload) => {
      const done = await asked(() => this.host.call(name, { decision: row.id, labeller: this.host.labeller, where: this.host.where, ...payload }));
      if (done.error) error.say(done.error.message);
      else if (name === "delete_case") body.closest("li").remove();
      else await this.#case(row, body);
      return !done.error;
    };
    const say = (choice) => run("volunteer", { id: crypto.randomUUID(), choice });
    const sure = (label, words, act) => {
      const first = button("is-small is-ghost", label, { onclick: () => {
        first.replaceWith(h("span", { class: "cs-line" }, h("span", { class: "cs-small", text: words }), button("is-small is-danger", label, { onclick: act }), button("is-small is-ghost", "Leave it", { onclick: () => this.#case(row, body) })));
      } });
      return first;
    };
    const past = reply.history.map((label) => h("li", {}, h("b", { text: label.labeller }), `: ${this.#word(label)}`, h("span", { class: "cs-dim", text: ` · ${label.source}${label.blind ? ", blind" : ""} · ${new Date(label.created).toLocaleString("en-GB")}${label.note ? ` · “${label.note}”` : ""}` })));
    body.replaceChildren(
      h("div", { class: "cs-conflict-state" }, ...paragraphs.map((text) => h("p", { text })), ...fields.map(([key, text]) => h("p", {}, h("span", { class: "cs-dim", text: `${key} ` }), text))),
      ...reply.case.pictures.map((picture, i) => h("img", { src: this.host.pictureUrl(picture.token), alt: `Picture ${i + 1} of the state`, width: picture.width, height: picture.height })),
      h("div", { class: "cs-line", role: "group", "aria-label": "What is true" }, h("span", { class: "cs-small cs-dim", text: "True is:" }), ...this.host.question.options.map(([id, name]) => button("is-small", name, { onclick: () => say(id) })), button("is-small", "Can’t tell", { onclick: () => say(null) })),
      ...(past.length ? [h("ul", { class: "cs-said" }, ...past)] : []),
      h("div", { class: "cs-line" },
        h("a", { class: "cs-btn is-small is-ghost", href: this.host.caseUrl(row.id), download: "" }, "Export"),
        reply.case.redacted ? null : sure("Empty the state", "The state and its pictures go; label and probabilities stay.", () => run("empty_case", {})),
        sure("Delete the case", "Everything about this case goes, its labels too.", () => run("delete_case", {}))),
      error.el,
    );
    return null;
  }

  #chooseAll() {
    for (const box of this.list.querySelectorAll(":scope > li > input")) {
      box.checked = this.all.checked;
      const { found } = box.parentElement.dataset;
      if (box.checked) this.chosen.add(found);
      else this.chosen.delete(found);
    }
    this.#bar();
  }

  #bar() {
    const n = this.chosen.size;
    this.bulk.disabled = n === 0;
    setText(this.bulk, n ? `Label ${count(n)}` : "Label these");
    this.all.checked = n > 0 && n === this.list.children.length;
  }

  async #bulk() {
    const decisions = [...this.chosen];
    this.bulk.disabled = true;
    const reply = await asked(() => this.host.call("bulk", { id: crypto.randomUUID(), decisions, where: this.host.where, choice: this.bulkOption.value || null, labeller: this.host.labeller }));
    if (reply.error) {
      this.error.say(reply.error.message);
      return this.#bar();
    }
    await this.#ask();
    setText(this.status, `${count(reply.labelled)} labelled in bulk; these never measure.`);
    return null;
  }
}

/** What is kept of a schema's states. */
export async function openPrivacy(root, { schema, name, call }) {
  const now = await asked(() => call("privacy", { schema_id: schema }));
  if (now.error) return;
  const states = h("input", { type: "checkbox", checked: now.states });
  const days = h("input", { class: "cs-input is-small", type: "number", min: "1", max: "36500", value: now.retention === null ? "" : String(now.retention), placeholder: "for good" });
  const error = errorLine();
  const save = async () => {
    const retention = days.value.trim() === "" ? null : Number(days.value);
    if (retention !== null && !Number.isInteger(retention)) return error.say("Days are a whole number, or nothing.");
    const reply = await asked(() => call("privacy", { schema_id: schema, change: true, states: states.checked, retention }));
    if (reply.error) return error.say(reply.error.message);
    return opened.close();
  };
  const opened = openDialog(root, {
    title: `What is kept of ${name}`,
    body: [
      h("label", { class: "cs-line" }, states, "Keep the states of its decisions"),
      h("label", { class: "cs-share" }, h("span", {}, h("b", { text: "Days that a state is kept" }), h("small", { class: "cs-dim", text: "Then it is emptied with its pictures; probabilities and labels stay." })), days),
      h("p", { class: "cs-small cs-dim", text: "Without states nobody can label: such decisions count as not answered." }),
      error.el,
    ],
    acts: [button("", "Cancel", { onclick: () => opened.close() }), button("is-primary", "Save", { onclick: save })],
  });
}
