// "What your labels buy": the bound on errors of sure answers now, and after the next audit labels.

import { h, setAttr, setText } from "../design/dom.js";
import { percent } from "../design/words.js";

/** Sentence and scale of the meter's numbers. Pure. */
export function worthWords({ n, above, wrong, threshold, next, now, then, hardly }) {
  const over = `sure answers (${Math.round(100 * threshold)} % and above)`;
  if (now === null) {
    return { scale: null, text: n ? `None of ${n} audit labels is on ${over} yet.` : `No audit labels yet: they say how often ${over} are wrong. 59 without an error buy “under 5 %”.` };
  }
  const found = `${wrong} of ${above} were wrong`;
  const text = hardly
    ? `${found} (audit labels). ${next} more would hardly lower the bound: it is time for something else.`
    : `${found}. Only audit labels move this; queue labels teach the next adapter.`;
  return { scale: { now, then, next }, text };
}

export class Worth {
  constructor(root) {
    this.card = root.querySelector("[data-worth]");
    this.scale = root.querySelector("[data-worth-scale]");
    this.text = root.querySelector("[data-worth-text]");
  }

  show(numbers) {
    this.card.hidden = !numbers;
    if (!numbers) return;
    const { scale, text } = worthWords(numbers);
    setText(this.text, text);
    this.scale.hidden = !scale;
    if (!scale) return;
    // From the left (nothing is known) to the right (no errors): labels move the mark to the right.
    const at = (p) => 1 - Math.sqrt(Math.min(1, p));
    const from = at(scale.now);
    const to = at(scale.then);
    const label = (p, words) => `${percent(p)} ${words}`;
    this.scale.replaceChildren(
      h("s", { style: `--from:${from};--to:${to}` }),
      h("i", { class: "is-now", style: `--x:${from}`, text: label(scale.now, "now") }),
      h("i", { class: "is-then", style: `--x:${to}`, text: label(scale.then, `with ${scale.next} more`) }),
    );
    // Two labels that would lie on each other stand one above the other.
    this.scale.classList.toggle("is-close", to - from < 0.3);
    setAttr(this.scale, "aria-label", `Wrong at most ${percent(scale.now)} now; ${percent(scale.then)} with ${scale.next} more audit labels at the same rate`);
  }
}
