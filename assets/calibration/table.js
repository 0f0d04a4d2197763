// The plot as a table: the same numbers, for copying and for screen readers; each row leads to its cases.

import { button, h, icon } from "../design/dom.js";
import { count, percents, range } from "./words.js";

export function showTable(table, review, open) {
  const head = h("tr", {}, ...["answers at", "said", review.view === "top" ? "was right" : "was so", "95 %", "labels", "verdict", ""].map((text, i) => h("th", { scope: "col", class: i >= 1 && i <= 4 ? "num" : "", text })));
  head.lastElementChild.append(h("span", { class: "cs-sr", text: "cases" }));
  const rows = review.rows.map((row, i) =>
    h(
      "tr", { "data-row": i },
      h("td", { text: range(row.low, row.high) }),
      h("td", { class: "num", text: `${percents(row.said)} %` }),
      h("td", { class: "num ink", text: `${percents(row.rate)} %` }),
      h("td", { class: "num", text: `${percents(row.interval[0])}–${percents(row.interval[1])}` }),
      h("td", { class: "num", text: `${count(row.right)} / ${count(row.n)}` }),
      h("td", {}, verdict(row)),
      h("td", {}, button("is-small is-ghost", "Cases", { "aria-label": `Cases: the ${count(row.n)} decisions at ${range(row.low, row.high)}`, onclick: () => open(i) })),
    ),
  );
  const none = h("tr", {}, h("td", { colspan: 7, class: "cs-dim", text: "No labels yet." }));
  table.replaceChildren(h("caption", { class: "cs-sr", text: "What was said against how often it was so" }), h("thead", {}, head), h("tbody", {}, ...(rows.length ? rows : [none])));
}

function verdict(row) {
  if (row.verdict === null) return h("span", { class: "cs-dim", text: row.words });
  const good = row.verdict === "in_band";
  return h("span", { class: `cs-tag ${good ? "is-right" : "is-wrong"}` }, icon(good ? "check" : "alert"), row.words);
}
