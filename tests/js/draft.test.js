// Saving drafts: what waits is saved, whatever became of another schema's save.

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { Draft } from "../../assets/design/draft.js";
import { Store } from "../../assets/design/store.js";

const doc = (schema, name = schema) => ({ schema, name, questions: [], state: "", pictures: [] });
const settle = async () => {
  for (let i = 0; i < 20; i++) await Promise.resolve();
};

beforeEach(() => {
  globalThis.document = { addEventListener: () => {}, visibilityState: "visible" };
  globalThis.window = { addEventListener: () => {} };
  globalThis.sessionStorage = { setItem: () => {} };
});

function studio() {
  const calls = [];
  const said = [];
  const api = {
    saveDraft: (payload) => new Promise((resolve) => calls.push({ payload, resolve })),
  };
  const store = new Store(doc("empty"));
  const draft = new Draft(store, api, { said: (text) => said.push(text), kept: () => {}, conflict: () => assert.fail("no conflict") });
  return { calls, said, store, draft };
}

test("a copy made while the original's save is tried again is saved too", async (t) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  t.after(() => mock.timers.reset());
  const { calls, said, store, draft } = studio();
  store.change(() => doc("original"));
  mock.timers.tick(1);
  await settle();
  assert.equal(calls.length, 1);
  store.change(() => doc("copy"));
  mock.timers.tick(1);
  await settle();
  // The reply of an earlier try was lost: the server already has this tab's save.
  calls[0].resolve({ conflict: { revision: 7, document: { save: draft.saves[0] } } });
  await settle();
  mock.timers.tick(1);
  await settle();
  assert.equal(calls[1].payload.schema_id, "original");
  assert.equal(calls[1].payload.revision, 7);
  calls[1].resolve({ revision: 8 });
  await settle();
  mock.timers.tick(1000);
  await settle();
  assert.equal(calls[2]?.payload.schema_id, "copy");
  calls[2].resolve({ revision: 1 });
  await settle();
  assert.match(said.at(-1), /^saved \d\d:\d\d$/);
  assert.deepEqual(draft.revisions, { original: 8, copy: 1 });
});

test("a burst of typing is one save, of the last word", async (t) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  t.after(() => mock.timers.reset());
  const { calls, store } = studio();
  for (const name of ["a", "ab", "abc"]) {
    store.change((now) => ({ ...now, name }));
    mock.timers.tick(100);
  }
  mock.timers.tick(1000);
  await settle();
  assert.deepEqual(
    calls.map((call) => call.payload.name),
    ["abc"],
  );
});
