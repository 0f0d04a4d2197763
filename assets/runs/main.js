// The Runs page: a run that is being prepared, the runs so far, and one of them. mount(element, server, {root}).
//
// What is looked at stands in the address: upload=<id> while a run is prepared; run, question, show, option, truth and
// below for a run. What is under way is asked for again and again; nothing is lost by a reload.

import { h, icon, setText } from "../design/dom.js";
import { mountOnce } from "../design/server.js";
import { mountTheme } from "../design/theme.js";
import { showAnswers } from "./answers.js";
import { makeApi } from "./api.js";
import { showConfusion } from "./confusion.js";
import { List } from "./list.js";
import { NewRun } from "./new_run.js";
import { openRow } from "./row_view.js";
import { Rows } from "./rows.js";
import { RunHead } from "./run_head.js";
import { FILTERS, active, soFar, status } from "./words.js";

const SOON = 700;
const LATER = 5000;
/** Figures of a run that grows are counted again at most so often. */
const COUNT_EVERY = 2500;
const FILTER = { show: "all", option: null, truth: null, below: 0.6 };

export const mount = (element, server, config) =>
  mountOnce(element, (root) => {
    mountTheme(root.querySelector("[data-theme-switch]"));
    return new Page(root, makeApi(server, config.root), config).start();
  });

class Page {
  constructor(root, api, config) {
    Object.assign(this, { root, api, runs: [], one: null, here: { run: null, upload: null }, choices: { schemas: [], drafts: 0, model: { phase: "loading", message: "" } }, counted: 0 });
    this.find = (name) => root.querySelector(`[data-${name}]`);
    const pictureUrl = (token) => `${config.root}/studio/pictures/${token}`;
    this.list = new List(this.find("list"), { open: (run) => this.go({ run }), href: (run) => `${location.pathname}?${new URLSearchParams({ run })}` });
    this.fresh = new NewRun(root, { api, go: (query, way, load) => this.go(query, way, load), started: (run) => this.#started(run), choices: () => this.choices });
    this.head = new RunHead(this.find("run-head"), { steer: (wish) => this.steer(wish) });
    this.rows = new Rows(this.find("rows"), { api, pictureUrl, change: (change) => this.filter(change), open: (row) => openRow(root, { api, pictureUrl, questions: this.one.questions }, this.one.run, row) });
    this.find("new").addEventListener("click", () => this.go({}));
    window.addEventListener("popstate", () => this.#load());
    document.addEventListener("visibilitychange", () => !document.hidden && this.#tick());
  }

  async start() {
    await Promise.all([this.#choose(), this.#list()]);
    await this.#load();
    this.#tick();
  }

  /** Goes to {upload}, {run, ...filter} or {}. */
  go(query, way = "pushState", load = true) {
    const address = new URLSearchParams(query).toString();
    // With its path: Gradio's page has a base, which a bare query would be laid on.
    history[way](null, "", `${location.pathname}${address ? `?${address}` : ""}`);
    if (load) return this.#load();
    this.here = { run: null, upload: null };
    return this.fresh.draw();
  }

  filter(change) {
    const filter = { ...this.filtered, ...change };
    this.go({ run: this.here.run, question: this.question, ...Object.fromEntries(Object.entries(filter).filter(([name, value]) => value !== FILTER[name])) });
  }

  async steer(wish) {
    const reply = await this.api.steer({ run: this.here.run, wish });
    this.#alert(reply.error?.message);
    if (!reply.error) this.one = { ...this.one, run: reply.run };
    await this.#tick();
  }

  async #started(run) {
    await this.#list();
    await this.go({ run });
  }

  async #load() {
    const query = new URLSearchParams(location.search);
    this.here = { run: query.get("run"), upload: query.get("upload") };
    this.#alert("");
    this.list.show(this.runs, this.here.run);
    this.find("new").hidden = !this.here.run;
    this.find("new-run").hidden = Boolean(this.here.run);
    if (!this.here.run) {
      this.find("run").hidden = true;
      this.one = null;
      return this.fresh.open(this.here.upload);
    }
    const show = query.get("show");
    this.filtered = {
      show: FILTERS.some(([value]) => value === show) ? show : "all", option: query.get("option"), truth: query.get("truth"),
      below: Number(query.get("below")) > 0 && Number(query.get("below")) <= 1 ? Number(query.get("below")) : FILTER.below,
    };
    this.question = query.get("question");
    if (this.one?.run.id !== this.here.run) await this.#count();
    if (!this.one) return undefined;
    return this.#show();
  }

  /** Reads the run that is looked at anew. */
  async #count() {
    const wanted = this.here.run;
    const reply = await this.api.run({ run: wanted });
    if (wanted !== this.here.run) return false;
    this.counted = performance.now();
    this.find("run").hidden = Boolean(reply.error);
    this.#alert(reply.error?.message);
    this.one = reply.error ? null : reply;
    this.figured = this.one && standing(this.one.run);
    return Boolean(this.one);
  }

  async #show() {
    const { run, questions } = this.one;
    const asked = questions.find((q) => q.id === this.question) ?? questions.find((q) => run.truth.includes(q.id)) ?? questions[0];
    this.question = asked.id;
    if (!asked.options.some(([id]) => id === this.filtered.option)) this.filtered.option = null;
    this.#figures(asked);
    await this.rows.show(run, asked, this.filtered);
    this.root.dataset.shown = `${run.id} ${asked.id}`;
  }

  #figures(asked = this.one.questions.find((q) => q.id === this.question)) {
    const { run, confusion } = this.one;
    this.head.show(run, this.#scorer(run));
    const where = new URLSearchParams({ questions: run.questions, scorer: run.scorer, question: asked.id });
    const host = { question: (question) => this.go({ run: run.id, question }), option: (option) => this.filter({ option, truth: null, show: "all" }) };
    showAnswers(this.find("answers"), this.one, asked.id, host, { label: `label?${where}`, calibration: `calibration?${where}` });
    showConfusion(this.find("confusion"), confusion[asked.id], asked, (option, truth) => this.filter({ option, truth, show: "all" }));
  }

  #scorer(run) {
    const { model } = this.choices;
    return model.fingerprint === run.scorer ? model.name : `another model than ${model.name ?? "the one that is loading"} (${run.scorer.slice(0, 7)})`;
  }

  async #choose() {
    const reply = await this.api.choices();
    if (reply.error) return this.#alert(reply.error.message);
    const before = JSON.stringify(this.choices);
    this.choices = reply;
    const { model } = reply;
    this.find("model").hidden = false;
    setText(this.find("model-name"), model.name ?? (model.phase === "loading" ? "Model is loading" : "No model"));
    setText(this.find("model-id"), model.fingerprint?.slice(0, 7) ?? "");
    this.find("model-dot").classList.toggle("is-idle", model.phase !== "ready");
    if (before !== JSON.stringify(reply) && this.mounted) this.fresh.refresh();
    this.mounted = true;
    return undefined;
  }

