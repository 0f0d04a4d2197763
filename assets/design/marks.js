// Marks on the state's text: what was looked at, what moves an answer, what is not read. Pure: no DOM.
//
// A mark is {start, end, look, against?}: characters of the text, how strong (1 to 3), and whether it spoke against the
// option. Marks do not overlap each other; what is not read may lie anywhere.

/** From so many times even attention on, a word is marked, and marked strongly. */
export const LOOKED = 1.5;
export const LOOKED_MUCH = 3;
/** From so many points on, a part is marked, and marked strongly; the list beside it also tells of smaller moves. */
export const MOVES = 2;
export const MOVES_MUCH = 10;
/** The most marks that are painted; the strongest stay. */
const MOST = 400;

/** Marks of words [start, end, weight]: neighbours of one strength are one mark, with the blanks between them. */
export function wordMarks(text, words) {
  const strong = words.filter(([, , weight]) => weight >= LOOKED);
  const kept = strong.length > MOST ? [...strong].sort((a, b) => b[2] - a[2]).slice(0, MOST) : [...strong];
  return joined(text, kept.map(([start, end, weight]) => ({ start, end, look: weight >= LOOKED_MUCH ? 3 : 2 })));
}

/** Marks of what a scorer read of the state: [start, end, ...] each. */
export const readMarks = (text, spans) => joined(text, spans.map(([start, end]) => ({ start, end, look: 2 })));

/** Marks of the parts that move an option: {spans, change, counts}. */
export function partMarks(text, parts) {
  const marks = parts
    .filter((part) => part.counts && Math.abs(part.change) >= MOVES)
    .flatMap((part) => part.spans.map(([start, end]) => ({ start, end, look: Math.abs(part.change) >= MOVES_MUCH ? 3 : 2, against: part.change > 0 })));
  return marks.map((mark) => trimmed(text, mark)).filter((mark) => mark.start < mark.end).slice(0, MOST);
}

/** Without the blanks at its ends: a sentence's mark does not reach over the line break behind it. */
function trimmed(text, mark) {
  const said = text.slice(mark.start, mark.end);
  const start = mark.start + said.length - said.trimStart().length;
  return { ...mark, start, end: Math.max(start, mark.end - said.length + said.trimEnd().length) };
}

function joined(text, marks) {
  const out = [];
  for (const mark of marks.sort((a, b) => a.start - b.start)) {
    const last = out.at(-1);
    if (last && last.look === mark.look && text.slice(last.end, mark.start).trim() === "" && !text.slice(last.end, mark.start).includes("\n")) last.end = Math.max(last.end, mark.end);
    else if (!last || mark.start >= last.end) out.push({ ...mark });
  }
  return out;
}

/** Where marks (or spans) stand after the text was edited: what was edited inside grows or shrinks, what follows moves. */
export function followed(marks, before, after) {
  if (before === after) return marks;
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < most - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  const by = after.length - before.length;
  const end = before.length - tail;
  const move = (at) => (at <= head ? at : at >= end ? at + by : Math.min(at, after.length - tail));
  return marks.map((mark) => ({ ...mark, start: move(mark.start), end: move(mark.end) })).filter((mark) => mark.start < mark.end);
}

/** The text in pieces {text, mark, cut}: `mark` null or one of `marks`, `cut` whether it lies in one of `cuts`. */
export function pieces(text, marks, cuts) {
  const edges = new Set([0, text.length]);
  for (const { start, end } of [...marks, ...cuts]) edges.add(Math.min(start, text.length)).add(Math.min(end, text.length));
  const at = [...edges].sort((a, b) => a - b);
  const ordered = [...marks].sort((a, b) => a.start - b.start);
  const gone = [...cuts].sort((a, b) => a.start - b.start);
  const out = [];
  let m = 0;
  let c = 0;
  for (let i = 0; i + 1 < at.length; i += 1) {
    const [start, end] = [at[i], at[i + 1]];
    while (m < ordered.length && ordered[m].end <= start) m += 1;
    while (c < gone.length && gone[c].end <= start) c += 1;
    const mark = ordered[m] && ordered[m].start <= start ? ordered[m] : null;
    const cut = Boolean(gone[c] && gone[c].start <= start);
    out.push({ text: text.slice(start, end), mark, cut });
  }
  return out;
}
