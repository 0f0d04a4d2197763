// JSON as people type it: read with the order of keys kept, and with the place of every value and of what is wrong. Pure.
//
// JSON.parse would move keys such as "2" to the front, keep the last of two equal keys without a word, and name no line.

export class JsonError extends Error {
  /** `at`: index in the text; `message`: a sentence without its place. */
  constructor(message, at) {
    super(message);
    this.at = at;
  }
}

/** Deeper than this is refused, as the server does. */
const MAX_DEPTH = 64;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORDS = { true: true, false: false, null: null };

/**
 * The value of `text`: objects are Maps, in order; all else is what JSON.parse gives.
 * Returns {value, places}: places maps a path (["questions", "team"] as JSON) to [start, end] in the text.
 * Throws JsonError.
 */
export function readJson(text) {
  const places = new Map();
  let at = 0;

  const space = () => {
    while (at < text.length && " \t\n\r".includes(text[at])) at += 1;
  };
  const fail = (message, where = at) => {
    throw new JsonError(message, where);
  };
  const seen = () => (at < text.length ? `“${text[at]}”` : "the end");

  function value(path) {
    if (path.length > MAX_DEPTH) fail(`Nested deeper than ${MAX_DEPTH} levels.`);
    space();
    const start = at;
    const c = text[at];
    let found;
    if (c === "{") found = object(path);
    else if (c === "[") found = list(path);
    else if (c === '"') found = string();
    else if (c === "-" || (c >= "0" && c <= "9")) found = number();
    else found = word();
    places.set(JSON.stringify(path), [start, at]);
    return found;
  }

  function object(path) {
    const map = new Map();
    at += 1;
    space();
    if (text[at] === "}") {
      at += 1;
      return map;
    }
    for (;;) {
      space();
      if (text[at] !== '"') fail(text[at] === "}" ? "A comma stands before the closing brace." : `A name in double quotes belongs here, not ${seen()}.`);
      const start = at;
      const key = string();
      if (map.has(key)) fail(`“${key}” is there twice in one object.`, start);
      space();
      if (text[at] !== ":") fail(`A colon belongs after “${key}”.`);
      at += 1;
      map.set(key, value([...path, key]));
      space();
      if (text[at] === ",") at += 1;
      else if (text[at] === "}") {
        at += 1;
        return map;
      } else fail(at >= text.length ? "A closing brace is missing." : `A comma or a closing brace belongs here, not ${seen()}.`);
    }
  }

  function list(path) {
    const items = [];
    at += 1;
    space();
    if (text[at] === "]") {
      at += 1;
      return items;
    }
    for (;;) {
      space();
      if (text[at] === "]") fail("A comma stands before the closing bracket.");
      items.push(value([...path, items.length]));
      space();
      if (text[at] === ",") at += 1;
      else if (text[at] === "]") {
        at += 1;
        return items;
      } else fail(at >= text.length ? "A closing bracket is missing." : `A comma or a closing bracket belongs here, not ${seen()}.`);
    }
  }

  function string() {
    const start = at;
    at += 1;
    while (at < text.length && text[at] !== '"') {
      if (text[at] === "\n") fail("A closing quote is missing before the end of the line.");
      at += text[at] === "\\" ? 2 : 1;
    }
    if (at >= text.length) fail("A closing quote is missing.", start);
    at += 1;
    try {
      return JSON.parse(text.slice(start, at));
    } catch {
      return fail("This text holds a character or an escape that JSON does not allow.", start);
    }
  }

  function number() {
    NUMBER.lastIndex = at;
    const found = NUMBER.exec(text);
    if (!found) fail(`A number belongs here, not ${seen()}.`);
    at += found[0].length;
    return Number(found[0]);
  }

  function word() {
    const found = /^[A-Za-z]+/.exec(text.slice(at, at + 12))?.[0] ?? "";
    if (!(found in WORDS)) fail(at >= text.length ? "A value is missing." : `A value belongs here: text in double quotes, a number, an object or a list, not ${found ? `“${found}”` : seen()}.`);
    at += found.length;
    return WORDS[found];
  }

  const whole = value([]);
  space();
  if (at < text.length) fail(`Nothing belongs after the end, but there is ${seen()}.`);
  return { value: whole, places };
}

/** {line, column} of an index, both from 1. */
export function placeOf(text, at) {
  const before = text.slice(0, at);
  const line = before.split("\n").length;
  return { line, column: at - before.lastIndexOf("\n") };
}

/** A read value as JavaScript has it: Maps become objects. */
export function plain(value) {
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, inner]) => [key, plain(inner)]));
  return Array.isArray(value) ? value.map(plain) : value;
}

/** JSON with two blanks of indentation; a Map is an object in its order, and a Raw is text that is JSON already. */
export function writeJson(value, indent = "") {
  if (value instanceof Raw) return value.text.replaceAll("\n", `\n${indent}`);
  const entries = value instanceof Map ? [...value] : value !== null && typeof value === "object" && !Array.isArray(value) ? Object.entries(value) : null;
  const inner = `${indent}  `;
  if (entries) {
    if (!entries.length) return "{}";
    return `{\n${entries.map(([key, item]) => `${inner}${JSON.stringify(key)}: ${writeJson(item, inner)}`).join(",\n")}\n${indent}}`;
  }
  if (Array.isArray(value)) {
    if (!value.length) return "[]";
    return `[\n${value.map((item) => inner + writeJson(item, inner)).join(",\n")}\n${indent}]`;
  }
  return JSON.stringify(value) ?? "null";
}

/** Text that is JSON already: a state whose numbers stay as they were written. */
export class Raw {
  constructor(text) {
    this.text = text;
  }
}
