// Sentences about why an answer came out as it did. Pure: no DOM.

import { MOVES, MOVES_MUCH } from "./marks.js";
import { count, percent } from "./words.js";

/** How many parts are listed. */
export const LISTED = 6;

const NO_ROUTING = "This model has no evidence routing, so it cannot tell where it looked in it.";

/** Whether a scorer's reply tells where an option looked, and not only what was read. */
export const tells = ({ how }) => how === "routing" || how === "nothing";

/** What a scorer's reply about where it looked says, in one sentence. */
export function lookedWords({ how, words, share, read, pictures }, option) {
  if (how === "nothing") return "Nothing of the state was read for this question.";
  if (how === "whole") return `It read the whole state for this question. ${NO_ROUTING}`;
  if (how === "excerpts") {
    return `Marked: what it read of the state for this question, ${count(read[0])} of ${count(read[1])} characters. ${NO_ROUTING}`;
  }
  const seen = words.length > 0 || (pictures ?? []).some((p) => p.weights.some((w) => w >= 1.5));
  const told = seen ? `Marked: where “${option}” looked, not proof of why it won.` : `“${option}” looked at all of the state about alike.`;
  return `${told} ${percent(share)} of its attention fell on the state, the rest on the questions and fixed words.`;
}

/** A part that was left out, as a name: the text, the path in JSON, or the picture. */
export function partName(part) {
  if (part.kind === "picture") return `picture ${part.picture + 1}`;
  if (part.kind === "tile") return `${placeName(part.box)} of picture ${part.picture + 1}`;
  const said = `“${part.text.length > 110 ? `${part.text.slice(0, 109).trimEnd()}…` : part.text}”`;
  return part.kind === "value" && part.path.length ? `${pathName(part.path)}: ${said}` : said;
}

/** ["items", 2, "name"] → "items[2].name" */
export function pathName(path) {
  return path.map((step, i) => (typeof step === "number" ? `[${step}]` : `${i ? "." : ""}${step}`)).join("");
}

function placeName([left, top, right, bottom]) {
  const x = (left + right) / 2;
  const y = (top + bottom) / 2;
  const third = (at, names) => names[at < 0.4 ? 0 : at > 0.6 ? 2 : 1];
  const name = [third(y, ["top", "", "bottom"]), third(x, ["left", "", "right"])].filter(Boolean).join(" ");
  return name ? `the ${name}` : "the middle";
}

/** "48 points less", and nothing smaller than it is worth saying. */
export function pointsWords(change) {
  const points = Math.abs(change);
  const figure = points < 1 ? points.toFixed(1) : String(Math.round(points));
  return `${figure} point${figure === "1" ? "" : "s"} ${change < 0 ? "less" : "more"}`;
}

/** The parts that count, the strongest first: {shown, more}. */
export function strongest(parts) {
  const found = parts.filter((part) => part.counts).sort((a, b) => Math.abs(b.change) - Math.abs(a.change));
  return { shown: found.slice(0, LISTED), more: Math.max(0, found.length - LISTED) };
}

/** What was found in all, in sentences. `name(id)`: an option as it is shown. */
export function movesWords(found, name) {
  const option = name(found.option);
  const { shown, more } = strongest(found.parts);
  const floor = found.floor < 1 ? found.floor.toFixed(1) : String(Math.round(found.floor));
  const out = [];
  if (!found.parts.length) out.push("There is nothing in the state that could be left out.");
  else if (!shown.length) out.push(`Nothing that was left out moved “${option}” by more than the noise.`);
  if (more) out.push(`${more} more moved it less.`);
  out.push(`Changes of up to ${floor} points are noise: ${found.repeats} repeats without a change of meaning moved it that far.`);
  if (found.shaky) out.push("The answer flips even when nothing that matters has changed: too close to call.");
  else if (found.flip) {
    const n = found.flip.parts.length;
    out.push(`${n === 1 ? "Without one part" : `Without ${n} parts together`} another answer leads: “${name(found.flip.top)}”, ${percent(found.flip.probability)}.`);
  } else if (found.parts.length) out.push("No set of up to three parts was found whose loss changes the answer.");
  if (found.read !== null) out.push(`Only the ${count(found.read)} characters that were read were looked at.`);
  for (const left of found.left_out) out.push(`${left[0].toUpperCase()}${left.slice(1)}.`);
  return out;
}

/** The names of the strengths of marks, for the legend: [[look, words]]. */
export const LEGENDS = {
  routing: [[2, "1.5 to 3 times the average"], [3, "over 3 times"]],
  excerpts: [[2, "read"]],
  moves: [[2, `${MOVES} to ${MOVES_MUCH} points`], [3, `over ${MOVES_MUCH}`]],
};
