// One row whole: its state, its pictures, and every answer with all its options.

import { h, icon } from "../design/dom.js";
import { openDialog } from "../design/dialog.js";
import { percent } from "../design/words.js";
import { parts } from "../label/state_view.js";
import { count } from "./words.js";

const MOST = 8;

/** host: {api, pictureUrl(token), questions} */
export async function openRow(root, host, run, row) {
  const body = h("div", { class: "cs-runs-stack" }, h("span", { class: "cs-spin", "aria-hidden": "true" }));
  openDialog(root, { title: `Line ${count(row.line)}`, classes: "is-wide", body: [body] });
  const whole = await host.api.row({ run: run.id, row: row.row });
  if (whole.error) return body.replaceChildren(h("p", { class: "cs-error", role: "alert", text: whole.error.message }));
  const same = whole.same === null ? null : h("p", { class: "cs-hint" }, icon("copy"), h("span", { text: "It says exactly what an earlier row said, and took over that row’s answer." }));
  if (whole.problem !== null) return body.replaceChildren(h("p", { class: "cs-hint" }, icon("alert"), h("span", { text: `It could not be judged: ${whole.problem}` })), ...[same].filter(Boolean));
  return body.replaceChildren(...[same, ...state(whole, host), ...whole.answers.map((answer) => answerOf(answer, host.questions.find((q) => q.id === answer.question)))].filter(Boolean));
}

function state(whole, host) {
  if (whole.redacted) return [h("p", { class: "cs-dim", text: "The state is not kept any more." })];
  const { paragraphs, fields } = whole.state === null ? { paragraphs: [], fields: [] } : parts(whole.state);
  const cut = whole.read < whole.tokens ? h("p", { class: "cs-hint" }, icon("cut"), h("span", { text: `The model read ${count(whole.read)} of ${count(whole.tokens)} tokens; the end is new to it.` })) : null;
  return [
    h("div", { class: "cs-runs-read" }, ...paragraphs.map((text) => h("p", { text }))),
    fields.length ? h("dl", { class: "cs-kv cs-runs-kv" }, ...fields.flatMap(([key, text]) => [h("dt", { text: key }), h("dd", { text })])) : null,
    whole.pictures.length ? h("div", { class: "cs-line" }, ...whole.pictures.map(({ token }, i) => h("a", { href: host.pictureUrl(token), target: "_blank", rel: "noopener" }, h("img", { class: "cs-runs-picture", src: host.pictureUrl(token), alt: `Picture ${i + 1} of the state` })))) : null,
    cut,
  ];
}

function answerOf(answer, question) {
  const names = new Map(question?.options ?? []);
  const order = answer.options.map((id, i) => [id, answer.probabilities[i]]);
  const shown = question?.type === "score" ? order : [...order].sort((a, b) => b[1] - a[1]).slice(0, MOST);
  const truth = answer.truth === null ? null : h("span", { class: `cs-tag ${answer.truth === answer.top ? "is-right" : "is-wrong"}` }, icon(answer.truth === answer.top ? "check" : "x"), `truly ${names.get(answer.truth) ?? answer.truth}`);
  const rows = shown.map(([id, p]) => h("li", { class: id === answer.top ? "is-lead" : "", style: `--p:${p}` }, h("span", { class: "cs-ellipsis", text: names.get(id) ?? id }), h("span", { class: "cs-runs-bar", "aria-hidden": "true" }), h("span", { class: "cs-runs-count", text: percent(p) })));
  return h("section", { class: "cs-runs-answer", "aria-label": answer.question }, h("div", { class: "cs-line" }, h("span", { class: "cs-mono cs-small", text: answer.question }), truth), h("ul", { class: "cs-runs-options" }, ...rows));
}
