// Words for probabilities: the one place that turns a distribution into a sentence. Pure; every page uses it.
//
// An answer is {type, options, probabilities, labels?}: ids in request order, unrounded probabilities that sum to 1,
// and for a score the text of each level. The rules are the table of the visual language: very sure from 95 %, fairly
// sure from 80 %, leaning from 60 %; a lead under 10 points wins nothing, and a near-uniform answer says so.

export const VERY_SURE = 0.95;
export const FAIRLY_SURE = 0.8;
export const LEANING = 0.6;
export const CLEAR_LEAD = 0.1;
/** How uneven (half the distance to uniform) an answer of two, or of more, options must be to say anything. */
export const EVEN = 0.005;
export const UNIFORM = 0.1;
/** Probability that a short list of options must hold together. */
export const SHORT_LIST = 0.95;
/** Up to this many options, every option has its row. */
export const ALL_ROWS = 6;
/** A short list longer than this is cut as well, and says so. */
export const MOST_ROWS = 10;

/** "98 %", "0.4 %", "99.6 %": whole percents, one decimal under 1 and over 99, and never a bare 0 or 100. */
export function percent(p) {
  if (!Number.isFinite(p)) return "–";
  if (p < 0.0005) return "<0.1 %";
  if (p >= 0.9995) return ">99.9 %";
  const digits = p < 0.01 || p > 0.99 ? 1 : 0;
  return `${(100 * p).toFixed(digits)} %`;
}

/** "52" of "52 to 48": whole percents without a unit. */
const bare = (p) => String(Math.round(100 * p));

/** "none_of_these" → "None of these": an id as a word. */
export function humane(id) {
  const text = id.replace(/[_-]+/g, " ").replace(/\s+/g, " ").trim();
  return text ? text[0].toUpperCase() + text.slice(1) : id;
}

