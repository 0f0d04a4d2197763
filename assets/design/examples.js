// The states of a schema: named, one of them on the page. Going to another one first writes the page's state back, so that
// nothing typed is lost; the questions stay as they are.

import { onEnter, openDialog } from "./dialog.js";
import { button, h, iconButton, icon, setText } from "./dom.js";
import { menuButton } from "./menu.js";

/** The document's examples with what is on the page written back to its place. */
export function writtenBack(doc) {
  const examples = doc.examples ?? [];
  const here = examples[doc.at];
  if (!here || (here.state === doc.state && here.pictures === doc.pictures)) return examples;
  return examples.map((e, i) => (i === doc.at ? { ...e, state: doc.state, pictures: doc.pictures } : e));
}

/** The document with its example `at` on the page. */
export function atExample(doc, at) {
  const examples = writtenBack(doc);
  const next = examples[at];
  return next ? { ...doc, examples, at, state: next.state, pictures: next.pictures } : doc;
}

/** The document with what is on the page kept as one more example; the first time, as the first. */
export function withNewExample(doc) {
  const examples = writtenBack(doc);
  const name = doc.state.trim().split("\n")[0].replace(/^(From|Subject|Hello|Hi)[:,]?\s*/i, "").slice(0, 40) || "Empty";
  if (!examples.length) return { ...doc, examples: [{ name, state: doc.state, pictures: doc.pictures }], at: 0 };
  const made = [...examples, { name: `Example ${examples.length + 1}`, state: "", pictures: [] }];
  return { ...doc, examples: made, at: made.length - 1, state: "", pictures: [] };
}

/** The document without the example on the page; the one before it takes its place. */
export function withoutExample(doc) {
  const left = writtenBack(doc).filter((_, i) => i !== doc.at);
  if (!left.length) return { ...doc, examples: [], at: -1, state: "", pictures: [] };
  return atExample({ ...doc, examples: left, at: -1 }, Math.max(0, doc.at - 1));
}

/** The document with the example on the page under another name. */
export function renamedExample(doc, name) {
  return { ...doc, examples: writtenBack(doc).map((e, i) => (i === doc.at ? { ...e, name } : e)) };
}

/** The document with a copy of the example on the page, which is then on the page. */
export function copiedExample(doc) {
  const examples = writtenBack(doc);
  const copy = { ...examples[doc.at], name: `${examples[doc.at].name} (copy)` };
  return { ...doc, examples: [...examples.slice(0, doc.at + 1), copy, ...examples.slice(doc.at + 1)], at: doc.at + 1 };
}

export class ExamplePicker {
  constructor(root, store) {
    Object.assign(this, { root, store });
    const go = (step) => () => store.change((doc) => atExample(doc, (doc.at + step + doc.examples.length) % doc.examples.length));
    this.before = iconButton("left", "Previous example", { class: "cs-wide", onclick: go(-1) });
    this.after = iconButton("right", "Next example", { class: "cs-wide", onclick: go(1) });
    this.name = h("span", { class: "cs-ellipsis" });
    this.pick = h("button", { type: "button", class: "cs-btn is-small cs-pick-example" }, this.name, icon("down"));
    menuButton(this.pick, () => this.#items());
    root.querySelector("[data-example]").append(this.before, this.pick, this.after);
  }

  #items() {
    const { doc } = this.store;
    const examples = writtenBack(doc);
    const items = examples.map((e, i) => ({ label: e.name, checked: i === doc.at, run: () => this.store.change((d) => atExample(d, i)) }));
    items.push({ label: examples.length ? "New example" : "Keep this as an example", icon: "plus", run: () => this.store.change(withNewExample) });
    if (!examples[doc.at]) return items;
    items.push({ label: "Rename…", icon: "pen", run: () => this.#rename(examples[doc.at].name) });
    items.push({ label: "Duplicate", icon: "copy", run: () => this.store.change(copiedExample) });
    items.push({ label: "Remove this example", icon: "trash", danger: true, run: () => this.store.change(withoutExample) });
    return items;
  }

  #rename(before) {
    const name = h("input", { class: "cs-input", value: before, maxlength: "120", autocomplete: "off", "aria-label": "Name of the example" });
    const cancel = button("", "Cancel");
    const done = button("is-primary", "Rename");
    const { close } = openDialog(this.root, { title: "Rename the example", body: [name], acts: [cancel, done] });
    const keep = () => {
      const now = name.value.trim();
      close();
      if (now && now !== before) this.store.change((doc) => renamedExample(doc, now));
    };
    cancel.addEventListener("click", close);
    done.addEventListener("click", keep);
    onEnter(name, keep);
    name.select();
  }

  update(doc) {
    const total = doc.examples?.length ?? 0;
    const here = doc.examples?.[doc.at];
    setText(this.name, here ? `${here.name}, ${doc.at + 1} of ${total}` : "Example");
    this.before.hidden = this.after.hidden = total < 2;
  }
}
