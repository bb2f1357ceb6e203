// Histograms of segment scores, one outline for each system.

import { s } from "./elements.js";
import { FAMILY } from "./text_width.js";
import { count, tick } from "./number_format.js";
import { truncated } from "./plan.js";
import { ticks } from "./scatter.js";

const BINS = 20;
const [LEFT, RIGHT, TOP, FOOT] = [44, 12, 12, 44];

/** The drawing; series have `name`, `values` and `colour`. */
export function drawHistogram(series, { axis, width, palette }) {
  const high = Math.min(0.8 * width, 320);
  let [low, top] = [Infinity, -Infinity];
  for (const value of series.flatMap((each) => each.values)) [low, top] = [Math.min(low, value), Math.max(top, value)];
  if (!(top > low)) [low, top] = [low - 0.5, low + 0.5];
  const binned = series.map(({ values }) => {
    const bins = Array(BINS).fill(0);
    for (const value of values) bins[Math.min(Math.floor((BINS * (value - low)) / (top - low)), BINS - 1)] += 1;
    return bins;
  });
  const tallest = Math.max(...binned.flat(), 1);
  const x = (value) => LEFT + ((width - LEFT - RIGHT) * (value - low)) / (top - low);
  const edge = (k) => x(low + ((top - low) * k) / BINS);
  const y = (amount) => TOP + (high - TOP - FOOT) * (1 - amount / tallest);
  const label = { fill: palette.muted, "font-size": 12 };
  const whole = ticks([0, tallest]).filter(Number.isInteger);
  return s("svg", {
    class: "histogram", width, height: high, viewBox: `0 0 ${width} ${high}`, role: "img", "font-family": FAMILY,
    "aria-label": `Histogram of ${axis}: ${series.map((each) => `${each.name}, ${count(each.values.length)} segments`).join("; ")}`,
  },
    whole.map((amount) => [
      s("line", { x1: LEFT, x2: width - RIGHT, y1: y(amount), y2: y(amount), stroke: palette.faint }),
      s("text", { x: LEFT - 7, y: y(amount) + 4, "text-anchor": "end", ...label }, count(amount)),
    ]),
    binned.map((bins, k) => {
      const steps = bins.map((amount, b) => `L${edge(b).toFixed(1)} ${y(amount).toFixed(1)}H${edge(b + 1).toFixed(1)}`);
      const outline = `M${LEFT} ${y(0)}${steps.join("")}V${y(0)}`;
      return s("g", { class: "series" },
        s("path", { d: `${outline}Z`, fill: series[k].colour, opacity: 0.22 }),
        s("path", { d: outline, fill: "none", stroke: series[k].colour, "stroke-width": 1.8 },
          s("title", {}, series[k].name)));
    }),
    ticks([low, top]).map((value) =>
      s("text", { x: x(value), y: high - FOOT + 16, "text-anchor": "middle", ...label }, tick(value))),
    s("text", { x: (LEFT + width - RIGHT) / 2, y: high - 8, "text-anchor": "middle", ...label, fill: palette.ink }, truncated(axis, 40)));
}
