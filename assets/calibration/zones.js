// What two thresholds do, from counts by whole percent. Pure: the sliders need no server.
//
// A desk has `cells`: 101 rows [n, wrong, weight, wrong weight], weights sum to 1; `audit`: 101 rows [n, wrong].
// Thresholds are whole percents: act from `act` on (101: never), refuse under `refuse`.

const sum = (rows, from, to) => {
  const total = [0, 0, 0, 0];
  for (let i = from; i < to; i += 1) for (let k = 0; k < rows[i].length; k += 1) total[k] += rows[i][k];
  return total;
};

// Sums of thousands of weights miss a whole by a rounding; "over 99.9 %" would be wrong then.
const tidy = (share) => Math.round(share * 1e9) / 1e9;

const zone = ([n, wrong, weight, lost]) => ({ n, wrong, share: tidy(weight), error: weight > 0 ? lost / weight : NaN });

/** {refuse, ask, act, cost}: cost per 1,000 answers, NaN without costs. costs: {wrong_act, wrong_refusal, human}. */
export function zones(desk, act, refuse, costs = null) {
  const from = Math.min(act, desk.cells.length);
  const [refused, asked, acted] = [sum(desk.cells, 0, Math.min(refuse, from)), sum(desk.cells, Math.min(refuse, from), from), sum(desk.cells, from, desk.cells.length)];
  const cost = costs ? 1000 * (acted[3] * costs.wrong_act + (refused[2] - refused[3]) * costs.wrong_refusal + asked[2] * costs.human) : NaN;
  return { refuse: zone(refused), ask: zone(asked), act: zone(acted), cost };
}

/** [{act, coverage, error}] from strict to loose, one point per whole percent that changes something. */
export function riskCoverage(desk) {
  const found = [];
  let [mass, lost] = [0, 0];
  for (let i = desk.cells.length - 1; i >= 0; i -= 1) {
    if (!desk.cells[i][0]) continue;
    mass += desk.cells[i][2];
    lost += desk.cells[i][3];
    found.push({ act: i, coverage: mass, error: lost / mass });
  }
  return found;
}

/** A share as a whole percent that holds exactly the same answers: thresholds are shares, sliders whole percents. */
export const percentOf = (share) => Math.round(100 * share);

/** "guaranteed", "guess" or "hand": what a threshold may call itself under these options of a budget. */
export function standing(option, act) {
  if (option.guarantee.passed.some((t) => percentOf(t) === act)) return "guaranteed";
  return option.guess && percentOf(option.guess.act) === act ? "guess" : "hand";
}
