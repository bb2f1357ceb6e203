// Distributions of scores by bands of human quality.

import { ramp } from "./colours.js";
import { s } from "./elements.js";
import { FAMILY } from "./text_width.js";
import { end, score } from "./number_format.js";
import { truncated } from "./plan.js";

const [HIGH, FOOT, HEAD] = [120, 34, 26];

/** One panel: a curve for every band of quality, the best on top, and a mark at its mean. */
export function drawDistribution(metric, bands, scale, { width, palette, dark }) {
  const colours = bandColours(bands.length, dark);
  const places = bands.flatMap((band) => band.places);
  const [low, high] = limits(places, scale.range);
  const tallest = Math.max(...bands.flatMap((band) => band.density.map((value) => value ?? 0)), 1e-12);
  const at = (value) => (width * (value - low)) / (high - low || 1);
  const up = (value) => HEAD + HIGH * (1 - (value ?? 0) / tallest);
  const total = HEAD + HIGH + FOOT;
  const label = { fill: palette.muted, "font-size": 12 };
  return s("svg", {
    width, height: total, viewBox: `0 0 ${width} ${total}`, role: "img", "aria-label": description(metric, bands, scale),
    "font-family": FAMILY,
  },
    s("text", { x: 0, y: 14, fill: palette.ink, "font-size": 14, "font-weight": 600 }, truncated(metric, 34)),
    bands.map((band, k) => curve(band, colours[k], at, up, [low, high])),
    s("line", { x1: 0, x2: width, y1: HEAD + HIGH, y2: HEAD + HIGH, stroke: palette.muted, "stroke-width": 0.8 }),
    bands.map((band, k) => band.scores.length > 0 && s("path", {
      d: `M${at(mean(band.scores)).toFixed(1)} ${HEAD + HIGH + 3}l-5 8h10z`, fill: colours[k],
      stroke: palette.ink, "stroke-width": 0.5,
    }, s("title", {}, `${band.name}: mean ${score(mean(band.scores), scale.range)}`))),
    s("text", { x: 0, y: total - 6, ...label }, end(low)),
    s("text", { x: width / 2, y: total - 6, "text-anchor": "middle", ...label },
      scale.direction === "higher" ? "better →" : "← better"),
    s("text", { x: width, y: total - 6, "text-anchor": "end", ...label }, end(high)));
}

/** The colours of bands, lowest first; the highest is the most prominent. */
export function bandColours(count, dark) {
  return dark ? ramp(count, 0.3) : ramp(count + 1).slice(0, count).reverse();
}

function curve(band, colour, at, up, [low, high]) {
  const points = band.places
    .map((place, k) => [place, band.density[k]])
    .filter(([place, density]) => density !== null && place >= low && place <= high);
  if (points.length === 0) return null;
  const line = points.map(([place, density]) => `${at(place).toFixed(1)} ${up(density).toFixed(1)}`).join("L");
  const [first, last] = [points[0], points.at(-1)].map(([place]) => at(place).toFixed(1));
  return s("g", {},
    s("path", { d: `M${first} ${HEAD + HIGH}L${line}L${last} ${HEAD + HIGH}Z`, fill: colour, opacity: 0.28 }),
    s("path", { d: `M${line}`, fill: "none", stroke: colour, "stroke-width": 2 },
      s("title", {}, `${band.name}, ${band.scores.length} texts`)));
}

/** The range of the curves, within the range of the metric. */
function limits(places, [lowest, highest]) {
  if (places.length === 0) return [lowest ?? 0, highest ?? 1];
  return [Math.max(Math.min(...places), lowest ?? -Infinity), Math.min(Math.max(...places), highest ?? Infinity)];
}

function mean(scores) {
  return scores.reduce((total, score) => total + score, 0) / scores.length;
}

function description(metric, bands, scale) {
  const means = bands.filter(({ scores }) => scores.length > 0).map(({ name, scores }) =>
    `human score ${name}: ${scores.length} texts, mean ${score(mean(scores), scale.range)}`);
  return `${metric}. ${means.join("; ")}`;
}
