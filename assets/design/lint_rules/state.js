// The rule about the state: text in it that gives orders to the model. Pure; see lint.js for what a rule is.
//
// Patterns are bounded (no unlimited repetition), so that a state of 200 KB is read once in a few milliseconds.

import { clip } from "./text.js";

const MODEL = String.raw`(?:ai|a\.i\.|llm|language model|model|assistant|classifier|chatbot|gpt|claude|gemini)`;
const RULES = String.raw`(?:instructions?|prompts?|rules|directions|guidelines|directives|commands|system message)`;

const BEFORE = "previous|prior|earlier|above|preceding|foregoing|other|existing|original|your|system|safety|all";
const HIDDEN = "system prompt|hidden prompt|initial prompt|system instructions|hidden instructions";
const HARMLESS = "safe|benign|harmless|legitimate|compliant|trusted|human|not[ _-](?:spam|phishing|malicious|toxic)";
const ANSWER = "yes|no|true|false|0|1";
const JUDGE = "classify|label|mark|rate|flag|score|categori[sz]e";
const QUOTE = "[\"“”'‘’]?";
/** Up to n words in between. */
const gap = (n) => String.raw`(?:[\w'-]+\s+){0,${n}}?`;

const ORDERS = [
  String.raw`\b(?:ignore|disregard|forget|override|bypass|discard)\s+${gap(4)}(?:${BEFORE})\s+${gap(2)}${RULES}\b`,
  String.raw`\b(?:ignore|disregard|forget)\s+(?:everything|anything|all)\s+${gap(3)}(?:above|before|told)\b`,
  String.raw`\byou are (?:now|no longer) (?:dan\b|in (?:developer|debug|admin|god) mode|an? ${gap(2)}${MODEL}\b)`,
  String.raw`\b(?:act|behave|respond|pretend) as (?:if you (?:are|were) )?(?:an?|the) ${gap(2)}${MODEL}\b`,
  String.raw`\b(?:reveal|print|repeat|show|output|leak|dump)\s+(?:me\s+)?(?:your|the)\s+${gap(2)}(?:${HIDDEN})\b`,
  String.raw`\b(?:note|message|instructions?|notice|attention)\s+(?:to|for)\s+(?:the |any |all )?${MODEL}s?\b\s*[:,.-]`,
  String.raw`\b(?:attention|important),? (?:the )?${MODEL}s?\s*:`,
  String.raw`\bif you are an? ${gap(2)}${MODEL}\b`,
  String.raw`\b(?:answer|respond|reply)\s+${gap(2)}${QUOTE}(?:${ANSWER})${QUOTE}\s+(?:to|for)\s+(?:all|every|any)\b`,
  String.raw`\b(?:${JUDGE})\s+(?:this|it|the following|me)\s+${gap(2)}as\s+${QUOTE}(?:${HARMLESS})\b`,
  String.raw`\b(?:set|give|assign|output)\s+${gap(3)}(?:probability|confidence|score)\s+(?:of|to|as)\s+(?:0|1|100)\b`,
  String.raw`<\|(?:im_start|im_end|system|user|assistant|endoftext)\|>|\[/?INST\]|<</?SYS>>|</?system(?:_prompt)?>`,
  String.raw`(?:^|\n)\s{0,8}(?:#{1,4}\s{0,4})?(?:system|new|updated)\s{0,4}(?:prompt|instructions?)\s{0,2}(?::|\n|$)`,
].map((source) => new RegExp(source, "i"));

/** Longest part of the state that is read; what lies behind it is not judged. */
const READ = 400_000;

/** The first passage that reads like an order, in characters. @returns {{start: number, end: number} | null} */
export function findOrder(state) {
  const text = state.slice(0, READ);
  let first = null;
  for (const pattern of ORDERS) {
    const match = pattern.exec(text);
    if (!match) continue;
    const start = match.index + match[0].search(/\S/);
    if (!first || start < first.start) first = { start, end: match.index + match[0].length };
  }
  return first;
}

export const stateInstructs = {
  id: "state-instructs",
  title: "The state gives orders",
  reason:
    "“Ignore the instructions above” may be what you judge, or an attempt to steer the answer. Either is good to know.",
  check(state) {
    const span = findOrder(state);
    if (!span) return [];
    const said = clip(state.slice(span.start, span.end).trim().replace(/\s+/g, " "), 50);
    return [
      {
        field: "state",
        message: `The state says “${said}”, which reads like an order to the model. See whether the answers follow it.`,
        span: [span.start, span.end],
        fix: null,
      },
    ];
  },
};
