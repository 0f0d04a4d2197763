// The rows inside an open question: options of a choice, levels of a score, what yes and no mean of a noul. Fields grow with
// their text. Enter goes on to the next one, Shift Enter breaks the line; a name has one line only, however long.

import { arrange, button, fit, h, icon, iconButton, setAttr, setText, setValue } from "./dom.js";
import { sortable } from "./drag.js";
import { pressed } from "./keys.js";
import { fromText, moved, newLevel, newOption, toText } from "./schema.js";
import { withRow } from "./store.js";

/** A text area of one line that grows. */
function field(props) {
  const area = h("textarea", { rows: 1, autocomplete: "off", ...props });
  area.addEventListener("input", () => fit(area));
  return area;
}

/** `edit(fn, merge?)` changes the question. All three have update(question, errors) and `el`. */
export function rowsFor(type, edit, limits) {
  if (type === "noul") return new Sides(edit);
  return new Rows(type === "choice" ? CHOICE : SCORE, edit, limits);
}

const CHOICE = {
  list: "options",
  noun: "option",
  fields: [
    { key: "name", classes: "is-mono", label: (n) => `Option ${n}, name`, placeholder: "name" },
    { key: "description", classes: "is-desc", label: (n, row) => `What ${row.name || `option ${n}`} means`, placeholder: "what it means" },
  ],
  head: ["option", "what it means, sent to the model"],
  make: newOption,
  limit: "options",
  title: (row, n) => row.name || `option ${n}`,
  note: "The model is sent them sorted by name.",
};

const SCORE = {
  list: "levels",
  noun: "level",
  fields: [{ key: "text", classes: "is-desc", label: (n) => `Level ${n - 1}`, placeholder: "what this level means" }],
  head: ["level", "from low to high"],
  make: newLevel,
  limit: "levels",
  title: (row, n) => `level ${n - 1}`,
  note: "Ordered, from low to high.",
};

class Rows {
  constructor(kind, edit, limits) {
    this.kind = kind;
    this.edit = edit;
    this.limits = limits;
    this.rows = new Map();
    this.list = h("ul", { class: `cs-opts is-${kind.noun}`, "aria-label": kind.noun === "option" ? "Options" : "Levels" });
    const plus = button("is-small", kind.noun === "option" ? "Option" : "Level", { onclick: () => this.add() }, icon("plus"));
    this.note = h("span", { class: "cs-small cs-dim", text: kind.note });
    this.error = h("p", { class: "cs-error", hidden: true });
    this.el = h("div", { class: "cs-q-body" }, this.list, this.error, h("div", { class: "cs-line" }, plus, this.note));
    this.head = h(
      "li",
      { class: "cs-opt cs-opt-head", "aria-hidden": "true" },
      h("span"), ...kind.head.map((text) => h("span", { text })), h("span"),
    );
  }

  update(question, errors) {
    const rows = question[this.kind.list];
    this.now = rows;
    const wanted = rows.map((row, index) => {
      let made = this.rows.get(row.uid);
      if (!made) {
        made = this.#make(row.uid);
        this.rows.set(row.uid, made);
      }
      this.#fill(made, row, index + 1, errors.find((e) => e.field === row.uid));
      return made.el;
    });
    const kept = new Set(rows.map((r) => r.uid));
    for (const uid of this.rows.keys()) if (!kept.has(uid)) this.rows.delete(uid);
    arrange(this.list, [this.head, ...wanted]);
    const own = errors.find((e) => e.field === this.kind.list);
    this.error.hidden = !own;
    if (own) setText(this.error, own.message);
  }

  #make(uid) {
    const { fields, noun, list } = this.kind;
    const grip = h("button", { type: "button", class: "cs-grip" }, icon("grip"));
    const inputs = fields.map(({ key, classes, placeholder }) =>
      field({
        class: `cs-input is-small ${classes}`, placeholder, spellcheck: key === "name" ? "false" : null,
        oninput: (event) => {
          if (key === "name" && !event.isComposing) oneLine(event.target);
          const text = event.target.value;
          this.edit((q) => withRow(q, list, uid, (row) => ({ ...row, [key]: fromText(text, row[key]) })), `${uid}.${key}`);
        },
        onkeydown: (event) => this.#onKey(event, uid, key),
      }),
    );
    const number = noun === "level" ? h("span", { class: "cs-opt-n cs-mono", "aria-hidden": "true" }) : null;
    const remove = iconButton("x", "Remove", { onclick: () => this.#remove(uid) });
    const error = h("p", { class: "cs-error", id: `err-${uid}`, hidden: true });
    const el = h("li", { class: "cs-opt" }, grip, number, ...inputs, remove, error);
    sortable(grip, {
      item: () => el,
      siblings: () => this.now.map((r) => this.rows.get(r.uid).el),
      move: (step) => this.#move(uid, step),
    });
    return { el, grip, inputs, number, remove, error };
  }

  #fill(made, row, n, error) {
    const title = this.kind.title(row, n);
    this.kind.fields.forEach(({ key, label }, i) => {
      setValue(made.inputs[i], toText(row[key]));
      fit(made.inputs[i]);
      setAttr(made.inputs[i], "aria-label", label(n, row));
    });
    if (made.number) setText(made.number, String(n - 1));
    setAttr(made.grip, "aria-label", `Move ${title}: drag, or arrow keys`);
    setAttr(made.remove, "aria-label", `Remove ${title}`);
    setAttr(made.remove, "title", `Remove ${title}`);
    setAttr(made.inputs[0], "aria-invalid", error ? "true" : null);
    setAttr(made.inputs[0], "aria-describedby", error ? made.error.id : null);
    made.error.hidden = !error;
    if (error) setText(made.error, error.message);
  }

