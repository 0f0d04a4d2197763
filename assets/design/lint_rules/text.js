// Words for the lint: how names and sentences are read before a rule judges them. Pure.
//
// The rules know English best and the commonest words of six other languages; what they do not know, they do not judge.

import { toText } from "../schema.js";

/** @param {unknown} value @returns {boolean} nothing was said: null, or text without a visible character */
export const isBlank = (value) => value === null || value === undefined || (typeof value === "string" && !value.trim());

/** The words of a text, in lower case, without punctuation: "Isn't it?" → ["isn't", "it"]. */
export function words(text) {
  return (
    text
      .normalize("NFKC")
      .toLowerCase()
      .replaceAll("’", "'")
      .match(/[\p{L}\p{N}]+(?:'\p{L}+)*/gu) ?? []
  );
}

/** The words of an id or option name: "billingDispute", "billing_dispute" and "Billing dispute" are the same two. */
export const nameWords = (name) => words(name.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2"));

/** A text as rules compare it: words only, one space between. */
export const sameText = (value) => words(toText(value)).join(" ");

/** The instruction where it is text; JSON instructions have no sentences that a wording rule could judge. */
export const wording = (question) => (typeof question.instructions === "string" ? question.instructions.trim() : "");

/** A pattern for any of the phrases, as whole words; `list` parts them by "|" and may run over several lines. */
export const phrases = (list) => new RegExp(String.raw`\b(?:${list.replace(/\n\s*/g, "")})\b`, "i");

/** The wording without what it only quotes or adds in brackets. */
export const unquoted = (text) => text.replace(/“[^”]*”|"[^"]*"|`[^`]*`|\([^)]*\)|\[[^\]]*\]/g, " ");

/** @returns {string[]} sentences with their closing mark */
export function sentences(text) {
  return (
    text
      .match(/[^.?!\n]+(?:[.?!]+(?=\s|$)|\n|$|[.?!]+)/g)
      ?.map((s) => s.trim())
      .filter((s) => /[\p{L}\p{N}]/u.test(s)) ?? []
  );
}

/** “a”, “b” and “c”: names in a sentence; long lists are counted out after `most`. */
export function quoteList(names, most = 3) {
  const shown = names.slice(0, most).map((n) => `“${clip(n)}”`);
  const left = names.length - shown.length;
  if (left > 0) shown.push(`${left} more`);
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
}

/** A name or phrase short enough for a hint. */
export const clip = (text, most = 40) => (text.length <= most ? text : `${text.slice(0, most - 1).trimEnd()}…`);

const COUNTS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/** Small counts as words, as people say them. */
export const count = (n) => COUNTS[n] ?? String(n);

/** Rows that somebody has filled in, with their place: [{index, name, description}]. Empty rows are not sent. */
export function rows(question) {
  return (question.options ?? [])
    .map((option, index) => ({ index, name: option.name ?? "", description: option.description ?? null }))
    .filter((row) => row.name !== "" || !isBlank(row.description));
}

/** A level's value: the page keeps levels as {uid, text}, an import as bare JSON. */
export const levelValue = (level) =>
  level !== null && typeof level === "object" && "text" in level ? level.text : level;

/** Levels that somebody has filled in, with their place: [{index, text}], text as an input shows it. */
export function levels(question) {
  return (question.levels ?? [])
    .map((level, index) => ({ index, text: toText(levelValue(level)) }))
    .filter((row) => !isBlank(row.text));
}

// Function words, and words that any question about any state could hold: they name nothing.
const STOP = new Set(
  `a about above an and answer any are as ask asked asks at be been being below by can choose could decide decision
  describe described describes did do does during each estimate evaluate express expressed following for from given
  going had has have he her here his how i if in input is it its itself judge kind label let likely mainly may me
  mention mentioned mentions message might most must my of on one or our out overall please question rate right say
  says seem seems should show shows sort state such tell text that the their them there these they this those to true
  us very was we were what when where whether which who whose why will with would you your contain contains document
  type category der die das ist ein eine sind hat wird wurde es und oder im zu von welche welcher welches wie le la
    les est une un des`.split(/\s+/),
);

const NEGATIONS = new Set(["not", "no", "never", "without"]);

/** An id of the instruction's own words ("Is the customer upset?" → "customer_upset"), or "" when it has none. */
export function suggestId(text) {
  const first = sentences(unquoted(text))[0] ?? text;
  const kind = /^(?:what|which)\s+(kind|type|sort|category)\s+of\s+(\p{L}+)/iu.exec(first);
  if (kind && !STOP.has(kind[2].toLowerCase()))
    return asId([kind[2], kind[1].toLowerCase() === "sort" ? "kind" : kind[1]]);
  const noun = /^(?:which|what)\s+(\p{L}{3,})/iu.exec(first);
  if (noun && !STOP.has(noun[1].toLowerCase())) return asId([noun[1]]);
  const many = /^how\s+many\s+(\p{L}{3,})/iu.exec(first);
  if (many) return asId([many[1], "count"]);
  // A dropped "not" would turn the id's meaning round, so negations stay.
  const kept = words(first.replace(/n['’]t\b/g, " not")).filter(
    (w) => NEGATIONS.has(w) || (!STOP.has(w) && w.length > 1),
  );
  const core = kept.filter((w) => !NEGATIONS.has(w));
  return core.length ? asId(kept.slice(0, 3)) : "";
}

function asId(parts) {
  const text = parts.join("_").toLowerCase();
  // Accents go, so that the id also fits services that allow only ASCII; other scripts stay as they are.
  const plain = text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^A-Za-z0-9_]/g, "")
    .replace(/_+/g, "_")
    .replace(/^_|_$/g, "");
  const chosen = plain.replaceAll("_", "").length >= 2 ? plain : text.replace(/[^\p{L}\p{N}\p{M}_]/gu, "");
  return chosen.slice(0, 40).replace(/_$/, "");
}

const SILENT = [
  /^(?:q|qn|qu|questions?|quest|x|y|z|id|item|field|test|tmp|temp|foo|bar|baz|thing|stuff|abc|asdf|todo)[-_. ]?\d*$/i,
  /^(?:new|untitled|unnamed|noname|frage|pregunta|domanda)[-_. ]?\d*$/i,
  /^(?:new|my|test|the)[-_ ]?question[-_ ]?\d*$/i,
  /^(?:noul|choice|score|bool|boolean|answer|result|output|label|value|class|prediction)[-_ ]?\d*$/i,
  /^\p{L}[-_. ]?\d*$/iu,
  /^[\d\s._-]+$/,
  /^[\da-f]{8}(?:-?[\da-f]{4}){3}-?[\da-f]{12}$/i,
  // What the editor calls a question that nobody has named yet.
  /^(?:is_it_so|which_one|how_much)(?:_\d+)?$/,
];

/** Whether an id tells a reader nothing about its question. */
export const isSilentId = (id) => SILENT.some((pattern) => pattern.test(id.trim()));

const ESCAPE_WORDS = new Set(
  `other others otherwise else none neither nothing nobody unknown unclear unsure uncertain misc miscellaneous
  undetermined unspecified unclassified uncategorized uncategorised undecided unrelated irrelevant rest remainder
  default fallback andere anderer anderes sonstige sonstiger sonstiges keine keiner keines unbekannt unklar autre
  autres aucun aucune inconnu inconnue otro otra otros otras ninguno ninguna desconocido altro altri altra nessuno
  nessuna sconosciuto outro outra outros outras nenhum nenhuma desconhecido overig overige geen onbekend`.split(/\s+/),
);
const ESCAPE_NAMES = new Set(
  `n a|na|not applicable|not sure|not stated|not given|not relevant|not related|not specified|cannot tell|can t tell|
  can't tell|cant tell|do not know|don't know|dont know|does not apply|general|no|ok|okay|fine|benign|normal|clean|
  safe|harmless|ordinary|regular|any|all good|out of scope|off topic`
    .split("|")
    .map((s) => s.trim()),
);
const ESCAPE_SAID = new RegExp(
  [
    String.raw`\b(?:anything|everything|something|nothing|whatever|someone|somewhere|all|any|nobody) (?:else|other)\b`,
    String.raw`\b(?:all|any|the) others\b`,
    String.raw`\bnone of (?:the|these|those|them)\b`,
    String.raw`\bno other\b`,
    String.raw`\b(?:does|do|did) not (?:fit|apply|match)\b`,
    String.raw`\bnot (?:covered|listed|named) (?:by|in|here|above|elsewhere)\b`,
    String.raw`\b(?:cannot|can not|can't) (?:tell|be told|be determined|be said|say)\b`,
  ].join("|"),
  "i",
);

/** Whether an option is a way out: "other", "none_of_these", "no_issue", or described as "anything else". */
export function isEscape(name, description = null) {
  const parts = nameWords(name);
  if (parts.some((w) => ESCAPE_WORDS.has(w)) || ESCAPE_NAMES.has(parts.join(" "))) return true;
  if (parts.length > 1 && ["no", "general"].includes(parts[0])) return true;
  return ESCAPE_SAID.test(toText(description));
}
