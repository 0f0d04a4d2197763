// Alignment of two sequences: what stayed and what changed. Pure; worddiff.js uses it for words and for levels.
//
// How: the common start and end are cut off; what is left is compared by Myers' shortest edit script while few items
// differ. Where many do, items that occur once on both sides (patience) split the block, and the parts are compared
// again. A large block without such an item is given as changed whole: an exact answer would take seconds and read no
// better.

/** Edits that Myers' algorithm may need in one block; beyond, the block is split or shown as replaced. */
const MOST_EDITS = 400;
/** Steps of Myers' algorithm for one alignment, all blocks together: they bound the worst case to about 0.1 s. */
const MOST_STEPS = 800_000;

/** @typedef {["same" | "changed", number, number, number, number]} Run  kind, a from, a to, b from, b to; half open */

/**
 * @param {number[]} a  items, equal where the numbers are
 * @param {number[]} b
 * @returns {Run[]} runs that cover both sequences in order; "changed" runs may follow each other
 */
export function alignment(a, b) {
  const runs = [];
  align({ a, b, steps: MOST_STEPS }, 0, a.length, 0, b.length, runs);
  return runs;
}

/** Pushes runs [kind, aFrom, aTo, bFrom, bTo] for a[i0, i1) against b[j0, j1). Kind: "same" or "changed". */
function align(texts, i0, i1, j0, j1, runs) {
  const { a, b } = texts;
  let start = 0;
  while (i0 + start < i1 && j0 + start < j1 && a[i0 + start] === b[j0 + start]) start += 1;
  if (start) runs.push(["same", i0, i0 + start, j0, j0 + start]);
  i0 += start;
  j0 += start;
  let end = 0;
  while (i1 - end > i0 && j1 - end > j0 && a[i1 - end - 1] === b[j1 - end - 1]) end += 1;
  i1 -= end;
  j1 -= end;
  if (i0 === i1 || j0 === j1) {
    if (i0 < i1 || j0 < j1) runs.push(["changed", i0, i1, j0, j1]);
  } else if (!myers(texts, i0, i1, j0, j1, runs) && !patience(texts, i0, i1, j0, j1, runs)) {
    runs.push(["changed", i0, i1, j0, j1]);
  }
  if (end) runs.push(["same", i1, i1 + end, j1, j1 + end]);
}

/** The shortest edit script, if it has at most MOST_EDITS steps. @returns {boolean} whether runs were pushed */
function myers(texts, i0, i1, j0, j1, runs) {
  const { a, b } = texts;
  const n = i1 - i0;
  const m = j1 - j0;
  const most = Math.min(n + m, MOST_EDITS);
  if (Math.abs(n - m) > most) return false;
  const reach = new Int32Array(2 * most + 3);
  const middle = most + 1;
  const past = [];
  for (let d = 0; d <= most; d += 1) {
    texts.steps -= d + 1;
    if (texts.steps < 0) return false;
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && reach[middle + k - 1] < reach[middle + k + 1]);
      let x = down ? reach[middle + k + 1] : reach[middle + k - 1] + 1;
      while (x < n && x - k < m && x - k >= 0 && a[i0 + x] === b[j0 + x - k]) x += 1;
      reach[middle + k] = x;
      if (x >= n && x - k >= m) {
        trace(past, d, k, n, m, i0, j0, runs);
        return true;
      }
    }
    // Step d reads what step d - 1 reached on its own diagonals only.
    past.push(reach.slice(middle - d, middle + d + 1));
  }
  return false;
}

/** Walks the edit script back from its end, and pushes its runs forward. */
function trace(past, d, k, n, m, i0, j0, runs) {
  const found = [];
  let x = n;
  let y = m;
  for (let step = d; step > 0; step -= 1) {
    const before = past[step - 1];
    const at = (diagonal) => (Math.abs(diagonal) <= step - 1 ? before[diagonal + step - 1] : -1);
    const down = k === -step || (k !== step && at(k - 1) < at(k + 1));
    k = down ? k + 1 : k - 1;
    const px = at(k);
    const py = px - k;
    const [sx, sy] = down ? [px, py + 1] : [px + 1, py];
    if (x > sx) found.push(["same", i0 + sx, i0 + x, j0 + sy, j0 + y]);
    found.push(["changed", i0 + px, i0 + sx, j0 + py, j0 + sy]);
    x = px;
    y = py;
  }
  if (x > 0) found.push(["same", i0, i0 + x, j0, j0 + y]);
  for (let i = found.length - 1; i >= 0; i -= 1) runs.push(found[i]);
}

/** Splits the block at tokens that occur exactly once on both sides. @returns {boolean} whether there were any */
function patience(texts, i0, i1, j0, j1, runs) {
  const { a, b } = texts;
  const seen = new Map();
  for (let i = i0; i < i1; i += 1) {
    const at = seen.get(a[i]);
    if (at) at.twice = true;
    else seen.set(a[i], { i, j: -1, twice: false });
  }
  for (let j = j0; j < j1; j += 1) {
    const at = seen.get(b[j]);
    if (!at) continue;
    if (at.j >= 0) at.twice = true;
    at.j = j;
  }
  const anchors = rising(
    [...seen.values()].filter((t) => !t.twice && t.j >= 0),
    (t) => t.j,
  );
  if (!anchors.length) return false;
  let i = i0;
  let j = j0;
  for (const anchor of anchors) {
    align(texts, i, anchor.i, j, anchor.j, runs);
    runs.push(["same", anchor.i, anchor.i + 1, anchor.j, anchor.j + 1]);
    i = anchor.i + 1;
    j = anchor.j + 1;
  }
  align(texts, i, i1, j, j1, runs);
  return true;
}

/** The longest subsequence whose keys rise. */
export function rising(items, key) {
  const tails = [];
  const before = new Array(items.length).fill(-1);
  items.forEach((item, at) => {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (key(items[tails[mid]]) < key(item)) low = mid + 1;
      else high = mid;
    }
    if (low) before[at] = tails[low - 1];
    tails[low] = at;
  });
  const found = [];
  for (let at = tails.at(-1) ?? -1; at >= 0; at = before[at]) found.push(items[at]);
  return found.reverse();
}
