// The state's panel: the text, what of it is not read, and where the tokens go.

import { h, icon, setAttr, setText, setValue } from "./dom.js";
import { followed, pieces } from "./marks.js";
import { stateKind } from "./schema.js";
import { count } from "./words.js";

export class StatePanel {
  constructor(root, store) {
    this.store = store;
    this.root = root;
    this.text = root.querySelector("[data-state]");
    this.backdrop = root.querySelector("[data-backdrop]");
    this.asText = root.querySelector("[data-kind='text']");
    this.asJson = root.querySelector("[data-kind='json']");
    this.format = root.querySelector("[data-format]");
    this.when = root.querySelector("[data-when-long]");
    this.error = root.querySelector("[data-state-error]");
    this.cutbar = root.querySelector("[data-cutbar]");
    this.meter = root.querySelector("[data-meter]");
    // What is not read, and what is marked ({start, end, look, against?}), each with the text that it was said of.
    this.cuts = { text: "", spans: [] };
    this.marks = { text: "", spans: [] };
    this.text.addEventListener("input", () => {
      const state = this.text.value;
      store.change((doc) => ({ ...doc, state }), { merge: "state" });
    });
    this.text.addEventListener("scroll", () => {
      this.backdrop.scrollTop = this.text.scrollTop;
    });
    this.asText.addEventListener("click", () => store.change((doc) => (doc.plain ? doc : { ...doc, plain: true })));
    this.asJson.addEventListener("click", () => store.change((doc) => (doc.plain ? { ...doc, plain: false } : doc)));
    this.format.addEventListener("click", () =>
      store.change((doc) => (stateKind(doc.state) === "json" ? { ...doc, state: pretty(doc.state) } : doc)),
    );
    this.when.addEventListener("change", () => {
      const allowCut = this.when.value === "cut";
      store.change((doc) => ({ ...doc, allowCut }), { quiet: true });
    });
  }

  update(doc) {
    setValue(this.text, doc.state);
    if (doc.state !== this.lastState || doc.plain !== this.lastPlain) {
      this.lastState = doc.state;
      this.lastPlain = doc.plain;
      const could = stateKind(doc.state) === "json";
      const kind = doc.plain ? "text" : could ? "json" : "text";
      setAttr(this.asText, "aria-pressed", String(kind === "text"));
      setAttr(this.asJson, "aria-pressed", String(kind === "json"));
      this.asJson.disabled = !could;
      this.format.hidden = kind !== "json";
      this.text.classList.toggle("is-mono", kind === "json");
      this.backdrop.classList.toggle("is-mono", kind === "json");
      this.#mark();
    }
    this.when.value = doc.allowCut ? "cut" : "refuse";
  }

  /**
   * What of `text` was not read, {tokens, spans}, or null. `ahead`: nothing was read yet; it is what a cut would leave out.
   */
  showCut(cut, text = "", tokens = null, ahead = false) {
    this.cuts = { text, spans: (cut?.spans ?? []).map(([start, end]) => ({ start, end })) };
    this.cutbar.hidden = !cut;
    if (cut) {
      const said = ahead ? [`The striped ${count(cut.tokens)} tokens do not fit`, "nothing is cut yet"] : [`Last ${count(cut.tokens)} tokens not read`];
      this.cutbar.replaceChildren(h("span", { class: "cs-grow" }, h("b", { text: said[0] }), ["", ...said.slice(1), `limit ${count(tokens.limit)}`].join(" · ")));
    }
    this.#mark();
  }

  /** Marks on `text`, or none: see marks.js. */
  showMarks(marks, text = "") {
    this.marks = { text, spans: marks };
    this.#mark();
  }

  /** Scrolls the text so that the character `start` is in sight. Takes no focus. */
  reveal(start) {
    const mark = [...this.backdrop.querySelectorAll("[data-at]")].find((el) => Number(el.dataset.at) >= start);
    if (mark) this.text.scrollTop = Math.max(0, mark.offsetTop - this.text.clientHeight / 3);
    this.text.scrollIntoView({ block: "nearest" });
  }

