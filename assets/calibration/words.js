// Words and figures of the Calibration page. Pure.

/** "75.6" of 0.756 with one decimal; "–" where there is nothing. */
export const points = (x, digits = 1) => (Number.isFinite(x) ? (100 * x).toFixed(digits) : "–");

/** "0.168"; "–" where there is nothing, "∞" where it is infinite. */
export const number = (x, digits = 3) => (x === "infinite" ? "∞" : Number.isFinite(x) ? x.toFixed(digits) : "–");

/** Whole percents without a unit, one decimal under 1 and over 99, never a bare 0 or 100 that is not one. */
export function percents(p) {
  if (!Number.isFinite(p)) return "–";
  const value = 100 * p;
  if (value > 0 && value < 0.05) return "<0.1";
  if (value >= 99.95 && value < 100) return ">99.9";
  return (value > 0 && value < 1) || (value > 99 && value < 100) ? value.toFixed(1) : String(Math.round(value));
}

export const count = (n) => n.toLocaleString("en-GB");
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

/** "10 in 100", "1 in 100", "9.6 in 100": a share as people say it. */
export function inHundred(share) {
  const value = 100 * share;
  return `${Number.isInteger(Math.round(value * 10) / 10) ? Math.round(value) : value.toFixed(1)} in 100`;
}

/** What a row of the table says of itself, for the plot's hover: "0.77 (120 / 156)". */
export const shareOf = (row) => `${number(row.rate, 2)} (${count(row.right)} / ${count(row.n)})`;

/** "85–93 %" */
export const range = (low, high) => `${low < 0.0005 ? 0 : percents(low)}–${high >= 0.9995 ? 100 : percents(high)} %`;

/** The plot as comma-separated values: the table, then the curve. */
export function csv(review) {
  const lines = [["part", "from", "to", "said", "was", "low_95", "high_95", "right", "labels", "verdict"]];
  for (const row of review.rows) lines.push(["row", row.low, row.high, row.said, row.rate, ...row.interval, row.right, row.n, row.words]);
  for (const [low, high, fitted, n] of review.steps) lines.push(["curve", low, high, "", fitted, "", "", "", n, ""]);
  const cell = (value) => (value === null ? "" : /[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
  return `${lines.map((line) => line.map(cell).join(",")).join("\n")}\n`;
}
