// What a run answered to one question: how often each option leads, each a way into its rows; and where the rows go.

import { h, icon } from "../design/dom.js";
import { count, plural, share } from "./words.js";

const MOST = 12;

/** host: {question(id), option(id)}; links: {label, calibration} */
export function showAnswers(el, { run, questions, tally }, question, host, links) {
  const asked = questions.find((q) => q.id === question);
  const counts = new Map(tally[question]);
  const n = [...counts.values()].reduce((sum, c) => sum + c, 0);
  const known = asked.options.filter(([id]) => asked.type !== "choice" || counts.has(id));
  const sorted = asked.type === "score" ? known : [...known].sort((a, b) => (counts.get(b[0]) ?? 0) - (counts.get(a[0]) ?? 0));
  const rows = sorted.slice(0, MOST).map(([id, name]) => {
    const c = counts.get(id) ?? 0;
    return h("li", {}, h("button", { type: "button", class: "cs-runs-option", style: `--p:${n ? c / n : 0}`, "data-option": id, onclick: () => host.option(id) },
      h("span", { class: "cs-ellipsis", text: name }), h("span", { class: "cs-runs-bar", "aria-hidden": "true" }), h("span", { class: "cs-runs-count", text: count(c) }), h("span", { class: "cs-sr", text: ` rows, ${share(c, n)}: show them` })));
  });
  const select = h("select", { class: "cs-input is-small", "aria-label": "Question", "data-question": "", onchange: (event) => host.question(event.target.value) }, ...questions.map((q) => h("option", { value: q.id, text: q.id, selected: q.id === question })));
  const had = el.contains(document.activeElement) ? document.activeElement.dataset : null;
  el.replaceChildren(
    h("div", { class: "cs-card-head" }, h("h2", { class: "cs-h2", id: "h-answers", text: "Answers" }), h("span", { class: "cs-small cs-dim", text: plural(n, "row") }), h("span", { class: "cs-grow" }), select),
    rows.length ? h("ul", { class: "cs-runs-options" }, ...rows) : h("p", { class: "cs-card-body cs-dim", text: "No answer yet." }),
    h("div", { class: "cs-foot" }, h("span", { class: "cs-grow", text: run.decided ? "Every answer waits in the label queue: the doubtful ones first, some by chance." : "" }),
      h("a", { class: "cs-btn is-small", href: links.label, "data-to-label": "" }, icon("queue"), "Label"), h("a", { class: "cs-btn is-small is-ghost", href: links.calibration }, icon("gauge"), "Calibration")),
  );
  if (had?.option !== undefined) [...el.querySelectorAll("[data-option]")].find((b) => b.dataset.option === had.option)?.focus();
  else if (had?.question !== undefined) select.focus();
}