  #onKey(event, uid, key) {
    const what = pressed(event, "next", "up", "down", "drop");
    const index = this.now.findIndex((r) => r.uid === uid);
    if (what === "next") {
      event.preventDefault();
      if (key === "name") this.rows.get(uid).inputs[1].focus();
      else this.add(index + 1);
    } else if (what === "up" || what === "down") {
      event.preventDefault();
      event.stopPropagation();
      this.#move(uid, what === "up" ? -1 : 1);
    } else if (what === "drop" && event.target.value === "" && !event.repeat) {
      const row = this.now[index];
      const empty = this.kind.fields.every((f) => toText(row[f.key]) === "");
      if (empty && this.now.length > 1) {
        event.preventDefault();
        this.#remove(uid);
      }
    }
  }

  add(at = this.now.length) {
    const row = this.kind.make();
    this.edit((q) => ({ ...q, [this.kind.list]: [...q[this.kind.list].slice(0, at), row, ...q[this.kind.list].slice(at)] }));
    this.rows.get(row.uid)?.inputs[0].focus();
  }

  #remove(uid) {
    const index = this.now.findIndex((r) => r.uid === uid);
    this.edit((q) => ({ ...q, [this.kind.list]: q[this.kind.list].filter((r) => r.uid !== uid) }));
    const near = this.now[Math.max(0, index - 1)];
    if (near) this.rows.get(near.uid)?.inputs.at(-1).focus();
  }

  #move(uid, step) {
    this.edit((q) => {
      const from = q[this.kind.list].findIndex((r) => r.uid === uid);
      return { ...q, [this.kind.list]: moved(q[this.kind.list], from, from + step) };
    }, `move.${uid}`);
  }
}

/** Line breaks that were pasted into a name become blanks; the caret stays where it is. */
function oneLine(area) {
  if (!area.value.includes("\n")) return;
  const at = area.selectionEnd;
  area.value = area.value.replaceAll("\n", " ");
  area.setSelectionRange(at, at);
}

/** What yes and no mean. Empty means the release's own words. */
class Sides {
  constructor(edit) {
    this.edit = edit;
    this.inputs = {};
    this.el = h("div", { class: "cs-q-body cs-sides" });
    for (const [side, word] of [["true", "yes"], ["false", "no"]]) {
      const input = field({
        class: "cs-input is-small", placeholder: side === "true" ? "when it is true (optional)" : "when it is not (optional)",
        "aria-label": `What ${word} means`,
        onkeydown: (event) => {
          if (!pressed(event, "next")) return;
          event.preventDefault();
          if (side === "true") this.inputs.false.focus();
        },
        oninput: (event) => {
          const text = event.target.value;
          this.edit((q) => {
            const criteria = { ...q.criteria, [side]: fromText(text, q.criteria[side]) };
            if (criteria[side] === "") delete criteria[side];
            return { ...q, criteria };
          }, `side.${side}`);
        },
      });
      this.inputs[side] = input;
      this.el.append(h("label", { class: "cs-side" }, h("span", { class: "cs-small cs-dim", text: `${word} means` }), input));
    }
    this.error = h("p", { class: "cs-error", hidden: true });
    this.el.append(this.error);
  }

  update(question, errors) {
    for (const side of ["true", "false"]) {
      setValue(this.inputs[side], toText(question.criteria[side]));
      fit(this.inputs[side]);
      const error = errors.find((e) => e.field === `criteria.${side}`);
      setAttr(this.inputs[side], "aria-invalid", error ? "true" : null);
      if (error) setText(this.error, error.message);
    }
    this.error.hidden = !errors.some((e) => e.field.startsWith("criteria."));
  }

  add() {
    this.inputs.true.focus();
  }
}
