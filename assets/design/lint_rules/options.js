// Rules about the options of a choice, and about the two descriptions of a noul. Pure; see lint.js for what a rule is.

import { newOption, toText } from "../schema.js";
import { ranksOn } from "./scales.js";
import {
  clip,
  count,
  isBlank,
  isEscape,
  nameWords,
  phrases,
  quoteList,
  rows,
  sameText,
  wording,
  words,
} from "./text.js";

const isChoice = (question) => question.type === "choice";

// Pairs that leave nothing between them. Either order.
const PAIRS = new Set(
  `yes no|true false|y n|on off|allow block|allow deny|allow refuse|accept reject|accept decline|approve reject|
  approve deny|approve decline|approved rejected|pass fail|passed failed|success failure|human bot|person bot|
  human machine|person machine|spam ham|positive negative|open closed|open close|public private|internal external|
  inbound outbound|incoming outgoing|safe unsafe|safe dangerous|safe harmful|real fake|genuine fake|fact opinion|
  formal informal|new existing|new returning|buyer seller|sender recipient|before after|present absent|left right|
  up down|male female|online offline|manual automatic|keep delete|keep drop|keep discard|good bad|same different|
  read write|legitimate phishing|legitimate fraud|legitimate spam|genuine phishing|benign malicious|normal anomaly|
  normal anomalous|ham phishing|work private|business personal|first second|for against|agree disagree|reply ignore|
    escalate resolve|act wait|now later|b2b b2c|ja nein|oui non|si no|sim não|sí no`
    .split("|")
    .map((pair) => pair.trim()),
);
const CLOSED = [
  "positive negative neutral mixed",
  "yes no maybe partly partially",
  "monday tuesday wednesday thursday friday saturday sunday",
  "january february march april may june july august september october november december",
  "left right center centre middle",
  "spring summer autumn fall winter",
  "north south east west",
  "low medium high urgent critical normal",
].map((set) => new Set(set.split(" ")));

const NEGATION = new Set(["not", "no", "non", "without", "un", "in", "kein", "keine", "nicht", "pas"]);
const DEGREE = new Set(
  `very slightly somewhat rather quite extremely highly mostly partly barely strongly fully completely too almost more
  less most least semi`.split(/\s+/),
);

/** X and not X: "spam" and "not_spam". @returns {[number, number] | null} places of yes and no */
function negatedPair(names) {
  const [a, b] = names.map((name) => nameWords(name));
  for (const [yes, no, order] of [
    [a, b, [0, 1]],
    [b, a, [1, 0]],
  ]) {
    if (no.length === yes.length + 1 && ["not", "no", "non"].includes(no[0]) && no.slice(1).join(" ") === yes.join(" "))
      return order;
  }
  return null;
}

const prefixed = (a, b) => ["un", "in", "im", "ir", "dis", "non", "il"].some((p) => b === p + a || a === p + b);

/** Two options that share out everything, by a pair that people know, by a negation, or as the question puts them. */
function complementary(question, pair) {
  const [a, b] = pair.map((row) => nameWords(row.name).join(" "));
  if (PAIRS.has(`${a} ${b}`) || PAIRS.has(`${b} ${a}`)) return true;
  if (negatedPair(pair.map((row) => row.name)) || prefixed(a, b)) return true;
  if (
    pair.some((row) => /^\s*(?:not|no|nothing|anything but|all but|without|neither)\b/i.test(toText(row.description)))
  )
    return true;
  // "Is the sender a bot or a person?": whoever asks so has said that there is nothing else.
  const asked = ` ${words(wording(question)).join(" ")} `;
  return asked.includes(" or ") && asked.includes(` ${a} `) && asked.includes(` ${b} `);
}

function closedSet(names) {
  const plain = names.map((name) => nameWords(name).join(" "));
  return ranksOn(names) !== null || CLOSED.some((set) => plain.every((name) => set.has(name)));
}

/** A name for the way out, spelt as the other names are. */
function escapeName(names) {
  if (names.some((n) => n.includes("_"))) return "none_of_these";
  if (names.some((n) => /\p{L}-\p{L}/u.test(n))) return "none-of-these";
  const spaced = names.some((n) => /\s/.test(n));
  if (names.every((n) => /^\p{Lu}/u.test(n))) return "None of these";
  return spaced ? "none of these" : "none_of_these";
}

export const noWayOut = {
  id: "no-way-out",
  title: "No “none of these” option",
  reason: "A choice always picks one of its options. Without a way out, what fits none of them is still given to one.",
  check(question) {
    if (!isChoice(question)) return [];
    const filled = rows(question).filter((row) => row.name !== "");
    if (filled.length < 2 || filled.some((row) => isEscape(row.name, row.description))) return [];
    const names = filled.map((row) => row.name);
    if (closedSet(names) || (filled.length === 2 && complementary(question, filled))) return [];
    const name = escapeName(names);
    return [
      {
        field: "options",
        message: `No way out: whatever comes in goes to one of these ${count(names.length)}.`,
        fix: {
          label: `Add ${name}`,
          edit: (q) => ({ ...q, options: [...q.options, newOption(name, "None of the other options fits")] }),
        },
      },
    ];
  },
};

