// Recalibration: what each method would do to labels that it has not seen, and which one is on.

import { button, h } from "../design/dom.js";
import { when } from "../design/dialog.js";
import { Fold, failed, tableOf } from "./fold.js";
import { count, number, plural } from "./words.js";

const NAMES = { temperature: "Temperature", platt: "Platt", isotonic: "Isotonic" };
const ABOUT = { temperature: "one number; keeps the order of options", platt: "a weight per option as well", isotonic: "any rising curve" };

export class Recalibrate {
  #api;

  constructor(el, api) {
    this.#api = api;
    this.fold = new Fold(el, "Recalibrate", (where) => this.#fill(where));
  }

  async #fill(where) {
    const reply = await this.#api.recalibration(where);
    if (reply.error) return failed(reply);
    const rows = reply.methods.map((m) => this.#row(where, m));
    const best = reply.methods.find((m) => !m.missing && m.helps);
    const advice = best
      ? `${NAMES[best.method]} would help: the Brier score goes from ${number(best.before.brier)} to ${number(best.after.brier)}, the calibration error from ${number(best.before.error)} to ${number(best.after.error)}.`
      : reply.methods.every((m) => m.missing) ? `Not enough labels: ${plural(reply.methods[0].missing, "more", "more")}.` : "None of them helps by more than chance.";
    const table = tableOf("Methods", [["method", false, "ink"], ["Brier score", true], ["calibration error", true], ["log score", true], ["change of Brier"], ["keep", false, "", true]], rows);
    const note = h("p", { class: "cs-small cs-dim", text: "Judged on labels that each fit had not seen (five parts). What is switched on answers as a scorer of its own: its figures start from nothing." });
    return [h("p", { class: "cs-small", text: advice }), table, this.#kept(reply.calibrators), note].filter(Boolean);
  }

  #row(where, m) {
    const name = h("span", { title: ABOUT[m.method], text: m.method === "temperature" && m.calibrator ? `${NAMES[m.method]} ${number(m.calibrator.temperature, 2)}` : NAMES[m.method] });
    if (m.missing) return [name, "–", "–", "–", `${count(m.missing)} more labels`, ""];
    const change = (key) => `${number(m.before[key])} → ${number(m.after[key])}`;
    const keep = button("is-small", "Keep", { "aria-label": `Keep the ${NAMES[m.method]} calibrator`, onclick: () => this.#keep(where, m.method) });
    return [name, change("brier"), change("error"), change("log_score"), `${number(m.brier, 4)} (${m.interval.map((x) => number(x, 4)).join(" to ")})`, keep];
  }

  #kept(calibrators) {
    if (!calibrators.length) return null;
    const list = h("ul", { class: "cs-calibrators", "aria-label": "Kept calibrators" });
    for (const one of calibrators) {
      const tick = h("input", { type: "checkbox", role: "switch", checked: one.on });
      tick.addEventListener("change", () => this.#switch(one, tick.checked));
      const name = one.method === "temperature" ? `${NAMES[one.method]} ${number(one.document.temperature, 2)}` : NAMES[one.method];
      list.append(h("li", {}, h("label", { class: "cs-line cs-small" }, tick, h("b", { text: name }), h("span", { class: "cs-dim", text: `${count(one.judged.n)} labels; ${one.by}, ${when(one.created)}` }), h("span", { text: one.on ? "on" : "off" }))));
    }
    return list;
  }

  async #keep(where, method) {
    await this.#api.keep_recalibration({ ...where, id: crypto.randomUUID(), method });
    await this.fold.again();
  }

  async #switch(one, on) {
    await this.#api.switch_recalibration({ calibrator: one.id, on });
    await this.fold.again();
  }
}
