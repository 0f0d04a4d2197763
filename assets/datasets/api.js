// What the page asks of the server. Replies are plain values; one with `error` is for a person to read.

import { functions } from "../design/server.js";

const NAMES = ["labelled", "survey_recipe", "surveyed", "freeze_dataset", "datasets", "dataset", "prepare", "prepared", "recognise", "recognised", "bring_in", "brought"];

export const makeApi = (server, root) => ({ url: (path) => `${root}${path}`, ...functions(server, NAMES) });
