// The Calibration page: which schema version, scorer, question, view and labels are looked at, and who shows what.
//
// mount(element, server, config): `element` holds the static template; `server` are the page's functions; config:
// {root, plotly}. What is looked at stands in the address: questions, scorer, question, view, labels; or, for links from
// elsewhere, schema and version.

import { icon, setText, h } from "../design/dom.js";
import { menuButton } from "../design/menu.js";
import { mountOnce } from "../design/server.js";
import { mountTheme } from "../design/theme.js";
import { makeApi } from "./api.js";
import { showCanary } from "./canary.js";
import { openCases } from "./cases.js";
import { Compare } from "./compare.js";
import { Desk } from "./desk.js";
import { missingOptions, overTime, slices } from "./findings.js";
import { Fold } from "./fold.js";
import { biased, showNumbers } from "./numbers.js";
import { Plot } from "./plot.js";
import { Questions } from "./questions.js";
import { Recalibrate } from "./recalibrate.js";
import { showTable } from "./table.js";
import { csv, plural } from "./words.js";

export const mount = (element, server, config) =>
  mountOnce(element, (root) => {
    mountTheme(root.querySelector("[data-theme-switch]"));
    return new Page(root, makeApi(server, config.root), config).start();
  });

const LABELS = ["sampled", "audit", "claimed"];

