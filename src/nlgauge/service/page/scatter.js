// Scatter plots: a point for every segment or output.

import { s } from "./elements.js";
import { FAMILY } from "./text_width.js";
import { count, tick } from "./number_format.js";
import { truncated } from "./plan.js";

const MOST = 4000; // points; more would hide each other, and block the page
const [LEFT, RIGHT, TOP, FOOT] = [52, 12, 12, 44];

/**
 * The drawing. Points have `x`, `y` and `name`; `axes` are the names of both axes, `diagonal` is for
 * two scores on the same scale; `onPoint(point)` is called when a point is clicked.
 */
export function drawScatter(points, { axes, width, palette, diagonal = false, onPoint = null }) {
  const high = Math.min(0.8 * width, 320);
  const drawn = points.filter((_, k) => points.length <= MOST || k % Math.ceil(points.length / MOST) === 0);
  const ranges = [points.map((point) => point.x), points.map((point) => point.y)];
  const [across, up] = (diagonal ? [ranges.flat(), ranges.flat()] : ranges).map(extentOf);
  const x = (value) => LEFT + ((width - LEFT - RIGHT) * (value - across[0])) / (across[1] - across[0]);
  const y = (value) => TOP + (high - TOP - FOOT) * (1 - (value - up[0]) / (up[1] - up[0]));
  const label = { fill: palette.muted, "font-size": 12 };
  const line = { stroke: palette.faint, "stroke-width": 1 };
  const middle = (TOP + high - FOOT) / 2;
  const note = drawn.length < points.length ? `; ${count(drawn.length)} of ${count(points.length)} are drawn` : "";
  return s("svg", {
    class: "scatter", width, height: high, viewBox: `0 0 ${width} ${high}`, role: "img", "font-family": FAMILY,
    "aria-label": `${axes[1]} against ${axes[0]}: ${count(points.length)} points${note}`,
  },
    ticks(across).map((value) => [
      s("line", { x1: x(value), x2: x(value), y1: TOP, y2: high - FOOT, ...line }),
      s("text", { x: x(value), y: high - FOOT + 16, "text-anchor": "middle", ...label }, tick(value)),
    ]),
    ticks(up).map((value) => [
      s("line", { x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value), ...line }),
      s("text", { x: LEFT - 7, y: y(value) + 4, "text-anchor": "end", ...label }, tick(value)),
    ]),
    diagonal && s("line", {
      x1: x(across[0]), x2: x(across[1]), y1: y(up[0]), y2: y(up[1]), stroke: palette.muted, "stroke-dasharray": "4 4",
    }),
    drawn.map((point) => {
      const dot = s("circle", {
        class: onPoint ? "dot open" : "dot", cx: x(point.x).toFixed(1), cy: y(point.y).toFixed(1), r: 4,
        fill: palette.accent, opacity: 0.55,
      }, s("title", {}, point.name));
      if (onPoint) dot.addEventListener("click", () => onPoint(point));
      return dot;
    }),
    s("text", { x: (LEFT + width - RIGHT) / 2, y: high - 8, "text-anchor": "middle", ...label, fill: palette.ink },
      truncated(axes[0], 40)),
    s("text", {
      x: 13, y: middle, transform: `rotate(-90 13 ${middle})`, "text-anchor": "middle", ...label, fill: palette.ink,
    }, truncated(axes[1], 34)));
}

function extentOf(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  const margin = 0.04 * (high - low) || 0.5;
  return [low - margin, high + margin];
}

/** About five round numbers in a range. */
export function ticks([low, high]) {
  const rough = (high - low) / 5.5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((each) => each * power >= rough);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) found.push(Number((k * step).toPrecision(12)));
  return found;
}
