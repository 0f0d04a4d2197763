// Every key that the page listens to, in one table: handlers ask `pressed`, and the list under "?" is drawn from it, so
// that neither can know a key that the other does not. Pure: no DOM.

const bare = (event) => !event.ctrlKey && !event.metaKey && !event.altKey;
const command = (event) => (event.ctrlKey || event.metaKey) && !event.altKey;
const plain = (...keys) => (event) => bare(event) && !event.shiftKey && keys.includes(event.key);
const letter = (event, key) => event.key.toLowerCase() === key;

/**
 * `caps`: what is printed on the keys; a list in it is one combination. `text`: what they do, and where.
 * `is(event)`: whether a keydown is this key; null where the browser does it by itself.
 */
export const KEYS = {
  help: { caps: [["?"]], text: "this list; not while you type", is: (event) => bare(event) && event.key === "?" },
  undo: { caps: [["Ctrl", "Z"]], text: "undo, across the whole page", is: (event) => command(event) && !event.shiftKey && letter(event, "z") },
  redo: { caps: [["Ctrl", "Shift", "Z"], ["Ctrl", "Y"]], text: "redo", is: (event) => command(event) && (letter(event, "y") || (event.shiftKey && letter(event, "z"))) },
  next: { caps: [["Enter"]], text: "in an option, a level, or what yes and no mean: on to the next field, and after the last of them a new row; in a dialog's field: its main button", is: plain("Enter") },
  line: { caps: [["Shift", "Enter"]], text: "there: a line break. In a question's wording and in the state, Enter alone is one", is: null },
  drop: { caps: [["Backspace"]], text: "in an empty option or level: remove it", is: plain("Backspace") },
  up: { caps: [["Alt", "↑"]], text: "move the question or row up", is: (event) => event.altKey && event.key === "ArrowUp" },
  down: { caps: [["Alt", "↓"]], text: "move the question or row down", is: (event) => event.altKey && event.key === "ArrowDown" },
  grip: { caps: [["↑"], ["↓"]], text: "on a grip: move what it holds", is: (event) => !event.ctrlKey && !event.metaKey && ["ArrowUp", "ArrowDown"].includes(event.key) },
  duplicate: { caps: [["Ctrl", "D"]], text: "duplicate the question", is: (event) => command(event) && !event.shiftKey && letter(event, "d") },
  paste: { caps: [["Ctrl", "V"]], text: "paste a picture from the clipboard", is: null },
  save: { caps: [["Ctrl", "Enter"]], text: "in the note of a version: save the version", is: (event) => command(event) && event.key === "Enter" },
  menu: { caps: [["↑"], ["↓"], ["Home"], ["End"]], text: "in a menu: to another entry; ↓ also opens it", is: plain("ArrowUp", "ArrowDown", "Home", "End") },
  tabs: { caps: [["←"], ["→"], ["Home"], ["End"]], text: "among tabs: to another one", is: plain("ArrowLeft", "ArrowRight", "Home", "End") },
  close: { caps: [["Esc"]], text: "close a menu, a panel or a dialog", is: plain("Escape") },
  leave: { caps: [["Tab"]], text: "in a menu: close it", is: (event) => bare(event) && event.key === "Tab" },
};

/** Which of the keys `ids` a keydown is, or null. While an input method composes a character, none. */
export function pressed(event, ...ids) {
  if (event.isComposing) return null;
  return ids.find((id) => KEYS[id].is(event)) ?? null;
}
