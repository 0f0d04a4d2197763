// What the page asks of the server. Replies are plain values; one with `error` is for a person to read.

import { functions } from "../design/server.js";

const NAMES = [
  "places", "questions", "badge", "review", "cases", "thresholds", "budget", "cheapest_thresholds", "policies", "keep_policy", "drop_policy",
  "compare_places", "compared_cases", "recalibration", "keep_recalibration", "switch_recalibration", "over_time", "error_slices", "missing_options",
  "replay_targets", "replay_state", "start_replay", "replay_job", "steer_replay",
];

export const makeApi = (server, root) => ({ url: (path) => `${root}${path}`, ...functions(server, NAMES) });
