// Rules about the levels of a score. Pure; see lint.js for what a rule is.

import { newOption } from "../schema.js";
import { direction, ranksOn } from "./scales.js";
import { clip, isBlank, levels, levelValue, phrases, quoteList, sameText, wording } from "./text.js";

const isScore = (question) => question.type === "score";

export const oneLevel = {
  id: "one-level",
  title: "A score with one level",
  reason: "With one level there is nothing to decide: the answer is always that level.",
  check(question) {
    if (!isScore(question) || levels(question).length !== 1) return [];
    return [
      {
        field: "levels",
        message: "One level is no scale: the answer is always that one. Add the next level up or down.",
        fix: null,
      },
    ];
  },
};

export const repeatedLevel = {
  id: "repeated-level",
  title: "Levels that repeat each other",
  reason:
    "Two levels that say the same share one probability, and the expected level then lies between them by chance.",
  check(question) {
    if (!isScore(question)) return [];
    const first = new Map();
    const found = [];
    for (const level of levels(question)) {
      const key = sameText(level.text);
      if (key === "") continue;
      if (!first.has(key)) {
        first.set(key, level);
        continue;
      }
      found.push({
        field: `levels.${level.index}`,
        message: `“${clip(level.text)}” is there twice: the probability is split between the two.`,
        fix: { label: "Remove the second", edit: (q) => dropLevel(q, level) },
      });
    }
    return found;
  },
};

function dropLevel(question, level) {
  const there = question.levels[level.index];
  if (there === undefined || sameText(levelValue(there)) !== sameText(level.text)) return question;
  return { ...question, levels: question.levels.filter((_, i) => i !== level.index) };
}

// “Unclear” or “uncertain” is not here: how clear, or how sure, is a scale of its own.
const OFF_SCALE = new Set(
  `other|others|unknown|n a|not applicable|does not apply|cannot tell|can't tell|don't know|
  none of these|none of the above|something else|anything else|misc|miscellaneous|sonstiges|unbekannt|autre|otro`
    .split("|")
    .map((s) => s.trim()),
);

export const offScaleLevel = {
  id: "off-scale-level",
  title: "A level that has no place on the scale",
  reason: "Levels are counted from the first to the last. “Other” is neither more nor less, yet it counts as a step.",
  check(question) {
    if (!isScore(question)) return [];
    const all = levels(question);
    if (all.length < 2) return [];
    return all
      .filter((level) => OFF_SCALE.has(sameText(level.text)))
      .map((level) => ({
        field: `levels.${level.index}`,
        message: `“${clip(level.text)}” is neither more nor less than the others, but counts as ${level.index}.`,
        fix: { label: `Remove ${clip(level.text, 24)}`, edit: (q) => dropLevel(q, level) },
      }));
  },
};

// Where the question asks for the lower end ("How bad is it?"), a scale from good to bad runs the right way.
const ASKS_DOWN =
  phrases(`bad|badly|poor|poorly|worse|worst|negative|dissatisf\\w+|unsatisf\\w+|unhapp\\w+|angry|anger|upset|
    frustrat\\w+|low|little|unlikely|disagree\\w*|doubt\\w*|rare|rarely|slow|small|weak|lack\\w*|risk\\w*|concern\\w*|
      problem\\w*|damage\\w*`);

export const unorderedLevels = {
  id: "unordered-levels",
  title: "Levels that are not in order",
  reason: "A score counts its levels from low to high. Out of order, the expected level means nothing.",
  check(question) {
    if (!isScore(question)) return [];
    const all = levels(question);
    if (all.length < 2) return [];
    const known = ranksOn(all.map((level) => level.text));
    if (!known || new Set(known.ranks).size < 2) return [];
    const way = direction(known.ranks);
    if (way === "up" || (way === "down" && ASKS_DOWN.test(wording(question)))) return [];
    const message =
      way === "down"
        ? `A score counts up, so “${clip(all[0].text)}” is 0 and “${clip(all.at(-1).text)}” is ${all.length - 1}.`
        : `${quoteList(
            all.map((l) => l.text),
            6,
          )} are not in order, so the expected level means nothing.`;
    return [
      { field: "levels", message, fix: { label: way === "down" ? "Turn round" : "Put in order", edit: sortLevels } },
    ];
  },
};

function sortLevels(question) {
  const all = levels(question);
  const known = ranksOn(all.map((level) => level.text));
  if (!known) return question;
  const order = all
    .map((level, i) => ({ level: question.levels[level.index], rank: known.ranks[i] }))
    .sort((a, b) => a.rank - b.rank);
  const empty = question.levels.filter((level) => isBlank(levelValue(level)));
  return { ...question, levels: [...order.map((o) => o.level), ...empty] };
}

const ASKS_KIND =
  phrases(`who|(?:what|which) (?:kind|type|sort|category|class|topic|subject|language|team|department|country|colou?r|
    product|channel|person|role|intent)`);
const DEGREES =
  phrases(`none|no|not|low\\w*|medium|high\\w*|less|least|more|most|very|slight\\w*|little|some\\w*|quite|rather|
    strong\\w*|full\\w*|part\\w*|never|always|often|mild|severe|minor|major|level|than|all|any|\\d+`);

export const kindAsScore = {
  id: "kind-as-score",
  title: "Kinds asked as a score",
  reason:
    "A score needs levels that go from less to more. Kinds have no order; as a choice each gets its own probability.",
  check(question) {
    if (!isScore(question)) return [];
    const all = levels(question);
    if (all.length < 2) return [];
    if (isYesNo(all)) {
      return [
        {
          field: "levels",
          message: "No and yes are not a scale. A noul asks that with one probability.",
          fix: { label: "Ask as noul", edit: toNoul },
        },
      ];
    }
    const short = all.every((level) => level.text.trim().split(/\s+/).length <= 3);
    if (
      !ASKS_KIND.test(wording(question)) ||
      !short ||
      all.some((level) => DEGREES.test(level.text)) ||
      ranksOn(all.map((l) => l.text))
    )
      return [];
    return [
      {
        field: "levels",
        message: `${quoteList(all.map((l) => l.text))} look like kinds, not like steps. A choice suits kinds.`,
        fix: { label: "Ask as choice", edit: toChoice },
      },
    ];
  },
};

const isYesNo = (all) =>
  all.length === 2 &&
  ["no yes", "yes no", "false true", "true false"].includes(all.map((l) => sameText(l.text)).join(" "));

const toNoul = (question) => ({ ...question, type: "noul", criteria: { ...question.criteria } });

function toChoice(question) {
  const options = levels(question).map((level) => newOption(level.text.trim(), ""));
  return { ...question, type: "choice", options };
}

export const levelRules = [oneLevel, repeatedLevel, offScaleLevel, unorderedLevels, kindAsScore];
