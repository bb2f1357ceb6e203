// The confusion matrix of a judge's labels and people's labels, as a heat map.

import { coefficientColour, inkOn } from "./colours.js";
import { s } from "./elements.js";
import { count } from "./number_format.js";
import { truncated } from "./plan.js";
import { FAMILY, widestText } from "./text_width.js";

const SIZE = 13;
const CELL = 46;
const AXIS = 24; // of the name of an axis

/** The drawing: people's labels in rows, the judge's in columns. */
export function drawConfusion({ labels, confusion, judge }, { palette }) {
  const names = labels.map((name) => truncated(name, 16));
  const widest = widestText(names, SIZE);
  const margin = widest + 16;
  const [left, top] = [margin + AXIS, margin + AXIS];
  const [width, height] = [left + CELL * names.length, top + CELL * names.length];
  const most = Math.max(1, ...confusion.flat());
  const paint = { fill: palette.ink };
  const middle = (CELL * names.length) / 2;
  return s("svg", {
    width, height, viewBox: `0 0 ${width} ${height}`, "font-family": FAMILY, "font-size": SIZE, role: "img",
    "aria-label": `People's labels by those of ${judge}: ${description(labels, confusion)}`,
  },
    s("text", { x: left + middle, y: 14, "text-anchor": "middle", ...paint }, truncated(judge, 30)),
    s("text", { x: 14, y: top + middle, transform: `rotate(-90 14 ${top + middle})`, "text-anchor": "middle", ...paint },
      "people"),
    names.map((name, k) => {
      const upright = widest <= CELL - 8;
      const x = left + (k + 0.5) * CELL + (upright ? 0 : 4);
      return [
        s("text", { x: left - 8, y: top + (k + 0.5) * CELL + 4.5, "text-anchor": "end", ...paint }, name),
        s("text", {
          x, y: top - 8, ...paint,
          ...(upright ? { "text-anchor": "middle" } : { transform: `rotate(-90 ${x} ${top - 8})` }),
        }, name),
      ];
    }),
    confusion.map((row, i) => row.map((times, j) => square(labels, i, j, times, times / most,
      { x: left + j * CELL, y: top + i * CELL, palette }))));
}

function square(labels, i, j, times, share, { x, y, palette }) {
  const fill = times === 0 ? palette.faint : coefficientColour(palette, share);
  return s("g", {},
    s("rect", { x, y, width: CELL - 1, height: CELL - 1, rx: 2, fill },
      s("title", {}, `people ${labels[i]}, judge ${labels[j]}: ${count(times)}`)),
    s("text", {
      x: x + CELL / 2, y: y + CELL / 2 + 4.5, "text-anchor": "middle", fill: inkOn(fill), "pointer-events": "none",
    }, count(times)));
}

function description(labels, confusion) {
  return confusion.flatMap((row, i) => row.flatMap((times, j) =>
    (times ? [`people ${labels[i]} and judge ${labels[j]} ${times} times`] : []))).join("; ");
}
