// The figures at the top: a value with its interval and n, or how many labels are missing. Never a number without its n.

import { h } from "../design/dom.js";
import { count, inHundred, number, percents, plural, points } from "./words.js";

/** Puts the figures of a review into `el`. */
export function showNumbers(el, review) {
  const { numbers } = review;
  const labels = review.view === "top" ? "labels" : "labels of this view";
  const items = [
    figure("Right", numbers.share, (f) => [points(f.value), `% (${points(f.low)}–${points(f.high)})`], (f) => `${plural(f.n, "label")}${weighted(numbers)}`),
    figure("Brier score", numbers.brier, three, (f) => `0 is perfect, n = ${count(f.n)}`),
    figure("Calibration error", numbers.error, three, (f) => `chance alone: up to ${number(numbers.floor)} at n = ${count(f.n)}`),
    leftOut(review),
  ];
  const more = [
    parts(numbers),
    figure("Log score", numbers.log_score, three, (f) => (numbers.impossible ? `${plural(numbers.impossible, "true option")} had probability 0` : `0 is perfect, n = ${count(f.n)}`)),
    figure("Area under risk and coverage", numbers.aurc, three, (f) => `0 is perfect, n = ${count(f.n)}`),
  ];
  if (numbers.rps.n) {
    more.push(figure("Ranked probability score", numbers.rps, three, (f) => `levels; 0 is perfect, n = ${count(f.n)}`));
    more.push(figure("Weighted κ", numbers.kappa, three, (f) => `1 is perfect, 0 is chance, n = ${count(f.n)}`));
  }
  const opened = el.querySelector("details")?.open ?? false;
  const details = h("details", { class: "cs-figs-more", open: opened }, h("summary", { class: "cs-small", text: "More figures" }), h("div", { class: "cs-figs" }, ...more));
  el.setAttribute("aria-label", `Figures, ${count(review.n)} ${labels}`);
  el.replaceChildren(h("div", { class: "cs-figs" }, ...items), details);
}

const three = (f) => [number(f.value), Number.isFinite(f.low) ? `(${number(f.low)}–${number(f.high)})` : ""];

const weighted = (numbers) => (numbers.effective < 0.99 * numbers.n ? `, worth ${count(Math.round(numbers.effective))} by weight` : "");

function figure(name, found, values, note) {
  const missing = found.missing > 0 || (found.value === null && !found.n);
  const [value, more] = missing ? ["–", ""] : values(found);
  const about = missing ? `not enough labels: ${plural(Math.max(found.missing, 1), "more", "more")}` : note(found);
  return h("div", {}, h("span", { class: "cs-fig-name", text: name }), h("span", { class: "cs-fig-num" }, value, more ? h("small", { text: more }) : null), h("span", { class: "cs-fig-n", text: about }));
}

function parts(numbers) {
  const { miscalibration, discrimination, uncertainty } = numbers.parts;
  const known = Number.isFinite(miscalibration);
  return h(
    "div", {},
    h("span", { class: "cs-fig-name", text: "Brier score in parts" }),
    h("span", { class: "cs-fig-num" }, known ? number(miscalibration) : "–", known ? h("small", { text: `− ${number(discrimination)} + ${number(uncertainty)}` }) : null),
    h("span", { class: "cs-fig-n", text: known ? "miscalibration − discrimination + uncertainty" : `not enough labels: ${numbers.error.missing} more` }),
  );
}

function leftOut(review) {
  const out = review.claimed.n;
  const notes = [out ? `volunteered labels: they only teach` : "no volunteered labels"];
  const judged = review.numbers.n + review.cant_tell;
  if (review.cant_tell) notes.push(`${plural(review.cant_tell, "can't tell", "can't tell")} (${percents(review.cant_tell / judged)} %, in no figure)`);
  if (review.by_hand) notes.push(`${count(review.by_hand)} states were picked by hand`);
  return h("div", {}, h("span", { class: "cs-fig-name", text: "Left out" }), h("span", { class: "cs-fig-num", text: count(out) }), h("span", { class: "cs-fig-n", text: notes.join("; ") }));
}

/** One sentence of warning for labels that nobody was asked for. */
export const biased = (review) =>
  `These ${plural(review.n, "label")} were volunteered: people speak up where the model is wrong, and no weight can repair that. ` +
  (review.claimed.right === null ? "" : `They would claim that it is right ${inHundred(review.claimed.right)} times. `) +
  "Shown as a warning; nothing else on this page uses them.";
