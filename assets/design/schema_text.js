// A schema as text, for the JSON view and for files: written from the document, and read back into it. Pure.
//
// Questions between text, server and document are "listed": [{id, type, instructions?, criteria? | options?}], with options
// as [name, description] pairs, because an object of JavaScript keeps no order. What is read keeps the identity of the
// questions and rows that are still there, so that cards keep their focus and their fold.

import { JsonError, plain, Raw, readJson, writeJson } from "./json_text.js";
import { newLevel, newOption, stateKind, toWire, uid } from "./schema.js";
import { pretty } from "./state.js";

const FIELDS = new Set(["type", "instructions", "criteria"]);
const TYPES = new Set(["noul", "choice", "score"]);
const show = (text) => `“${text.length > 40 ? `${text.slice(0, 39)}…` : text}”`;

/** The document's questions, listed. */
export const listed = (questions) => questions.map((q) => ({ id: q.id, ...toWire(q) }));

/** Whether the document asks exactly the listed questions. */
export const asksSame = (questions, list) => JSON.stringify(listed(questions)) === JSON.stringify(list);

/** One listed question as the wire has it. */
function wireOf({ id: _, options, ...rest }) {
  return options ? { ...rest, criteria: new Map(options) } : rest;
}

const wireMap = (questions) => new Map(questions.map((q) => [q.id, wireOf({ id: q.id, ...toWire(q) })]));

/** The whole schema as JSON: name, description, questions. */
export function schemaText(doc) {
  return writeJson(new Map([["name", doc.name], ["description", doc.description ?? ""], ["questions", wireMap(doc.questions)]]));
}

/** The schema and its state as a System One request body. Pictures are not part of it. */
export function requestText(doc, model) {
  const state = stateKind(doc.state, doc.plain) === "json" ? new Raw(pretty(doc.state)) : doc.state;
  return writeJson(new Map([["model", model], ["state", state], ["questions", wireMap(doc.questions)]]));
}

/**
 * What a text says: {questions: listed, name?, description?, state?: text, plain?: boolean, images: how many}.
 * It may be the JSON view's object, a System One request body, or a map of questions alone. Throws JsonError.
 */
export function readSchema(text) {
  const { value, places } = readJson(text);
  const fail = (message, path) => {
    throw new JsonError(message, (places.get(JSON.stringify(path)) ?? [0])[0]);
  };
  if (!(value instanceof Map)) fail("A schema is an object with “questions”.", []);
  const bare = !value.has("questions");
  const map = bare ? value : value.get("questions");
  const root = bare ? [] : ["questions"];
  if (bare && ![...map.values()].every((q) => q instanceof Map && q.has("type"))) fail("“questions” is missing: an object that maps ids to questions.", []);
  if (!(map instanceof Map)) fail("“questions” must be an object that maps ids to questions.", root);
  const questions = [...map].map(([id, question]) => readQuestion(id, question, [...root, id], fail));
  const read = { questions, images: 0 };
  if (bare) return read;
  for (const key of ["name", "description"]) {
    if (!value.has(key)) continue;
    if (typeof value.get(key) !== "string") fail(`“${key}” must be text.`, [key]);
    read[key] = value.get(key);
  }
  if (value.has("state")) {
    const state = value.get("state");
    const [start, end] = places.get('["state"]');
    read.state = typeof state === "string" ? state : pretty(text.slice(start, end));
    read.plain = typeof state === "string" && stateKind(state) === "json";
  }
  const images = value.get("images");
  read.images = Array.isArray(images) ? images.length : value.get("assets") instanceof Map ? value.get("assets").size : 0;
  return read;
}

function readQuestion(id, question, path, fail) {
  const name = show(id);
  if (!(question instanceof Map)) fail(`Question ${name} must be an object.`, path);
  for (const key of question.keys()) if (!FIELDS.has(key)) fail(`${show(key)} is not a field of a question: it has type, instructions and criteria.`, [...path, key]);
  const type = question.get("type");
  if (!TYPES.has(type)) fail(`The type of ${name} must be “noul”, “choice” or “score”.`, question.has("type") ? [...path, "type"] : path);
  const made = { id, type };
  const instructions = plain(question.get("instructions"));
  if (instructions !== undefined && instructions !== null && instructions !== "") made.instructions = instructions;
  const criteria = question.get("criteria");
  const at = question.has("criteria") ? [...path, "criteria"] : path;
  if (type === "choice") {
    if (!(criteria instanceof Map)) fail(`The criteria of the choice ${name} must be an object: each option with what it means.`, at);
    made.options = [...criteria].map(([option, about]) => [option, about === "" ? null : plain(about)]);
  } else if (type === "score") {
    if (!Array.isArray(criteria)) fail(`The criteria of the score ${name} must be a list of levels, from low to high.`, at);
    made.criteria = criteria.map(plain).filter((level) => level !== null && level !== "");
  } else if (criteria !== undefined && criteria !== null) {
    if (!(criteria instanceof Map)) fail(`The criteria of the noul ${name} must be an object with “true” and “false”.`, at);
    for (const side of criteria.keys()) if (side !== "true" && side !== "false") fail(`Only “true” and “false” of the noul ${name} can be described.`, [...at, side]);
    const said = [...criteria].filter(([, about]) => about !== "");
    if (said.length) made.criteria = Object.fromEntries(said.map(([side, about]) => [side, plain(about)]));
  }
  return made;
}

/** Listed questions as the document's, with the identity of those of `old` that are still there. `old` itself when nothing changed. */
export function mergeQuestions(old, list) {
  const before = new Map();
  for (const q of old) if (!before.has(q.id)) before.set(q.id, q);
  const now = new Set(list.map((l) => l.id));
  const merged = list.map((item, index) => {
    const there = old[index];
    // A question that stands where one went away is that one under a new id.
    const was = before.get(item.id) ?? (there && !now.has(there.id) ? there : null);
    const same = was && was.id === item.id && JSON.stringify({ id: was.id, ...toWire(was) }) === JSON.stringify(item);
    return same ? was : made(item, was);
  });
  return merged.length === old.length && merged.every((q, i) => q === old[i]) ? old : merged;
}

function made(item, was) {
  const question = {
    uid: was?.uid ?? uid(), id: item.id, type: item.type, instructions: item.instructions ?? "",
    criteria: was?.criteria ?? {}, options: was?.options ?? [], levels: was?.levels ?? [], open: was?.open ?? false,
  };
  if (item.type === "noul") question.criteria = { ...(item.criteria ?? {}) };
  if (item.type === "choice") {
    const old = question.options;
    const names = new Set(item.options.map(([name]) => name));
    question.options = item.options.map(([name, about], i) => {
      const row = old.find((o) => o.name === name) ?? (old[i] && !names.has(old[i].name) ? old[i] : newOption());
      return { ...row, name, description: about ?? "" };
    });
  }
  if (item.type === "score") {
    const old = question.levels;
    question.levels = item.criteria.map((text, i) => (old[i] ? { ...old[i], text } : newLevel(text)));
  }
  return question;
}
