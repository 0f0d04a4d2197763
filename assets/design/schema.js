// The schema being edited, as an immutable document, and its way to and from the wire. Pure: no DOM, no network.
//
// doc = {schema, name, description, questions, state, plain, pictures, examples, at, allowCut}; schema is the uuid under which
// it is kept; examples are {name, state, pictures}, and `at` is the one whose state is on the page
//   question = {uid, id, type, instructions, criteria: {true, false}, options: [{uid, name, description}], levels: [{uid, text}], open}
// A question keeps the fields of all three types, so that changing its type and back loses nothing. Fields hold text, or
// JSON values that came from an import: those stay what they are until somebody types into them.
// Changes return new objects along the path that changed; everything else is shared, so `===` tells what changed.

let last = 0;

/** An id for the page's own use; unique in one document also after a reload. */
export function uid() {
  last += 1;
  return `${Date.now().toString(36)}${last.toString(36)}${Math.random().toString(36).slice(2, 6)}`;
}

/** Text that stands for a field's value in an input. */
export function toText(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The value of a field after typing `text` over `before`: JSON stays JSON while it parses, all else is text. */
export function fromText(text, before) {
  if (before === null || typeof before !== "object") return text;
  try {
    const value = JSON.parse(text);
    return value !== null && typeof value === "object" ? value : text;
  } catch {
    return text;
  }
}

const blank = (value) => value === null || value === undefined || value === "";

export function newOption(name = "", description = "") {
  return { uid: uid(), name, description };
}

export function newLevel(text = "") {
  return { uid: uid(), text };
}

/** A fresh question of `type`, with an id that is not in `taken`. */
export function newQuestion(type, taken = new Set()) {
  const stem = { noul: "is_it_so", choice: "which_one", score: "how_much" }[type];
  return {
    uid: uid(),
    id: freeId(stem, taken),
    type,
    instructions: "",
    criteria: {},
    options: type === "choice" ? [newOption(), newOption()] : [],
    levels: type === "score" ? [newLevel(), newLevel(), newLevel()] : [],
    open: true,
  };
}

/** `stem`, or `stem_2`, `stem_3`, ... : the first that is not in `taken`. */
export function freeId(stem, taken) {
  if (!taken.has(stem)) return stem;
  for (let i = 2; ; i += 1) if (!taken.has(`${stem}_${i}`)) return `${stem}_${i}`;
}

/** A copy with its own identity, for "duplicate". */
export function copyQuestion(question, taken) {
  return {
    ...question,
    uid: uid(),
    id: freeId(question.id.replace(/_\d+$/, "") || "question", taken),
    options: question.options.map((o) => ({ ...o, uid: uid() })),
    levels: question.levels.map((l) => ({ ...l, uid: uid() })),
    open: true,
  };
}

/** Gives a question of another type its first rows; what it had stays. */
export function changeType(question, type) {
  const changed = { ...question, type };
  if (type === "choice" && !changed.options.length) changed.options = [newOption(), newOption()];
  if (type === "score" && !changed.levels.length) changed.levels = [newLevel(), newLevel(), newLevel()];
  return changed;
}

/** Rows of open questions together from which on a document opens folded: 64 × 10 is below it, 64 × 255 is above. */
const MOST_OPEN_ROWS = 1500;

/** The document as it is opened: as it was left, or folded where its open rows would be more than a page can hold. */
export function opened(doc) {
  const rows = doc.questions.reduce((sum, q) => sum + (q.open ? (q.type === "choice" ? q.options : q.levels).length : 0), 0);
  return rows > MOST_OPEN_ROWS ? { ...doc, questions: doc.questions.map((q) => (q.open ? { ...q, open: false } : q)) } : doc;
}

export const takenIds = (doc) => new Set(doc.questions.map((q) => q.id));

/** Questions from a System One map. Unknown types are left out by the server's check before they come here. */
export function fromWire(questions, { open = -1 } = {}) {
  return Object.entries(questions).map(([id, wire], index) => {
    const question = {
      uid: uid(), id, type: wire.type, instructions: wire.instructions ?? "",
      criteria: {}, options: [], levels: [], open: open === "all" || index === open,
    };
    if (wire.type === "noul") question.criteria = { ...(wire.criteria ?? {}) };
    if (wire.type === "choice") question.options = Object.entries(wire.criteria).map(([n, d]) => newOption(n, d ?? ""));
    if (wire.type === "score") question.levels = wire.criteria.map((text) => newLevel(text));
    return question;
  });
}

/** The rows that are sent: an empty row is one that nobody has filled in yet. */
export const filledOptions = (question) => question.options.filter((o) => o.name !== "" || !blank(o.description));
export const filledLevels = (question) => question.levels.filter((l) => !blank(l.text));

const wires = new WeakMap();

/** One question on the wire. Cached: the same question object always gives the same result object. */
export function toWire(question) {
  let wire = wires.get(question);
  if (wire) return wire;
  wire = { type: question.type };
  if (!blank(question.instructions)) wire.instructions = question.instructions;
  if (question.type === "noul") {
    const said = Object.entries(question.criteria).filter(([, v]) => v !== "" && v !== undefined);
    if (said.length) wire.criteria = Object.fromEntries(said);
  } else if (question.type === "choice") {
    // A list of pairs: a JavaScript object would move names such as "2" to the front, and the order is the caller's.
    wire.options = filledOptions(question).map((o) => [o.name, blank(o.description) ? null : o.description]);
  } else {
    wire.criteria = filledLevels(question).map((l) => l.text);
  }
  wires.set(question, wire);
  return wire;
}

const checks = new WeakMap();

/**
 * What is wrong with one question by itself: [{field, message, fix?}]. `field` is "id", "instructions", "options",
 * "levels", or the uid of a row. Quick, local; the server checks again.
 */
export function checkQuestion(question, limits) {
  const known = checks.get(question);
  if (known) return known;
  const errors = [];
  const add = (field, message, fix) => errors.push({ field, message, fix });
  if (question.id === "") add("id", "Give the question an id: the answers come under it.");
  else if (question.id.length > limits.id_length) add("id", `An id has at most ${limits.id_length} characters.`);
  if (question.type === "choice") checkOptions(question, limits, add);
  if (question.type === "score") {
    const levels = filledLevels(question);
    if (!levels.length) add("levels", "Describe at least one level, from low to high.");
    if (levels.length > limits.levels) add("levels", `At most ${limits.levels} levels are allowed; this has ${levels.length}.`);
  }
  if (question.type === "noul" && blank(question.instructions) && !Object.values(question.criteria).some((v) => !blank(v))) {
    add("waiting", "Write the question, and it is asked at once.");
  }
  checks.set(question, errors);
  return errors;
}

function checkOptions(question, limits, add) {
  const options = filledOptions(question);
  if (!options.length) add("options", "Name at least one option.");
  if (options.length > limits.options) add("options", `At most ${limits.options} options are allowed; this has ${options.length}.`);
  const seen = new Set();
  for (const option of options) {
    if (option.name === "") add(option.uid, "Name this option, or remove its row.");
    else if (seen.has(option.name)) add(option.uid, `“${option.name}” is there twice; each name can be used once.`);
    seen.add(option.name);
  }
}

/** What is wrong in the whole document: Map uid → errors (only where there are any). */
export function checkDoc(doc, limits) {
  const found = new Map();
  const seen = new Set();
  doc.questions.forEach((question, index) => {
    let errors = checkQuestion(question, limits);
    if (question.id !== "" && seen.has(question.id)) {
      const free = freeId(question.id, takenIds(doc));
      errors = [...errors, { field: "id", message: "This id is taken by a question above.", fix: { label: free, id: free } }];
    }
    if (index >= limits.questions) {
      errors = [...errors, { field: "waiting", message: `At most ${limits.questions} questions can be asked at once.` }];
    }
    seen.add(question.id);
    if (errors.length) found.set(question.uid, errors);
  });
  return found;
}

/** Where the server's error belongs: {uid, field}; uid is null for what no question owns. */
export function placeError(loc, asked) {
  if (loc[0] !== "questions" || loc.length < 2) return { uid: null, field: String(loc[0] ?? "") };
  const question = asked.find((q) => q.id === loc[1]);
  if (!question) return { uid: null, field: "questions" };
  const rest = loc.slice(2).filter((part) => !["noul", "choice", "score"].includes(part));
  if (!rest.length) return { uid: question.uid, field: "id" };
  if (rest[0] === "instructions") return { uid: question.uid, field: "instructions" };
  if (rest[0] === "criteria" && rest.length > 1) {
    if (question.type === "choice") {
      const row = filledOptions(question).find((o) => o.name === rest[1]);
      return { uid: question.uid, field: row ? row.uid : "options" };
    }
    if (question.type === "score") return { uid: question.uid, field: filledLevels(question)[rest[1]]?.uid ?? "levels" };
    return { uid: question.uid, field: `criteria.${rest[1]}` };
  }
  return { uid: question.uid, field: question.type === "score" ? "levels" : "options" };
}

/** A list with the item at `from` moved to `to`. */
export function moved(list, from, to) {
  if (from === to || to < 0 || to >= list.length) return list;
  const copy = [...list];
  copy.splice(to, 0, ...copy.splice(from, 1));
  return copy;
}

/** Whether a state's text is read as JSON: an object or a list, unless the person asked for plain text. */
export function stateKind(text, plain = false) {
  if (plain || !/^\s*[[{]/.test(text)) return "text";
  try {
    const value = JSON.parse(text);
    return value !== null && typeof value === "object" ? "json" : "text";
  } catch {
    return "text";
  }
}

/** A name for a schema nobody has named. */
export const NO_NAME = "Untitled schema";

export function emptyDoc() {
  return { schema: crypto.randomUUID(), name: "", description: "", questions: [], state: "", plain: false, pictures: [], examples: [], at: -1, allowCut: false };
}
