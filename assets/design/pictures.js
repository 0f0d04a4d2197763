// The pictures of the state: up to four, by drop, paste, file picker or camera. The server checks and re-encodes each; the page
// shows the server's preview (so that HEIC is seen too) and keeps a token.

import { hasCamera, openCamera } from "./camera.js";
import { arrange, button, h, icon, iconButton, setText } from "./dom.js";
import { moved } from "./schema.js";
import { count } from "./words.js";

/** Milliseconds after which reading words is worth a line: what is remembered comes sooner. */
const SLOW = 200;

export class Pictures {
  /** upload(file) → {token, name, width, height, notes} or {error}; url(token); say(text): speaks for screen readers. */
  constructor(root, store, { limit, upload, url, say }) {
    Object.assign(this, { root, store, limit, upload, url, say });
    this.tiles = root.querySelector("[data-tiles]");
    this.total = root.querySelector("[data-picture-count]");
    this.errors = root.querySelector("[data-picture-errors]");
    this.words = root.querySelector("[data-words]");
    this.wait = root.querySelector("[data-reading]");
    // Pictures whose words have come, by the scorer that read them.
    this.read = new Set();
    this.pending = 0;
    this.made = new Map();
    this.input = h("input", { type: "file", accept: "image/*,.heic,.heif", multiple: true, hidden: true, "aria-label": "Choose pictures" });
    this.input.addEventListener("change", () => {
      this.take([...this.input.files]);
      this.input.value = "";
    });
    this.dropHint = h("small", { text: "or drop it here, or paste it" });
    this.drop = h("button", { type: "button", class: "cs-drop", onclick: () => this.input.click() }, icon("plus"), "Add a picture", this.dropHint);
    this.waiting = h("div", { class: "cs-drop is-waiting", role: "img", "aria-label": "Reading a picture" }, h("span", { class: "cs-spin", "aria-hidden": "true" }));
    this.tiles.after(this.input);
    this.camera = root.querySelector("[data-camera]");
    this.camera.hidden = !hasCamera();
    this.camera.addEventListener("click", () => openCamera(root, (file) => this.take([file])));
    this.#listen();
  }

