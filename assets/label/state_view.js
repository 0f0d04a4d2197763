// The state of an item, as a person reads it: text in its lines, JSON as a table of its fields, and its pictures.

import { h, icon, setText } from "../design/dom.js";
import { count } from "../design/words.js";

export class StateView {
  constructor(root, pictureUrl) {
    this.pictureUrl = pictureUrl;
    this.read = root.querySelector("[data-read]");
    this.tiles = root.querySelector("[data-tiles]");
    this.fields = root.querySelector("[data-fields]");
    this.meta = root.querySelector("[data-state-meta]");
    this.name = root.querySelector("[data-state-id]");
    this.cut = root.querySelector("[data-cut]");
    this.shown = null;
  }

  /** Shows an item; null clears. */
  show(item) {
    if (this.shown === item?.decision) return;
    this.shown = item?.decision ?? null;
    setText(this.name, item ? item.decision.slice(0, 8) : "");
    setText(this.meta, item ? `${when(item.created)} · ${from(item.source)} · ${tokens(item)}` : "");
    const { paragraphs, fields } = item ? parts(item.state) : { paragraphs: [], fields: [] };
    this.read.replaceChildren(...paragraphs.map((text) => h("p", { text })));
    this.read.hidden = !paragraphs.length;
    this.fields.replaceChildren(...fields.flatMap(([key, text]) => [h("dt", { text: key }), h("dd", { text })]));
    this.fields.hidden = !fields.length;
    const pictures = item?.pictures ?? [];
    this.tiles.hidden = !pictures.length;
    this.tiles.replaceChildren(...pictures.map((picture, i) => this.#tile(picture, i + 1)));
    this.cut.hidden = !item || item.read >= item.tokens;
    if (!this.cut.hidden) setText(this.cut, `The model read ${count(item.read)} of these ${count(item.tokens)} tokens; the end is new to it.`);
  }

  /** Fetches an item's pictures, so that they are there when it is shown. */
  prepare(item) {
    for (const { token } of item.pictures) new Image().src = this.pictureUrl(token);
  }

  #tile({ token, width, height }, n) {
    const image = h("img", { src: this.pictureUrl(token), alt: `Picture ${n} of the state`, width, height });
    const failed = h("span", { class: "cs-pic-gone", hidden: true }, icon("alert"), "This picture cannot be shown any more.");
    image.addEventListener("error", () => {
      image.hidden = true;
      failed.hidden = false;
    });
    const link = h("a", { class: "cs-pic", href: this.pictureUrl(token), target: "_blank", rel: "noopener" }, image, failed);
    return h("div", { class: "cs-tile is-wide" }, link, h("span", { text: `picture ${n}, ${count(width)} × ${count(height)}` }));
  }
}

/** A state in parts: paragraphs to read, and fields of an object in its order. */
export function parts(state) {
  if (typeof state === "string") return { paragraphs: state === "" ? [] : state.split(/\n{2,}/), fields: [] };
  if (Array.isArray(state)) return { paragraphs: state.map(plain), fields: [] };
  const entries = Object.entries(state);
  // The one long text of an object is what there is to read; the rest describes it.
  const long = entries.filter(([, value]) => typeof value === "string" && value.length > 120);
  if (long.length !== 1) return { paragraphs: [], fields: entries.map(([key, value]) => [key, plain(value)]) };
  const [[key, text]] = long;
  return { paragraphs: text.split(/\n{2,}/), fields: entries.filter(([k]) => k !== key).map(([k, value]) => [k, plain(value)]) };
}

const plain = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 1));

function tokens(item) {
  return item.read < item.tokens ? `${count(item.read)} of ${count(item.tokens)} tokens read` : `${count(item.tokens)} tokens, all read`;
}

const from = (source) => ({ page: "kept on the Design page", api: "from the API", run: "from a run", import: "imported" })[source] ?? source;

function when(iso) {
  return new Date(iso).toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
}
