// "Get code": the schema and the state as code that asks the same over HTTP. Pure: no DOM, nothing is sent.
//
// Every form carries the same body, of the System One wire format. Texts are written so that what is read is what runs:
// quotes, line breaks, `$(...)` and `</script>` are inert in each language, and characters that are invisible or turn
// the reading direction are written as escapes. Options keep their order, also names such as "10" and "2", which a
// JavaScript object would sort. A key never stands in the code: where the studio asks for one, the code reads it from an
// environment variable.

import { filledLevels, filledOptions } from "./schema.js";
import { levelValue } from "./lint_rules/text.js";

/**
 * @typedef {object} Snippet
 * @property {"curl" | "python-sdk" | "python" | "javascript" | "workers-ai"} id
 * @property {string} label     for the tab
 * @property {string} language  "sh", "python" or "javascript"
 * @property {string} text
 *
 * @typedef {object} Target
 * @property {string} baseUrl      where the studio or another System One server answers, without "/v1/systemone"
 * @property {string} model        name of the model, as the server knows it
 * @property {string[]} [pictures] names of the picture files, in order; the code reads them from its own folder
 * @property {boolean} [keyed]     whether the server asks for a key
 */

/** The environment variable that holds the key: the studio reads its own from the same. */
export const KEY = "CLEF_STUDIO_API_KEY";

/** Seconds that the code waits: a large model on a slow machine needs more than the SDKs' ten. */
const TIMEOUT = 120;
/** Longest body that is passed as an argument; Linux allows 128 KiB for one. A longer one goes through a pipe. */
const ARGUMENT = 100_000;

/**
 * @param {{questions: object[]}} schema  the document, as the editor keeps it
 * @param {unknown} state                 the state as it is sent: text, or a JSON value
 * @param {Target} target
 * @returns {Snippet[]}
 */
export function snippets(schema, state, { baseUrl, model, pictures = [], keyed = false }) {
  const base = baseUrl.replace(/\/+$/, "").replace(/\/v1(?:\/systemone)?$/, "");
  const asked = { base, model, state, questions: schema.questions.map((q) => [q.id, q]), pictures, keyed };
  return [
    { id: "curl", label: "curl", language: "sh", text: curl(asked) },
    { id: "python-sdk", label: "Python, typesafe-sdk", language: "python", text: pythonSdk(asked) },
    { id: "python", label: "Python, httpx", language: "python", text: pythonHttpx(asked) },
    { id: "javascript", label: "JavaScript, @typesafe-ai/sdk", language: "javascript", text: javascript(asked) },
    { id: "workers-ai", label: "Workers AI", language: "javascript", text: workersAi(asked) },
  ];
}

// -------------------------------------------------------------------------------------------------- the body as a tree
//
// Nodes: a JSON value, or one of the three below. Maps are pairs, so that the order is ours and no key is special.

class Fields {
  constructor(pairs) {
    this.pairs = pairs;
  }
}

/** A call in the target language; arguments are [name, node], the name only used where the language has keywords. */
class Call {
  constructor(name, args) {
    this.name = name;
    this.args = args;
  }
}

/** Code that stands as it is. */
class Raw {
  constructor(code) {
    this.code = code;
  }
}

/** As schema.js decides it: the code asks what the page asks, a lone space included. */
const isBlank = (value) => value === null || value === undefined || value === "";

/** What a question says: [["instructions", ...], ["criteria", ...]], only what was filled in. */
function said(question) {
  const pairs = [];
  if (!isBlank(question.instructions)) pairs.push(["instructions", question.instructions]);
  if (question.type === "noul") {
    // Null is kept: it takes the model's own description of that side away.
    const sides = ["true", "false"].filter((s) => question.criteria?.[s] !== undefined && question.criteria[s] !== "");
    if (sides.length) pairs.push(["criteria", new Fields(sides.map((s) => [s, question.criteria[s]]))]);
  } else if (question.type === "choice") {
    const options = filledOptions(question).map((o) => [o.name, isBlank(o.description) ? null : o.description]);
    pairs.push(["criteria", new Fields(options)]);
  } else {
    pairs.push([
      "criteria",
      filledLevels({ levels: (question.levels ?? []).map((l) => ({ text: levelValue(l) })) }).map((l) => l.text),
    ]);
  }
  return pairs;
}

const wire = (questions) => new Fields(questions.map(([id, q]) => [id, new Fields([["type", q.type], ...said(q)])]));

const body = ({ model, state, questions }, more = []) =>
  new Fields([["model", model], ["state", state], ["questions", wire(questions)], ...more]);

// ------------------------------------------------------------------------------------------------------------ printing