  showError(message) {
    this.error.hidden = !message;
    setAttr(this.text, "aria-invalid", message ? "true" : null);
    if (message) this.error.replaceChildren(icon("alert"), message);
  }

  #mark() {
    const text = this.text.value;
    for (const kept of [this.cuts, this.marks]) {
      if (kept.spans.length) kept.spans = followed(kept.spans, kept.text, text);
      kept.text = text;
    }
    if (!this.cuts.spans.length && !this.marks.spans.length) {
      if (this.backdrop.firstChild) this.backdrop.replaceChildren();
      return;
    }
    let at = 0;
    let cut = false;
    const nodes = pieces(text, this.marks.spans, this.cuts.spans).flatMap((piece) => {
      let node = piece.text;
      if (piece.mark) node = h("mark", { "data-look": piece.mark.look, "data-against": piece.mark.against, "data-at": at, text: piece.text });
      else if (piece.cut) node = h("span", { class: "cs-cut", text: piece.text });
      at += piece.text.length;
      const first = piece.cut && !cut;
      cut = cut || piece.cut;
      return first ? [h("span", { class: "cs-cut-at" }, icon("cut")), node] : [node];
    });
    this.backdrop.replaceChildren(...nodes);
    this.backdrop.scrollTop = this.text.scrollTop;
  }

  /**
   * `reused`: how many of the tokens had been read before; null where the scorer does not keep a state. `refused`: nothing
   * was read, and what is over the limit is told.
   */
  showTokens(tokens, { reused = null, refused = false } = {}) {
    this.meter.hidden = !tokens;
    if (!tokens) return;
    const asked = tokens.questions + tokens.frame;
    const state = refused ? tokens.state : tokens.read;
    const over = refused ? Math.max(0, asked + tokens.pictures + state - tokens.limit) : tokens.state - tokens.read;
    const left = Math.max(0, tokens.limit - asked - tokens.pictures - state);
    const parts = [
      ["is-a", "questions", asked],
      ["is-b", "pictures", tokens.pictures],
      ["is-c", "state", state],
      ["is-cut", refused ? "too many" : "not read", over],
    ].filter(([, , n]) => n > 0);
    const bar = h("div", { class: "cs-meter-bar", "aria-hidden": "true" });
    // What is too many is a part of what was counted: the bar shows it once, at its end.
    let twice = refused ? over : 0;
    for (const [look, , n] of [...parts].reverse()) {
      const own = look === "is-cut" ? n : Math.max(0, n - twice);
      if (look !== "is-cut") twice -= n - own;
      if (!own) continue;
      const part = h("i", { class: look });
      part.style.setProperty("--n", own);
      bar.prepend(part);
    }
    if (left) {
      const rest = h("i", { class: "is-left" });
      rest.style.setProperty("--n", left);
      bar.append(rest);
    }
    const key = h("div", { class: "cs-meter-key" });
    for (const [look, name, n] of parts) key.append(h("span", {}, h("i", { class: look }), `${name} ${count(n)}`));
    key.append(h("span", { class: "is-end", text: `limit ${count(tokens.limit)}` }));
    const total = tokens.read + tokens.pictures + asked;
    const kept = reused === null ? null : h("p", { class: "cs-kept", text: reused ? `state kept: ${count(reused)} tokens not read again, ${count(total - reused)} read` : `nothing kept yet: ${count(total)} tokens read` });
    this.meter.replaceChildren(bar, key, ...(kept ? [kept] : []));
  }
}

/** JSON with line breaks, without touching how its numbers are written. */
export function pretty(text) {
  let out = "";
  let depth = 0;
  let inside = false;
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  const line = () => `\n${"  ".repeat(depth)}`;
  tokens.forEach((token, i) => {
    if (token === "{" || token === "[") {
      depth += 1;
      inside = tokens[i + 1] === "}" || tokens[i + 1] === "]";
      out += inside ? token : token + line();
    } else if (token === "}" || token === "]") {
      depth -= 1;
      out += inside ? token : line() + token;
      inside = false;
    } else if (token === ",") out += token + line();
    else if (token === ":") out += ": ";
    else out += token;
  });
  return out;
}
