// What else the labels say: how answers moved over time, where errors concentrate, which options are missing.

import { h, icon } from "../design/dom.js";
import { failed, tableOf } from "./fold.js";
import { count, number, percents, plural } from "./words.js";

/** Weeks of answers with what moved, and the audited accuracy beside what the probabilities expect. */
export async function overTime(api, where) {
  const reply = await api.over_time(where);
  if (reply.error) return failed(reply);
  const { periods } = reply;
  if (!periods.length) return [h("p", { class: "cs-small cs-dim", text: "No answers yet." })];
  const alarms = periods.filter((p) => p.alarm);
  const head = alarms.length
    ? h("ul", { class: "cs-alarms" }, ...alarms.map((p) => h("li", { class: "cs-hint" }, icon("alert"), h("span", { text: `Week of ${day(p.start)}: ${p.alarm}` }))))
    : h("p", { class: "cs-small", text: "No week differs from those before by more than chance." });
  const rows = periods.map((p) => [
    day(p.start), count(p.n), Number.isFinite(p.distance) ? number(p.distance, 2) : "–", expected(p),
    p.audited ? `${percents(p.right / p.audited)} % (${percents(p.interval[0])}–${percents(p.interval[1])})` : "–", count(p.audited), p.alarm ? h("span", { class: "cs-tag is-wrong" }, icon("alert"), "moved") : "",
  ]);
  const table = tableOf("Answers by week", [["week of"], ["answers", true], ["distance to before", true], ["expected right"], ["audited right", true], ["audit labels", true], ["alarm", false, "", true]], rows);
  const note = h("p", { class: "cs-small cs-dim", text: "Distance: Jensen–Shannon, of the options' shares; 0 is the same. Expected right is the mean leading probability (striped): it needs no labels, and is only as good as the calibration." });
  return [head, table, note];
}

const day = (seconds) => new Date(seconds * 1000).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });

function expected(p) {
  return h("span", { class: "cs-expected" }, h("i", { style: `--p:${p.expected}`, "aria-hidden": "true" }), `${percents(p.expected)} %`);
}

/** Slices of the labelled cases that are wrong more, or less, often than the rest. */
export async function slices(api, where) {
  const reply = await api.error_slices(where);
  if (reply.error) return failed(reply);
  if (!reply.slices.length) return [h("p", { class: "cs-small", text: reply.n ? `In ${plural(reply.n, "labelled state")}, none of ${count(reply.tested)} words, lengths and fields tells where errors are.` : "No labels yet." })];
  const rows = reply.slices.map((s) => [s.name, `${count(s.wrong)} / ${count(s.n)}`, `${percents(s.wrong / s.n)} %`, `${percents(s.rest_wrong / s.rest)} %`, s.q < 0.001 ? "< .001" : number(s.q).replace("0.", ".")]);
  return [
    tableOf("Slices", [["where", false, "ink"], ["wrong", true], ["in it", true], ["elsewhere", true], ["q", true]], rows),
    h("p", { class: "cs-small cs-dim", text: `${count(reply.tested)} places were looked at; of those listed, 1 in 20 may be chance (false discovery rate). A place to look, not a cause.` }),
  ];
}

const KINDS = { cant_tell: "can't tell", no_option: "wrong, but no option was right" };

/** How often labels say that no option fits, and what such states have in common. */
export async function missingOptions(api, where) {
  const reply = await api.missing_options(where);
  if (reply.error) return failed(reply);
  if (!reply.n) return [h("p", { class: "cs-small", text: reply.labelled ? `Of ${plural(reply.labelled, "labelled answer")}, none says that no option fits.` : "No labels yet." })];
  const kinds = Object.entries(reply.kinds).map(([kind, n]) => `${KINDS[kind] ?? kind} ${count(n)}`);
  const found = [h("p", { class: "cs-small", text: `${count(reply.n)} of ${plural(reply.labelled, "labelled answer")} (${percents(reply.n / reply.labelled)} %) say that no option fits: ${kinds.join(", ")}.` })];
  for (const group of reply.clusters) {
    found.push(
      h("div", { class: "cs-cluster" }, h("p", {}, h("b", { text: group.words.join(", ") || "no common words" }), ` ${plural(group.n, "state")}`), h("ul", {}, ...group.examples.map((text) => h("li", { class: "cs-small cs-dim", text }))),
        reply.type === "choice" ? h("p", { class: "cs-small", text: `If these belong together, an option for them would take up to ${plural(group.n, "case")} out of “none”.` }) : null),
    );
  }
  if (!reply.clusters.length) found.push(h("p", { class: "cs-small cs-dim", text: "Too few, or too different, to say what they have in common." }));
  return found;
}
