// Two schema versions or scorers on the same labelled cases: what one fixes and breaks, in words, with the cases.

import { h, icon } from "../design/dom.js";
import { errorLine } from "../design/dialog.js";
import { percent } from "../design/words.js";
import { failed, tableOf } from "./fold.js";
import { Replay } from "./replay.js";
import { count, number } from "./words.js";

const keyOf = (place) => `${place.questions} ${place.scorer}`;

export class Compare {
  #api;
  #place = null;
  #question = null;
  #others = [];
  #asked = 0;

  /** fresh(): decisions were made of a version that the page may not know yet. */
  constructor(el, api, fresh) {
    this.#api = api;
    this.other = h("select", { class: "cs-input is-small", "aria-label": "Compare with" });
    this.other.addEventListener("change", () => this.#load());
    this.title = h("h2", { class: "cs-h2", id: "h-compare", text: "Compare" });
    this.body = h("div", { class: "cs-card-body cs-fold-body" });
    this.error = errorLine();
    this.replay = new Replay(api, () => {
      const other = this.#others.find((p) => keyOf(p) === this.other.value);
      if (other) this.other.selectedOptions[0].textContent = this.#name(other);
      this.#load();
      fresh();
    });
    el.replaceChildren(h("div", { class: "cs-card-head" }, this.title, h("span", { class: "cs-grow" }), h("label", { class: "cs-desk-budget cs-small cs-dim" }, "with", this.other)), this.error.el, this.replay.el, this.body);
  }

  async show(places, place, question) {
    const moved = this.#place === null || keyOf(place) !== keyOf(this.#place);
    const asked = question !== this.#question;
    this.#place = place;
    this.#question = question;
    if (moved) await this.#offer(places);
    if (this.#place === place && (moved || asked)) await this.#load();
  }

  /** Lists what there is to compare with: what judged cases already, and versions that the loaded model could judge. */
  async #offer(places) {
    const place = this.#place;
    const judged = places.filter((p) => keyOf(p) !== keyOf(place) && (p.questions === place.questions || (p.schema_id && p.schema_id === place.schema_id)));
    const reply = place.schema_id ? await this.#api.replay_targets({ questions: place.questions, scorer: place.scorer, schema_id: place.schema_id }) : { targets: [] };
    if (place !== this.#place) return;
    const targets = reply.targets ?? [];
    const found = new Map(judged.map((p) => [keyOf(p), { ...p, replay: null }]));
    for (const t of targets) found.set(keyOf(t), { ...(found.get(keyOf(t)) ?? { ...t, fresh: true }), replay: t.version });
    this.#others = [...found.values()];
    const options = this.#others.map((p) => h("option", { value: keyOf(p), text: `${this.#name(p)}${p.fresh ? ", not judged yet" : ""}` }));
    this.other.replaceChildren(h("option", { value: "", text: options.length ? "choose" : "nothing yet" }), ...options);
    this.other.disabled = !options.length;
  }

  #name(other) {
    const version = other.version === null ? "draft" : `v${other.version}`;
    return other.questions === this.#place.questions ? `${other.scorer_name} ${other.scorer.slice(0, 7)}` : `${version}, ${other.scorer_name}`;
  }

  async #load() {
    this.#asked += 1;
    const asked = this.#asked;
    const other = this.#others.find((p) => keyOf(p) === this.other.value);
    if (!other) {
      this.title.textContent = "Compare";
      this.replay.show(null);
      const none = "When another version or scorer has judged the same labelled cases, this says what it fixes and what it breaks. Publish a version on the Design page, and replay it here.";
      return this.body.replaceChildren(h("p", { class: "cs-small cs-dim", text: this.#others.length ? "Choose another version or scorer. What has not judged the labelled cases yet can be replayed over them." : none }));
    }
    const pair = { questions: this.#place.questions, scorer: this.#place.scorer, other_questions: other.questions, other_scorer: other.scorer };
    const replayed = this.replay.show(other.replay === null ? null : { ...pair, schema_id: this.#place.schema_id, version: other.replay }, this.#name(other));
    const reply = await this.#api.compare_places(pair);
    await replayed;
    if (asked !== this.#asked) return undefined;
    if (reply.error) return this.body.replaceChildren(...failed(reply));
    if (reply.comparisons.length && reply.comparisons.every((c) => c.n === 0)) {
      this.title.textContent = `${this.#name(other)} has judged none of the labelled cases yet`;
      return this.body.replaceChildren(...(this.replay.el.hidden ? [h("p", { class: "cs-small cs-dim", text: "Cases are the same where their state and pictures are. Load the model in question to replay a version over them." })] : []));
    }
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