class Page {
  constructor(root, api, config) {
    Object.assign(this, { root, api });
    this.find = (name) => root.querySelector(`[data-${name}]`);
    this.places = [];
    this.place = null;
    this.list = [];
    this.question = null;
    this.view = "top";
    this.labels = "sampled";
    this.review = null;
    this.asked = 0;
    this.questions = new Questions(this.find("questions"), api, (id) => this.go({ question: id, view: "top" }));
    this.plot = new Plot(this.find("plot"), api.url(`/studio/calibration/plotly-${config.plotly}.js`), { onRow: (i) => this.openRow(i), onRange: (low, high) => this.openRange(low, high) });
    this.desk = new Desk(root, this.find("desk"), api);
    this.compare = new Compare(this.find("compare"), api, () => this.refresh());
    this.recalibrate = new Recalibrate(this.find("recalibrate"), api);
    this.folds = [
      this.recalibrate.fold,
      new Fold(this.find("over-time"), "Over time", (where) => overTime(api, where)),
      new Fold(this.find("slices"), "Where errors concentrate", (where) => slices(api, where)),
      new Fold(this.find("missing-options"), "Missing options", (where) => missingOptions(api, where)),
    ];
    menuButton(this.find("place"), () => this.#placeItems());
    menuButton(this.find("scorer"), () => this.#scorerItems());
    this.find("view").addEventListener("change", (event) => this.go({ view: event.target.value }));
    for (const tab of this.find("labels").children) tab.addEventListener("click", () => this.go({ labels: tab.value }));
    for (const save of root.querySelectorAll("[data-save]")) save.addEventListener("click", () => this.save(save.dataset.save));
    window.addEventListener("popstate", () => this.#read() && this.load());
  }

  async start() {
    this.#busy("Reading");
    showCanary(this.find("canary"), this.api.url("/studio/calibration/canary.json"));
    const reply = await this.api.places();
    this.#busy("");
    if (reply.error) return this.#alert(reply.error.message);
    this.places = reply.places;
    this.find("empty").hidden = this.places.length > 0;
    this.find("choose").hidden = this.find("room").hidden = !this.places.length;
    if (!this.places.length) return undefined;
    this.#read();
    return this.load();
  }

  /** Reads anew what there is to look at, after decisions were made. */
  async refresh() {
    const reply = await this.api.places();
    if (reply.error) return;
    const same = (p) => p.questions === this.place.questions && p.scorer === this.place.scorer;
    this.places = reply.places;
    const found = this.places.find(same);
    if (this.listed === this.place) this.listed = found;
    this.place = found;
  }

  /** Changes what is looked at; what is not named stays. */
  go(change) {
    Object.assign(this, change);
    const { questions, scorer } = this.place;
    const query = new URLSearchParams({ questions, scorer, question: this.question ?? "" });
    if (this.view !== "top") query.set("view", this.view);
    if (this.labels !== "sampled") query.set("labels", this.labels);
    // With its path: Gradio's page has a base, which a bare query would be laid on.
    history.pushState(null, "", `${location.pathname}?${query}`);
    return this.load();
  }

  /** Reads the address. */
  #read() {
    const query = new URLSearchParams(location.search);
    const wanted = (p) =>
      query.has("questions") ? p.questions === query.get("questions") : query.has("schema") ? p.schema_id === query.get("schema") && (!query.has("version") || String(p.version) === query.get("version")) : true;
    const fits = this.places.filter(wanted);
    this.place = fits.find((p) => p.scorer === query.get("scorer")) ?? fits[0] ?? this.places[0];
    this.question = query.get("question") || null;
    this.view = query.get("view") || "top";
    this.labels = LABELS.includes(query.get("labels")) ? query.get("labels") : "sampled";
    return true;
  }

  async load() {
    this.asked += 1;
    const asked = this.asked;
    this.#busy("Reading labels");
    this.#names();
    if (this.listed !== this.place) {
      const reply = await this.api.questions({ questions: this.place.questions, scorer: this.place.scorer });
      if (asked !== this.asked) return;
      if (reply.error) return this.#alert(reply.error.message);
      this.list = reply.questions;
    }
    if (!this.list.some((q) => q.id === this.question)) this.question = this.list[0].id;
    const where = this.#where();
    const [review, desk] = await Promise.all([this.api.review({ ...where, view: this.view, labels: this.labels }), this.api.thresholds(where)]);
    if (asked !== this.asked) return;
    this.#busy("");
    const failed = review.error ?? desk.error;
    this.#alert(failed?.message);
    if (failed) return;
    if (this.listed !== this.place) this.questions.show(this.place, this.list, this.question, (id) => this.#href(id));
    else this.questions.mark(this.question);
    this.listed = this.place;
    this.#show(review);
    for (const fold of this.folds) fold.show(where);
    this.compare.show(this.places, this.place, this.question);
    const { questions, scorer } = this.place;
    this.find("report").href = this.api.url(`/studio/calibration/report.html?${new URLSearchParams({ questions, scorer })}`);
    await Promise.all([this.plot.show(review), this.desk.show(where, desk)]);
    this.root.dataset.shown = `${this.question} ${review.view} ${this.labels}`;
  }

  #show(review) {
    this.review = review;
    this.view = review.view;
    showNumbers(this.find("numbers"), review);
    setText(this.find("plot-title"), review.title);
    setText(this.find("live"), `${this.question}: ${review.title}`);
    const select = this.find("view");
    select.replaceChildren(...review.views.map((v) => h("option", { value: v.id, text: v.name })));
    select.value = review.view;
    for (const tab of this.find("labels").children) tab.setAttribute("aria-pressed", String(tab.value === this.labels));
    this.find("biased").hidden = this.labels !== "claimed" || review.n === 0;
    setText(this.find("biased-text"), this.labels === "claimed" ? biased(review) : "");
    showTable(this.find("table"), review, (i) => this.openRow(i));
  }

  openRow(i) {
    const row = this.review.rows[i];
    this.openRange(row.low, row.high, i === this.review.rows.length - 1);
  }

  openRange(low, high, last = high >= 1) {
    openCases(this.root, this.api, { ...this.#where(), view: this.view, labels: this.labels }, { low, high, last });
  }

  async save(format) {
    const name = `reliability-${this.question}-${this.view.replaceAll(":", "-")}`;
    if (format !== "csv") return this.plot.save(format, name);
    const link = h("a", { href: URL.createObjectURL(new Blob([csv(this.review)], { type: "text/csv" })), download: `${name}.csv` });
    link.click();
    return URL.revokeObjectURL(link.href);
  }

  #where() {
    return { questions: this.place.questions, scorer: this.place.scorer, question: this.question };
  }

  #href(question) {
    return `${location.pathname}?${new URLSearchParams({ questions: this.place.questions, scorer: this.place.scorer, question })}`;
  }

  #names() {
    setText(this.find("place-name"), placeName(this.place));
    setText(this.find("scorer-name"), this.place.scorer_name);
    setText(this.find("scorer-id"), this.place.scorer.slice(0, 7));
  }

  #placeItems() {
    const seen = new Map();
    for (const place of this.places) if (!seen.has(place.questions)) seen.set(place.questions, place);
    return [...seen.values()].map((place) => ({
      label: placeName(place), about: `${plural(place.decisions, "decision")}`, checked: place.questions === this.place.questions,
      run: () => this.go({ place, question: this.question, view: "top" }),
    }));
  }

  #scorerItems() {
    return this.places.filter((p) => p.questions === this.place.questions).map((place) => ({
      label: place.scorer_name, about: `${place.scorer.slice(0, 7)}, ${plural(place.decisions, "decision")}`, checked: place.scorer === this.place.scorer,
      run: () => this.go({ place }),
    }));
  }

  #busy(text) {
    setText(this.find("status"), text);
  }

  #alert(text) {
    const alert = this.find("alert");
    this.#busy("");
    alert.hidden = !text;
    alert.replaceChildren(...(text ? [icon("alert"), h("span", { text })] : []));
  }
}

/** "Support triage v7", "Support triage, draft", "Questions 4f2a91c" */
export function placeName(place) {
  const short = place.questions.slice(0, 7);
  if (!place.schema) return `Questions ${short}`;
  return place.version === null ? `${place.schema}, draft ${short}` : `${place.schema} v${place.version}`;
}
