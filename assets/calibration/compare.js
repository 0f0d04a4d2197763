// Two schema versions or scorers on the same labelled cases: what one fixes and breaks, in words, with the cases.

import { h, icon } from "../design/dom.js";
import { errorLine } from "../design/dialog.js";
import { percent } from "../design/words.js";
import { failed, tableOf } from "./fold.js";
import { count, number } from "./words.js";

export class Compare {
  #api;
  #place = null;
  #question = null;
  #others = [];
  #asked = 0;

  constructor(root, el, api) {
    this.#api = api;
    this.other = h("select", { class: "cs-input is-small", "aria-label": "Compare with" });
    this.other.addEventListener("change", () => this.#load());
    this.title = h("h2", { class: "cs-h2", id: "h-compare", text: "Compare" });
    this.body = h("div", { class: "cs-card-body cs-fold-body" });
    this.error = errorLine();
    el.replaceChildren(h("div", { class: "cs-card-head" }, this.title, h("span", { class: "cs-grow" }), h("label", { class: "cs-desk-budget cs-small cs-dim" }, "with", this.other)), this.error.el, this.body);
  }

  show(places, place, question) {
    const moved = place !== this.#place;
    this.#place = place;
    this.#others = places.filter((p) => p !== place && (p.questions === place.questions || (p.schema_id && p.schema_id === place.schema_id)));
    const changed = question !== this.#question;
    this.#question = question;
    if (moved) {
      this.other.replaceChildren(h("option", { value: "", text: this.#others.length ? "choose" : "nothing yet" }), ...this.#others.map((p, i) => h("option", { value: String(i), text: this.#name(p) })));
      this.other.disabled = !this.#others.length;
    }
    if (moved || changed) this.#load();
  }

  #name(other) {
    const version = other.version === null ? "draft" : `v${other.version}`;
    return other.questions === this.#place.questions ? `${other.scorer_name} ${other.scorer.slice(0, 7)}` : `${version}, ${other.scorer_name}`;
  }

  async #load() {
    this.#asked += 1;
    const asked = this.#asked;
    const other = this.#others[Number(this.other.value)];
    if (this.other.value === "" || !other) {
      this.title.textContent = "Compare";
      const none = "When another version or scorer has judged the same labelled cases, this says what it fixes and what it breaks.";
      return this.body.replaceChildren(h("p", { class: "cs-small cs-dim", text: this.#others.length ? "Choose another version or scorer that judged the same cases." : none }));
    }
    const pair = { questions: this.#place.questions, scorer: this.#place.scorer, other_questions: other.questions, other_scorer: other.scorer };
    const reply = await this.#api.compare_places(pair);
    if (asked !== this.#asked) return undefined;
    if (reply.error) return this.body.replaceChildren(...failed(reply));
    const here = reply.comparisons.find((c) => c.question === this.#question);
    this.title.textContent = here ? `${this.#name(other)}: ${here.words}` : `${this.#name(other)} does not ask this question`;
    const rows = reply.comparisons.map((c) => [c.question, count(c.n), count(c.fixes), count(c.breaks), c.adjusted < 0.001 ? "< .001" : number(c.adjusted), c.n ? `${number(c.brier, 4)} (${c.interval.map((x) => number(x, 4)).join(" to ")})` : "–"]);
    const table = tableOf("Comparison by question", [["question", false, "ink cs-mono"], ["cases", true], ["fixes", true], ["breaks", true], ["p", true], ["change of Brier"]], rows);
    const note = h("p", { class: "cs-small cs-dim", text: "p: McNemar, exact, adjusted over the questions (Holm). Change of Brier with its 95 % interval, by resampling pairs; negative is better." });
    this.body.replaceChildren(table, note);
    if (here && here.fixes + here.breaks > 0) await this.#cases(pair, other, asked);
    return undefined;
  }

  async #cases(pair, other, asked) {
    const tabs = h("div", { class: "cs-seg", role: "group", "aria-label": "Show" });
    const list = h("div", { class: "cs-compared" });
    const load = async (show) => {
      for (const tab of tabs.children) tab.setAttribute("aria-pressed", String(tab.value === show));
      const reply = await this.#api.compared_cases({ ...pair, question: this.#question, show });
      if (asked !== this.#asked) return;
      if (reply.error) return this.error.say(reply.error.message);
      const rows = reply.cases.map((c) => [c.state, c.truth, `${c.a[0]} ${percent(c.a[1])}`, `${c.b[0]} ${percent(c.b[1])}`, h("span", { class: `cs-tag ${c.fixes ? "is-right" : "is-wrong"}` }, icon(c.fixes ? "check" : "x"), c.fixes ? "fixes" : "breaks")]);
      const more = reply.n > reply.cases.length ? h("p", { class: "cs-small cs-dim", text: `${count(reply.cases.length)} of ${count(reply.n)} shown` }) : "";
      list.replaceChildren(tableOf("Decisions that changed", [["state", false, "wrap ink"], ["people said"], ["it said"], [`${this.#name(other)} says`], ["change"]], rows), more);
    };
    for (const [value, text] of [["all", "All"], ["fixes", "Fixes"], ["breaks", "Breaks"]]) {
      const tab = h("button", { type: "button", value, text });
      tab.addEventListener("click", () => load(value));
      tabs.append(tab);
    }
    this.body.append(tabs, list);
    await load("all");
  }
}
