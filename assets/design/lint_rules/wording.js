// Rules about the wording of a question and its id. Pure; see lint.js for what a rule is.
//
// English grammar by pattern: each rule looks for one shape that is nearly always a mistake, and lets the rest pass.

import { copyQuestion, freeId } from "../schema.js";
import {
  clip,
  isBlank,
  isSilentId,
  levels,
  nameWords,
  phrases,
  rows,
  sentences,
  suggestId,
  unquoted,
  wording,
  words,
} from "./text.js";

const AUX =
  "is|are|was|were|does|do|did|has|have|had|can|could|should|would|will|must|may|might|isn't|aren't|doesn't|don't";
const WH = "what|which|who|whom|whose|when|where|why|how";

// ------------------------------------------------------------------------------------------------ double negation

// "Not without consent" is an idiom that everybody reads right, so "without" does not count.
const NEGATOR = /^(?:not|cannot|never|no|none|nobody|nothing|neither|\p{L}+n't)$/u;
// Words that deny by themselves: next to a "not" they make two. Only common ones; "under" or "interest" deny nothing.
const DENIES = new RegExp(
  String.raw`^(?:un(?:able|acceptable|aware|certain|clear|common|fair|happy|justified|known|likely|necessary|paid|` +
    String.raw`reasonable|related|resolved|safe|satisfied|solved|sure|true|usual|wanted|willing)|` +
    String.raw`in(?:accurate|appropriate|complete|correct|sufficient|valid)|im(?:possible|polite|proper|probable)|` +
    String.raw`ir(?:relevant|regular)|dis(?:honest|satisfied|agrees?)|il(?:legal|legitimate))$`,
);
const CLAUSE =
  /[.?!;:,\n–—]+|\b(?:and|or|but|nor|because|if|when|unless|while|although|though|so|than|rather|which|who)\b/i;

/** The negations of one clause, at most `reach` words apart from each other; fewer than two undo nothing. */
function negations(clause, reach) {
  const list = words(
    clause
      .replace(/\bno (?:longer|more|one|matter|later|less|sooner|doubt)\b/gi, " ")
      .replace(/\bnot (?:only|just|least|to mention)\b/gi, " ")
      .replace(/\bwhether or not\b|\bor not\b/gi, " "),
  );
  const found = [];
  list.forEach((word, i) => {
    if (NEGATOR.test(word)) found.push({ word, i });
    else if (DENIES.test(word)) {
      // "not entirely unclear": only right behind a "not" do the two meet.
      const near = found.at(-1);
      if (near && i - near.i <= 2 && /^(?:not|never|cannot|\p{L}+n't)$/u.test(near.word)) found.push({ word, i });
    }
  });
  const at = found.findIndex((f, k) => k > 0 && f.i - found[k - 1].i <= reach);
  return at < 0 ? [] : [found[at - 1].word, found[at].word];
}

/** Descriptions list cases ("warnings not to share it do not count"): there only negations this close count. */
const NEAR = 4;

export const doubleNegation = {
  id: "double-negation",
  title: "Two negations in one sentence",
  reason: "People and models lose count of negations: a plain question leaves nothing to count.",
  check(question) {
    const fields = [["instructions", wording(question), Infinity]];
    if (question.type === "noul") {
      for (const side of ["true", "false"]) {
        const said = question.criteria?.[side];
        if (typeof said === "string") fields.push([`criteria.${side}`, said, NEAR]);
      }
    }
    const found = [];
    for (const [field, text, reach] of fields) {
      for (const clause of unquoted(text).split(CLAUSE)) {
        const two = negations(clause, reach);
        if (!two.length) continue;
        found.push({
          field,
          message: `“${two[0]}” and “${two[1]}” undo each other. Ask it the plain way round.`,
          fix: null,
        });
        break;
      }
    }
    return found;
  },
};

// ------------------------------------------------------------------------------------------- two questions in one

// A second sentence that explains the first asks nothing new.
const EXPLAINS =
  /^(?:that is|i\.?e\b|in other words|meaning|for (?:example|instance)|e\.?g\b|such as|or\b|rather|namely)/i;
// A second verb needs its own subject to be a second question: "were or will be charged" is one.
const SUBJECT =
  "it|this|that|these|those|the|there|they|he|she|you|we|i|a|an|any|anyone|anybody|anything|some|someone|somebody|" +
  "something|all|its|their|his|her|our|my|your|people|customers?|users?";
const JOINED = new RegExp(
  String.raw`^(\s*(?:${AUX})\b.{3,}?),?\s+(and|or)\s+((?:also\s+)?(?:${AUX})\s+(?:${SUBJECT})\b.{2,})$`,
  "isu",
);
const JOINED_WH = new RegExp(String.raw`^(\s*(?:${WH})\b.{2,}?),?\s+(?:and|or)\s+((?:${WH})\b.*)$`, "isu");

/**
 * The two questions that a text asks, or null. `exact`: the text is those two and nothing else.
 * @returns {{parts: [string, string], how: "sentences" | "and" | "or" | "wh", exact: boolean} | null}
 */
export function twoQuestions(text) {
  const asked = sentences(unquoted(text)).filter((s) => s.endsWith("?") && words(s).length >= 3);
  const more = asked.slice(1).filter((s) => !EXPLAINS.test(s));
  if (more.length)
    return { parts: [asked[0], more[0]], how: "sentences", exact: asked.length === 2 && sentences(text).length === 2 };
  const one = asked[0] ?? "";
  const joined = JOINED.exec(one);
  if (joined) {
    const second = joined[3].replace(/^also\s+/i, "");
    return {
      parts: [`${joined[1].trim()}?`, second[0].toUpperCase() + second.slice(1)],
      how: joined[2].toLowerCase(),
      exact: one === text.trim(),
    };
  }
  const wh = JOINED_WH.exec(one);
  // Only from the start: "Does it say who sent it and when?" asks one thing.
  return wh ? { parts: [`${wh[1].trim()}?`, wh[2]], how: "wh", exact: false } : null;
}

export const twoInOne = {
  id: "two-questions",
  title: "Two questions in one",
  reason: "One probability cannot tell which half it answers. Two questions are read in the same pass.",
  check(question) {
    const text = wording(question);
    const two = twoQuestions(text);
    if (!two) return [];
    // "Is it a bug or is it a wish?" is how a choice is asked; a noul cannot say which.
    if (two.how === "or" && question.type !== "noul") return [];
    const why = two.how === "or" ? "a yes does not say to which" : "one answer cannot say to which it belongs";
    const plain =
      question.type === "noul" && two.exact && !Object.values(question.criteria ?? {}).some((v) => !isBlank(v));
    return [
      {
        field: "instructions",
        message: `This asks two things, and ${why}: “${clip(two.parts[0], 50)}” and “${clip(two.parts[1], 50)}”`,
        fix: plain ? { label: "Split in two", edit: split } : null,
      },
    ];
  },
};

/** Two questions where one was. @returns {object[]} */
function split(question, doc) {
  const two = twoQuestions(wording(question));
  if (!two) return [question];
  const taken = new Set(doc.questions.map((q) => q.id));
  const second = freeId(suggestId(two.parts[1]) || `${question.id}_2`, taken);
  const copy = copyQuestion({ ...question, options: question.options ?? [], levels: question.levels ?? [] }, taken);
  return [
    { ...question, instructions: two.parts[0] },
    { ...copy, id: second, instructions: two.parts[1] },
  ];
}

// ------------------------------------------------------------------------------------------- open question, as noul

const OPEN = new RegExp(String.raw`^(?:${WH})\b(?!\s+(?:if|about|come)\b)`, "i");

export const openNoul = {
  id: "open-noul",
  title: "A noul that cannot be answered by yes or no",
  reason:
    "A noul gives the probability of yes. “How urgent is it?” has no yes; a score or a choice can hold its answer.",
  check(question) {
    if (question.type !== "noul" || !Object.values(question.criteria ?? {}).every(isBlank)) return [];
    const all = sentences(unquoted(wording(question)));
    const asked = all.at(-1) ?? "";
    if (!asked.endsWith("?") || words(asked).length < 3 || all.length !== 1 || !OPEN.test(asked)) return [];
    const to = /^how\b/i.test(asked) ? "score" : "choice";
    return [
      { field: "instructions", message: `Yes is no answer to this. A ${to} can hold what it asks for.`, fix: null },
    ];
  },
};

// --------------------------------------------------------------------------------------------- refers to another

const POINTS = [
  /\b(?:previous|preceding|above|earlier) question\b|\bquestions? (?:above|before this|below)\b/i,
  /\banswers? (?:to|of|from|in) (?:the )?(?:previous|preceding|above|earlier)\b/i,
  /\byour (?:previous|earlier|last|first|other) answers?\b/i,
  /\b(?:the|your) answers? above\b/i,
  /\bif (?:you (?:answered|said|chose|picked)|question \d+|(?:the )?above is)\b/i,
  /\bif (?:yes|no|true|false|so) (?:to|in|for) (?:the|that|any)\b/i,
  /^\s*(?:and\s+)?(?:if|when|where) (?:yes|no|so|not|true|false)\b/i,
];
/** From this pattern on, only a reader of several questions can be meant. */
const TOLD = 2;
// A state may be a conversation, in which people ask and answer: then "the previous question" is theirs.
const PEOPLE = phrases(`user|customer|client|caller|agent|assistant|bot|model|speaker|interviewer|interviewee|candidate|
  student|teacher|patient|doctor|author|sender|writer|person|reply|replies|response|conversation|chat|thread|dialogue|
  transcript|reporter|buyer|seller`);

export const refersToAnother = {
  id: "refers-to-another",
  title: "A question that refers to another's answer",
  reason: "All questions are read at once and none sees another's answer. A question has to make sense by itself.",
  scope: "document",
  check(question, context) {
    const text = wording(question);
    if (!text) return [];
    const hit = POINTS.map((pattern, i) => ({ m: pattern.exec(text), i })).find(
      ({ m, i }) => m && (i >= TOLD || !PEOPLE.test(text)),
    );
    if (hit) {
      return [
        {
          field: "instructions",
          message: `“${clip(hit.m[0].trim())}”: no question sees another's answer. Say here what it depends on.`,
          fix: null,
        },
      ];
    }
    const id = context.otherIds(question).find((other) => namesId(text, other));
    if (id === undefined) return [];
    return [
      {
        field: "instructions",
        message: `“${clip(id)}” is another question, whose answer is not seen here. Say here what it depends on.`,
        fix: null,
      },
    ];
  },
};

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Whether a text names a question by its id. An id that is a common word counts only where it is set apart. */
function namesId(text, id) {
  if (id.length < 2 || !text.toLowerCase().includes(id.toLowerCase())) return false;
  const bare = escaped(id);
  const made = /[\p{L}\p{N}][_.-][\p{L}\p{N}]|\p{Ll}\p{Lu}|\p{L}\d/u.test(id);
  if (made) return new RegExp(String.raw`(?<![\p{L}\p{N}_-])${bare}(?![\p{L}\p{N}_-])`, "u").test(text);
  const marks = `[“"'\`‘]${bare}[”"'\`’] (?:is|was|=|question|answer)|\`${bare}\``;
  return new RegExp(
    String.raw`${marks}|\b(?:if|when) ${bare} (?:is|was|=+) (?:true|false|yes|no)\b|\bquestion ${bare}\b`,
    "iu",
  ).test(text);
}

// ------------------------------------------------------------------------------------------- ids, nothing asked

export const silentId = {
  id: "silent-id",
  title: "An id that says nothing",
  reason:
    "Clef's releases put the question's id into the prompt, so an id that names the subject helps and “q1” does not.",
  scope: "document",
  check(question, context) {
    if (context.questionIds !== "literal" || isBlank(question.instructions) || !isSilentId(question.id)) return [];
    if (question.id.trim() === "") return [];
    const better = suggestId(wording(question));
    const free = better && !isSilentId(better) ? freeId(better, context.takenBut(question)) : "";
    return [
      {
        field: "id",
        message: `The id is sent to the model, and “${clip(question.id)}” tells it nothing.`,
        fix: free
          ? { label: `Rename to ${free}`, edit: (q, doc) => ({ ...q, id: freeId(better, idsBut(doc, q)) }) }
          : null,
      },
    ];
  },
};

const idsBut = (doc, question) => new Set(doc.questions.filter((q) => q !== question).map((q) => q.id));

export const nothingAsked = {
  id: "nothing-asked",
  title: "Options without a question",
  reason:
    "Without an instruction the model has the id to go by where it reads ids, and nothing at all where it does not.",
  check(question, context) {
    if (!isBlank(question.instructions) || question.type === "noul") return [];
    const filled = question.type === "choice" ? rows(question).length : levels(question).length;
    const silent = isSilentId(question.id);
    if (!filled || (context.questionIds === "literal" && !silent)) return [];
    const asked = nameWords(question.id).join(" ");
    const text = asked ? `${asked[0].toUpperCase()}${asked.slice(1)}?` : "";
    return [
      {
        field: "instructions",
        message:
          context.questionIds === "literal"
            ? `Nothing is asked, so the model reads the id in its place, and “${clip(question.id)}” tells it nothing.`
            : "Nothing is asked: this model does not read the id, so it sees the options and no question.",
        fix:
          silent || !text
            ? null
            : {
                label: `Ask “${clip(text, 30)}”`,
                edit: (q) => (isBlank(q.instructions) ? { ...q, instructions: text } : q),
              },
      },
    ];
  },
};

export const wordingRules = [nothingAsked, silentId, twoInOne, openNoul, doubleNegation, refersToAnother];