export const yesNoChoice = {
  id: "yes-no-choice",
  title: "Yes or no asked as a choice",
  reason: "A noul asks for one probability and gets one threshold; a choice of yes and no is the same in two parts.",
  check(question) {
    if (!isChoice(question)) return [];
    const filled = rows(question);
    if (filled.length !== 2) return [];
    const sides = yesAndNo(filled);
    if (!sides) return [];
    return [
      {
        field: "options",
        message: `${quoteList(filled.map((r) => r.name))} are a yes and a no. A noul asks that with one probability.`,
        fix: { label: "Ask as noul", edit: toNoul },
      },
    ];
  },
};

const YES = new Set("yes|true|y|ja|oui|sí|si|sim".split("|"));
const NO = new Set("no|false|n|nein|non|não|nao".split("|"));

/** What yes and no mean, or null. Where names are X and not X, a name stands in for a missing description. */
function yesAndNo(filled) {
  const plain = filled.map((row) => nameWords(row.name).join(" "));
  for (const [yes, no] of [
    [0, 1],
    [1, 0],
  ]) {
    if (YES.has(plain[yes]) && NO.has(plain[no])) return { yes: filled[yes].description, no: filled[no].description };
  }
  const order = negatedPair(filled.map((row) => row.name));
  if (!order) return null;
  const said = (place) => (isBlank(filled[place].description) ? plain[place] : filled[place].description);
  return { yes: said(order[0]), no: said(order[1]) };
}

function toNoul(question) {
  const sides = yesAndNo(rows(question));
  if (!sides) return question;
  const criteria = {};
  if (!isBlank(sides.yes)) criteria.true = sides.yes;
  if (!isBlank(sides.no)) criteria.false = sides.no;
  // The options stay in the document, unsent: going back to a choice finds them.
  return { ...question, type: "noul", criteria };
}

/** Removes the option at `index`, if it is still called `name`; its description is kept where `into` has none. */
function dropOption(question, index, name, into) {
  const gone = question.options[index];
  if (gone?.name !== name) return question;
  const options = question.options
    .map((o) => (o.name === into && isBlank(o.description) ? { ...o, description: gone.description } : o))
    .filter((_, i) => i !== index);
  return { ...question, options };
}

/** Pairs of rows whose key is the same: [earlier, later]; each row is named once. */
function twins(filled, key) {
  const first = new Map();
  const found = [];
  for (const row of filled) {
    const k = key(row);
    if (k === "") continue;
    if (first.has(k)) found.push([first.get(k), row]);
    else first.set(k, row);
  }
  return found;
}

const lower = (name) => name.normalize("NFKC").toLowerCase();

export const caseOnlyNames = {
  id: "case-only-names",
  title: "Option names that differ only in case",
  reason: "“Billing” and “billing” are one word to most readers, the model included: the probability is split.",
  check(question) {
    if (!isChoice(question)) return [];
    return twins(rows(question), (row) => lower(row.name))
      .filter(([a, b]) => a.name !== b.name)
      .map(([a, b]) => ({
        field: `options.${b.index}.name`,
        message: `“${clip(b.name)}” and “${clip(a.name)}” differ only in capital letters: they split one probability.`,
        fix: { label: `Remove ${clip(b.name)}`, edit: (q) => dropOption(q, b.index, b.name, a.name) },
      }));
  },
};

export const repeatedOption = {
  id: "repeated-option",
  title: "Options that repeat each other",
  reason:
    "Two options that say the same share one probability between them, so each looks less sure than the model is.",
  check(question) {
    if (question.type === "noul") return sameSides(question);
    if (!isChoice(question)) return [];
    const filled = rows(question);
    const names = twins(filled, (row) => nameWords(row.name).join(" "))
      .filter(([a, b]) => lower(a.name) !== lower(b.name))
      .map(([a, b]) => ({
        field: `options.${b.index}.name`,
        message: `“${clip(b.name)}” and “${clip(a.name)}” are the same words: they split one probability.`,
        fix: { label: `Remove ${clip(b.name)}`, edit: (q) => dropOption(q, b.index, b.name, a.name) },
      }));
    const said = twins(filled, (row) => (isBlank(row.description) ? "" : sameText(row.description)))
      .filter(([a, b]) => nameWords(a.name).join(" ") !== nameWords(b.name).join(" "))
      .map(([a, b]) => ({
        field: `options.${b.index}.description`,
        message: `“${clip(b.name)}” is described like “${clip(a.name)}”: say what sets the two apart.`,
        fix: null,
      }));
    return [...names, ...said];
  },
};

function sameSides(question) {
  const { true: yes, false: no } = question.criteria ?? {};
  if (isBlank(yes) || isBlank(no) || sameText(yes) !== sameText(no)) return [];
  return [
    { field: "criteria.false", message: "True and false are described alike: say what sets the two apart.", fix: null },
  ];
}