  #listen() {
    const root = this.root;
    const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
    let depth = 0;
    const over = (is) => this.drop.classList.toggle("is-over", is);
    root.addEventListener("dragenter", (event) => {
      if (hasFiles(event)) over(++depth > 0);
    });
    root.addEventListener("dragleave", (event) => {
      if (hasFiles(event)) over(--depth > 0);
    });
    root.addEventListener("dragover", (event) => {
      if (hasFiles(event)) event.preventDefault();
    });
    root.addEventListener("drop", (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth = 0;
      over(false);
      this.take([...event.dataTransfer.files]);
    });
    document.addEventListener("paste", (event) => {
      const files = [...(event.clipboardData?.files ?? [])];
      // Text on the clipboard goes where the caret is; a spreadsheet offers both, and means the text.
      if (!files.length || event.clipboardData.getData("text/plain")) return;
      event.preventDefault();
      this.take(files);
    });
  }

  /** Takes files in order; says in words what it does not take. */
  async take(files) {
    this.#refuse([]);
    const free = this.limit - this.store.doc.pictures.length - this.pending;
    const refused = files.slice(Math.max(0, free));
    const taken = files.slice(0, Math.max(0, free));
    const sentences = refused.map((file) => `${file.name || "The picture"} was not added: at most ${this.limit} pictures can be judged together. Remove one first.`);
    if (sentences.length) this.#refuse(sentences);
    this.pending += taken.length;
    this.update(this.store.doc);
    const replies = await Promise.all(taken.map((file) => this.upload(file)));
    this.pending -= taken.length;
    const good = replies.filter((reply) => !reply.error);
    replies.forEach((reply) => reply.error && sentences.push(reply.error));
    if (good.length) {
      this.store.change((doc) => ({ ...doc, pictures: [...doc.pictures, ...good].slice(0, this.limit) }));
      this.say(`${good.length} picture${good.length === 1 ? "" : "s"} added`);
    }
    this.update(this.store.doc);
    this.#refuse(sentences);
  }

  #refuse(sentences) {
    const close = () => this.#refuse([]);
    this.errors.replaceChildren(
      ...sentences.map((text) => h("div", { class: "cs-alert", role: "alert" }, icon("alert"), h("span", { class: "cs-grow", text }), iconButton("x", "Close", { onclick: close }))),
    );
    this.errors.hidden = !sentences.length;
  }

  update(doc) {
    const uses = new Map();
    const wanted = doc.pictures.map((picture, index) => {
      // The same file may be there twice: the key counts.
      const nth = uses.get(picture.token) ?? 0;
      uses.set(picture.token, nth + 1);
      const key = `${picture.token}.${nth}`;
      if (!this.made.has(key)) this.made.set(key, this.#make(picture));
      const tile = this.made.get(key);
      this.#fill(tile, picture, index, doc.pictures.length);
      return tile.el;
    });
    for (let i = 0; i < this.pending; i += 1) wanted.push(i ? this.waiting.cloneNode(true) : this.waiting);
    const full = doc.pictures.length + this.pending >= this.limit;
    if (!full) wanted.push(this.drop);
    this.camera.disabled = full;
    const first = !doc.pictures.length && !this.pending;
    this.drop.classList.toggle("is-first", first);
    this.dropHint.hidden = !first;
    arrange(this.tiles, wanted);
    setText(this.total, `${doc.pictures.length} of ${this.limit}`);
  }

  #make(picture) {
    const img = h("img", { src: this.url(picture.token), alt: "", loading: "lazy", decoding: "async" });
    const pic = h("button", { type: "button", class: "cs-pic" }, img);
    const name = h("b");
    const size = h("span");
    const left = iconButton("left", "Move left");
    const right = iconButton("right", "Move right");
    const remove = iconButton("x", "Remove");
    const el = h("div", { class: "cs-tile" }, pic, h("div", { class: "cs-tile-foot" }, name, h("span", { class: "cs-tile-tools" }, left, right, remove)), size);
    const tile = { el, img, pic, name, size, left, right, remove, index: 0 };
    pic.addEventListener("click", () => this.#enlarge(picture, tile.index));
    left.addEventListener("click", () => this.#move(tile, -1));
    right.addEventListener("click", () => this.#move(tile, 1));
    remove.addEventListener("click", () => {
      this.store.change((doc) => ({ ...doc, pictures: doc.pictures.filter((_, i) => i !== tile.index) }));
      (this.tiles.querySelector(".cs-drop") ?? this.tiles.querySelector("button"))?.focus();
    });
    return tile;
  }

  #fill(tile, picture, index, total) {
    const n = index + 1;
    tile.index = index;
    tile.el.classList.toggle("is-wide", index === 0 && total <= 2);
    setText(tile.name, `${n} ${picture.name}`);
    tile.name.title = picture.name;
    const notes = picture.notes?.length ? ` · ${picture.notes.join(", ")}` : "";
    setText(tile.size, `${count(picture.width)} × ${count(picture.height)}${notes}`);
    tile.img.alt = `Picture ${n}: ${picture.name}`;
    tile.pic.setAttribute("aria-label", `Enlarge picture ${n}, ${picture.name}`);
    tile.left.disabled = index === 0;
    tile.right.disabled = index === total - 1;
    tile.left.setAttribute("aria-label", `Move picture ${n} left`);
    tile.right.setAttribute("aria-label", `Move picture ${n} right`);
    tile.remove.setAttribute("aria-label", `Remove picture ${n}`);
  }

  #move(tile, step) {
    const from = tile.index;
    this.store.change((doc) => ({ ...doc, pictures: moved(doc.pictures, from, from + step) }));
    const focus = step < 0 ? tile.left : tile.right;
    (focus.disabled ? tile.pic : focus).focus();
  }

  #enlarge(picture, index) {
    const close = button("", "Close");
    const dialog = h(
      "dialog",
      { class: "cs-dialog cs-lightbox", "aria-label": `Picture ${index + 1}, ${picture.name}` },
      h("img", { src: this.url(picture.token), alt: `Picture ${index + 1}: ${picture.name}` }),
      h("footer", {}, h("span", { class: "cs-grow cs-small cs-dim", text: `${picture.name} · ${count(picture.width)} × ${count(picture.height)}` }), close),
    );
    close.addEventListener("click", () => dialog.close());
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    dialog.addEventListener("close", () => dialog.remove());
    this.root.append(dialog);
    dialog.showModal();
  }

  /** A request with these pictures is on its way to a scorer that reads the words in them; none: it has come back. */
  reading(tokens, fingerprint = "") {
    clearTimeout(this.waiter);
    const fresh = new Set(tokens.filter((token) => !this.read.has(`${fingerprint} ${token}`)));
    if (!fresh.size) {
      this.wait.hidden = true;
      return;
    }
    this.waiter = setTimeout(() => {
      this.wait.replaceChildren(h("span", { class: "cs-spin", "aria-hidden": "true" }), fresh.size === 1 ? "Reading the words in the picture…" : `Reading the words in ${fresh.size} pictures…`);
      this.wait.hidden = false;
    }, SLOW);
  }

  /** The words of these pictures have come. */
  hasRead(tokens, fingerprint) {
    for (const token of tokens) this.read.add(`${fingerprint} ${token}`);
    this.reading([]);
  }

  /** Text that the scorer read in the pictures, one entry per picture. */
  showWords(words, doc) {
    const lines = (words ?? []).map((text, i) => ({ text: text.trim(), i })).filter(({ text }) => text);
    this.words.hidden = !lines.length;
    const signature = JSON.stringify(lines);
    if (this.words.hidden || this.words.dataset.shown === signature) return;
    this.words.dataset.shown = signature;
    this.words.replaceChildren(
      h("h4", { class: "cs-small", text: lines.length === 1 ? "Words read in the picture" : "Words read in the pictures" }),
      ...lines.map(({ text, i }) => h("p", {}, h("b", { text: `${i + 1} ${doc.pictures[i]?.name ?? ""}` }), " ", text)),
    );
  }
}
