// A small bar with the position of a score in the range of its metric.

import { h } from "./elements.js";
import { directionOf } from "./metrics.js";
import { end, score } from "./number_format.js";

/** The bar, fuller where better; an open range ends at the next round number above the score. */
export function scaleBar(value, range, direction) {
  const [low, high] = [range[0] ?? Math.min(0, value), range[1] ?? roundAbove(value)];
  const higher = direction === "higher";
  const place = (value - low) / (high - low || 1);
  const share = Math.min(Math.max(higher ? place : 1 - place, 0), 1);
  const ends = [end(range[0]), range[1] === null ? `${end(high)} …` : end(high)];
  const fill = h("span", { class: "fill" });
  fill.style.width = `${100 * share}%`;
  const mark = h("span", { class: "mark" });
  mark.style.left = `${100 * share}%`;
  const { words } = directionOf(direction);
  return h("div", {
    class: "scale", role: "img",
    "aria-label": `${score(value, range)} in a range from ${end(range[0])} to ${end(range[1])}, ${words}`,
  },
    h("span", { class: `track ${range[1] === null ? "open" : ""} ${direction}` }, fill, mark),
    h("span", { class: "ends" },
      h("span", {}, ends[higher ? 0 : 1]), h("span", {}, "better →"), h("span", {}, ends[higher ? 1 : 0])));
}

function roundAbove(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return power * [1, 2, 5, 10, 20].find((step) => step * power > value);
}
