// What is in a dataset: rows per part, answers per part, what stays out and why, and what a person should know.

import { h, icon } from "../design/dom.js";
import { SPLITS, asideRows, count, percent, plural, sentence } from "./words.js";

/** Elements for a summary (`Survey.json()`); order: [[question, [option, …]], …] or null. */
export function summaryOf(summary, order = null) {
  const out = [figures(summary)];
  for (const note of summary.notes) out.push(h("p", { class: "cs-hint cs-sets-hint" }, icon("alert"), h("span", { text: note })));
  out.push(leftOut(summary), answers(summary, order));
  return out.filter(Boolean);
}

function figures(summary) {
  const { total, rows } = summary;
  const left = summary.left_out.reduce((sum, entry) => sum + entry.rows, 0);
  const more = [summary.pictures && `${count(summary.pictures)} with pictures`, summary.divided && `${count(summary.divided)} with shares`, summary.repeats && `${plural(summary.repeats, "repeats a case", "repeat a case")}`].filter(Boolean);
  return h("div", { class: "cs-figs", role: "group", "aria-label": "Rows", "data-figures": "" },
    figure("Rows", total, more.join(", ") || "each one case"),
    ...SPLITS.map(([split, name]) => figure(name, rows[split] ?? 0, total ? percent((rows[split] ?? 0) / total) : "–")),
    figure("Left out", left, left ? "labelled, see below" : "of what is labelled"));
}

function figure(name, value, note) {
  return h("div", {}, h("span", { class: "cs-fig-name", text: name }), h("span", { class: "cs-fig-num", text: count(value) }), h("span", { class: "cs-fig-n", text: note }));
}

function leftOut(summary) {
  const rows = [
    ...summary.left_out.map((entry) => [sentence(entry.reason), entry.rows, null]),
    ...summary.refused.map((entry) => [`In no file for training: ${entry.reason}`, entry.rows, null]),
    ...asideRows(summary.aside ?? {}).map(([reason, n, link]) => [sentence(reason), n, link]),
  ];
  if (!rows.length) return null;
  const body = rows.map(([reason, n, link]) => h("tr", {}, h("td", { class: "wrap ink" }, reason, link ? h("a", { class: "cs-small cs-sets-link", href: link, text: "Label them" }) : null), h("td", { class: "num", text: count(n) })));
  return tableOf("Left out, and why", ["reason", "rows"], body, "left-out");
}

function answers(summary, order) {
  const questions = order ?? [...new Set(SPLITS.flatMap(([split]) => Object.keys(summary.options[split] ?? {})))].map((question) => [question, [...new Set(SPLITS.flatMap(([split]) => Object.keys(summary.options[split]?.[question] ?? {})))]]);
  const body = [];
  for (const [question, options] of questions) {
    if (!options.some((option) => SPLITS.some(([split]) => summary.options[split]?.[question]?.[option]))) {
      body.push(h("tr", {}, h("th", { scope: "rowgroup", class: "cs-mono ink", text: question }), h("td", { class: "cs-dim", colspan: String(SPLITS.length + 1), text: "no answer to it is labelled" })));
      continue;
    }
    options.forEach((option, i) => {
      const cells = SPLITS.map(([split]) => summary.options[split]?.[question]?.[option] ?? 0);
      body.push(h("tr", { "data-answer": `${question}=${option}` }, i ? h("td") : h("th", { scope: "rowgroup", class: "cs-mono ink", text: question }), h("td", { class: "ink", text: option }), ...cells.map((n) => h("td", { class: "num", text: count(n) }))));
    });
  }
  return body.length ? tableOf("Answers", ["question", "answer", ...SPLITS.map(([, name]) => name.toLowerCase())], body, "answers") : null;
}

function tableOf(title, columns, body, name) {
  const head = h("tr", {}, ...columns.map((text, i) => h("th", { scope: "col", class: i >= columns.length - (columns.length > 2 ? 3 : 1) ? "num" : "", text })));
  return h("div", { class: "cs-sets-table" }, h("h3", { class: "cs-h2", text: title }),
    h("div", { class: "cs-scroll", tabindex: "0", role: "region", "aria-label": title }, h("table", { class: "cs-table", [`data-${name}`]: "" }, h("caption", { class: "cs-sr", text: title }), h("thead", {}, head), h("tbody", {}, ...body))));
}
