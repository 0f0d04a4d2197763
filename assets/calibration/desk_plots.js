// The desk's two pictures, drawn as SVG: the answers in their zones, and the error against the coverage.

import { h } from "../design/dom.js";
import { count, inHundred, percents } from "./words.js";
import { riskCoverage, zones } from "./zones.js";

const NS = "http://www.w3.org/2000/svg";

function s(tag, props = {}, ...children) {
  const el = document.createElementNS(NS, tag);
  for (const [key, value] of Object.entries(props)) el.setAttribute(key, value);
  el.append(...children);
  return el;
}

const W = 464;
const H = 84;
const STEP = 2;

/** How many answers are where, coloured by what is done with them. */
export function deskPlot(desk, act, refuse) {
  const svg = s("svg", { class: "cs-plot is-flat", viewBox: `-12 0 ${W + 26} 108`, role: "img", "aria-label": words(desk, act, refuse) });
  for (const x of [0, 0.25, 0.5, 0.75, 1]) svg.append(s("path", { class: "grid", d: `M${x * W} 4V${H}` }));
  const bars = [];
  for (let i = 0; i < 101; i += STEP) bars.push(desk.cells.slice(i, i + STEP).reduce((n, cell) => n + cell[2], 0));
  const most = Math.max(...bars, 1e-9);
  bars.forEach((mass, b) => {
    // A bar may hold a threshold inside: each of its percents is a bar of its own then.
    for (let i = b * STEP; i < Math.min(101, (b + 1) * STEP); i += 1) {
      const part = desk.cells[i][2];
      if (!part) continue;
      const height = Math.max(1, (mass / most) * (H - 10));
      const kind = i >= act ? "is-on" : i < refuse ? "is-refuse" : "is-ask";
      const x = Math.min(i, 99.2) / 100;
      svg.append(s("rect", { class: `bar ${kind}`, x: (x * W).toFixed(1), y: (H - height).toFixed(1), width: ((W / 100) * 0.86).toFixed(2), height: height.toFixed(1) }));
    }
  });
  svg.append(s("path", { class: "frame", d: `M0 ${H}H${W}` }));
  for (const at of [refuse, act]) if (at > 0 && at <= 100) svg.append(s("path", { class: "mark", d: `M${(at / 100) * W} 2V${H + 6}` }));
  for (const tick of [0, 25, 50, 75, 100]) {
    const text = s("text", { x: (tick / 100) * W, y: 102, "text-anchor": "middle" });
    text.textContent = String(tick);
    svg.append(text);
  }
  return svg;
}

function words(desk, act, refuse) {
  const found = zones(desk, act, refuse);
  return `${count(desk.n)} answers on the axis from 0 to 100 percent: ${count(found.refuse.n)} are refused, ${count(found.ask.n)} are for a human, ${count(found.act.n)} act alone`;
}

/** Error among acted against coverage, with the budget and where the threshold is. */
export function riskPlot(desk, act, budget) {
  const points = riskCoverage(desk);
  if (!points.length) return h("p", { class: "cs-small cs-dim", text: "No labels yet." });
  const top = Math.max(budget * 1.5, ...points.map((p) => p.error), 0.02);
  const x = (coverage) => (36 + coverage * (W - 44)).toFixed(1);
  const y = (error) => (8 + (1 - error / top) * 120).toFixed(1);
  const svg = s("svg", { class: "cs-plot is-flat", viewBox: `0 0 ${W} 166`, role: "img", "aria-label": `Error among acted against coverage, from ${percents(points[0].error)} percent at ${percents(points[0].coverage)} percent of the answers to ${percents(points.at(-1).error)} percent at all of them` });
  const label = (text, at, end = "middle") => {
    const el = s("text", { ...at, "text-anchor": end });
    el.textContent = text;
    svg.append(el);
  };
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    svg.append(s("path", { class: "grid", d: `M${x(share)} 8V128` }));
    label(String(share * 100), { x: x(share), y: 144 });
  }
  label(`${percents(top)}`, { x: 30, y: 14 }, "end");
  label("0", { x: 30, y: 132 }, "end");
  label("acted on, in %", { x: x(0.5), y: 162 });
  svg.append(s("path", { class: "diag", d: `M${x(0)} ${y(budget)}H${x(1)}` }));
  label(`${inHundred(budget)} wrong`, { x: x(1), y: Number(y(budget)) - 4 }, "end");
  svg.append(s("path", { class: "curve", d: `M${points.map((p) => `${x(p.coverage)} ${y(p.error)}`).join("L")}` }));
  const here = points.filter((p) => p.act >= act).at(-1);
  if (here) svg.append(s("circle", { class: "pt", cx: x(here.coverage), cy: y(here.error), r: 5 }));
  return svg;
}
