// Reordering by a grip: pointer, or arrow keys. The list moves while dragging, so that what is seen is what will be.

import { pressed } from "./keys.js";

/**
 * grip: the handle. `item()`: its element; `siblings()`: the elements of the list in order; `move(step)`: moves it by
 * -1 or +1 and re-renders at once.
 */
export function sortable(grip, { item, siblings, move }) {
  grip.addEventListener("keydown", (event) => {
    if (!pressed(event, "grip")) return;
    const step = event.key === "ArrowUp" ? -1 : 1;
    event.preventDefault();
    event.stopPropagation();
    move(step);
    grip.focus();
  });
  grip.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    grip.focus();
    const follow = (at) => {
      const all = siblings();
      const index = all.indexOf(item());
      const above = all[index - 1];
      const below = all[index + 1];
      if (above && at.clientY < middle(above)) move(-1);
      else if (below && at.clientY > middle(below)) move(1);
    };
    const end = () => {
      item().classList.remove("is-dragged");
      document.removeEventListener("pointermove", follow);
      document.removeEventListener("pointerup", end);
      document.removeEventListener("pointercancel", end);
    };
    // On the document, not by pointer capture: a captured element loses it when the list moves it.
    document.addEventListener("pointermove", follow);
    document.addEventListener("pointerup", end);
    document.addEventListener("pointercancel", end);
    item().classList.add("is-dragged");
  });
}

function middle(el) {
  const box = el.getBoundingClientRect();
  return box.top + box.height / 2;
}
