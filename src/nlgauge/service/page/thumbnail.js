// A plan in the size of a stamp: its bands without words.

import { costColour } from "./colours.js";
import { s } from "./elements.js";
import { dearest, stage } from "./plan.js";
import { palette } from "./theme.js";

const [WIDE, HIGH] = [104, 72];

/** The drawing, for the eye only. */
export function drawThumbnail(plan) {
  const colours = palette();
  const top = dearest(plan);
  return s("svg", { width: WIDE, height: HIGH, viewBox: `0 0 ${WIDE} ${HIGH}`, "aria-hidden": "true" },
    stage(plan).bands.map((band) => {
      const [a, b, c, d] = [...band.left, ...band.right].map((place) => (place * HIGH).toFixed(1));
      const half = WIDE / 2;
      return s("path", {
        d: `M0 ${a}C${half} ${a} ${half} ${c} ${WIDE} ${c}V${d}C${half} ${d} ${half} ${b} 0 ${b}Z`,
        fill: costColour(colours, band.cost, top), opacity: 0.8,
      });
    }));
}
