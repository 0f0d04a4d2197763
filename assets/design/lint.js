// Lint: quiet advice about a schema while it is written. Pure: no DOM, no network, nothing is changed unless asked.
//
// A rule looks at one question (or at the state) and says what is odd, why that matters, and, where there is one way
// out, how to fix it. Rules are hints and not errors: what cannot be sent is schema.js' business. A rule that is not
// sure says nothing. docs and tests read `RULES`: each has an id, a title, and one sentence that gives its reason.

import { levelRules } from "./lint_rules/levels.js";
import { optionRules } from "./lint_rules/options.js";
import { stateInstructs } from "./lint_rules/state.js";
import { wordingRules } from "./lint_rules/wording.js";

/**
 * @typedef {object} Finding
 * @property {string} rule         id of the rule
 * @property {number | null} question  index in doc.questions; null for the state
 * @property {string} field        "id", "instructions", "options", "options.2.name", "criteria.true", "levels",
 *                                "levels.1" or "state"
 * @property {string} message      what, and why, in plain words
 * @property {{label: string, apply: (doc: object) => object} | null} fix  `apply` returns a new document
 * @property {[number, number]} [span]  for the state: first character, and the one behind the last
 *
 * @typedef {object} Context
 * @property {string} state                       the state's text as it is sent
 * @property {"literal" | "neutral"} questionIds  whether the scorer reads question ids
 * @property {object} [limits]                    {questions, options, levels}; rules need none of them today
 *
 * @typedef {object} Rule
 * @property {string} id
 * @property {string} title
 * @property {string} reason
 * @property {"document"} [scope]  the rule also looks at the other questions, so its findings are not kept
 * @property {(question: object, context: object) => object[]} check
 */

/** @type {Rule[]} every rule about a question, in the order in which its findings are shown */
export const QUESTION_RULES = [...wordingRules, ...optionRules, ...levelRules];

/** @type {{id: string, title: string, reason: string}[]} every rule, for docs */
export const RULES = [...QUESTION_RULES, stateInstructs];

// Documents are immutable and share what did not change: a question's own findings hold as long as its object.
const kept = { literal: new WeakMap(), neutral: new WeakMap() };
let lastState = { text: null, found: [] };

/**
 * All findings, in the order of the questions; the state's come last.
 * @param {{questions: object[]}} doc
 * @param {Context} context
 * @returns {Finding[]}
 */
export function lint(doc, context) {
  const mode = context.questionIds === "literal" ? "literal" : "neutral";
  const seen = { questionIds: mode, limits: context.limits, ...others(doc) };
  const found = doc.questions.flatMap((question, index) => {
    const own = ownFindings(question, seen);
    const wide = QUESTION_RULES.filter((rule) => rule.scope === "document").flatMap((rule) =>
      run(rule, question, seen),
    );
    return order([...own, ...wide]).map((finding) => placed(finding, question, index));
  });
  return [...found, ...stateFindings(context.state ?? "")];
}

function others(doc) {
  const ids = doc.questions.map((q) => q.id);
  return {
    otherIds: (question) => doc.questions.filter((q) => q !== question && q.id !== question.id).map((q) => q.id),
    takenBut: (question) => new Set(ids.filter((_, i) => doc.questions[i] !== question)),
  };
}

const run = (rule, question, seen) => rule.check(question, seen).map((finding) => ({ rule: rule.id, ...finding }));

function ownFindings(question, seen) {
  const cache = kept[seen.questionIds];
  let found = cache.get(question);
  if (!found) {
    found = QUESTION_RULES.filter((rule) => rule.scope !== "document").flatMap((rule) => run(rule, question, seen));
    cache.set(question, found);
  }
  return found;
}

const RANK = new Map(QUESTION_RULES.map((rule, i) => [rule.id, i]));
const order = (found) => found.sort((a, b) => RANK.get(a.rule) - RANK.get(b.rule));

function placed({ rule, field, message, fix }, question, index) {
  const apply = fix && ((doc) => edited(doc, question, index, fix.edit));
  return { rule, question: index, field, message, fix: fix ? { label: fix.label, apply } : null };
}

/** The document with the linted question edited; by uid where it has one, since it may have been moved meanwhile. */
function edited(doc, question, index, edit) {
  const at = question.uid === undefined ? index : doc.questions.findIndex((q) => q.uid === question.uid);
  const there = doc.questions[at];
  if (there === undefined) return doc;
  const result = edit(there, doc);
  if (result === there) return doc;
  const questions = [...doc.questions];
  questions.splice(at, 1, ...(Array.isArray(result) ? result : [result]));
  return { ...doc, questions };
}

function stateFindings(text) {
  if (text !== lastState.text) {
    lastState = {
      text,
      found: stateInstructs.check(text).map((f) => ({ rule: stateInstructs.id, question: null, ...f })),
    };
  }
  return lastState.found;
}
