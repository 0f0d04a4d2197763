// What the page asks of the server. Functions reply with plain values; a reply with `error` is for a person to read.

import { heard } from "./server.js";

export function makeApi(server, root) {
  const at = (path) => `${root}${path}`;
  const call = (name, payload) => heard(server, name, payload);
  return {
    ask: (payload) => call("ask", payload),
    about: () => call("about"),
    badges: (payload) => call("badges", payload),
    look: (payload) => call("where", payload),
    probe: (payload) => call("probe", payload),
    probed: (payload) => call("probed", payload),
    stopProbe: (payload) => call("stop_probe", payload),
    label: (payload) => call("label", payload),
    unlabel: (payload) => call("unlabel", payload),
    saveDraft: (payload) => call("keep_draft", payload),
    loadDraft: () => call("newest_draft"),
    schemas: (payload) => call("schemas", payload),
    openSchema: (payload) => call("open_schema", payload),
    archive: (payload) => call("archive", payload),
    versions: (payload) => call("versions", payload),
    publish: (payload) => call("publish", payload),
    recording: (payload) => call("recording", payload),
    record: (payload) => call("record", payload),
    keepRun: (payload) => call("keep_run", payload),
    dropRun: (payload) => call("drop_run", payload),
    runs: (payload) => call("runs", payload),
    oneRun: (payload) => call("one_run", payload),
    pictureUrl: (token) => at(`/studio/pictures/${token}`),

    /** Uploads one picture: {token, name, width, height, notes} or {error: sentence}. */
    async upload(file) {
      const name = file.name || "pasted picture";
      try {
        const reply = await fetch(at("/studio/pictures"), {
          method: "POST",
          headers: { "content-type": "application/octet-stream", "x-file-name": encodeURIComponent(name) },
          body: file,
        });
        const body = await reply.json();
        if (!reply.ok) return { error: `${name} was not added: ${body.detail?.message ?? "the studio refused it"}` };
        return body;
      } catch (error) {
        console.warn("upload failed", error);
        return { error: `${name} was not added: the studio does not answer. Drop it again when it is back.` };
      }
    },

    /** [{id, name, description, states: [{name}]}] */
    async examples() {
      const reply = await fetch(at("/studio/examples"));
      return reply.ok ? reply.json() : [];
    },

    /** One example whole, or null. */
    async example(id) {
      const reply = await fetch(at(`/studio/examples/${encodeURIComponent(id)}`));
      return reply.ok ? reply.json() : null;
    },
  };
}
