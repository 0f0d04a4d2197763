// "?": the keys, the buttons, and what the words mean. The keys are those that the page listens to (keys.js).

import { openDialog } from "./dialog.js";
import { h, icon } from "./dom.js";
import { KEYS, pressed } from "./keys.js";

/** Every button of the page: [group, [[icon or null, name, what it does], ...]]. */
const BUTTONS = [
  ["At the top", [
    ["down", "Schema", "opens, names, copies, archives, brings in and gives out schemas"],
    [null, "draft, v1", "where the draft stands; lists, compares and restores the versions"],
    ["book", "Examples", "ready schemas with states, to start from"],
    ["code", "Get code", "what this page asks, as a program"],
    ["play", "Run all", "asks every example state of the schema"],
    ["clock", "History", "runs that were kept or labelled: restore one, compare two"],
    [null, "Save", "publishes what is on the page as a version, which never changes"],
    ["sun", "Light or dark", "is remembered by this browser"],
    ["help", "Keys and help", "this list"],
  ]],
  ["Questions", [
    ["braces", "JSON view", "the whole schema as JSON, beside the form"],
    ["plus", "noul, choice, score", "adds a question; on a question, the same word changes its type"],
    ["grip", "Grip", "drags a question, an option or a level to another place"],
    ["more", "More", "duplicates, moves or removes the question"],
    ["down", "Open, Fold", "shows or hides what a question's answers mean"],
    ["plus", "Option, Level", "adds a row"],
    ["x", "Remove", "takes a row or a picture away; undo brings it back"],
    ["bulb", "A hint's button", "does what the hint says; the x beside it puts the hint away"],
  ]],
  ["State", [
    [null, "Text, JSON", "how the state is read; JSON where it can be"],
    [null, "Tidy up", "gives JSON its line breaks"],
    ["right", "Example states", "goes through the schema's states, adds, names, copies and removes them"],
    [null, "When too long", "whether a state that does not fit is refused or cut"],
    ["plus", "Add a picture", "from a file; or drop it, or paste it"],
    ["camera", "Take a picture", "with this machine's camera"],
    [null, "A picture", "enlarges it; the arrows under it change the order"],
  ]],
  ["Answers", [
    [null, "Why?", "where an option looked, and what moves it; a click on a bar asks for that option"],
    ["check", "Right", "says that the answer is right"],
    ["x", "Wrong", "says that it is wrong, and then what is true"],
    ["pen", "Say what is true", "where the model does not decide"],
    ["help", "Can't tell", "says that a person cannot tell either"],
    ["note", "Note", "adds a sentence to what you said"],
    ["undo", "Take back", "takes back what you said"],
    [null, "Show all", "every option; or the short list again"],
    ["keep", "Keep", "keeps this run in the history"],
    [null, "Stand alone?", "whether one question moves another's answer"],
  ]],
];

const WORDS = [
  ["noul", "is it true? Answered with the probability of yes."],
  ["choice", "which option? One probability for each option; together they make 100 %."],
  ["score", "where on an ordered scale? One probability for each level, and the expected level."],
  ["probability", "what the model gives an option. Very sure from 95 %, fairly sure from 80 %, leaning from 60 %."],
  ["confidence", "0 to 1: how far the whole answer is from knowing nothing. Not a probability of being right."],
];

const keyCaps = (combination) => combination.map((cap) => h("kbd", { class: "cs-key", text: cap }));

function keyList() {
  const list = h("dl", { class: "cs-keys" });
  for (const { caps, text } of Object.values(KEYS)) {
    const printed = caps.flatMap((combination, i) => (i ? [h("span", { class: "cs-dim", text: "or" }), ...keyCaps(combination)] : keyCaps(combination)));
    list.append(h("dt", {}, ...printed), h("dd", { text }));
  }
  return list;
}

function buttonList() {
  return BUTTONS.flatMap(([group, entries]) => {
    const list = h("dl", { class: "cs-keys" });
    for (const [name, label, text] of entries) {
      list.append(h("dt", { "data-button": label }, name ? icon(name) : null, h("span", { text: label })), h("dd", { text }));
    }
    return [h("h3", { class: "cs-help-group", text: group }), list];
  });
}

function wordList() {
  const list = h("dl", { class: "cs-keys" });
  for (const [word, text] of WORDS) list.append(h("dt", { class: "cs-mono", text: word }), h("dd", { text }));
  return list;
}

const part = (title, ...content) => h("section", { "aria-label": title }, h("h2", { class: "cs-h2", text: title }), ...content);

export function mountHelp(root, trigger) {
  const show = () => {
    if (root.querySelector("dialog[open]")) return;
    const { body } = openDialog(root, {
      title: "Keys, buttons and words", classes: "is-broad cs-help",
      body: [h("div", { class: "cs-halves" }, h("div", {}, part("Keys", keyList()), part("Words", wordList())), h("div", {}, part("Buttons", ...buttonList())))],
    });
    // It scrolls, so the keyboard must reach it.
    body.tabIndex = 0;
    body.setAttribute("role", "region");
    body.setAttribute("aria-label", "Keys, buttons and words");
  };
  trigger.addEventListener("click", show);
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof Element && event.target.closest("input, textarea, select, [contenteditable]");
    if (typing || !pressed(event, "help")) return;
    event.preventDefault();
    show();
  });
}
