// Scales that people know by heart, so that the lint can tell order from disorder. Pure.
//
// Each scale lists its steps from low to high; words of one step mean the same. A scale is only recognised when every
// level is, word for word, one of its steps: half a match is no evidence.

import { sameText } from "./text.js";

const step = (text) => text.split(",").map((s) => s.trim());

/** `pole` is what the top means; a question about the opposite may well run the other way. */
export const SCALES = [
  {
    pole: "amount",
    steps: [
      "none, not at all, zero, no, nothing",
      "very low, minimal, negligible, trivial, very little, very weak",
      "low, minor, small, little, slight, slightly, a little, a bit, weak, mild",
      "medium, moderate, moderately, mid, middle, average, somewhat, partly, some",
      "high, major, large, big, strong, strongly, considerable, significant, serious, very, a lot",
      "very high, severe, critical, extreme, extremely, huge, very strong, completely, fully",
    ].map(step),
  },
  {
    pole: "frequency",
    steps: [
      "never",
      "rarely, seldom, hardly ever, almost never",
      "sometimes, occasionally, now and then",
      "often, frequently",
      "usually, mostly, very often, almost always",
      "always",
    ].map(step),
  },
  {
    pole: "quality",
    steps: [
      "terrible, awful, worst, very bad, very poor",
      "bad, poor, below average",
      "fair, okay, ok, average, mediocre, acceptable",
      "good, above average",
      "very good, great",
      "excellent, best, outstanding, perfect",
    ].map(step),
  },
  {
    pole: "agreement",
    steps: [
      "strongly disagree",
      "disagree",
      "neutral, neither, undecided, neither agree nor disagree",
      "agree",
      "strongly agree",
    ].map(step),
  },
  {
    pole: "satisfaction",
    steps: [
      "very dissatisfied",
      "dissatisfied, rather dissatisfied",
      "neutral, neither nor, neither",
      "satisfied, rather satisfied",
      "very satisfied, delighted",
    ].map(step),
  },
  {
    pole: "sentiment",
    steps: ["very negative", "negative", "neutral, mixed", "positive", "very positive"].map(step),
  },
  {
    pole: "likelihood",
    steps: [
      "impossible",
      "very unlikely",
      "unlikely",
      "possible, maybe",
      "likely, probable",
      "very likely",
      "certain",
    ].map(step),
  },
  { pole: "size", steps: ["xs", "s", "m", "l", "xl", "xxl"].map(step) },
];

const ranksOf = (scale) => new Map(scale.steps.flatMap((same, rank) => same.map((word) => [word, rank])));
const RANKS = SCALES.map((scale) => ({ pole: scale.pole, ranks: ranksOf(scale) }));

/**
 * The place of each text on a scale that holds them all.
 * @param {string[]} texts
 * @returns {{pole: string, ranks: number[]} | null} null when no scale is known for them
 */
export function ranksOn(texts) {
  const plain = texts.map(sameText);
  for (const { pole, ranks } of RANKS) {
    if (plain.every((text) => ranks.has(text))) return { pole, ranks: plain.map((text) => ranks.get(text)) };
  }
  return numbers(texts);
}

/** "1 star", "2 stars": one number and the same words in each. "24 hours", "3 days" is no such scale: units differ. */
function numbers(texts) {
  const parsed = texts.map((text) => /^\s*(-?\d+(?:[.,]\d+)?)(\D*)$/.exec(text));
  if (!parsed.every(Boolean)) return null;
  const units = new Set(parsed.map((m) => sameText(m[2]).replace(/s$/, "")));
  return units.size === 1 ? { pole: "number", ranks: parsed.map((m) => Number(m[1].replace(",", "."))) } : null;
}

/** @param {number[]} ranks @returns {"up" | "down" | "mixed"} */
export function direction(ranks) {
  const steps = ranks.slice(1).map((r, i) => Math.sign(r - ranks[i]));
  if (steps.every((s) => s >= 0)) return "up";
  return steps.every((s) => s <= 0) ? "down" : "mixed";
}
