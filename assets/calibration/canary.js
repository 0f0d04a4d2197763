// The canary: whether the loaded model still says what it said of golden decisions; silent where it does.

import { h, icon } from "../design/dom.js";

const POLL_MS = 2000;

/** Shows in `el` what was found, once it is; a note or an alarm. */
export async function showCanary(el, url) {
  let found;
  try {
    const reply = await fetch(url);
    if (!reply.ok) return;
    found = await reply.json();
  } catch {
    // The studio does not answer: the page's own requests say so.
    return;
  }
  if (found.phase === "waiting") {
    setTimeout(() => showCanary(el, url), POLL_MS);
    return;
  }
  const text = found.alarm || found.note;
  el.hidden = !text;
  el.classList.add(found.alarm ? "cs-alert" : "cs-hint");
  if (found.alarm) el.setAttribute("role", "alert");
  el.replaceChildren(...(text ? [icon(found.alarm ? "alert" : "help"), h("span", { text })] : []));
}