  async #list() {
    const reply = await this.api.runs();
    if (reply.error || this.lost) this.#alert(reply.error?.message);
    // It may come back, as after a restart; the page asks on.
    this.lost = Boolean(reply.error);
    if (this.lost) return;
    this.runs = reply.runs;
    this.list.show(this.runs, this.here.run);
    setText(this.find("list-note"), this.runs.length ? "" : "No run yet. A run judges every row of a file by one schema version, and keeps what it finds.");
  }

  /** Looks what is under way, and looks again: soon while something is. */
  async #tick() {
    clearTimeout(this.timer);
    this.ticking = (this.ticking ?? 0) + 1;
    const turn = this.ticking;
    if (!document.hidden) {
      await this.#list();
      if (this.choices.model.phase !== "ready" || !this.choices.schemas.length) await this.#choose();
      if (this.here.run && this.one) await this.#grow();
    }
    if (turn !== this.ticking) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#tick(), this.runs.some(active) || this.choices.model.phase === "loading" ? SOON : LATER);
  }

  async #grow() {
    const now = this.runs.find((run) => run.id === this.here.run);
    if (!now) return;
    const was = this.one.run;
    if (JSON.stringify(now) !== JSON.stringify(was)) {
      this.one = { ...this.one, run: now };
      this.head.show(now, this.#scorer(now));
      if (was.status !== now.status) setText(this.find("live"), `${now.title}: ${status(now)}, ${soFar(now)}`);
    }
    if (this.figured === standing(now) || (active(now) && performance.now() - this.counted < COUNT_EVERY)) return;
    if (!(await this.#count())) return;
    this.#figures();
    await this.rows.grown(this.one.run);
  }

  #alert(text) {
    const alert = this.find("alert");
    alert.hidden = !text;
    alert.replaceChildren(...(text ? [icon("alert"), h("span", { text })] : []));
  }
}

/** What the figures of a run depend on. */
const standing = (run) => `${run.id} ${run.done} ${run.status}`;
