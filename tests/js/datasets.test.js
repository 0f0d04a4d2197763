// The Datasets page's pure modules: a recipe's form there and back, and its words.

import assert from "node:assert/strict";
import { test } from "node:test";

import { formOf, fresh, missing, recipeOf } from "../../assets/datasets/recipe.js";
import { asideRows, bytes, recipeWords, sentence } from "../../assets/datasets/words.js";

const LABELLED = { streams: ["volunteered", "audit"], sets: [{ sha256: "a".repeat(64), schema: "Mail", version: 2 }, { sha256: "b".repeat(64), schema: null, version: null }] };
const kept = (recipe) => ({ ...recipe, licence: "", split: { similar: 0.8, ...recipe.split } });

test("a form becomes a recipe and is the same when it comes back", () => {
  const form = { ...fresh(LABELLED), validation: "12.5", test: "0", by: "time", similar: false, seed: "7", since: "2026-01-02", group_field: "customer.id" };
  const recipe = recipeOf(form);
  assert.deepEqual(recipe.split, { by: "time", validation: 0.125, test: 0, reserve_audit: true, seed: 7, similar: null });
  assert.deepEqual(formOf(kept(recipe)), form);
  assert.equal("similar" in recipeOf(fresh(LABELLED)).split, false);
  assert.equal(formOf(kept({ ...recipe, since: "2026-01-02T00:00:00+00:00" })).since, "2026-01-02");
});

test("what cannot be counted is said", () => {
  const form = fresh(LABELLED);
  assert.equal(missing(form), "");
  for (const [change, why] of [[{ questions: [] }, /schema version/], [{ streams: [] }, /label source/], [{ test: "-1" }, /from 0 to 99/], [{ test: "x" }, /from 0 to 99/], [{ test: "60", validation: "40" }, /nothing to train on/]]) assert.match(missing({ ...form, ...change }), why);
  assert.deepEqual(fresh({ streams: [], sets: [] }).questions, []);
});

test("a recipe is told in words, with names where they are known", () => {
  const recipe = kept(recipeOf({ ...fresh(LABELLED), questions: ["a".repeat(64), "c".repeat(64)], until: "2026-02-01" }));
  const words = new Map(recipeWords(recipe, LABELLED.sets));
  assert.equal(words.get("Schemas"), "Mail v2, Questions ccccccc");
  assert.equal(words.get("Decisions"), "before 2026-02-01");
  assert.match(words.get("Split"), /10 % validation, 10 % test; seed 0/);
  assert.equal(words.get("Together"), "the same case, nearly the same text (from 0.8)");
  assert.equal(words.has("Licence"), false);
});

test("sizes, reasons and what is never seen", () => {
  assert.deepEqual([1, 999, 1234, 45678, 1.2e6, 3e9].map(bytes), ["1 byte", "999 bytes", "1.2 kB", "46 kB", "1.2 MB", "3.0 GB"]);
  assert.equal(sentence("its state was deleted"), "Its state was deleted");
  assert.deepEqual(asideRows({ unlabelled: 3, outside: 0 }), [["not labelled yet", 3, "label"]]);
});
