// A small menu under a button: arrow keys, Home, End, Escape, and a click elsewhere closes it.

import { h, icon } from "./dom.js";
import { pressed } from "./keys.js";

let opened = null;

/** items() → [{label, icon?, hint?, danger?, disabled?, checked?, run}]; made afresh each time the menu opens. */
export function menuButton(trigger, items) {
  trigger.setAttribute("aria-haspopup", "menu");
  trigger.setAttribute("aria-expanded", "false");
  trigger.addEventListener("click", () => (opened?.trigger === trigger ? close(true) : open(trigger, items())));
  trigger.addEventListener("keydown", (event) => {
    if (pressed(event, "menu") && event.key === "ArrowDown" && opened?.trigger !== trigger) {
      event.preventDefault();
      event.stopPropagation();
      open(trigger, items());
    }
  });
  return trigger;
}

function open(trigger, items) {
  close(false);
  const list = h("div", { class: "cs-menu", role: "menu", "aria-label": trigger.getAttribute("aria-label") ?? trigger.textContent });
  const gaps = items.filter((item) => item.icon).length > 1;
  for (const item of items) {
    const role = item.checked === undefined ? "menuitem" : "menuitemradio";
    const entry = h(
      "button",
      {
        type: "button", role, tabindex: "-1", class: item.danger ? "is-danger" : "", disabled: item.disabled,
        "aria-checked": item.checked === undefined ? null : String(item.checked),
        onclick: () => {
          close(true);
          item.run();
        },
      },
      item.icon && gaps ? icon(item.icon) : gaps ? h("span", { class: "cs-menu-gap", "aria-hidden": "true" }) : null,
      h("span", { class: "cs-grow" }, h("span", { text: item.label }), item.about ? h("small", { text: item.about }) : null),
      item.hint ? h("kbd", { class: "cs-key", text: item.hint }) : null,
    );
    list.append(entry);
  }
  list.addEventListener("keydown", onKey);
  trigger.closest(".cs").append(list);
  opened = { trigger, list };
  trigger.setAttribute("aria-expanded", "true");
  place(trigger, list);
  entries()[0]?.focus();
  document.addEventListener("pointerdown", onOutside, true);
  window.addEventListener("resize", onResize);
}

function place(trigger, list) {
  const box = trigger.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = list;
  const left = Math.max(8, Math.min(box.right - width, window.innerWidth - width - 8));
  const below = box.bottom + 4;
  const top = below + height <= window.innerHeight - 8 ? below : Math.max(8, box.top - height - 4);
  list.style.left = `${left}px`;
  list.style.top = `${top}px`;
}

const entries = () => [...opened.list.querySelectorAll("button:not(:disabled)")];

function onKey(event) {
  const all = entries();
  const at = all.indexOf(document.activeElement);
  const key = pressed(event, "menu", "close", "leave");
  if (key === "menu") {
    event.preventDefault();
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + all.length, Home: 0, End: all.length - 1 }[event.key];
    all[to % all.length].focus();
  } else if (key) {
    event.preventDefault();
    close(true);
  }
  event.stopPropagation();
}

function onOutside(event) {
  if (!opened.list.contains(event.target) && !opened.trigger.contains(event.target)) close(false);
}

const onResize = () => close(false);

function close(refocus) {
  if (!opened) return;
  const { trigger, list } = opened;
  opened = null;
  list.remove();
  trigger.setAttribute("aria-expanded", "false");
  document.removeEventListener("pointerdown", onOutside, true);
  window.removeEventListener("resize", onResize);
  if (refocus && trigger.isConnected) trigger.focus();
}
