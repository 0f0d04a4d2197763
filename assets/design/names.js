// The name of an option or level beside its bar: whole for screen readers and in the tooltip, two lines at most for the eye.

import { h } from "./dom.js";

/** Behind these a name may be broken: `personal_details` has no blank. */
const BREAKS = /(?<=[_/.:-])(?=[^\s_/.:-])/;
/** From so many characters on, the whole name is in the tooltip: two lines may not hold it. */
const LONG = 20;

/** Puts a name into a .cs-row-name: `shown` is drawn, `whole` is what it stands for. */
export function setName(el, shown, whole = shown) {
  if (el.dataset.whole === whole && el.dataset.shown === shown) return;
  Object.assign(el.dataset, { whole, shown });
  const parts = shown.split(BREAKS);
  const drawn = h("span", { "aria-hidden": shown === whole ? null : "true" }, ...parts.flatMap((part, i) => (i ? [h("wbr"), part] : [part])));
  el.replaceChildren(drawn, ...(shown === whole ? [] : [h("b", { class: "cs-sr", text: whole })]));
  // The style sheet draws it once more, bold and unseen, so that the row keeps its height when the option leads.
  el.dataset.bold = parts.join("\u200b");
  if (shown !== whole || whole.length > LONG) el.title = whole;
  else el.removeAttribute("title");
}
