// "Get code": every form is run for real, by a shell, Python and Node, and must carry exactly the body that was meant.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { snippets } from "../../assets/design/code.js";

const PYTHON = process.env.PYTHON ?? "python3";
const folder = mkdtempSync(join(tmpdir(), "snippets-"));
after(() => rmSync(folder, { recursive: true }));

const question = (id, type, instructions, fields = {}) => ({
  id,
  type,
  instructions,
  criteria: {},
  options: [],
  levels: [],
  ...fields,
});
const options = (pairs) => pairs.map(([name, description]) => ({ name, description }));

const PLAIN = {
  questions: [
    question("urgent", "noul", "Is it urgent?", { criteria: { true: "Somebody waits", false: null } }),
    question("team", "choice", "Which team?", {
      options: options([
        ["billing", "Invoices"],
        ["10", ""],
        ["2", null],
        ["", ""],
      ]),
    }),
    question("mood", "score", "How upset?", {
      levels: [{ text: "calm" }, { text: "" }, { text: "upset" }, { text: { label: "furious" } }],
    }),
  ],
};

/** Texts that break out of a quote, a comment, a template or a page where they are not escaped. */
const NASTY = [
  `it's "quoted" and \`ticked\``,
  "$(touch pwned) ${HOME} `id` \\$x \\\\ \\n !! !echo %s %d",
  "line one\nline two\r\n\ttabbed\u0000\u001b[31m",
  "</script><script>alert(1)</script><!-- -->",
  "'''\"\"\"''' # // /* */ -- ; rm -rf .",
  "naïve 漢字 👍🏽 \u2028\u2029 \u202eabc\u202c \u00ad\u200b\ufeff",
  "JSON\nEOF\n'\nEOF",
  "'",
  "\\",
  "\\'",
  "",
  "{state} {0} %(x)s",
];

const nasty = (text) => ({
  questions: [
    question(text || "id", "noul", text, { criteria: { true: text, false: text } }),
    question("__proto__", "choice", text, {
      options: options([
        [`${text}a`, text],
        ["__proto__", "x"],
        ["constructor", null],
      ]),
    }),
    question(
      "constructor",
      "score",
      { note: text, list: [1, -2.5, 1e21, true, false, null, { deep: [text, []] }, {}] },
      {
        levels: [{ text: `${text}1` }, { text: [text] }, { text: "last" }],
      },
    ),
  ],
});

/** The body as the wire has it, put together by other means than the code under test: as JSON text. */
function bodyText(schema, state, model) {
  const pair = ([key, value]) => `${JSON.stringify(key)}:${value}`;
  const object = (pairs) => `{${pairs.map(pair).join(",")}}`;
  const said = (q) => {
    const pairs = [["type", JSON.stringify(q.type)]];
    if (q.instructions !== "") pairs.push(["instructions", JSON.stringify(q.instructions)]);
    if (q.type === "noul") {
      const sides = ["true", "false"].filter((s) => q.criteria[s] !== undefined && q.criteria[s] !== "");
      if (sides.length) pairs.push(["criteria", object(sides.map((s) => [s, JSON.stringify(q.criteria[s])]))]);
    }
    if (q.type === "choice") {
      const filled = q.options.filter((o) => o.name !== "" || o.description);
      pairs.push([
        "criteria",
        object(filled.map((o) => [o.name, o.description === "" ? "null" : JSON.stringify(o.description)])),
      ]);
    }
    if (q.type === "score")
      pairs.push(["criteria", JSON.stringify(q.levels.map((l) => l.text).filter((t) => t !== ""))]);
    return object(pairs);
  };
  const questions = object(schema.questions.map((q) => [q.id, said(q)]));
  return object([
    ["model", JSON.stringify(model)],
    ["state", JSON.stringify(state)],
    ["questions", questions],
  ]);
}

/** A key as it might be: with what a shell would read if it were not quoted. */
const SECRET = "k-$HOME'`\"0123";
const TARGET = { baseUrl: "http://127.0.0.1:7860/", model: "embedded" };
const form = (schema, state, id, target = TARGET) => snippets(schema, state, target).find((s) => s.id === id).text;
const cases = [
  ["plain", PLAIN, "Help, I can't sign in."],
  ["JSON state", PLAIN, { ticket: { subject: "It's down", tags: ["a", 1, null, true] }, empty: {} }],
  ["list state", PLAIN, ["a", ["b"], {}]],
  ...NASTY.map((text) => [JSON.stringify(text), nasty(text), text]),
];

