// Why an item is shown, in words: its stream, and how likely it was to be shown. Pure.

/** "34 in 100", "1 in 20", "every one": a probability as a count that people can picture. */
export function odds(p) {
  if (!(p > 0)) return "not known yet";
  if (p >= 0.995) return "every one";
  if (p >= 0.1) return `${Math.round(100 * p)} in 100`;
  return `1 in ${Math.round(1 / p).toLocaleString("en-GB")}`;
}

/** {icon, stream, text, title} of an item. */
export function reason(item) {
  const second = item.second ? " · a second opinion" : "";
  if (item.stream === "audit") {
    return {
      icon: "dice", stream: "audit", text: `Audit · picked at random, ${odds(item.drawn)}${second}`,
      title: "Picked at random, whatever the model says. Audit labels are the ones that measure.",
    };
  }
  return {
    icon: "queue", stream: "queue", text: `Queue · the model doubts this one · shown ${odds(item.inclusion)}${second}`,
    title: "Shown because the model doubts it. The chance that it was shown is kept with the label, so that it can be weighed.",
  };
}

/** What stands over a hidden answer. `share`: how many of its stream are hidden; null where the person hid it. */
export function hiddenWords(item, share) {
  const start = "Blind: the model’s answer is hidden until you have chosen.";
  if (share === null) return `${start} You hide all of them.`;
  if (share >= 1) return `${start} All of the ${item.stream} is, so that the answer sways nobody.`;
  return `${start} ${odds(share)[0].toUpperCase()}${odds(share).slice(1)} of the ${item.stream} is, so that we see how much the answer sways us.`;
}

/** Labels an hour, from the times (ms) of the last ones; null with under five. */
export function pace(times) {
  if (times.length < 5) return null;
  const span = times.at(-1) - times[0];
  return span > 0 ? Math.round(((times.length - 1) * 3_600_000) / span) : null;
}

/** The next multiple of fifty: a goal that is always in sight. */
export const goal = (n) => (Math.floor(n / 50) + 1) * 50;

/** Keys of the first ten options: 1 to 9, then 0. */
export const digit = (index) => (index < 9 ? String(index + 1) : index === 9 ? "0" : null);
