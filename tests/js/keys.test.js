// The table of keys is all there is: what is listed under "?" is what the page listens to, and the other way round.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { KEYS, pressed } from "../../assets/design/keys.js";

const FOLDER = new URL("../../assets/design/", import.meta.url);
const sources = readdirSync(FOLDER).filter((name) => name.endsWith(".js") && name !== "keys.js").map((name) => [name, readFileSync(new URL(name, FOLDER), "utf8").replace(/^\s*\/\/.*$/gm, "")]);

const event = (key, more = {}) => ({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, isComposing: false, ...more });

test("every key that is listed is listened to, and every key that is listened to is listed", () => {
  const asked = new Set();
  for (const [, text] of sources) {
    for (const [, ids] of text.matchAll(/\bpressed\(event, ([^)]*)\)/g)) for (const [, id] of ids.matchAll(/"(\w+)"/g)) asked.add(id);
  }
  // Those that a browser does by itself have no handler; the tabs' keys are those of code_view.js, looked at below.
  const own = Object.keys(KEYS).filter((id) => KEYS[id].is !== null && id !== "tabs");
  assert.deepEqual([...asked].filter((id) => id !== "tabs").sort(), own.sort());
});

test("no handler looks at a key that is not in the table", () => {
  const listens = sources.filter(([, text]) => /\bevent\.(key|code)\b/.test(text));
  for (const [name, text] of listens) {
    const literal = [...text.matchAll(/\b(Arrow(?:Up|Down|Left|Right)|Home|End|PageUp|PageDown|Enter|Escape|Backspace|Delete|F\d+)\b/g)].map((m) => m[1]);
    const listed = ["tabs", "menu", "grip", "up", "down"].map((id) => KEYS[id]);
    for (const key of literal) assert.ok(listed.some(({ is }) => is(event(key)) || is(event(key, { altKey: true }))), `${name}: ${key}`);
    assert.ok(!/event\.key(\.toLowerCase\(\))? [!=]== "(?!Arrow)/.test(text), `${name} compares a key by itself; ask keys.js`);
  }
  assert.ok(listens.length > 0);
});

const CASES = [
  ["help", event("?", { shiftKey: true }), event("?", { ctrlKey: true })],
  ["undo", event("z", { ctrlKey: true }), event("z", { ctrlKey: true, altKey: true })],
  ["undo", event("z", { metaKey: true }), event("z", { ctrlKey: true, shiftKey: true })],
  ["redo", event("Z", { ctrlKey: true, shiftKey: true }), event("Z", { shiftKey: true })],
  ["redo", event("y", { ctrlKey: true }), event("y")],
  ["next", event("Enter"), event("Enter", { shiftKey: true })],
  ["drop", event("Backspace"), event("Backspace", { ctrlKey: true })],
  ["up", event("ArrowUp", { altKey: true }), event("ArrowUp")],
  ["down", event("ArrowDown", { altKey: true }), event("ArrowUp", { altKey: true })],
  ["grip", event("ArrowDown"), event("ArrowDown", { ctrlKey: true })],
  ["duplicate", event("d", { ctrlKey: true }), event("d", { ctrlKey: true, shiftKey: true })],
  ["save", event("Enter", { metaKey: true }), event("Enter")],
  ["menu", event("Home"), event("PageUp")],
  ["tabs", event("ArrowLeft"), event("ArrowUp")],
  ["close", event("Escape"), event("Escape", { ctrlKey: true })],
  ["leave", event("Tab", { shiftKey: true }), event("Tab", { altKey: true })],
];

test("each key is itself and not its neighbour, and nothing while a character is composed", () => {
  assert.deepEqual([...new Set(CASES.map(([id]) => id))], Object.keys(KEYS).filter((id) => KEYS[id].is));
  for (const [id, yes, no] of CASES) {
    assert.equal(pressed(yes, id), id);
    assert.equal(pressed(no, id), null, id);
    assert.equal(pressed({ ...yes, isComposing: true }, id), null);
  }
});