function run(command, args, { input, env = {} } = {}) {
  const done = spawnSync(command, args, {
    input,
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
    env: { ...process.env, ...env },
  });
  assert.equal(done.status, 0, `${command}: ${done.error ?? ""}${done.stderr.slice(-1500)}`);
  return done.stdout;
}

/** A `curl` that writes down what it was given, in place of the network. */
const FAKE_CURL = `curl() { printf '%s\\0' "$@" > args; body=; while [ $# -gt 0 ]; do case $1 in
  -d) body=$2; shift;; --data-binary) body=$(cat; printf x) && body=\${body%x}; shift;; esac; shift; done
  printf '%s' "$body"; }\n`;

const curlBody = (text) => run("bash", ["-c", FAKE_CURL + text]);

test("there are five forms, each with a label, and the address is right however it was written", () => {
  const forms = snippets(PLAIN, "x", TARGET);
  assert.deepEqual(
    forms.map((f) => [f.id, f.language]),
    [
      ["curl", "sh"],
      ["python-sdk", "python"],
      ["python", "python"],
      ["javascript", "javascript"],
      ["workers-ai", "javascript"],
    ],
  );
  for (const baseUrl of ["http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/systemone"]) {
    assert.ok(form(PLAIN, "x", "curl", { ...TARGET, baseUrl }).includes("'http://h:1/v1/systemone'"), baseUrl);
    assert.ok(form(PLAIN, "x", "python-sdk", { ...TARGET, baseUrl }).includes('base_url="http://h:1"'), baseUrl);
  }
});

test("curl: the shell hands over exactly the body", () => {
  for (const [name, schema, state] of cases) {
    const sent = curlBody(form(schema, state, "curl"));
    assert.deepEqual(JSON.parse(sent), JSON.parse(bodyText(schema, state, TARGET.model)), name);
    const args = readFileSync(join(folder, "args"), "utf8").split("\0");
    assert.deepEqual(args.slice(0, 4), [
      "-sS",
      "http://127.0.0.1:7860/v1/systemone",
      "-H",
      "content-type: application/json",
    ]);
  }
});

test("curl: the JSON itself parses when printed by the shell, and options keep their order", () => {
  for (const [name, schema, state] of cases) {
    const text = form(schema, state, "curl");
    const quoted = text.slice(text.indexOf(" -d ") + 4).trim();
    const printed = run("bash", ["-c", `printf '%s' ${quoted}`]);
    assert.deepEqual(JSON.parse(printed), JSON.parse(bodyText(schema, state, TARGET.model)), name);
  }
  const text = curlBody(form(PLAIN, "x", "curl"));
  assert.ok(text.indexOf('"billing"') < text.indexOf('"10"') && text.indexOf('"10"') < text.indexOf('"2"'));
});

test("curl: a body too long for an argument goes through a pipe", () => {
  const state = "It's long. ".repeat(30_000);
  const text = form(PLAIN, state, "curl");
  assert.match(text, /\|\n {2}curl .*--data-binary @-\n$/s);
  assert.equal(JSON.parse(run("bash", ["-s"], { input: FAKE_CURL + text })).state, state);
});

/** Modules that write down what they were given, in place of the SDK and the network. */
const FAKE_SDK = `
import json
class TypeSafeClient:
    def __init__(self, **given):
        self.given = given
    def __enter__(self):
        return self
    def __exit__(self, *rest):
        pass
    def system_one(self, state, questions, extra_body=None):
        body = {"model": self.given["model"], "state": state, "questions": questions, **(extra_body or {})}
        print(json.dumps({"client": {k: v for k, v in self.given.items()}, "body": body}))
        return type("Reply", (), {"answers": {}})()
def maker(kind):
    return lambda **said: {"type": kind, **said}
Noul, Choice, Score = maker("noul"), maker("choice"), maker("score")
`;
const FAKE_HTTPX = `
import json
class Reply:
    def raise_for_status(self):
        pass
    def json(self):
        return {"answers": {}}
def post(url, json, timeout, headers=None):
    import json as text
    print(text.dumps({"url": url, "body": json, "timeout": timeout, "headers": headers}))
    return Reply()
`;
mkdirSync(join(folder, "modules"));
writeFileSync(join(folder, "modules", "typesafe_sdk.py"), FAKE_SDK);
writeFileSync(join(folder, "modules", "httpx.py"), FAKE_HTTPX);
/** Runs each text as a program of its own, all in one interpreter; what each printed last, as JSON. */
function python(texts) {
  texts.forEach((text, i) => writeFileSync(join(folder, `snippet_${i}.py`), text));
  const files = texts.map((_, i) => `snippet_${i}.py`);
  run(PYTHON, ["-W", "error", "-m", "py_compile", ...files]);
  const all = "import runpy, sys\nfor file in sys.argv[1:]:\n    runpy.run_path(file)\n";
  const env = { PYTHONPATH: join(folder, "modules"), TYPESAFE_API_KEY: "", CLEF_STUDIO_API_KEY: SECRET };
  return lines(run(PYTHON, ["-W", "error", "-c", all, ...files], { env }));
}

