// The decisions behind a point: a dialog with a portion of them, the wrong ones first.

import { button, h, icon } from "../design/dom.js";
import { errorLine, openDialog, when } from "../design/dialog.js";
import { percent } from "../design/words.js";
import { count, range } from "./words.js";

/** Opens the cases of which was said `low` to `high` (`last`: including `high`). where: what is looked at. */
export function openCases(root, api, where, { low, high, last }) {
  const body = h("tbody");
  const said = errorLine();
  const more = button("is-small", "More", { hidden: true });
  const status = h("span", { class: "cs-small cs-dim cs-grow", role: "status", text: "Reading" });
  const head = h("tr", {}, ...["state", "people said", "it said", "", "when"].map((text, i) => h("th", { scope: "col" }, text || h("span", { class: "cs-sr", text: "verdict" }), i === 2 ? null : null)));
  const table = h("table", { class: "cs-table" }, h("thead", {}, head), body);
  const scroll = h("div", { class: "cs-scroll cs-cases", tabindex: "0", role: "region", "aria-label": "Cases" }, table);
  const dialog = openDialog(root, {
    title: `Decisions at ${range(low, high)}`, body: [said.el, scroll], classes: "is-wide",
    acts: [status, more, button("", "Close", { onclick: () => dialog.close() })],
  });
  let start = 0;
  const load = async () => {
    more.disabled = true;
    const reply = await api.cases({ ...where, low, high, last, start });
    said.say(reply.error?.message);
    if (reply.error) return;
    body.append(...reply.cases.map(row));
    start += reply.portion;
    status.textContent = `${count(Math.min(start, reply.n))} of ${count(reply.n)} shown, wrong ones first`;
    more.hidden = start >= reply.n;
    more.disabled = false;
  };
  more.addEventListener("click", load);
  load();
}

/** One case as a table row; also used where versions are compared. */
export function row(found) {
  const state = found.redacted ? h("i", { class: "cs-dim", text: "The state was emptied." }) : found.state || `${found.pictures} pictures`;
  const tag = h("span", { class: `cs-tag ${found.right ? "is-right" : "is-wrong"}` }, icon(found.right ? "check" : "x"), found.right ? "right" : "wrong");
  return h(
    "tr", { "data-case": found.id },
    h("td", { class: "wrap ink" }, state),
    h("td", { class: "cs-mono", text: found.truth ?? "something else" }),
    h("td", { text: `${found.said} ${percent(found.probability)}` }),
    h("td", {}, tag),
    h("td", { class: "cs-dim", text: when(found.created) }),
  );
}
