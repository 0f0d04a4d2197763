// One question's card: id, wording, and when open its rows. A folded card holds no rows, so that 64 questions of 255
// options stay light.

import { badgeChip, badgeNote } from "./badge.js";
import { button, fit, h, icon, iconButton, setAttr, setText, setValue } from "./dom.js";
import { sortable } from "./drag.js";
import { menuButton } from "./menu.js";
import { rowsFor } from "./rows.js";
import { filledLevels, filledOptions, fromText, toText } from "./schema.js";

export const TYPES = {
  noul: "is it true?",
  choice: "which option?",
  score: "where on a scale?",
};

export class Card {
  /** `host`: {limits, edit(uid, fn, merge), fold(uid), move(uid, step), duplicate(uid), remove(uid), setType(uid, type), cards()} */
  constructor(uid, host) {
    this.uid = uid;
    this.host = host;
    this.num = h("span", { class: "cs-num" });
    this.grip = h("button", { type: "button", class: "cs-grip" }, icon("grip"));
    this.type = h("button", { type: "button", class: "cs-chip cs-type" });
    this.id = h("input", {
      class: "cs-input is-small is-mono is-quiet", autocomplete: "off", spellcheck: "false", placeholder: "id",
      oninput: (event) => this.#edit((q) => ({ ...q, id: event.target.value }), "id"),
    });
    this.more = iconButton("more", "More");
    this.toggle = iconButton("down", "Open", { onclick: () => host.fold(uid) });
    this.idError = h("p", { class: "cs-error", id: `err-id-${uid}`, hidden: true });
    this.text = h("textarea", {
      class: "cs-input cs-q-text is-quiet", rows: 1, placeholder: "Write the question",
      oninput: (event) => {
        const text = event.target.value;
        fit(this.text);
        this.#edit((q) => ({ ...q, instructions: fromText(text, q.instructions) }), "instructions");
      },
    });
    this.textError = h("p", { class: "cs-error", id: `err-text-${uid}`, hidden: true });
    this.badge = h("a", { class: "cs-q-badge", hidden: true });
    this.sum = h("div", { class: "cs-q-sum" });
    this.body = null;
    const top = h("div", { class: "cs-q-top" }, this.type, this.id, this.badge, h("span", { class: "cs-q-tools" }, this.more, this.toggle));
    this.main = h("div", { class: "cs-q-main" }, top, this.idError, this.text, this.textError, this.sum);
    this.el = h("article", { class: "cs-card cs-q" }, h("div", { class: "cs-q-side" }, this.num, this.grip), this.main);
    sortable(this.grip, { item: () => this.el, siblings: () => host.cards(), move: (step) => host.move(uid, step) });
    menuButton(this.type, () => this.#typeItems());
    menuButton(this.more, () => this.#items());
  }

  #edit(fn, merge) {
    this.host.edit(this.uid, fn, merge && `${this.uid}.${merge}`);
  }

  #typeItems() {
    return Object.entries(TYPES).map(([type, about]) => ({
      label: type, about, checked: this.question.type === type, run: () => this.host.setType(this.uid, type),
    }));
  }

  #items() {
    const { uid, host } = this;
    return [
      { label: "Duplicate", icon: "copy", hint: "Ctrl D", run: () => host.duplicate(uid) },
      { label: "Move up", icon: "up", hint: "Alt ↑", disabled: this.index === 0, run: () => host.move(uid, -1) },
      { label: "Move down", icon: "down", hint: "Alt ↓", disabled: this.last, run: () => host.move(uid, 1) },
      { label: "Remove", icon: "trash", danger: true, run: () => host.remove(uid) },
    ];
  }

  /** Shows the question. Cheap when nothing changed. */
  update(question, index, count, errors) {
    this.last = index === count - 1;
    const same = this.question === question && this.index === index && this.errors === errors;
    if (same) return;
    this.question = question;
    this.index = index;
    this.errors = errors;
    const n = index + 1;
    setText(this.num, String(n));
    setAttr(this.el, "aria-label", `Question ${n}: ${question.id}`);
    setAttr(this.grip, "aria-label", `Move question ${n}: drag, or arrow keys`);
    setText(this.type, question.type);
    setAttr(this.type, "aria-label", `${question.type}: type of question ${n}, ${TYPES[question.type]}`);
    setValue(this.id, question.id);
    setAttr(this.id, "aria-label", `Id of question ${n}`);
    setValue(this.text, toText(question.instructions));
    setAttr(this.text, "aria-label", `Wording of question ${n}`);
    setAttr(this.more, "aria-label", `More for question ${n}`);
    setAttr(this.toggle, "aria-label", `${question.open ? "Fold" : "Open"} question ${n}`);
    setAttr(this.toggle, "title", question.open ? "Fold" : "Open");
    setAttr(this.toggle, "aria-expanded", String(question.open));
    this.toggle.querySelector("use").setAttribute("href", question.open ? "#i-up" : "#i-down");
    this.el.classList.toggle("is-open", question.open);
    this.text.classList.toggle("is-quiet", !question.open);
    fit(this.text);
    this.#error(this.id, this.idError, errors.find((e) => e.field === "id"));
    this.#error(this.text, this.textError, errors.find((e) => e.field === "instructions"));
    this.#body(question, errors);
  }

  #body(question, errors) {
    if (!question.open) {
      this.body?.el.remove();
      this.body = null;
      this.sum.hidden = false;
      this.sum.classList.toggle("is-levels", question.type === "score");
      this.sum.replaceChildren(...summary(question).map((text) => h("span", { text })));
      const hidden = errors.find((e) => !["id", "instructions", "waiting"].includes(e.field));
      if (hidden) this.sum.append(h("span", { class: "cs-error", text: hidden.message }));
      return;
    }
    this.sum.hidden = true;
    if (this.bodyType !== question.type || !this.body) {
      this.body?.el.remove();
      this.body = rowsFor(question.type, (fn, merge) => this.#edit(fn, merge), this.host.limits);
      this.bodyType = question.type;
      this.main.append(this.body.el);
    }
    this.body.update(question, errors);
  }

  #error(input, place, error) {
    setAttr(input, "aria-invalid", error ? "true" : null);
    setAttr(input, "aria-describedby", error ? place.id : null);
    place.hidden = !error;
    if (!error) return;
    place.replaceChildren(icon("alert"), error.message);
    if (error.fix) {
      place.append(button("is-small", "", { onclick: () => this.#edit((q) => ({ ...q, id: error.fix.id })) }, "Use ", h("span", { class: "cs-mono", text: error.fix.label })));
    }
  }

  /** Whether this question's probabilities can be trusted: {badge, href}, or null where nothing is known. */
  showBadge(known) {
    this.badge.hidden = !known;
    if (!known) return;
    setAttr(this.badge, "href", known.href);
    setAttr(this.badge, "title", `${badgeNote(known.badge)}. Opens Calibration`);
    this.badge.replaceChildren(badgeChip(known.badge), h("span", { class: "cs-sr", text: `: question ${this.index + 1} in Calibration` }));
  }

  focusText() {
    this.text.focus();
  }
}

/** What a folded card says of its answers. */
export function summary(question) {
  if (question.type === "noul") return ["yes", "no"];
  const names =
    question.type === "choice"
      ? filledOptions(question).map((o) => o.name || "…")
      : filledLevels(question).map((l) => toText(l.text));
  if (!names.length) return [question.type === "choice" ? "no options yet" : "no levels yet"];
  const brief = names.map((name) => (name.length > 32 ? `${name.slice(0, 31)}…` : name));
  return brief.length > 6 ? [...brief.slice(0, 5), `${brief.length - 5} more`] : brief;
}