const lines = (printed) =>
  printed
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

test("Python with httpx: compiles, and sends exactly the body", () => {
  const all = python(cases.map(([, schema, state]) => form(schema, state, "python")));
  for (const [i, [name, schema, state]] of cases.entries()) {
    const sent = all[i];
    assert.deepEqual(sent.body, JSON.parse(bodyText(schema, state, TARGET.model)), name);
    assert.equal(sent.url, "http://127.0.0.1:7860/v1/systemone");
  }
});

test("Python with the SDK: compiles, and sends exactly the body, uncompressed", () => {
  const all = python(cases.map(([, schema, state]) => form(schema, state, "python-sdk")));
  for (const [i, [name, schema, state]] of cases.entries()) {
    const sent = all[i];
    assert.deepEqual(sent.body, JSON.parse(bodyText(schema, state, TARGET.model)), name);
    const { base_url: url, compression, timeout } = sent.client;
    assert.deepEqual([url, compression, timeout], ["http://127.0.0.1:7860", false, 120]);
  }
});

const FAKE_FETCH = `globalThis.fetch = async (url, { method, headers, body }) => {
  console.log(JSON.stringify({ url, method, headers, body: JSON.parse(body) }));
  return { json: async () => ({ success: true, result: { answers: {} }, errors: [] }) };
};
`;
const FAKE_JS = `
export class TypeSafeClient {
  constructor(given) { this.given = given; }
  async systemOne({ state, questions, ...more }) {
    const body = { model: this.given.defaultModel, state, questions, ...more };
    console.log(JSON.stringify({ client: this.given, body }));
    return { answers: {} };
  }
}
const maker = (type) => (instructions = null, criteria) => ({
  type,
  ...(instructions === null ? {} : { instructions }),
  ...(criteria === undefined ? {} : { criteria }),
});
export const [noul, choice, score] = ["noul", "choice", "score"].map(maker);
`;
const sdk = join(folder, "node_modules", "@typesafe-ai", "sdk");
mkdirSync(sdk, { recursive: true });
writeFileSync(join(sdk, "package.json"), '{"name": "@typesafe-ai/sdk", "type": "module", "exports": "./index.js"}');
writeFileSync(join(sdk, "index.js"), FAKE_JS);
function javascript(texts) {
  texts.forEach((text, i) => writeFileSync(join(folder, `snippet_${i}.mjs`), text));
  const all = texts.map((_, i) => `await import("./snippet_${i}.mjs");\n`).join("");
  writeFileSync(join(folder, "all.mjs"), FAKE_FETCH + all);
  return lines(run(process.execPath, ["all.mjs"], { env: { CLEF_STUDIO_API_KEY: SECRET } }));
}

test("JavaScript: runs, and sends exactly the body", () => {
  const texts = cases.map(([, schema, state]) => form(schema, state, "javascript"));
  const all = javascript(texts);
  for (const [i, [name, schema, state]] of cases.entries()) {
    const [text, sent] = [texts[i], all[i]];
    assert.deepEqual(sent.body, JSON.parse(bodyText(schema, state, TARGET.model)), name);
    assert.equal(sent.client.baseURL, "http://127.0.0.1:7860");
    assert.ok(!/<\/script|<!--/i.test(text), "it cannot end the script element of a page");
  }
});

