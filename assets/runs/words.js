// Words and figures of the Runs page. Pure.

export const count = (n) => n.toLocaleString("en-GB");
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

/** "about 4 min", "under 10 s", "about 2 h 10 min": as exact as an estimate may be. */
export function duration(seconds) {
  if (seconds < 10) return "under 10 s";
  if (seconds < 90) return `about ${Math.round(seconds / 5) * 5} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `about ${minutes} min`;
  const hours = Math.floor(minutes / 60);
  const rest = Math.round((minutes % 60) / 10) * 10;
  if (hours < 36) return `about ${rest === 60 ? hours + 1 : hours} h${rest && rest !== 60 ? ` ${rest} min` : ""}`;
  return `about ${Math.round(hours / 24)} days`;
}

/** "12 rows/s", "0.4 rows/s" */
export const speed = (rows, seconds) => `${rows / seconds >= 10 ? count(Math.round(rows / seconds)) : (rows / seconds).toFixed(1)} rows/s`;

/** "1.2 M", "48 k", "812": a number of tokens. */
export function short(n) {
  if (n >= 1e6) return `${(n / 1e6).toFixed(n >= 1e7 ? 0 : 1)} M`;
  return n >= 1e4 ? `${Math.round(n / 1e3)} k` : count(Math.round(n));
}

/** What a run is at, in one word. */
export function status(run) {
  if (run.status === "running" && run.wanted !== "run") return run.wanted === "pause" ? "pausing" : "ending";
  return { waiting: "waiting", running: "running", paused: "paused", done: run.rest ? "done so far" : "done", failed: "failed", cancelled: "cancelled" }[run.status] ?? run.status;
}

export const ended = (run) => ["done", "failed", "cancelled"].includes(run.status);
export const active = (run) => run.status === "running" || run.status === "waiting";

/** "1,280 of 5,000 rows" */
export const soFar = (run) => (run.total === null ? plural(run.done, "row") : run.done === run.total ? plural(run.done, "row") : `${count(run.done)} of ${plural(run.total, "row")}`);

/** "about 4 min left", or why nobody can tell. */
export function left(run) {
  if (run.status === "waiting") return run.done ? "goes on when its turn comes" : "begins when its turn comes";
  if (run.status !== "running") return "";
  return run.left === null ? "" : `${duration(run.left)} left`;
}

export const share = (n, all) => (all ? `${((100 * n) / all).toFixed(1)} %` : "–");

export const FILTERS = [["all", "All"], ["wrong", "Wrong"], ["right", "Right"], ["unsure", "Unsure"], ["bad", "Not judged"], ["repeats", "Repeats"]];

/** What a filter has found, as a sentence. */
export function foundWords({ show, option, truth, below }, n, names) {
  const what = { all: "rows", wrong: "wrong answers", right: "right answers", unsure: `answers under ${Math.round(100 * below)} %`, bad: "rows that could not be judged", repeats: "rows that repeat an earlier one" }[show];
  const and = [option ? `answered ${names.get(option) ?? option}` : "", truth ? `truly ${names.get(truth) ?? truth}` : ""].filter(Boolean);
  const one = n === 1 ? what.replace("rows that repeat", "row that repeats").replace(/^rows/, "row").replace("answers", "answer") : what;
  return `${n === 0 ? "No" : count(n)} ${n === 0 ? what : one}${and.length ? `, ${and.join(", ")}` : ""}`;
}

/** The beginning of a state, as it is kept, without the marks of JSON: "message: late again, team: billing". */
export function readable(preview) {
  if (!/^[{[]/.test(preview)) return preview;
  return preview
    .replace(/(^\{|,)"((?:[^"\\]|\\.)*)":/g, (_, before, key) => `${before === "," ? ", " : ""}${key}: `)
    .replace(/: "((?:[^"\\]|\\.)*)("|$)/g, ": $1")
    .replace(/[}\]]$/, "");
}
