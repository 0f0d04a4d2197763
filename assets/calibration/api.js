// What the page asks of the server. Replies are plain values; one with `error` is for a person to read.

import { asked } from "../design/dialog.js";

export function makeApi(server, root) {
  const call = (name, payload = {}) =>
    asked(async () => {
      const reply = await server[name](payload);
      // Gradio's client swallows failures and gives nothing back; here they are errors again.
      if (reply === undefined || reply === null) throw new Error(`${name}: the studio does not answer`);
      return reply;
    });
  const api = { url: (path) => `${root}${path}` };
  const names = [
    "places", "questions", "badge", "review", "cases", "thresholds", "budget", "cheapest_thresholds", "policies", "keep_policy", "drop_policy",
    "compare_places", "compared_cases", "recalibration", "keep_recalibration", "switch_recalibration", "over_time", "error_slices", "missing_options",
    "replay_targets", "replay_state", "start_replay", "replay_job", "steer_replay",
  ];
  for (const name of names) api[name] = (payload) => call(name, payload);
  return api;
}