test("Workers AI: runs, and sends exactly the body, under Cloudflare's names", () => {
  const texts = cases.map(([, schema, state]) => form(schema, state, "workers-ai"));
  const all = javascript(texts);
  for (const [i, [name, schema, state]] of cases.entries()) {
    assert.deepEqual(all[i].body, JSON.parse(bodyText(schema, state, "clef")), name);
    assert.equal(all[i].url, "http://127.0.0.1:7860/client/v4/accounts/local/ai/run/@cf/cloudflare/clef");
    assert.ok(!/<\/script|<!--/i.test(texts[i]), "it cannot end the script element of a page");
  }
  const flash = javascript([form(PLAIN, "x", "workers-ai", { ...TARGET, model: "cloudflare/clef-flash" })])[0];
  assert.equal(flash.body.model, "clef-flash");
  assert.ok(flash.url.endsWith("/@cf/cloudflare/clef-flash"));
});

test("where the studio asks for a key, every form sends it, and none holds it", () => {
  const target = { ...TARGET, keyed: true };
  process.env.CLEF_STUDIO_API_KEY = SECRET;
  curlBody(form(PLAIN, "x", "curl", target));
  const args = readFileSync(join(folder, "args"), "utf8").split("\0");
  assert.equal(args[args.lastIndexOf("-H") + 1], `authorization: Bearer ${SECRET}`);
  assert.equal(python([form(PLAIN, "x", "python", target)])[0].headers.authorization, `Bearer ${SECRET}`);
  assert.equal(python([form(PLAIN, "x", "python-sdk", target)])[0].client.api_key, SECRET);
  const [sdk, workers] = javascript(["javascript", "workers-ai"].map((id) => form(PLAIN, "x", id, target)));
  assert.equal(sdk.client.apiKey, SECRET);
  assert.equal(workers.headers.authorization, `Bearer ${SECRET}`);
  for (const { id, text } of snippets(PLAIN, "x", target)) assert.ok(text.includes("CLEF_STUDIO_API_KEY"), id);
});

test("what is read is what runs: no invisible character stands raw in any form", () => {
  const unseen = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;
  for (const [name, schema, state] of cases) {
    for (const { id, text } of snippets(schema, state, TARGET)) assert.ok(!unseen.test(text), `${id} ${name}`);
  }
});

test("pictures are read from files by the code, in order, and their names cannot break out", () => {
  const names = ["one.png", `it's "2" $(touch pwned).png`, "../folder/-rf.png"];
  const files = ["one.png", `it's "2" $(touch pwned).png`, "-rf.png"];
  files.forEach((name, i) => writeFileSync(join(folder, name), Buffer.from(`picture ${i} `.repeat(40))));
  const expected = files.map((name) => readFileSync(join(folder, name)).toString("base64"));
  const target = { ...TARGET, pictures: names };
  const sent = [
    JSON.parse(curlBody(form(PLAIN, `"@" it's`, "curl", target))),
    python([form(PLAIN, `"@" it's`, "python", target)])[0].body,
    python([form(PLAIN, `"@" it's`, "python-sdk", target)])[0].body,
    javascript([form(PLAIN, `"@" it's`, "javascript", target)])[0].body,
  ];
  const workers = javascript([form(PLAIN, `"@" it's`, "workers-ai", target)])[0].body;
  assert.deepEqual(workers.images, expected.map((data) => `data:image/png;base64,${data}`));
  for (const body of sent) {
    const { images, ...rest } = body;
    assert.deepEqual(images, expected);
    assert.deepEqual(rest, JSON.parse(bodyText(PLAIN, `"@" it's`, TARGET.model)));
  }
  assert.throws(() => readFileSync(join(folder, "pwned")), /ENOENT/);
});

test("the editor's document is not changed, and half-written questions still give code that runs", () => {
  const freeze = (v) => (v && typeof v === "object" ? (Object.values(v).forEach(freeze), Object.freeze(v)) : v);
  const schema = freeze({
    questions: [question("a", "noul", ""), question("b", "choice", "", { options: [] }), question("c", "score", null)],
  });
  for (const { id, text } of snippets(schema, "", TARGET)) {
    const sent =
      id === "curl"
        ? JSON.parse(curlBody(text))
        : id === "javascript" || id === "workers-ai"
          ? javascript([text])[0].body
          : python([text])[0].body;
    assert.deepEqual(sent.questions, {
      a: { type: "noul" },
      b: { type: "choice", criteria: {} },
      c: { type: "score", criteria: [] },
    });
  }
});
