// The switch in "Get code": whether the studio keeps the decisions that code makes with this schema. Off until a person
// turns it on, for what is kept holds the states that the code sends.

import { asked, errorLine } from "./dialog.js";
import { h, setText } from "./dom.js";

const OFF = "Off: nothing that code sends is kept.";
const ON = "On: each decision that asks a saved version’s questions is kept with its state and pictures, to be labelled. Its reply carries x_decision_id.";
const EVERY = "This studio was started with --record: every decision that code makes is kept.";
const NO_VERSION = "Save a version first: kept are the decisions that ask exactly a saved version’s questions.";

/** The line as an element; it fills itself. api: {recording, record}; schema: the schema's id; say(text): speaks. */
export function recordingLine(api, schema, say) {
  const box = h("input", { type: "checkbox", id: "code-record", disabled: true, "aria-describedby": "code-record-says" });
  const says = h("p", { class: "cs-small cs-dim", id: "code-record-says" });
  const error = errorLine();
  const show = ({ recording, latest, every }) => {
    box.checked = recording || every;
    box.disabled = every || latest === null;
    setText(says, every ? EVERY : latest === null ? NO_VERSION : recording ? ON : OFF);
  };
  let now = null;
  const load = async () => {
    const reply = await asked(() => api.recording({ schema_id: schema }));
    if (reply.error) return error.say(reply.error.message);
    now = reply;
    show(now);
  };
  box.addEventListener("change", async () => {
    const recording = box.checked;
    box.disabled = true;
    const reply = await asked(() => api.record({ schema_id: schema, recording }));
    error.say(reply.error ? reply.error.message : "");
    if (!reply.error) now = { ...now, recording: reply.recording };
    show(now);
    box.focus();
    say(says.textContent);
  });
  load();
  return h("div", { class: "cs-code-record" }, h("label", { class: "cs-line", for: "code-record" }, box, h("span", { text: "Keep the decisions that code makes with this schema" })), says, error.el);
}
