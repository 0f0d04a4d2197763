// What the page asks of the server. Replies are plain values; one with `error` is for a person to read.

import { functions } from "../design/server.js";

const NAMES = ["choices", "look", "weigh", "start_run", "runs", "run", "steer", "found", "row"];

export const makeApi = (server, root) => ({ url: (path) => `${root}${path}`, ...functions(server, NAMES) });
