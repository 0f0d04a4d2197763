// The live loop: one request in flight, the newest document next, nothing lost, nothing stale shown.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Live } from "../../assets/design/live.js";

/** A loop over `doc.text`, a server that answers when told, and a clock that is turned by hand. */
function bench() {
  const doc = { text: "" };
  const calls = [];
  const shown = [];
  const said = [];
  const timers = new Map();
  let next = 0;
  const live = new Live({
    ask: (payload) => new Promise((resolve, reject) => calls.push({ payload, resolve, reject })),
    build: () => (doc.text ? { payload: { text: doc.text }, signature: doc.text, asked: [] } : null),
    on: {
      asking: () => {}, result: (reply) => shown.push(reply.text), refused: (error) => said.push(error.kind),
      lost: () => said.push("lost"), idle: () => said.push("idle"), pending: (is) => (bench.pending = is),
    },
    later: (fn) => {
      timers.set((next += 1), fn);
      return next;
    },
    cancel: (id) => timers.delete(id),
  });
  const tick = () => new Promise((resolve) => setImmediate(resolve));
  const answer = async (i, extra = {}) => {
    const { payload, resolve } = calls[i];
    resolve({ seq: payload.seq, text: payload.text, ...extra });
    await tick();
  };
  const turn = async () => {
    const due = [...timers];
    for (const [id, fn] of due) {
      timers.delete(id);
      fn();
    }
    await tick();
  };
  const type = (text) => {
    doc.text = text;
    live.kick();
  };
  return { live, calls, shown, said, timers, answer, turn, type, tick };
}

test("while one runs, changes wait, and only the newest is sent", async () => {
  const b = bench();
  for (const text of ["a", "ab", "abc"]) b.type(text);
  assert.equal(b.calls.length, 1);
  await b.answer(0);
  assert.deepEqual(b.calls.map((c) => c.payload.text), ["a", "abc"]);
  await b.answer(1);
  assert.deepEqual(b.shown, ["a", "abc"]);
  assert.equal(b.calls.length, 2, "nothing changed, so nothing is asked again");
  assert.equal(bench.pending, false, "and the answers are those of the document");
});

test("the same document is not asked twice", async () => {
  const b = bench();
  b.type("a");
  await b.answer(0);
  b.type("a");
  assert.equal(b.calls.length, 1);
  b.live.again();
  assert.equal(b.calls.length, 2, "unless a person wants it");
});

test("a superseded reply is silent, a busy one is asked again", async () => {
  const b = bench();
  b.type("a");
  await b.answer(0, { error: { kind: "superseded" } });
  assert.deepEqual([b.shown, b.said], [[], []]);
  b.type("b");
  await b.answer(1, { error: { kind: "busy" } });
  assert.deepEqual(b.said, ["busy"]);
  await b.turn();
  assert.equal(b.calls[2].payload.text, "b");
});

test("when the server is gone it tries until it is back, and then shows the newest", async () => {
  const b = bench();
  b.type("a");
  b.calls[0].reject(new Error("gone"));
  await b.tick();
  assert.deepEqual(b.said, ["lost"]);
  b.type("ab");
  assert.equal(b.calls.length, 1, "no storm of requests meanwhile");
  await b.turn();
  await b.answer(1);
  assert.deepEqual(b.shown, ["ab"]);
});

test("an empty page asks nothing", () => {
  const b = bench();
  b.type("");
  assert.deepEqual([b.calls.length, b.said], [0, ["idle"]]);
});
