// The Calibration page's pure parts: what thresholds do, what is said of figures, and what Plotly is told to draw.

import assert from "node:assert/strict";
import { test } from "node:test";

import { axisStart, figure } from "../../assets/calibration/plot.js";
import { csv, inHundred, number, percents, range, shareOf } from "../../assets/calibration/words.js";
import { percentOf, riskCoverage, standing, zones } from "../../assets/calibration/zones.js";

const cells = Array.from({ length: 101 }, () => [0, 0, 0, 0]);
cells[30] = [2, 1, 0.1, 0.05];
cells[70] = [5, 2, 0.4, 0.1];
cells[95] = [4, 1, 0.3, 0.05];
cells[100] = [1, 0, 0.2, 0];
const desk = { cells, n: 12 };

test("zones: act itself acts, refuse itself does not", () => {
  const found = zones(desk, 95, 30);
  assert.deepEqual([found.refuse.n, found.ask.n, found.act.n], [0, 7, 5]);
  assert.equal(zones(desk, 95, 31).refuse.n, 2);
  assert.equal(zones(desk, 96, 31).act.n, 1);
  assert.equal(zones(desk, 101, 0).act.n, 0);
  assert.ok(Math.abs(found.act.error - 0.1) < 1e-12);
  assert.equal(zones(desk, 101, 0).ask.share, 1);
});

test("zones: cost per 1,000", () => {
  const { cost } = zones(desk, 95, 31, { wrong_act: 100, wrong_refusal: 10, human: 1 });
  assert.ok(Math.abs(cost - 1000 * (0.05 * 100 + 0.05 * 10 + 0.4 * 1)) < 1e-9);
  assert.ok(Number.isNaN(zones(desk, 95, 31).cost));
});

test("risk and coverage go from strict to loose", () => {
  const points = riskCoverage(desk);
  assert.deepEqual(points.map((p) => p.act), [100, 95, 70, 30]);
  assert.ok(Math.abs(points.at(-1).coverage - 1) < 1e-12);
  assert.ok(Math.abs(points.at(-1).error - 0.2) < 1e-12);
});

test("a threshold is guaranteed only where it passed", () => {
  const option = { guess: { act: 0.89 }, guarantee: { passed: [0.97, 0.96, 0.95] } };
  assert.deepEqual([97, 95, 98, 94, 89].map((act) => standing(option, act)), ["guaranteed", "guaranteed", "hand", "hand", "guess"]);
  assert.equal(standing({ guess: null, guarantee: { passed: [] } }, 50), "hand");
  assert.deepEqual([0.29, 0.57, 0.58, 0.07].map(percentOf), [29, 57, 58, 7]);
});

test("words of figures", () => {
  assert.deepEqual([0, 0.0001, 0.004, 0.85, 0.996, 0.99999, 1, NaN, null].map(percents), ["0", "<0.1", "0.4", "85", "99.6", ">99.9", "1", "–", "–"].map((x, i) => (i === 6 ? "100" : x)));
  assert.equal(range(0.00001, 0.99999), "0–100 %");
  assert.equal(range(0.85, 0.932), "85–93 %");
  assert.deepEqual([0.1, 0.05, 0.096, 0.01].map(inHundred), ["10 in 100", "5 in 100", "9.6 in 100", "1 in 100"]);
  assert.deepEqual([number(0.1684), number("infinite"), number(null)], ["0.168", "∞", "–"]);
  assert.equal(shareOf({ rate: 0.24, right: 48, n: 200 }), "0.24 (48 / 200)");
});

const row = (said, rate, verdict) => ({ low: said - 0.05, high: said + 0.05, said, rate, interval: [rate - 0.1, rate + 0.1], n: 100, right: 100 * rate, verdict, words: "in band, \"so\"" });
const review = { n: 200, bars: Array.from({ length: 50 }, (_, i) => (i > 15 ? 4 : 0)), rows: [row(0.5, 0.5, "in_band"), row(0.9, 0.7, "too_sure")], steps: [[0.4, 0.6, 0.5, 100], [0.8, 0.95, 0.7, 100]], band: { x: [0.4, 0.95], low: [0.2, 0.85], high: [0.6, 1] } };
const colours = new Proxy({}, { get: (_, name) => String(name) });

test("the plot: band, diagonal, curve, points, bars", () => {
  const { data, layout } = figure(review, colours);
  assert.deepEqual(data.map((trace) => trace.meta), ["band", "diagonal", "curve", "rows", "bars"]);
  const points = data[3];
  assert.deepEqual(points.marker.symbol, ["circle", "diamond"]);
  assert.match(points.text[1], /0\.70 \(70 \/ 100\)/);
  assert.deepEqual(data[2].y, [0.5, 0.5, 0.7, 0.7]);
  assert.equal(axisStart(review), 0.25);
  assert.ok(layout.xaxis.range[0] < 0.25);
});

test("under 20 labels only points are drawn", () => {
  const { data } = figure({ ...review, band: null, steps: [] }, colours);
  assert.deepEqual(data.map((trace) => trace.meta), ["diagonal", "rows", "bars"]);
  assert.equal(axisStart({ bars: Array(50).fill(0) }), 0);
});

test("comma-separated values quote what needs it", () => {
  const lines = csv(review).trimEnd().split("\n");
  assert.equal(lines.length, 1 + 2 + 2);
  assert.match(lines[1], /"in band, ""so"""$/);
});