// Controls, soft hyphen, zero-width space, marks that turn the reading direction, line separators, byte order mark.
// eslint-disable-next-line no-control-regex
const UNSEEN = /[\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const escape = (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** A string literal that JSON, Python and JavaScript all read as the same text. */
const literal = (text) => JSON.stringify(text).replace(UNSEEN, escape);

const JSON_CODE = {
  null: "null",
  true: "true",
  false: "false",
  string: literal,
  key: literal,
  comma: "",
  number: String,
};
const PYTHON = {
  null: "None",
  true: "True",
  false: "False",
  string: literal,
  key: literal,
  comma: ",",
  number: String,
  keyword: (name, value) => `${name}=${value}`,
};
const JAVASCRIPT = {
  null: "null",
  true: "true",
  false: "false",
  comma: ",",
  number: String,
  // "</script>" would end a script element in a page; "<\/script>" is the same text and does not.
  string: (text) => literal(text).replaceAll("</", "<\\/").replaceAll("<!--", "\\u003c!--"),
  // {"__proto__": x} sets a prototype and not a key, unless the key is computed.
  key: (text) => (text === "__proto__" ? '["__proto__"]' : JAVASCRIPT.string(text)),
  keyword: (_, value) => value,
};

const WIDTH = 96;

/** A node as code: on one line where it fits, else one item per line. */
function print(node, dialect, indent = "") {
  if (node instanceof Raw) return node.code;
  if (node === null || node === undefined) return dialect.null;
  if (node === true || node === false) return node ? dialect.true : dialect.false;
  if (typeof node === "number") return dialect.number(node);
  if (typeof node === "string") return dialect.string(node);
  const inner = `${indent}  ${dialect === PYTHON ? "  " : ""}`;
  const [open, close, items] = parts(node, dialect, inner);
  if (!items.length) return open + close;
  const line = open + items.join(", ") + close;
  if (line.length + indent.length <= WIDTH && !line.includes("\n")) return line;
  return `${open}\n${items.map((item) => inner + item).join(",\n")}${dialect.comma}\n${indent}${close}`;
}

function parts(node, dialect, inner) {
  const shown = (value) => print(value, dialect, inner);
  if (node instanceof Call)
    return [`${node.name}(`, ")", node.args.map(([name, value]) => dialect.keyword(name, shown(value)))];
  if (Array.isArray(node)) return ["[", "]", node.map(shown)];
  const pairs = node instanceof Fields ? node.pairs : Object.entries(node);
  return ["{", "}", pairs.map(([key, value]) => `${dialect.key(key)}: ${shown(value)}`)];
}

// --------------------------------------------------------------------------------------------------------------- forms

/** A word for any POSIX shell. In single quotes nothing is special but the quote itself. */
const shellWord = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** JSON for a shell: the apostrophe is written as an escape, so that one pair of quotes holds it all. */
const shellJson = (node) => `'${print(node, JSON_CODE).replaceAll("'", "\\u0027")}'`;

function curl(asked) {
  const key = asked.keyed ? ` -H "authorization: Bearer $${KEY}"` : "";
  const post = `curl -sS ${shellWord(`${asked.base}/v1/systemone`)} -H 'content-type: application/json'${key}`;
  if (asked.pictures.length) {
    // Pictures are read by the shell: too long for an argument, so the body is put together in a pipe.
    const [head, tail] = split(shellJson(body(asked, [["images", ["@"]]])));
    const files = asked.pictures.map((name) => `base64 < ${shellWord(fileName(name))} | tr -d '\\n'`);
    const list = files.join(`; printf '%s' '","'; `);
    return `{ printf '%s' ${head}'; ${list}; printf '%s' '${tail}; } |\n  ${post} --data-binary @-\n`;
  }
  const json = shellJson(body(asked));
  if (json.length > ARGUMENT) return `printf '%s' ${json} |\n  ${post} --data-binary @-\n`;
  return `${post} -d ${json}\n`;
}

/** The body around its first picture's place: [up to the opening quote, from the closing quote on]. */
function split(json) {
  const at = json.lastIndexOf('"@"');
  return [json.slice(0, at + 1), json.slice(at + 2)];
}

/** A file's name without its folder, and never an option of a command. */
const fileName = (path) => `./${path.split(/[\\/]/).at(-1)}`;

const CALLS = { noul: "Noul", choice: "Choice", score: "Score" };

function used(questions, names) {
  return [...new Set(questions.map(([, q]) => names[q.type]))].sort();
}

const pythonImages = (pictures) =>
  pictures.length
    ? `names = ${print(pictures.map(fileName), PYTHON)}
images = [base64.b64encode(Path(name).read_bytes()).decode() for name in names]\n`
    : "";
function pythonImports({ pictures, keyed }) {
  const lines = [pictures.length && "import base64", keyed && "import os", pictures.length && "from pathlib import Path"];
  const used = lines.filter(Boolean);
  return used.length ? `${used.join("\n")}\n\n` : "";
}

function pythonSdk({ base, model, state, questions, pictures, keyed }) {
  const args = [
    ["state", state],
    ["questions", new Fields(questions.map(([id, q]) => [id, new Call(CALLS[q.type], said(q))]))],
  ];
  if (pictures.length) args.push(["extra_body", new Fields([["images", new Raw("images")]])]);
  const client = new Call("TypeSafeClient", [
    ["base_url", base],
    ["api_key", new Raw(keyed ? `os.environ["${KEY}"]` : 'os.environ.get("TYPESAFE_API_KEY", "local")')],
    ["model", model],
    ["timeout", TIMEOUT],
    ["compression", false],
  ]);
  return `# pip install typesafe-sdk
${pictures.length ? "import base64\n" : ""}import os
${pictures.length ? "from pathlib import Path\n" : ""}
from typesafe_sdk import ${[...used(questions, CALLS), "TypeSafeClient"].join(", ")}

${pythonImages(pictures)}with ${print(client, PYTHON)} as client:
    response = ${print(new Call("client.system_one", args), PYTHON, "    ")}

for name, answer in response.answers.items():
    print(name, answer)
`;
}

function pythonHttpx(asked) {
  const { base, pictures, keyed } = asked;
  const headers = keyed ? `headers={"authorization": "Bearer " + os.environ["${KEY}"]}, ` : "";
  const more = pictures.length ? [["images", new Raw("images")]] : [];
  return `# pip install httpx
${pythonImports(asked)}import httpx

${pythonImages(pictures)}body = ${print(body(asked, more), PYTHON)}
reply = httpx.post(${literal(`${base}/v1/systemone`)}, json=body, ${headers}timeout=${TIMEOUT})
reply.raise_for_status()

for name, answer in reply.json()["answers"].items():
    print(name, answer)
`;
}

const MAKERS = { noul: "noul", choice: "choice", score: "score" };

/** Arguments of the JavaScript makers go by place, so a missing instruction before criteria is null. */
function placed(question) {
  const pairs = new Map(said(question));
  const args = [["instructions", pairs.get("instructions") ?? null]];
  if (pairs.has("criteria")) args.push(["criteria", pairs.get("criteria")]);
  return args;
}

const bare = { ...JAVASCRIPT, key: (text) => (/^[a-z]+$/i.test(text) ? text : JAVASCRIPT.key(text)) };

function javascript({ base, model, state, questions, pictures, keyed }) {
  const request = [
    ["state", state],
    ["questions", new Fields(questions.map(([id, q]) => [id, new Call(MAKERS[q.type], placed(q))]))],
  ];
  if (pictures.length) request.push(["images", new Raw("images")]);
  const client = new Fields([
    ["baseURL", base],
    ["apiKey", new Raw(keyed ? `process.env.${KEY}` : 'process.env.TYPESAFE_API_KEY ?? "local"')],
    ["defaultModel", model],
    ["timeout", TIMEOUT * 1000],
  ]);
  const images = pictures.length
    ? `const images = ${print(pictures.map(fileName), JAVASCRIPT)}.map((name) => readFileSync(name, "base64"));\n`
    : "";
  const names = ["TypeSafeClient", ...used(questions, MAKERS)].join(", ");
  return `// npm install @typesafe-ai/sdk
${pictures.length ? 'import { readFileSync } from "node:fs";\n' : ""}import { ${names} } from "@typesafe-ai/sdk";

const client = new TypeSafeClient(${print(client, bare)});
${images}const response = await client.systemOne(${print(new Fields(request), bare)});

for (const [name, answer] of Object.entries(response.answers)) console.log(name, answer);
`;
}

const KINDS = { png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", webp: "image/webp", gif: "image/gif", heic: "image/heic" };
const kind = (path) => KINDS[path.split(".").at(-1).toLowerCase()] ?? "image/png";

/** Cloudflare's REST API: its own path, its names of the model, its envelope, pictures as data URLs. */
function workersAi(asked) {
  const { base, pictures, keyed } = asked;
  const model = /flash/i.test(asked.model) ? "clef-flash" : "clef";
  const more = pictures.length ? [["images", new Raw("images")]] : [];
  const token = keyed ? `process.env.${KEY}` : 'process.env.CLOUDFLARE_API_TOKEN ?? "local"';
  const files = print(pictures.map((path) => [fileName(path), kind(path)]), JAVASCRIPT);
  const images = pictures.length
    ? `const images = ${files}.map(([name, type]) => \`data:${"$"}{type};base64,${"$"}{readFileSync(name, "base64")}\`);\n`
    : "";
  return `// Node 20 or newer. At Cloudflare the base is https://api.cloudflare.com; inside a Worker it is one line:
// const result = await env.AI.run("@cf/cloudflare/${model}", body);
${pictures.length ? 'import { readFileSync } from "node:fs";\n\n' : ""}const base = ${JAVASCRIPT.string(base)};
const account = process.env.CLOUDFLARE_ACCOUNT_ID ?? "local";
const token = ${token};
${images}const body = ${print(body({ ...asked, model }, more), bare)};
const reply = await fetch(\`${"$"}{base}/client/v4/accounts/${"$"}{account}/ai/run/@cf/cloudflare/${model}\`, {
  method: "POST",
  headers: { authorization: \`Bearer ${"$"}{token}\`, "content-type": "application/json" },
  body: JSON.stringify(body),
  signal: AbortSignal.timeout(${TIMEOUT * 1000}),
});
const { success, result, errors } = await reply.json();
if (!success) throw new Error(errors[0].message);

for (const [name, answer] of Object.entries(result.answers)) console.log(name, answer);
`;
}
