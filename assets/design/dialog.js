// Dialogs: a title, a body and buttons. Escape and a click beside it close it; the focus goes back where it came from.

import { button, h } from "./dom.js";
import { pressed } from "./keys.js";

let made = 0;

/**
 * Opens a dialog. `acts`: its buttons, the last one the most important; without any it has "Close".
 * Returns {dialog, body, close}. onClose() is called however it ends.
 */
export function openDialog(root, { title, body = [], acts = null, classes = "", onClose = () => {} }) {
  const before = document.activeElement;
  made += 1;
  const id = `dialog-${made}`;
  const inside = h("div", { class: "cs-dialog-body" }, ...body);
  const dialog = h("dialog", { class: `cs-dialog ${classes}`, "aria-labelledby": id }, h("header", { id, text: title }), inside);
  const close = () => dialog.close();
  dialog.append(h("footer", {}, ...(acts ?? [button("", "Close", { onclick: close })])));
  dialog.addEventListener("mousedown", (event) => event.target === dialog && close());
  dialog.addEventListener("close", () => {
    dialog.remove();
    onClose();
    if (before instanceof HTMLElement && before.isConnected) before.focus();
  });
  root.append(dialog);
  dialog.showModal();
  return { dialog, body: inside, close };
}

/** Enter in `input` does what the dialog's main button does; the key itself ends there, and presses nothing behind it. */
export function onEnter(input, run) {
  input.addEventListener("keydown", (event) => {
    if (!pressed(event, "next")) return;
    event.preventDefault();
    run();
  });
}

/** A sentence about what went wrong inside a dialog; empty hides it. */
export function errorLine() {
  const el = h("p", { class: "cs-error", role: "alert", hidden: true });
  const say = (text) => {
    el.hidden = !text;
    el.textContent = text ?? "";
  };
  return { el, say };
}

/** "12 Nov, 10:42", or "10:42" for today. */
export function when(iso) {
  const at = new Date(iso);
  const time = at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  if (at.toDateString() === new Date().toDateString()) return time;
  const year = at.getFullYear() === new Date().getFullYear() ? undefined : "numeric";
  return `${at.toLocaleDateString("en-GB", { day: "numeric", month: "short", year })}, ${time}`;
}

/** A reply of the server, or one with an error where it does not answer. */
export async function asked(call) {
  try {
    return await call();
  } catch (error) {
    console.warn("no answer", error);
    return { error: { kind: "lost", message: "The studio does not answer. Nothing was changed." } };
  }
}

const TOAST = 10_000;

/** A short message at the bottom, with what can be done about it: act = [label, run]. It goes by itself. */
export function toast(root, text, act = null) {
  root.querySelector(".cs-toasts")?.remove();
  const box = h("div", { class: "cs-toasts", role: "status" });
  const end = () => box.remove();
  const timer = setTimeout(end, TOAST);
  const message = h("div", { class: "cs-toast" }, h("span", { class: "cs-grow", text }));
  if (act) {
    message.append(button("is-small", act[0], { onclick: () => {
      clearTimeout(timer);
      end();
      act[1]();
    } }));
  }
  box.append(message);
  root.append(box);
}