/** A level's text, short enough for a headline: whole, or up to its first break, or its first words. */
export function shortLevel(text, index) {
  const brief = (s) => s.length > 0 && s.length <= 28;
  if (!text) return `Level ${index}`;
  if (brief(text)) return text;
  const start = text.split(/[:;,.(]| [–-] /)[0].trim();
  if (brief(start)) return start;
  const cut = text.slice(0, 28);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(" "), 12)).trimEnd()}…`;
}

/** Half the summed distance to the uniform distribution, 0 (uniform) to almost 1. */
export function unevenness(probabilities) {
  const n = probabilities.length;
  return probabilities.reduce((sum, p) => sum + Math.abs(p - 1 / n), 0) / 2;
}

/** Indices from the most to the least probable; ties keep their order. */
export function ranked(probabilities) {
  return probabilities.map((_, i) => i).sort((a, b) => probabilities[b] - probabilities[a] || a - b);
}

/** How many of the most probable options hold `SHORT_LIST` together. */
export function shortList(probabilities) {
  let sum = 0;
  let count = 0;
  for (const i of ranked(probabilities)) {
    sum += probabilities[i];
    count += 1;
    if (sum >= SHORT_LIST) break;
  }
  return count;
}

/** The name of option `i` as a word in a headline. */
export function optionWord(answer, i) {
  if (answer.type === "noul") return answer.options[i] === "true" ? "Yes" : "No";
  if (answer.type === "score") return humane(shortLevel(answer.labels?.[i] ?? "", i));
  return humane(answer.options[i]);
}

/** "very sure" and so on, of the top probability. */
export function sureness(p) {
  if (p >= VERY_SURE) return "very sure";
  if (p >= FAIRLY_SURE) return "fairly sure";
  return p >= LEANING ? "leaning" : "leaning weakly";
}

/**
 * What to say of an answer.
 * `word`: the headline; `sure`: what follows it; `flat`: nothing is won, so nothing may shine; `lead`: the index that
 * leads, or -1 where none does.
 */
export function verdict(answer) {
  const p = answer.probabilities;
  const n = p.length;
  const order = ranked(p);
  const [a, b] = order;
  const top = p[a];
  if (n === 1) return { word: optionWord(answer, 0), sure: "the only option", flat: true, lead: -1 };
  const expected = answer.type === "score" ? `expected ${level(answer)} of ${n - 1}` : "";
  if (unevenness(p) < (n === 2 ? EVEN : UNIFORM)) {
    const spread = n === 2 ? "an even split" : `spread evenly over ${n} ${answer.type === "score" ? "levels" : "options"}`;
    return { word: "Cannot tell", sure: spread, flat: true, lead: -1 };
  }
  if (answer.type === "score") {
    const [low, high] = a < b ? [a, b] : [b, a];
    if (top < FAIRLY_SURE && high - low === 1 && top + p[b] >= FAIRLY_SURE) {
      return { word: pair(answer, low, high, "to"), sure: expected, flat: false, lead: a };
    }
  }
  if (top - p[b] < CLEAR_LEAD) return torn(answer, order, expected);
  const sure = `${sureness(top)}, ${percent(top)}${expected ? `, ${expected}` : ""}`;
  return { word: optionWord(answer, a), sure, flat: false, lead: a };
}

function torn(answer, order, expected) {
  const p = answer.probabilities;
  const [a, b, c] = order;
  const close = order.length > 2 && p[a] - p[c] < CLEAR_LEAD;
  if (order.length === 2) {
    return { word: "Could be either", sure: `${bare(p[a])} to ${bare(p[b])}, close to a coin flip`, flat: true, lead: -1 };
  }
  if (!close) {
    return { word: `Torn between ${lowerFirst(pair(answer, a, b, "and"))}`, sure: expected || `${bare(p[a])} to ${bare(p[b])}`, flat: true, lead: -1 };
  }
  const few = shortList(p);
  const numbers = ["", "", "", "three", "four", "five", "six"];
  const word = few < numbers.length && few > 2 ? `One of ${numbers[few]}` : `One of ${few}`;
  return { word, sure: expected || `${percent(SHORT_LIST)} of the probability`, flat: true, lead: -1 };
}

/** Two options in one headline; levels with long texts by their numbers. */
function pair(answer, i, j, link) {
  const [one, two] = [optionWord(answer, i), optionWord(answer, j)];
  if (answer.type === "score" && one.length + two.length > 30) return `Level ${i} ${link} ${j}`;
  return `${one} ${link} ${lowerFirst(two)}`;
}

function lowerFirst(text) {
  // An abbreviation keeps its capitals.
  return /^[A-Z][a-z]|^[A-Z]$/.test(text) ? text[0].toLowerCase() + text.slice(1) : text;
}

/** The expected level with one decimal: Σ i·p. */
export function level(answer) {
  return answer.probabilities.reduce((sum, p, i) => sum + i * p, 0).toFixed(1);
}

/**
 * Which options get a row (in their own order), and what is left out.
 * Over `ALL_ROWS` options: those that hold 95 % together, at most `MOST_ROWS`.
 */
export function rows(answer, all = false) {
  const p = answer.probabilities;
  // A score's levels are few and ordered: leaving one out would break the scale.
  if (all || p.length <= ALL_ROWS || answer.type === "score") return { shown: p.map((_, i) => i), more: 0, share: 0 };
  const kept = ranked(p).slice(0, Math.min(shortList(p), MOST_ROWS));
  const shown = kept.sort((a, b) => a - b);
  const share = 1 - shown.reduce((sum, i) => sum + p[i], 0);
  return { shown, more: p.length - shown.length, share: Math.max(0, share) };
}

/** "47 more options, 4 % together" */
export function moreWords({ more, share }) {
  return `${more.toLocaleString("en-GB")} more option${more === 1 ? "" : "s"}, ${percent(share)}${more === 1 ? "" : " together"}`;
}

/** The row's name: what the model was given. */
export function rowName(answer, i) {
  if (answer.type === "noul") return answer.options[i] === "true" ? "yes" : "no";
  if (answer.type === "score") return `${i} ${answer.labels?.[i] ?? ""}`.trim();
  return answer.options[i];
}

/** The row's name, short enough to stand beside a bar: a level by its first words. */
export function rowShort(answer, i) {
  return answer.type === "score" ? `${i} ${answer.labels?.[i] ? shortLevel(answer.labels[i], i) : ""}`.trim() : rowName(answer, i);
}

/** A count with separators. */
export const count = (n) => n.toLocaleString("en-GB");
