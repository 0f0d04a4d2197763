// A file that comes in: what it was recognised as, what becomes of it, and how far it is. The upload stands in the
// address, so that a reload finds it again.

import { button, h, icon, setText } from "../design/dom.js";
import { named, send } from "../runs/upload.js";
import { count, plural } from "./words.js";

const PAUSE = 300;
const FORMATS = [["", "as it looks"], ["clef-finetune", "clef-finetune"], ["nemo", "NeMo AutoModel"], ["mlx-decision", "mlx-decision"], ["dmtune", "dmtune"], ["sysone", "sysone"], ["sysone-soft", "sysone, soft"], ["laya-finetune", "laya-finetune"], ["jev-eval", "jev-eval"], ["hf-parquet", "Hugging Face Parquet"], ["jsonl", "plain JSONL"], ["csv", "plain CSV"]];
const MANY = 12;

export class Bring {
  /** host: {api, go(query), live(text)} */
  constructor(el, host) {
    Object.assign(this, { el, host, upload: null, turn: 0 });
  }

  async open(upload) {
    if (upload !== this.upload) Object.assign(this, { upload, how: {}, name: {}, asked: null, described: {} });
    this.turn += 1;
    if (!upload) return this.#drop("");
    const reply = await this.host.api.brought({ upload });
    if (reply.state === "running" || reply.state === "working") return this.#follow(this.turn);
    return this.#recognise();
  }

  #drop(problem) {
    const file = h("input", { type: "file", hidden: true, "aria-label": "File", "data-file": "", onchange: () => file.files.length && this.#send(file.files[0]) });
    const drop = h("div", { class: "cs-runs-drop", "data-drop": "" }, icon("in"), h("b", { text: "Drop labelled data here" }), h("p", { class: "cs-small", text: "A zip of any format that is exported here (with its pictures), one of its files, or a table of texts and labels: CSV, TSV, JSONL, Parquet, Excel" }), h("div", { class: "cs-line" }, button("is-primary", "Choose a file", { onclick: () => file.click() })), file);
    drop.addEventListener("dragover", (event) => {
      event.preventDefault();
      drop.classList.add("is-over");
    });
    drop.addEventListener("dragleave", () => drop.classList.remove("is-over"));
    drop.addEventListener("drop", (event) => {
      event.preventDefault();
      drop.classList.remove("is-over");
      if (event.dataTransfer.files.length) this.#send(event.dataTransfer.files[0]);
    });
    this.#card("Import", h("div", { class: "cs-card-body cs-runs-stack" }, drop, problem ? h("p", { class: "cs-error", role: "alert", text: problem }) : null));
  }

  async #send(file) {
    this.turn += 1;
    const bar = h("i");
    const text = h("p", { class: "cs-small", role: "status" });
    this.#card("Import", h("div", { class: "cs-card-body cs-runs-stack" }, text, h("span", { class: "cs-progress" }, bar)));
    const upload = crypto.randomUUID();
    const refused = await send(named([file]), { url: this.host.api.url(`/studio/runs/uploads/${upload}`), told: (sent, all) => {
      bar.style.setProperty("--p", String(all ? sent / all : 1));
      setText(text, sent < all ? `Sending ${file.name}` : `Reading ${file.name}`);
    } });
    if (refused) return this.#drop(refused);
    return this.host.go({ import: upload });
  }

