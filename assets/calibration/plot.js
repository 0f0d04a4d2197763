// The reliability plot, drawn by Plotly from the studio's own copy. `figure` is pure; the rest touches the page.

import { percents, range, shareOf } from "./words.js";

let script = null;

/** Plotly, loaded once and only when something is drawn: it is the one large script of the studio. */
export function loadPlotly(url) {
  script ??= new Promise((resolve, reject) => {
    const el = document.createElement("script");
    el.src = url;
    el.onload = () => (window.Plotly ? resolve(window.Plotly) : reject(new Error("Plotly did not start")));
    el.onerror = () => {
      script = null;
      reject(new Error("Plotly could not be loaded"));
    };
    document.head.append(el);
  });
  return script;
}

const TICKS = [0, 0.25, 0.5, 0.75, 1];

/** Where the axis starts: at the last quarter under everything that was said. */
export function axisStart(review) {
  const first = review.bars.findIndex((n) => n > 0);
  const low = first < 0 ? 0 : first / review.bars.length;
  return TICKS.filter((tick) => tick <= low && tick < 0.75).pop() ?? 0;
}

/** {data, layout} of a review; `c` are colours. */
export function figure(review, c) {
  const start = axisStart(review);
  const data = [];
  if (review.band) {
    const { x, low, high } = review.band;
    data.push({ x: [...x, ...x.toReversed()], y: [...high, ...low.toReversed()], fill: "toself", fillcolor: c.band, line: { width: 0 }, mode: "lines", hoverinfo: "skip", meta: "band" });
  }
  data.push({ x: [start, 1], y: [start, 1], mode: "lines", line: { color: c.ink3, width: 1.5, dash: "dot" }, hoverinfo: "skip", meta: "diagonal" });
  if (review.steps.length) {
    const x = review.steps.flatMap(([low, high]) => [low, high]);
    const y = review.steps.flatMap(([, , fitted]) => [fitted, fitted]);
    data.push({ x, y, mode: "lines", line: { color: c.answer, width: 2.5 }, hoverinfo: "skip", meta: "curve" });
  }
  const off = review.rows.map((row) => row.verdict !== null && row.verdict !== "in_band");
  data.push({
    x: review.rows.map((row) => row.said),
    y: review.rows.map((row) => row.rate),
    error_y: {
      type: "data", symmetric: false, thickness: 1.5, width: 0, color: c.answerSoft,
      array: review.rows.map((row) => row.interval[1] - row.rate),
      arrayminus: review.rows.map((row) => row.rate - row.interval[0]),
    },
    mode: "markers",
    marker: {
      size: off.map((is) => (is ? 12 : 10)), symbol: off.map((is) => (is ? "diamond" : "circle")),
      color: off.map((is) => (is ? c.wrong : c.surface)), line: { width: 2, color: off.map((is) => (is ? c.surface : c.answer)) },
    },
    text: review.rows.map((row) => `<b>${shareOf(row)}</b><br>said ${percents(row.said)} %, was ${percents(row.rate)} % (${range(...row.interval)})`),
    hovertemplate: "%{text}<extra></extra>",
    customdata: review.rows.map((_, i) => i),
    meta: "rows",
    cliponaxis: false,
  });
  const width = 1 / review.bars.length;
  data.push({
    type: "bar", x: review.bars.map((_, i) => (i + 0.5) * width), y: review.bars, width: width * 0.86, yaxis: "y2",
    marker: { color: c.answerSoft }, hovertemplate: "%{y} labels at %{text}<extra></extra>",
    text: review.bars.map((_, i) => range(i * width, (i + 1) * width)), textposition: "none", meta: "bars",
  });
  const axis = { tickvals: TICKS, ticktext: TICKS.map((t) => String(100 * t)), gridcolor: c.grid, zeroline: false, fixedrange: true, tickfont: { color: c.ink3, size: 12 }, showline: false };
  const layout = {
    margin: { l: 38, r: 16, t: 8, b: 44 }, height: 420, showlegend: false, dragmode: false, hovermode: "closest",
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { family: c.font, size: 12, color: c.ink2 },
    hoverlabel: { bgcolor: c.raised, bordercolor: c.line, font: { color: c.ink, size: 13, family: c.font }, align: "left" },
    xaxis: { ...axis, range: [start - 0.005, 1.005], anchor: "y2", title: { text: "said, in %, with the number of labels above it", font: { size: 12, color: c.ink2 }, standoff: 8 } },
    yaxis: { ...axis, range: [-0.01, 1.01], domain: [0.24, 1] },
    yaxis2: { domain: [0, 0.17], showgrid: false, zeroline: false, showticklabels: false, fixedrange: true, rangemode: "tozero" },
    uirevision: "same",
  };
  return { data, layout };
}

/** The theme's colours as they are now. */
export function colours(el) {
  const probe = document.createElement("span");
  el.append(probe);
  const read = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const found = {};
  const names = { ink: "ink", ink2: "ink-2", ink3: "ink-3", grid: "grid", line: "line-strong", surface: "surface", raised: "raised", answer: "answer", answerSoft: "answer-soft", wrong: "wrong" };
  for (const [key, name] of Object.entries(names)) found[key] = read(name);
  found.band = found.ink.replace(/^rgba?\(([^)]+)\)$/, (_, parts) => `rgba(${parts.split(",").slice(0, 3).join(",")},0.12)`);
  found.font = getComputedStyle(el).fontFamily;
  probe.remove();
  return found;
}

/** The plot in an element: show(review), save(format, name). onRow(index) and onRange(low, high) tell what was clicked. */
export class Plot {
  #el;
  #url;
  #review = null;

  constructor(el, url, { onRow, onRange }) {
    this.#el = el;
    this.#url = url;
    this.on = { onRow, onRange };
    new MutationObserver(() => this.#draw()).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  }

  async show(review) {
    this.#review = review;
    await this.#draw();
  }

  async #draw() {
    const review = this.#review;
    if (!review) return;
    const Plotly = await loadPlotly(this.#url);
    if (review !== this.#review) return;
    const { data, layout } = figure(review, colours(this.#el));
    await Plotly.react(this.#el, data, layout, { displayModeBar: false, responsive: true });
    if (!this.#el.dataset.bound) {
      this.#el.dataset.bound = "1";
      this.#el.on("plotly_click", (event) => this.#click(event));
      this.#el.on("plotly_hover", () => this.#el.classList.add("is-over"));
      this.#el.on("plotly_unhover", () => this.#el.classList.remove("is-over"));
    }
    this.#el.dataset.drawn = String(review.n);
  }

  #click(event) {
    const point = event.points.find((p) => p.data.meta === "rows") ?? event.points.find((p) => p.data.meta === "bars");
    if (!point) return;
    if (point.data.meta === "rows") this.on.onRow(point.customdata);
    else this.on.onRange(point.pointNumber / this.#review.bars.length, (point.pointNumber + 1) / this.#review.bars.length);
  }

  async save(format, filename) {
    const Plotly = await loadPlotly(this.#url);
    const box = this.#el.getBoundingClientRect();
    // A picture has no page behind it: give it the card's ground.
    const { data, layout } = figure(this.#review, colours(this.#el));
    const whole = { data, layout: { ...layout, paper_bgcolor: colours(this.#el).surface, width: box.width, height: box.height } };
    await Plotly.downloadImage(whole, { format, filename, width: Math.round(box.width), height: Math.round(box.height), scale: format === "png" ? 2 : 1 });
  }
}
