// The rule about the state: text in it that gives orders to the model. Pure; see lint.js for what a rule is.
//
// Patterns are bounded (no unlimited repetition), so that a state of 200 KB is read once in a few milliseconds.

import { clip } from "./text.js";

const MODEL = String.raw`(?:ai|a\.i\.|llm|language model|model|assistant|classifier|chatbot|gpt|claude|gemini)`;
const RULES = String.raw`(?:instructions?|prompts?|rules|directions|guidelines|directives|commands|system message)`;

const BEFORE = "previous|prior|earlier|above|preceding|foregoing|other|existing|original|your|system|safety|all";
const HIDDEN = "system prompt|hidden prompt|initial prompt|system instructions|hidden instructions";
const HARMLESS = "safe|benign|harmless|legitimate|compliant|trusted|human|not[ _-](?:spam|phishing|malicious|toxic)";
const TELL = "reveal|print|repeat|show|output|leak|dump|recite|write|display";
/** How a machine that reads along is addressed; a bare "agent" or "model" may be a person or a product. */
const AGENT = String.raw`(?:ai|automated|scheduling|e-?mail|coding|review) (?:bot|agent|assistant)`;
const READER = String.raw`(?:ai|llm|(?:ai |language )model|ai reader|(?:ai )?assistant|(?:chat)?bot|${AGENT})s?`;
const NOTE = String.raw`(?:note|ps|p\.s\.|message|instructions?|notice|todo)\s+(?:to|for)\s+(?:the |any |all )?`;
const ANSWER = "yes|no|true|false|0|1";
const JUDGE = "classify|label|mark|rate|flag|score|categori[sz]e";
const QUOTE = "[\"“”'‘’]?";
/** Up to n words in between. */
const gap = (n) => String.raw`(?:[\w'-]+\s+){0,${n}}?`;

const ORDERS = [
  String.raw`\b(?:ignore|disregard|forget|override|bypass|discard)\s+${gap(4)}(?:${BEFORE})\s+${gap(2)}${RULES}\b`,
  String.raw`\b(?:ignore|disregard|forget)\s+(?:everything|anything|all)\s+${gap(3)}(?:above|before|told)\b`,
  String.raw`\b(?:all|any) (?:previous |prior )?(?:restrictions|safety rules) (?:are|is) (?:void|lifted|off|removed)\b`,
  String.raw`\byou are (?:now|no longer) (?:dan\b|in [\w-]+ mode\b|an? ${gap(2)}${MODEL}\b)`,
  String.raw`\bfrom now on,?\s+you\s+${gap(1)}(?:answer|respond|reply|act|obey)\b`,
  String.raw`\b(?:(?:act|behave|respond|pretend) as (?:if you (?:are|were) )?|play )(?:an?|the) ${gap(2)}${MODEL}\b`,
  String.raw`\b(?:${TELL})\s+(?:me\s+)?(?:(?:your|the|its)\s+)?${gap(2)}(?:${HIDDEN})\b`,
  // Speaking to a machine that reads along: "note for AI assistants", "any assistant processing this ticket".
  String.raw`\b${NOTE}${READER}\b(?:\s*[:–—-]|\s+(?:that|who|\w+ing)\b)`,
  String.raw`\b(?:any|all|every|whichever|dear)\s+${gap(1)}${READER}\s+(?:that is )?\w+ing\s+(?:this|these)\b`,
  String.raw`\b${READER}\s+(?:\w+ing\s+(?:\w+\s+){1,4})?must\s+(?:now|first|not)\b`,
  String.raw`(?:<!--|\[\[)\s*(?:\w+\s+){0,3}?${READER}\b`,
  String.raw`\bif you are an? ${gap(2)}${MODEL}\b`,
  String.raw`\b(?:do|must) not (?:mention|reveal|repeat) (?:this|these) (?:instructions?|words|paragraph|note)\b`,
  String.raw`\b(?:answer|respond|reply)\s+${gap(2)}${QUOTE}(?:${ANSWER})${QUOTE}\s+(?:to|for)\s+(?:all|every|any)\b`,
  String.raw`\b(?:${JUDGE})\s+(?:this|it|the following|me)\s+${gap(2)}as\s+${QUOTE}(?:${HARMLESS})\b`,
  String.raw`\b(?:set|give|assign|output)\s+${gap(3)}(?:probability|confidence|score)\s+(?:of|to|as)\s+(?:0|1|100)\b`,
  String.raw`<\|(?:im_start|im_end|system|user|assistant|endoftext)\|>|\[/?INST\]|<</?SYS>>|</?system(?:_prompt)?>`,
  String.raw`(?:^|\n)\s{0,8}(?:#{1,4}\s{0,4})?(?:system|new|updated)\s{0,4}(?:prompt|instructions?)\s{0,2}(?::|\n|$)`,
  String.raw`\bsystem override\b`,
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
