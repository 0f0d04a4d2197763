// What the columns of a file mean. Pure: a mapping is {text, fields: {column: name}, images: [column], truth: {question:
// column}}, as the server has it; here it is read and changed column by column, and never in place.

/** What a column is used as: "text" (the whole state), "field", "image" or "". */
export function role(mapping, column) {
  if (mapping.text === column) return "text";
  if (column in mapping.fields) return "field";
  return mapping.images.includes(column) ? "image" : "";
}

/** The mapping with a column used as something else. */
export function withRole(mapping, column, wanted) {
  let { text } = mapping;
  let fields = Object.fromEntries(Object.entries(mapping.fields).filter(([c]) => c !== column));
  const images = mapping.images.filter((c) => c !== column);
  if (text === column) text = null;
  if (wanted === "text") {
    // The state is one text or an object of fields, never both.
    text = column;
    fields = {};
  } else if (wanted === "field") {
    if (text !== null) fields = { [text]: text, ...fields };
    text = null;
    fields = { ...fields, [column]: mapping.fields[column] ?? column };
  } else if (wanted === "image") images.push(column);
  return { ...mapping, text, fields, images };
}

/** The mapping with a field called otherwise; an empty name is the column's. */
export const withName = (mapping, column, name) => ({ ...mapping, fields: { ...mapping.fields, [column]: name.trim() || column } });

/** The mapping with a question's true answers in a column; null: nowhere. */
export function withTruth(mapping, question, column) {
  const truth = { ...mapping.truth };
  if (column) truth[question] = column;
  else delete truth[question];
  return { ...mapping, truth };
}

/** Why a mapping cannot be run, as a sentence; empty where it can. */
export function missing(mapping) {
  if (!mapping.text && !Object.keys(mapping.fields).length && !mapping.images.length) return "Choose at least one column that is the state, or pictures.";
  const names = Object.values(mapping.fields);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  return twice === undefined ? "" : `Two columns are called ${twice} in the state; rename one.`;
}

/** Columns that hold true answers and that the model would read all the same. */
export const leaks = (mapping) => [...new Set(Object.values(mapping.truth))].filter((column) => ["text", "field"].includes(role(mapping, column)));