/** Whether `long` holds all words of `short` in a row, and what it adds is no negation, degree or way out. */
function covers(short, long) {
  if (short.length >= long.length) return false;
  for (let at = 0; at + short.length <= long.length; at += 1) {
    if (!short.every((w, i) => long[at + i] === w)) continue;
    const added = [...long.slice(0, at), ...long.slice(at + short.length)];
    return !added.some((w) => NEGATION.has(w) || DEGREE.has(w) || /^\d+$/.test(w)) && !isEscape(long.join(" "));
  }
  return false;
}

const SETS_APART = /\b(?:except|excluding|without|other than|apart from|but not|not|no|ohne|außer|sauf|excepto)\b/i;

export const overlappingOptions = {
  id: "overlapping-options",
  title: "An option that covers another",
  reason: "Where one option's name contains another's, both can be right at once, and they split the probability.",
  check(question) {
    if (!isChoice(question)) return [];
    const filled = rows(question)
      .map((row) => ({ ...row, words: nameWords(row.name) }))
      .filter((row) => row.words.length);
    // Grouped by a word in common: 255 options are 32,000 pairs, most of which share nothing.
    const byWord = new Map();
    for (const row of filled) {
      for (const w of new Set(row.words)) {
        if (byWord.has(w)) byWord.get(w).push(row);
        else byWord.set(w, [row]);
      }
    }
    const found = [];
    for (const row of filled) {
      if (SETS_APART.test(toText(row.description))) continue;
      const near = row.words
        .map((w) => byWord.get(w))
        .reduce((least, group) => (group.length < least.length ? group : least));
      const under = near.filter((o) => covers(row.words, o.words) && !SETS_APART.test(toText(o.description)));
      // Three or more: "error", "read_error", "write_error", ... is a family with a general member, on purpose.
      if (!under.length || under.length > 2) continue;
      found.push({
        field: `options.${row.index}.name`,
        message: `“${clip(row.name)}” also covers ${quoteList(under.map((o) => o.name))}. Say where one ends.`,
        fix: {
          label: `Add “except ${clip(under[0].words.join(" "), 24)}”`,
          edit: (q) => exceptOption(q, row, under),
        },
      });
    }
    return found;
  },
};

function exceptOption(question, row, under) {
  const tail = `except ${under.map((o) => o.words.join(" ")).join(" and ")}`;
  const options = question.options.map((o, i) => {
    if (i !== row.index || o.name !== row.name) return o;
    const said = toText(o.description)
      .trim()
      .replace(/[.;,]$/, "");
    return { ...o, description: said ? `${said}, ${tail}` : `${row.words.join(" ")}, ${tail}` };
  });
  return { ...question, options };
}

const CODE =
  /^(?:\p{L}|\p{L}{1,3}[-_. ]?\d{1,5}|\d{1,6}|(?:opt(?:ion)?|class|label|category|type|group)[-_. ]?(?:\p{L}|\d+))$/iu;
// Questions whose answers are letters or numbers by nature.
const CODES_ARE_MEANT =
  phrases(`how many|how much|numbers?|count|digits?|letters?|grades?|stars?|rating|size|pages?|priority|severity|level|
    year|quarter|age|floor|hours?|days?|months?|version|percent|rank|position|step|http|status code|port|row|column`);

export const opaqueNames = {
  id: "opaque-names",
  title: "Codes without a description",
  reason: "Option names are read as words. A code such as “A” or “C1” means nothing unless a description says what.",
  check(question) {
    if (!isChoice(question)) return [];
    const text = toText(question.instructions);
    if (CODES_ARE_MEANT.test(text)) return [];
    const explained = new Set(words(text).map((w) => w));
    const sizes = ranksOn(rows(question).map((r) => r.name));
    if (sizes && sizes.pole === "size") return [];
    const bare = rows(question).filter(
      (r) => CODE.test(r.name.trim()) && isBlank(r.description) && !YES.has(lower(r.name)) && !NO.has(lower(r.name)),
    );
    // One such name among words is an abbreviation; two are a code. Codes that the instruction names are fine.
    if (bare.length < 2 || bare.every((r) => explained.has(lower(r.name)))) return [];
    return [
      {
        field: `options.${bare[0].index}.description`,
        message: `${quoteList(bare.map((r) => r.name))} mean nothing by themselves. Describe what each stands for.`,
        fix: null,
      },
    ];
  },
};

/** From this many undescribed options on, names alone have too much to carry. A model that reads no ids is small. */
const MANY = { neutral: 40, literal: 100 };

export const longList = {
  id: "long-list",
  title: "A long list of bare names",
  reason: "In a long list many options are neighbours. A description tells them apart better than a name alone.",
  check(question, context) {
    if (!isChoice(question)) return [];
    const filled = rows(question);
    const bare = filled.filter((row) => isBlank(row.description)).length;
    if (filled.length <= MANY[context.questionIds] || bare * 2 <= filled.length) return [];
    return [
      {
        field: "options",
        message: `${filled.length} options, ${bare} of them only by name. Describe those that are close to each other.`,
        fix: null,
      },
    ];
  },
};

export const optionRules = [
  noWayOut,
  yesNoChoice,
  caseOnlyNames,
  repeatedOption,
  overlappingOptions,
  opaqueNames,
  longList,
];