  async #recognise() {
    this.turn += 1;
    const { turn, upload } = this;
    const status = h("p", { class: "cs-small", role: "status", text: "Looking what it is" });
    this.#card("Import", h("div", { class: "cs-card-body cs-line" }, h("span", { class: "cs-spin", "aria-hidden": "true" }), status));
    let reply = await this.host.api.recognise({ upload, ...this.how });
    const { token } = reply;
    while (!reply.error && !reply.finished && turn === this.turn) {
      if (reply.rows) setText(status, `${plural(reply.rows, "row")} read`);
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
      reply = await this.host.api.recognised({ token });
    }
    if (turn !== this.turn) return;
    this.#found(reply.error ? null : reply.found, reply.error ? (reply.error.message ?? reply.error) : reply.found.problem);
  }

  #how(found) {
    const pick = (title, options, value, change) => {
      const select = h("select", { class: "cs-input", onchange: () => {
        change(select.value);
        this.#recognise();
      } }, ...options.map(([id, name]) => h("option", { value: id, selected: id === value }, name)));
      return h("label", { class: "cs-field" }, h("span", { class: "cs-label", text: title }), select);
    };
    const out = [pick("Read as", FORMATS, this.how.format ?? "", (format) => (this.how = format ? { format } : {}))];
    if (found && !found.format) {
      const columns = found.columns.map((name) => [name, name]);
      const of = (name, now) => (now ? columns : [["", "choose"], ...columns]);
      out.push(pick("Text", of("text", found.text), found.text ?? this.how.text ?? "", (text) => (this.how = { ...this.#columns(found), text })));
      out.push(pick("Label", of("label", found.label), found.label ?? this.how.label ?? "", (label) => (this.how = { ...this.#columns(found), label })));
    }
    return h("div", { class: "cs-sets-trio" }, ...out);
  }

  #columns(found) {
    return Object.fromEntries(Object.entries({ text: found.text ?? this.how.text, label: found.label ?? this.how.label }).filter(([, column]) => column));
  }

  #found(found, problem) {
    const rows = found?.parts.reduce((sum, part) => sum + part.rows, 0) ?? 0;
    const labels = found?.parts.reduce((sum, part) => sum + part.labels, 0) ?? 0;
    this.go = button("is-primary", `Import ${plural(rows, "row")}`, { disabled: !labels, "data-go": "", onclick: () => this.#start() }, icon("in"));
    const body = h("div", { class: "cs-card-body cs-runs-stack" }, this.#how(found));
    if (problem) body.append(h("p", { class: "cs-error", role: "alert", text: problem }));
    if (found && !problem) {
      const parts = Object.entries(found.splits).map(([split, n]) => `${count(n)} ${split}`).join(", ");
      body.append(h("p", { "data-recognised": "" }, `Recognised as `, h("b", { text: found.title }), `: ${plural(rows, "row")} with ${plural(labels, "label")}${parts ? ` (${parts})` : ""}.`));
      if (found.refused) body.append(this.#refused(found));
    }
    this.said = h("p", { class: "cs-error", role: "alert", hidden: true });
    const cards = [this.#section("Import", button("is-small is-ghost", "Another file", { onclick: () => this.host.go({ import: "" }) }), body)];
    if (found && !problem) {
      found.parts.forEach((part, i) => cards.push(this.#part(part, i, found)));
      cards.push(h("div", { class: "cs-card cs-sets-go" }, this.go, h("span", { class: "cs-small cs-dim cs-grow", text: "Every row is judged by the model that is loaded, and its label kept as the true answer." }), this.said));
    }
    this.el.replaceChildren(...cards);
    this.el.dataset.found = found && !problem ? this.upload : "";
  }

  #refused(found) {
    const rows = found.bad.map(([file, line, why]) => h("tr", {}, h("td", { class: "cs-nowrap", text: `${file}:${line}` }), h("td", { class: "wrap", text: why })));
    return h("details", { class: "cs-fold cs-runs-fold", "data-refused": "" }, h("summary", { class: "cs-small", text: `${plural(found.refused, "row is", "rows are")} refused and kept aside` }),
      h("div", { class: "cs-scroll cs-runs-problems", tabindex: "0", role: "region", "aria-label": "Refused rows" }, h("table", { class: "cs-table" }, h("thead", {}, h("tr", {}, h("th", { scope: "col", text: "where" }), h("th", { scope: "col", text: "why" }))), h("tbody", {}, ...rows))));
  }

  #part(part, i, found) {
    const body = h("div", { class: "cs-card-body cs-runs-stack" });
    const long = found.format === null;
    if (part.schema && !long) body.append(h("p", { class: "cs-small" }, "The same questions as ", h("a", { href: `./?${new URLSearchParams({ schema: part.schema_id })}`, text: `${part.schema} v${part.version}` }), ": rows come to it."));
    else body.append(this.#text("Name of the new schema", this.name[i] ?? part.name, (text) => (this.name[i] = text), { maxlength: "200" }));
    const notes = [part.unlabelled && `${plural(part.unlabelled, "row has", "rows have")} no label; ${part.unlabelled === 1 ? "it comes" : "they come"} along unlabelled.`, part.soft && `${plural(part.soft, "shared (soft) label")} cannot be kept: nobody gave ${part.soft === 1 ? "it" : "them"} as such.`, part.pictures && `${plural(part.pictures, "row has", "rows have")} pictures.`].filter(Boolean);
    for (const text of notes) body.append(h("p", { class: "cs-small cs-dim", text }));
    for (const question of part.questions) body.append(this.#question(question, new Map(part.counts[question.id] ?? []), long));
    const title = found.parts.length > 1 ? `Schema ${i + 1}` : "Schema";
    return this.#section(`${title}: ${plural(part.rows, "row")}`, null, body);
  }

  #question(question, counts, long) {
    const options = question.type === "noul" ? [["true", question.criteria?.true], ["false", question.criteria?.false]] : question.options ?? question.criteria.map((level, i) => [String(i), level]);
    const rows = options.map(([id, about]) => h("tr", {},
      h("td", { class: "ink wrap", text: id }),
      h("td", { class: "wrap" }, long ? h("input", { class: "cs-input is-small", value: this.described[id] ?? "", placeholder: "what it means", "aria-label": `What ${id} means`, oninput: (event) => (this.described[id] = event.target.value) }) : words(about)),
      h("td", { class: "num", text: count(counts.get(id) ?? 0) })));
    const shown = rows.length > MANY ? h("div", { class: "cs-scroll cs-runs-problems", tabindex: "0", role: "region", "aria-label": `Options of ${question.id}` }) : h("div", { class: "cs-scroll", tabindex: "0", role: "region", "aria-label": `Options of ${question.id}` });
    shown.append(h("table", { class: "cs-table" }, h("thead", {}, h("tr", {}, h("th", { scope: "col", text: question.type === "score" ? "level" : "option" }), h("th", { scope: "col", text: "description" }), h("th", { scope: "col", class: "num", text: "rows" }))), h("tbody", {}, ...rows)));
    const head = long ? this.#text("Question", this.asked ?? words(question.instructions), (text) => (this.asked = text), { maxlength: "2000" }) : h("p", {}, h("span", { class: "cs-mono", text: question.id }), " ", h("span", { class: "cs-chip cs-type", text: question.type }), question.instructions === undefined || question.instructions === null ? null : ` ${words(question.instructions)}`);
    return h("div", { class: "cs-runs-stack", "data-question": question.id }, head, shown);
  }

  #text(title, value, changed, props) {
    const input = h("input", { class: "cs-input", value, ...props, oninput: () => changed(input.value) });
    return h("label", { class: "cs-field" }, h("span", { class: "cs-label", text: title }), input);
  }

  async #start() {
    this.go.disabled = true;
    const names = Object.keys(this.name).length ? Array.from({ length: Math.max(...Object.keys(this.name).map(Number)) + 1 }, (_, i) => this.name[i] ?? "") : [];
    const reply = await this.host.api.bring_in({ upload: this.upload, ...this.how, names, asked: this.asked ?? "", described: this.described });
    if (reply.error) {
      this.go.disabled = false;
      this.said.hidden = false;
      return setText(this.said, reply.error.message ?? reply.error);
    }
    this.turn += 1;
    return this.#follow(this.turn);
  }

  /** Tells how far an import is until it is done. */
  async #follow(turn) {
    let reply;
    do {
      reply = await this.host.api.brought({ upload: this.upload });
      if (turn !== this.turn || this.el.hidden) return;
      if (reply.state === "failed" || !reply.state) return this.#found(null, reply.error.message ?? reply.error);
      this.#progress(reply);
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    } while (reply.state === "working" || reply.runs?.some((run) => ["waiting", "running"].includes(run.status)));
    this.host.live("The import has ended");
  }

  #progress(reply) {
    if (reply.state === "working") return this.#card("Import", h("div", { class: "cs-card-body cs-line" }, h("span", { class: "cs-spin", "aria-hidden": "true" }), h("p", { class: "cs-small", role: "status", text: reply.rows ? `${plural(reply.rows, "row")} kept` : "Keeping the rows" })));
    const rows = reply.runs.map((run) => {
      const ended = run.status === "done";
      const bar = h("i");
      bar.style.setProperty("--p", String(run.total ? run.done / run.total : 0));
      const text = ended ? `${plural(run.decided, "row")} judged, ${plural(run.labels, "label")} kept` : `${count(run.done)} of ${plural(run.total, "row")} judged (${run.status})`;
      return h("li", { class: "cs-runs-stack", "data-brought": run.status },
        h("p", {}, ended ? h("span", { class: "cs-tag is-right" }, icon("check"), "") : null, ` ${text}${run.bad ? `, ${plural(run.bad, "row")} could not be judged` : ""}.${run.message ? ` ${run.message}` : ""}`),
        ended ? null : h("span", { class: "cs-progress", "aria-hidden": "true" }, bar),
        h("div", { class: "cs-line" }, h("a", { class: "cs-btn is-small", href: `./?${new URLSearchParams({ schema: run.schema_id })}` }, "The schema"), h("a", { class: "cs-btn is-small", href: `runs?${new URLSearchParams({ run: run.run })}` }, "Its answers"), h("a", { class: "cs-btn is-small", href: "datasets" }, "New dataset")));
    });
    return this.#card("Import", h("ul", { class: "cs-card-body cs-runs-stack" }, ...rows), button("is-small is-ghost", "Another file", { onclick: () => this.host.go({ import: "" }) }));
  }

  #section(title, act, body) {
    return h("section", { class: "cs-card", "aria-label": title }, h("div", { class: "cs-card-head" }, h("h2", { class: "cs-h2", text: title }), h("span", { class: "cs-grow" }), act), body);
  }

  #card(title, body, act = null) {
    this.el.dataset.found = "";
    this.el.replaceChildren(this.#section(title, act, body));
  }
}

const words = (value) => (value === null || value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value));
