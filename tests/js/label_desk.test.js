// The desk of the Label page: nothing lost, nothing twice, nothing on the wrong item, whatever the network does.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Desk, PREFIX } from "../../assets/label/desk.js";

function memory(kept = {}) {
  const store = { ...kept };
  Object.defineProperties(store, {
    getItem: { value: (k) => store[k] ?? null },
    setItem: { value: (k, v) => { store[k] = v; } },
    removeItem: { value: (k) => { delete store[k]; } },
  });
  return store;
}

/** A server of n items that answers each act once; `broken` calls fail before, `cut` ones after they were done. */
function server(n) {
  const items = Array.from({ length: n }, (_, i) => ({ lease: `l${i}`, decision: `d${i}` }));
  const done = new Map();
  const outcome = new Map();
  const self = {
    calls: [], acts: done, outcome, broken: 0, cut: 0,
    async send(payload) {
      self.calls.push(payload);
      if (self.broken > 0) {
        self.broken -= 1;
        throw new Error("no network");
      }
      for (const act of payload.acts) {
        if (done.has(act.id)) continue;
        done.set(act.id, act);
        outcome.set(act.lease, act.kind === "undo" ? null : act);
      }
      if (self.cut > 0) {
        self.cut -= 1;
        throw new Error("reply lost");
      }
      const reply = { done: payload.acts.map((a) => (a.choice === "bad" ? { id: a.id, error: "no" } : { id: a.id, verdict: "right" })) };
      if (!payload.where) return reply;
      const open = items.filter((item) => !outcome.get(item.lease)).slice(0, payload.want);
      return { ...reply, items: open.filter((item) => !payload.known.includes(item.lease)), status: { waiting: n, ahead: 10 }, settings: {} };
    },
  };
  return self;
}

function desk(back, more = {}) {
  const seen = { settled: [], refused: [] };
  const on = { changed() {}, settled: (act, d) => seen.settled.push([act.lease, d.verdict]), refused: (act, m) => seen.refused.push([act.lease, m]) };
  const made = new Desk({ send: (p) => back.send(p), on, storage: memory(), tab: "t", wait: async () => {}, ...more });
  made.seen = seen;
  return made;
}

test("labels are sent in order and confirmed", async () => {
  const back = server(30);
  const d = desk(back);
  await d.open({}, "Ann");
  assert.equal(d.ahead.length, 10);
  for (let i = 0; i < 25; i++) {
    while (!d.current) await d.kick();
    assert.equal(d.current.lease, `l${i}`);
    d.label("a");
    if (i % 7 === 0) await d.running;
  }
  await d.running;
  assert.equal(back.outcome.size, 25);
  assert.equal(d.outbox.length, 0);
  assert.deepEqual(d.seen.settled.map(([l]) => l), Array.from({ length: 25 }, (_, i) => `l${i}`));
});

test("a lost request or a lost reply is sent again and done once", async () => {
  const back = server(30);
  const d = desk(back);
  await d.open({}, "Ann");
  back.broken = 2;
  d.label("a");
  back.cut = 0;
  await d.running;
  back.cut = 1;
  d.label("b");
  d.skip();
  await d.running;
  assert.deepEqual([...back.acts.values()].map((a) => [a.kind, a.lease]), [["label", "l0"], ["label", "l1"], ["skip", "l2"]]);
  assert.equal(d.problem, null);
  assert.equal(d.outbox.length, 0);
});

test("undo brings back the item, also before it was sent", async () => {
  const back = server(30);
  const d = desk(back);
  await d.open({}, "Ann");
  d.label("a", { note: "n" });
  d.label("b");
  const last = d.undo();
  assert.equal(last.act.choice, "b");
  assert.equal(d.current.lease, "l1");
  await d.running;
  assert.equal(d.current.lease, "l1");
  assert.equal(d.ahead.filter((x) => x.lease === "l1").length, 1);
  d.label("c");
  await d.running;
  assert.equal(back.outcome.get("l1").choice, "c");
  assert.equal(d.undo().act.choice, "c");
  assert.equal(d.undo().act.choice, "a");
  assert.equal(d.undo(), null);
  assert.equal(d.current.lease, "l0");
});

test("what is not confirmed survives a reload and goes out under its own name", async () => {
  const storage = memory();
  const down = server(10);
  const first = desk(down, { storage, wait: () => new Promise(() => {}) });
  first.open({}, "Ann");
  await new Promise((resolve) => setImmediate(resolve));
  down.broken = 99;
  first.label("a");
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(storage.getItem(`${PREFIX}t`));
  const up = server(10);
  const other = desk(up, { storage, tab: "t2" });
  await other.recover();
  assert.deepEqual(up.calls.map((c) => [c.labeller, c.acts.length]), [["Ann", 1]]);
  assert.equal(storage.getItem(`${PREFIX}t`), null);
  const same = desk(up, { storage: memory({ [`${PREFIX}t`]: JSON.stringify([{ id: "x", kind: "skip", lease: "l3", by: "Ann" }]) }) });
  await same.recover();
  await same.open({}, "Ann");
  assert.equal(up.outcome.get("l3").kind, "skip");
  assert.ok(!same.ahead.some((item) => item.lease === "l3"));
});

test("a refused act is said and does not hold up the next", async () => {
  const back = server(10);
  const d = desk(back);
  await d.open({}, "Ann");
  d.label("bad");
  d.label("a");
  await d.running;
  assert.deepEqual(d.seen.refused, [["l0", "no"]]);
  assert.deepEqual(d.seen.settled, [["l1", "right"]]);
});

test("without an item nothing is done, and that nothing is left is known", async () => {
  const back = server(1);
  const d = desk(back);
  assert.equal(d.empty, false);
  await d.open({}, "Ann");
  d.label("a");
  assert.equal(d.label("b"), null);
  await d.running;
  assert.equal(d.empty, true);
  assert.equal(back.acts.size, 1);
});

test("a reply to a place that was left puts nothing on the desk", async () => {
  const back = server(5);
  let release;
  const slow = { send: (p) => (p.where?.slow ? new Promise((resolve) => { release = () => resolve(back.send(p)); }) : back.send({ ...p, where: { x: 1 } })) };
  const d = desk(back, { send: (p) => slow.send(p) });
  d.open({ slow: true }, "Ann");
  await new Promise((resolve) => setImmediate(resolve));
  d.open({ x: 1 }, "Ann");
  release();
  await d.running;
  assert.equal(new Set(d.ahead.map((x) => x.lease)).size, d.ahead.length);
  assert.equal(d.where.x, 1);
});

test("acts of who was here before are sent as theirs", async () => {
  const back = server(20);
  const d = desk(back);
  await d.open({}, "Ann");
  back.broken = 1;
  d.label("a");
  d.open({}, "Bob");
  await d.running;
  d.label("b");
  await d.running;
  const sent = back.calls.flatMap((c) => c.acts.map((a) => [c.labeller, a.choice]));
  assert.deepEqual([...new Set(sent.map(String))], ["Ann,a", "Bob,b"]);
  assert.equal(d.outbox.length, 0);
});
