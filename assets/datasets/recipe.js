// A recipe as the form holds it: shares in hundreds, and `similar` as a yes or no. Pure.

/** A form for what there is: the schema with most labels, everything else as it should be without a reason. */
export const fresh = (labelled) => ({
  questions: labelled.sets.length ? [labelled.sets[0].sha256] : [],
  streams: [...labelled.streams],
  labels: "agreed",
  since: "",
  until: "",
  group_field: "",
  by: "random",
  validation: "10",
  test: "10",
  similar: true,
  reserve_audit: true,
  seed: "0",
});

/** The form of a recipe that was frozen. */
export const formOf = (recipe) => ({
  questions: [...recipe.questions],
  streams: [...recipe.streams],
  labels: recipe.labels,
  since: (recipe.since ?? "").slice(0, 10),
  until: (recipe.until ?? "").slice(0, 10),
  group_field: recipe.group_field,
  by: recipe.split.by,
  validation: hundred(recipe.split.validation),
  test: hundred(recipe.split.test),
  similar: recipe.split.similar !== null,
  reserve_audit: recipe.split.reserve_audit,
  seed: String(recipe.split.seed),
});

/** The recipe of a form, for the server. */
export function recipeOf(form) {
  const split = { by: form.by, validation: share(form.validation), test: share(form.test), reserve_audit: form.reserve_audit, seed: Math.trunc(Number(form.seed)) || 0 };
  // Without `similar` the server's own threshold holds.
  if (!form.similar) split.similar = null;
  return { questions: form.questions, streams: form.streams, labels: form.labels, since: form.since, until: form.until, group_field: form.group_field.trim(), split };
}

/** Why a form cannot be counted, or "". */
export function missing(form) {
  if (!form.questions.length) return "Choose at least one schema version.";
  if (!form.streams.length) return "Choose at least one label source.";
  const shares = [form.validation, form.test].map(share);
  if (shares.some((n) => !Number.isFinite(n) || n < 0 || n >= 1)) return "A share is from 0 to 99 in a hundred.";
  return shares[0] + shares[1] >= 1 ? "Validation and test together leave nothing to train on." : "";
}

const share = (text) => Math.round(Number(text) * 10) / 1000;
const hundred = (n) => String(Math.round(n * 1000) / 10);
