// A thumbnail of a plan: its bands without text.

import { costColour } from "./colours.js";
import { s } from "./elements.js";
import { bandOutline } from "./flow_diagram.js";
import { highestCost, planLayout } from "./plan.js";
import { palette } from "./theme.js";

const [WIDTH, HEIGHT] = [104, 72];

/** The drawing, hidden from screen readers. */
export function drawThumbnail(plan) {
  const colours = palette();
  const top = highestCost(plan);
  return s("svg", { width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" },
    planLayout(plan).bands.map((band) => s("path", {
      d: bandOutline(band, 0, WIDTH, HEIGHT), fill: costColour(colours, band.cost, top), opacity: 0.8,
    })));
}
