// The threshold desk: from which probability on may it act alone, under which is it refused, who is asked between.

import { button, h, icon, setAttr, setText } from "../design/dom.js";
import { errorLine, toast, when } from "../design/dialog.js";
import { deskPlot, riskPlot } from "./desk_plots.js";
import { count, inHundred, number, percents, plural } from "./words.js";
import { percentOf, standing, zones } from "./zones.js";

const NEVER = 101;
const BUDGET = 0.05;
/** Nobody labels more than this to learn one threshold. */
const MANY = 5000;

export class Desk {
  #el;
  #api;
  #root;
  #where = null;
  #desk = null;
  #act = NEVER;
  #refuse = 0;
  #costs = null;

  constructor(root, el, api) {
    this.#root = root;
    this.#el = el;
    this.#api = api;
    this.#build();
  }

  /** Shows the desk of a question: where = {questions, scorer, question}; reply = what `thresholds` said. */
  async show(where, desk) {
    const moved = JSON.stringify(where) !== JSON.stringify(this.#where);
    this.#where = where;
    this.#desk = desk;
    if (moved) {
      this.#costs = null;
      this.money.open = false;
      this.#choose();
    }
    this.#paint();
    await this.#policies();
  }

  #build() {
    const budgets = [0.01, 0.02, 0.05, 0.1, 0.2];
    this.budget = h("select", { class: "cs-input is-small", "aria-label": "Wrong at most" }, ...budgets.map((b) => h("option", { value: String(b), text: inHundred(b) })));
    this.budget.value = String(BUDGET);
    this.budget.addEventListener("change", () => {
      this.#choose();
      this.#paint();
    });
    this.picture = h("div", { class: "cs-desk-picture" });
    this.refuse = h("input", { type: "range", min: "0", max: "100", step: "1", "aria-label": "Refuse below" });
    this.act = h("input", { type: "range", min: "1", max: String(NEVER), step: "1", "aria-label": "Act from" });
    this.refuse.addEventListener("input", () => this.#slide("refuse", Number(this.refuse.value)));
    this.act.addEventListener("input", () => this.#slide("act", Number(this.act.value)));
    const zone = (kind, name, sign) => {
      const fig = h("span", { class: "cs-desk-fig" });
      const note = h("span", { class: "cs-small cs-dim" });
      this[`${kind}Fig`] = fig;
      this[`${kind}Note`] = note;
      return h("div", { class: `cs-desk-zone is-${kind}` }, h("b", {}, icon(sign), name), fig, note);
    };
    const zonesBox = h("div", { class: "cs-desk-zones", role: "group", "aria-label": "What the thresholds do" }, zone("refuse", "Refuse", "refuse"), zone("ask", "Ask a human", "person"), zone("act", "Act", "act"));
    this.pick = h("div", { class: "cs-pick", role: "radiogroup", "aria-label": "Which threshold" });
    this.standing = h("p", { class: "cs-small", role: "status" });
    this.risk = h("div", { class: "cs-desk-risk" });
    this.save = button("is-primary", "Save policy", { onclick: () => this.#save() });
    this.error = errorLine();
    this.kept = h("div", { class: "cs-desk-kept" });
    const head = h("div", { class: "cs-card-head" }, h("h2", { class: "cs-h2", id: "h-desk", text: "When may it act alone?" }), h("span", { class: "cs-grow" }), h("label", { class: "cs-desk-budget cs-small cs-dim" }, "wrong at most", this.budget));
    const sliders = h("div", { class: "cs-desk-sliders" }, h("label", { class: "cs-small" }, h("span", { text: "Refuse below" }), this.refuse, (this.refuseAt = h("output"))), h("label", { class: "cs-small" }, h("span", { text: "Act from" }), this.act, (this.actAt = h("output"))));
    const body = h("div", { class: "cs-card-body cs-desk-body" }, this.pick, this.standing, this.#moneyBox(), h("details", {}, h("summary", { class: "cs-small", text: "Risk and coverage" }), this.risk), this.error.el, h("div", { class: "cs-line" }, h("span", { class: "cs-grow" }), this.save), this.kept);
    this.#el.replaceChildren(head, this.picture, sliders, zonesBox, body);
  }

  #moneyBox() {
    const field = (name, label) => {
      const input = h("input", { class: "cs-input is-small", type: "number", min: "0", step: "any", inputmode: "decimal" });
      input.addEventListener("input", () => this.#price());
      this[name] = input;
      return h("label", { class: "cs-field" }, h("span", { class: "cs-label", text: label }), input);
    };
    const cheapest = button("is-small", "Cheapest thresholds", { onclick: () => this.#cheapest() });
    this.costNote = h("p", { class: "cs-small", role: "status" });
    this.money = h("details", {}, h("summary", { class: "cs-small", text: "In money" }), h("div", { class: "cs-desk-money" }, field("wrongAct", "a wrong act costs"), field("wrongRefusal", "a wrong refusal costs"), field("minute", "a human minute costs"), field("minutes", "minutes a case")), h("div", { class: "cs-line" }, cheapest), this.costNote);
    this.minutes.value = "1";
    return this.money;
  }

  get #option() {
    return this.#desk.budgets.find((b) => String(b.budget) === this.budget.value);
  }

  /** What is offered for the budget: the guaranteed threshold where there is one, else nothing acts. */
  #choose() {
    const { guarantee } = this.#option;
    this.#act = guarantee.act === null ? NEVER : percentOf(guarantee.act);
    this.#refuse = Math.min(this.#refuse, this.#act);
  }

  #slide(which, value) {
    if (which === "act") {
      this.#act = value;
      this.#refuse = Math.min(this.#refuse, value);
    } else {
      this.#refuse = value;
      this.#act = Math.max(this.#act, value);
    }
    this.#paint();
  }

  #paint() {
    const desk = this.#desk;
    const found = zones(desk, this.#act, this.#refuse, this.#costs);
    this.act.value = String(this.#act);
    this.refuse.value = String(this.#refuse);
    setText(this.actAt, this.#act === NEVER ? "never" : `${this.#act} %`);
    setText(this.refuseAt, this.#refuse === 0 ? "never" : `${this.#refuse} %`);
    setAttr(this.act, "aria-valuetext", this.#act === NEVER ? "never" : `${this.#act} percent`);
    setAttr(this.refuse, "aria-valuetext", this.#refuse === 0 ? "never" : `${this.#refuse} percent`);
    this.picture.replaceChildren(deskPlot(desk, this.#act, this.#refuse));
    const share = (z) => (desk.n ? `${percents(z.share)} %` : "–");
    setText(this.refuseFig, share(found.refuse));
    setText(this.askFig, share(found.ask));
    setText(this.actFig, share(found.act));
    setText(this.refuseNote, `${this.#refuse ? `below ${this.#refuse} %` : "nothing"}, n = ${count(found.refuse.n)}`);
    setText(this.askNote, `${desk.n ? `${count(Math.round(1000 * found.ask.share))} of 1,000` : "nobody yet"}, n = ${count(found.ask.n)}`);
    setText(this.actNote, this.#act === NEVER ? "never, n = 0" : `from ${this.#act} %, ${count(found.act.wrong)} of ${count(found.act.n)} wrong`);
    this.#options();
    this.#say(found);
    this.risk.replaceChildren(riskPlot(desk, this.#act, Number(this.budget.value)));
    setText(this.costNote, this.#costs ? `${money(found.cost)} per 1,000 answers; ${money(1000 * this.#costs.human)} if a human looked at all.` : "Fill in all four to see what 1,000 answers cost.");
    this.save.disabled = desk.n === 0;
  }

  #options() {
    const { guess, guess_missing: few, guarantee, budget } = this.#option;
    const checked = standing(this.#option, this.#act);
    const choice = (kind, title, text, at) => {
      const input = h("input", { type: "radio", name: "threshold", value: kind, checked: at !== null && checked === kind && this.#act === at, disabled: at === null });
      input.addEventListener("change", () => this.#slide("act", at));
      return h("label", { class: at === null ? "is-none" : "" }, input, h("b", { text: title }), h("span", { text }));
    };
    const focused = this.pick.contains(document.activeElement) ? document.activeElement.value : null;
    this.pick.replaceChildren(
      guess
        ? choice("guess", `Best guess: ${percents(guess.act)} %`, `${count(guess.wrong)} of ${count(guess.n)} were wrong. About even odds that the truth is over ${inHundred(budget)}.`, percentOf(guess.act))
        : choice("guess", "Best guess: none", few ? `Not enough labels: ${plural(few, "more", "more")}.` : `At every threshold more than ${inHundred(budget)} were wrong.`, null),
      guarantee.act === null
        ? choice("guaranteed", "Guaranteed at 95 %: none", missingWords(guarantee, budget), null)
        : choice("guaranteed", `Guaranteed at 95 %: ${percents(guarantee.act)} %`, `${count(guarantee.wrong)} of ${plural(guarantee.n, "audit label")} were wrong. The truth is under ${inHundred(Math.ceil(guarantee.bound * 1000) / 1000)}, or we are that 1 in 20.`, percentOf(guarantee.act)),
    );
    if (focused) this.pick.querySelector(`[value="${focused}"]`)?.focus();
  }

  #say(found) {
    const kind = standing(this.#option, this.#act);
    if (!this.#desk.n) return setText(this.standing, "No labels yet: nothing can be said about errors.");
    if (this.#act === NEVER || found.act.n === 0) return setText(this.standing, this.#act === NEVER ? "Nothing acts alone: a human is asked." : `No labelled answer is at ${this.#act} % or above.`);
    const seen = `Of those acted on, ${percents(found.act.error)} % were wrong (n = ${count(found.act.n)}).`;
    const promise = { guaranteed: " Guaranteed.", guess: " A best guess, no guarantee.", hand: " Chosen by hand: no guarantee." }[kind];
    return setText(this.standing, seen + promise);
  }

  #price() {
    const values = [this.wrongAct, this.wrongRefusal, this.minute, this.minutes].map((input) => (input.value.trim() === "" ? NaN : Number(input.value)));
    const [wrong_act, wrong_refusal, minute, minutes] = values;
    this.#costs = values.every((v) => Number.isFinite(v) && v >= 0) ? { wrong_act, wrong_refusal, minute, minutes, human: minute * minutes } : null;
    this.#paint();
  }

  get #sent() {
    if (!this.#costs) return null;
    const { human, ...sent } = this.#costs;
    return sent;
  }

  async #cheapest() {
    if (!this.#costs) return setText(this.costNote, "Fill in all four first.");
    const reply = await this.#api.cheapest_thresholds({ ...this.#where, costs: this.#sent });
    this.error.say(reply.error?.message);
    if (reply.error || reply.act === null) return undefined;
    this.#act = percentOf(reply.act);
    this.#refuse = percentOf(reply.refuse);
    return this.#paint();
  }

  async #save() {
    this.save.disabled = true;
    const policy = { ...this.#where, id: crypto.randomUUID(), budget: Number(this.budget.value), act: this.#act === NEVER ? null : this.#act / 100, refuse: this.#refuse === 0 ? null : this.#refuse / 100, costs: this.#sent };
    const reply = await this.#api.keep_policy(policy);
    this.save.disabled = false;
    this.error.say(reply.error?.message);
    if (reply.error) return;
    toast(this.#root, `Policy ${reply.policy.number} is in force: ${policyWords(reply.policy)}.`);
    await this.#policies();
  }

  async #policies() {
    const where = this.#where;
    const reply = await this.#api.policies(where);
    if (where !== this.#where) return;
    if (reply.error) return this.error.say(reply.error.message);
    const [newest, ...older] = reply.policies;
    if (!newest) return this.kept.replaceChildren(h("p", { class: "cs-small cs-dim", text: "No policy yet: the API says nothing about acting." }));
    const inForce = newest.basis !== null;
    const line = h("p", { class: "cs-small" }, h("b", { text: inForce ? `Policy ${newest.number} in force: ` : "No policy in force: " }), inForce ? `${policyWords(newest)}. ` : "it was withdrawn. ", h("span", { class: "cs-dim", text: `${newest.by}, ${when(newest.created)}` }));
    const href = this.#api.url(`/studio/calibration/policy.json?${new URLSearchParams({ questions: where.questions, scorer: where.scorer })}`);
    const acts = h("div", { class: "cs-line" }, h("a", { class: "cs-btn is-small is-ghost", href, download: "policy.json" }, icon("out"), "Export as JSON"), inForce ? button("is-small is-ghost", "Withdraw", { onclick: () => this.#withdraw() }) : null);
    const past = older.length ? h("details", {}, h("summary", { class: "cs-small", text: `${plural(older.length, "earlier version")}` }), h("ol", { class: "cs-small cs-dim" }, ...older.map((p) => h("li", { text: `${p.number}: ${p.basis === null ? "withdrawn" : policyWords(p)}; ${p.by}, ${when(p.created)}` })))) : null;
    return this.kept.replaceChildren(...[line, acts, past].filter(Boolean));
  }

  async #withdraw() {
    const reply = await this.#api.drop_policy({ ...this.#where, id: crypto.randomUUID() });
    this.error.say(reply.error?.message);
    if (!reply.error) await this.#policies();
  }
}

const money = (value) => (value >= 100 ? count(Math.round(value)) : number(value, 2));

/** "act from 95 %, refuse below 40 %, guaranteed for 5 in 100" */
export function policyWords(policy) {
  const parts = [policy.act === null ? "never act" : `act from ${percents(policy.act)} %`];
  if (policy.refuse !== null) parts.push(`refuse below ${percents(policy.refuse)} %`);
  if (policy.act !== null) parts.push(`${policy.basis.kind} for ${inHundred(policy.basis.budget)}`);
  return parts.join(", ");
}

/** Why nothing is guaranteed, and what it takes. */
export function missingWords(guarantee, budget) {
  if (guarantee.missing === null) return `The audit labels show more errors than ${inHundred(budget)} at every threshold: more labels would not help, another model or wording may.`;
  if (guarantee.missing > MANY) return `No safe threshold for ${inHundred(budget)}: with the errors seen it would take more than ${count(MANY)} further audit labels.`;
  const about = guarantee.missing > 20 ? `about ${count(Math.ceil(guarantee.missing / 10) * 10)}` : `at least ${guarantee.missing}`;
  return `No safe threshold yet: ${about} more audit labels.`;
}
