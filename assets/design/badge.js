// Badges and verdicts: the words of a question's evidence and of its policy, as they look everywhere in the studio.

import { h, icon } from "./dom.js";
import { count } from "./words.js";

const BADGES = { none: ["is-none", "gauge"], provisional: ["", "gauge"], calibrated: ["is-good", "check"], too_much: ["is-bad", "alert"], too_little: ["is-bad", "alert"] };
const VERDICTS = { act: ["act", "Act"], ask: ["person", "Ask a human"], refuse: ["refuse", "Refuse"] };

/** {kind, words} of the server. */
export function badgeChip({ kind, words }) {
  const [classes, sign] = BADGES[kind];
  return h("span", { class: `cs-badge ${classes}` }, icon(sign), words);
}

/** "640 labels, 128 audit", "12 labels, 38 to go" */
export function badgeNote(badge) {
  const labels = badge.n ? `${count(badge.n)} label${badge.n === 1 ? "" : "s"}` : "no labels";
  const have = badge.n && badge.audit ? `${labels}, ${count(badge.audit)} audit` : labels;
  return badge.missing ? `${have}, ${count(badge.missing)} to go` : have;
}

/** What the policy in force says now: "act", "ask" or "refuse". */
export function verdictPill(outcome) {
  const [sign, words] = VERDICTS[outcome];
  return h("span", { class: `cs-verdict is-${outcome}` }, icon(sign), words);
}
