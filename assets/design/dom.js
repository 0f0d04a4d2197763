// Small helpers to build DOM. Text only ever enters as textContent, .value or an attribute: no HTML from anybody.

const SVG = "http://www.w3.org/2000/svg";

/** h("button", {class: "x", onclick: f, "aria-label": "y"}, child, "text", ...) */
export function h(tag, props = {}, ...children) {
  const el = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) el.addEventListener(key.slice(2), value);
    else if (key === "text") el.textContent = value;
    else if (key in el && ["value", "checked", "disabled", "hidden", "rows"].includes(key)) el[key] = value;
    else el.setAttribute(key, value === true ? "" : value);
  }
  el.append(...children.filter((c) => c !== null && c !== undefined && c !== false));
  return el;
}

/** From so many questions on, what is far out of sight is not laid out. */
export const MANY = 12;

/** One of the page's icons. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "cs-i");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}

export function button(classes, label, props = {}, ...children) {
  return h("button", { type: "button", class: `cs-btn ${classes}`, ...props }, ...children, label);
}

/** A button with an icon alone; its name is for screen readers and as a tooltip. */
export function iconButton(name, label, props = {}) {
  const classes = `cs-btn is-ghost is-icon is-small ${props.class ?? ""}`;
  return h("button", { type: "button", "aria-label": label, title: label, ...props, class: classes }, icon(name));
}

/** Sets text only where it differs: no needless mutation for screen readers and layout. */
export function setText(el, text) {
  if (el.textContent !== text) el.textContent = text;
}

const AUTO_SIZE = typeof CSS !== "undefined" && CSS.supports("field-sizing: content");

/** Gives a text area the height of its text, where the browser does not do so by itself (`field-sizing`). */
export function fit(area) {
  if (AUTO_SIZE) return;
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight}px`;
}

/** Sets an input's value only where it differs, and keeps the caret at the end of what changed. */
export function setValue(input, text) {
  const before = input.value;
  if (before === text) return;
  input.value = text;
  if (document.activeElement === input) {
    let tail = 0;
    const most = Math.min(before.length, text.length);
    while (tail < most && before[before.length - 1 - tail] === text[text.length - 1 - tail]) tail += 1;
    input.setSelectionRange(text.length - tail, text.length - tail);
  }
}

export function setAttr(el, name, value) {
  if (value === null || value === undefined || value === false) {
    if (el.hasAttribute(name)) el.removeAttribute(name);
  } else if (el.getAttribute(name) !== String(value)) el.setAttribute(name, value === true ? "" : value);
}

/** Puts `wanted` elements into `parent` in order, moving as few as needed (a focused element keeps its focus). */
export function arrange(parent, wanted) {
  const keep = new Set(wanted);
  for (const child of [...parent.children]) if (!keep.has(child)) child.remove();
  let at = parent.firstElementChild;
  for (const el of wanted) {
    if (el === at) {
      at = at.nextElementSibling;
      continue;
    }
    const focused = el.contains(document.activeElement) ? document.activeElement : null;
    parent.insertBefore(el, at);
    if (focused && document.activeElement !== focused) focused.focus({ preventScroll: true });
  }
}
