// Words of the Datasets page. Pure.

import { count, plural } from "../runs/words.js";

export { count, plural };

export const SPLITS = [["train", "Training"], ["validation", "Validation"], ["test", "Test"]];

/** Where labels come from: [name, what it means]. */
export const STREAMS = {
  volunteered: ["Volunteered", "people spoke up by themselves, mostly where the model was wrong"],
  queue: ["From the queue", "the doubtful ones, drawn with a known chance"],
  audit: ["From the audit", "drawn at random: they alone can prove something"],
  bulk: ["In bulk", "many at once, by one rule"],
  import: ["Imported", "true answers that came with a file"],
};

export const AGREED = "Only answers on which people agree, or that were settled";
export const SOFT = "Shares, where people differ (soft labels)";
export const BY_LOT = "By lot, every answer in its share";
export const BY_TIME = "By time, the newest for the test";

/** "12.4 kB" */
export function bytes(n) {
  if (n < 1000) return plural(n, "byte");
  const [size, unit] = n < 1e6 ? [n / 1e3, "kB"] : n < 1e9 ? [n / 1e6, "MB"] : [n / 1e9, "GB"];
  return `${size.toFixed(size < 10 ? 1 : 0)} ${unit}`;
}

/** A schema version's name for people. */
export const setName = (set) => (set.schema ? `${set.schema} v${set.version}` : `Questions ${set.sha256.slice(0, 7)}`);

/** What a recipe never sees, as [reason, rows, link?]. */
export function asideRows(aside) {
  const rows = [];
  if (aside.unlabelled) rows.push(["not labelled yet", aside.unlabelled, "label"]);
  if (aside.outside) rows.push(["labelled, but decided at another time", aside.outside, null]);
  return rows;
}

/** A reason as the beginning of a sentence. */
export const sentence = (reason) => `${reason.slice(0, 1).toUpperCase()}${reason.slice(1)}`;

/** A recipe in words: [name, what]. sets: those that are known, to name hashes. */
export function recipeWords(recipe, sets) {
  const { split } = recipe;
  const known = new Map(sets.map((set) => [set.sha256, setName(set)]));
  const between = [recipe.since && `from ${recipe.since.slice(0, 10)}`, recipe.until && `before ${recipe.until.slice(0, 10)}`].filter(Boolean).join(" ");
  const rows = [
    ["Schemas", recipe.questions.map((hash) => known.get(hash) ?? `Questions ${hash.slice(0, 7)}`).join(", ")],
    ["Labels", recipe.streams.map((name) => STREAMS[name][0].toLowerCase()).join(", ")],
    ["Answers", recipe.labels === "soft" ? SOFT : AGREED],
    ["Decisions", between || "of all times"],
    ["Split", `${split.by === "time" ? BY_TIME : BY_LOT}; ${percent(split.validation)} validation, ${percent(split.test)} test; seed ${split.seed}`],
    ["Together", ["the same case", recipe.group_field && `the same ${recipe.group_field}`, split.similar !== null && `nearly the same text (from ${split.similar})`].filter(Boolean).join(", ")],
    ["Audit", split.reserve_audit ? "kept for evaluation" : "may be trained on"],
  ];
  if (recipe.licence) rows.push(["Licence", recipe.licence]);
  return rows;
}

export const percent = (share) => `${Math.round(share * 1000) / 10} %`;
