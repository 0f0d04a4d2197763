// Answers against true answers, as the file has them: each cell a count and a way into its rows.

import { h } from "../design/dom.js";
import { count, plural, share } from "./words.js";

const MOST = 10;
const OTHER = "\u0000other";

/** cells: [[answered, true, n]]; open(answered, true) shows the rows. Hidden where nothing is known. */
export function showConfusion(el, cells, question, open) {
  el.hidden = !cells?.length;
  if (el.hidden) return;
  const n = cells.reduce((sum, [, , c]) => sum + c, 0);
  const right = cells.reduce((sum, [top, true_, c]) => sum + (top === true_ ? c : 0), 0);
  const shown = chosen(cells, question);
  const put = (id) => (shown.includes(id) ? id : OTHER);
  const table = new Map();
  for (const [top, true_, c] of cells) {
    const key = JSON.stringify([put(true_), put(top)]);
    table.set(key, (table.get(key) ?? 0) + c);
  }
  const ids = cells.some(([top, true_]) => put(top) === OTHER || put(true_) === OTHER) ? [...shown, OTHER] : shown;
  const names = new Map([...question.options, [OTHER, "others"]]);
  const head = h("tr", {}, h("th", { scope: "col", class: "cs-dim", text: "true ↓  answered →" }), ...ids.map((id) => h("th", { scope: "col", class: "num", title: names.get(id), text: names.get(id) })), h("th", { scope: "col", class: "num", text: "found" }));
  const rows = ids.map((true_) => {
    const counts = ids.map((top) => table.get(JSON.stringify([true_, top])) ?? 0);
    const all = counts.reduce((sum, c) => sum + c, 0);
    const found = counts[ids.indexOf(true_)];
    return h("tr", {}, h("th", { scope: "row", class: "ink", title: names.get(true_), text: names.get(true_) }),
      ...counts.map((c, i) => cell(c, all, true_, ids[i], names, open)), h("td", { class: "num", text: true_ === OTHER || !all ? "" : share(found, all) }));
  });
  el.replaceChildren(
    h("div", { class: "cs-card-head" }, h("h2", { class: "cs-h2", id: "h-confusion", text: `Right in ${share(right, n)}` }), h("span", { class: "cs-small cs-dim", text: `${count(right)} of ${plural(n, "row")} with a true answer` })),
    h("div", { class: "cs-scroll", tabindex: "0", role: "region", "aria-label": "Answers against true answers" },
      h("table", { class: "cs-table cs-runs-confusion" }, h("caption", { class: "cs-sr", text: "Answers against true answers" }), h("thead", {}, head), h("tbody", {}, ...rows))),
  );
}

function cell(c, all, true_, top, names, open) {
  if (!c) return h("td", { class: "num cs-dim", text: "0" });
  const is = true_ === top && true_ !== OTHER ? "is-right" : "is-wrong";
  const td = h("td", { class: `num ${is}`, style: `--p:${all ? c / all : 0}` });
  if (true_ === OTHER || top === OTHER) td.append(count(c));
  else td.append(h("button", { type: "button", class: "cs-runs-cellbutton", "data-cell": JSON.stringify([top, true_]), "aria-label": `${count(c)} rows: truly ${names.get(true_)}, answered ${names.get(top)}. Show them`, onclick: () => open(top, true_), text: count(c) }));
  return td;
}

/** The options that get a row: all where they are few, else those with most rows. */
function chosen(cells, question) {
  const counts = new Map();
  for (const [top, true_, c] of cells) {
    counts.set(top, (counts.get(top) ?? 0) + c);
    counts.set(true_, (counts.get(true_) ?? 0) + c);
  }
  const all = question.options.map(([id]) => id).filter((id) => counts.has(id) || question.options.length <= 4);
  if (all.length <= MOST) return all;
  const most = new Set([...all].sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0)).slice(0, MOST));
  return all.filter((id) => most.has(id));
}
