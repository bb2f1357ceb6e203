// The charts of a study, redrawn when the width or theme changes.

import { LIGHT } from "./colours.js";
import { LEVELS, NAMES } from "./correlations.js";
import { bandColours, drawDistribution } from "./distributions.js";
import { saveSvg } from "./download.js";
import { choice, h, quietButton, refill, s, scrollable, section } from "./elements.js";
import { drawMatrix } from "./matrix.js";
import { directionOf } from "./metrics.js";
import { coefficient, counted } from "./number_format.js";
import { drawScatter } from "./scatter.js";
import { isDark, onResizeOrTheme, palette } from "./theme.js";

const PADDING = 4; // of a stage
const PANEL = 300; // width of a distribution
const SHEET = 760; // maximum width of the matrix

/** A card with a drawing, `draw(width, palette)`, which can be saved as a file. */
export function drawingCard({ title, note, file, draw }) {
  const stage = h("div", { class: "stage" });
  onResizeOrTheme(stage, () => refill(stage, draw(Math.min(stage.clientWidth - PADDING, SHEET), palette())));
  return section(title, quietButton("Download SVG", () => saveSvg(draw(SHEET, LIGHT), file)),
    h("p", { class: "note" }, note), scrollable(stage));
}

/** The matrix of all coefficients; null if there is none. */
export function matrixCard(matrix) {
  return matrix && drawingCard({
    title: "Correlations between metrics", file: "matrix.svg",
    note: `${NAMES[matrix.coefficient]} over ${matrix.cells} ${LEVELS[matrix.level]}; ` +
      "purple is positive, orange negative. Metrics where lower is better are negated.",
    draw: (width, colours) => drawMatrix(matrix, { width, palette: colours }),
  });
}

/** A scatter plot of a metric against a criterion; null if there are no scores. */
export function scatterCard({ cells, correlations, scales }) {
  if (!cells) return null;
  const [criteria, metrics] = [cells.human, cells.scores].map(Object.keys);
  const chosen = { criterion: criteria[0], metric: metrics[0] };
  const stage = h("div", { class: "stage" });
  const note = h("p", { class: "note" });
  const draw = () => {
    const [human, scores] = [cells.human[chosen.criterion], cells.scores[chosen.metric]];
    const points = human.map((x, k) => ({ x, y: scores[k], name: `${cells.systems[k]}, segment ${cells.segments[k]}` }))
      .filter(({ x, y }) => x !== null && y !== null);
    const found = correlations.filter((each) => each.level === "segment" && each.value !== null &&
      each.criterion === chosen.criterion && each.metric === chosen.metric);
    note.textContent = [counted(points.length, "output"), directionOf(scales[chosen.metric].direction).words,
      ...found.map((each) => `${NAMES[each.coefficient]} ${coefficient(each.value)}`)].join(" · ");
    const width = Math.min((stage.clientWidth || PANEL) - PADDING, 560);
    const axes = [`human: ${chosen.criterion}`, chosen.metric];
    refill(stage, points.length > 0 && drawScatter(points, { axes, width, palette: palette() }));
  };
  const field = (label, name, choices) => choice(label, choices, chosen[name], (value) => {
    chosen[name] = value;
    draw();
  });
  onResizeOrTheme(stage, draw);
  return section("Metric against human scores", null,
    h("div", { class: "fields" }, field("Metric", "metric", metrics), field("Criterion", "criterion", criteria)),
    note, stage);
}

/** A panel of curves for every metric, by one criterion at a time. */
export function distributionCard(distributions, scales) {
  const criteria = Object.keys(distributions).filter((name) => Object.keys(distributions[name]).length > 0);
  if (criteria.length === 0) return null;
  let criterion = criteria[0];
  const stage = h("div", { class: "panels" });
  const legend = h("p", { class: "legend" });
  const draw = () => {
    const width = Math.min(PANEL, stage.clientWidth || PANEL);
    const panels = Object.entries(distributions[criterion]);
    const [, [...bands]] = panels[0];
    const colours = bandColours(bands.length, isDark());
    refill(legend, h("span", { class: "note" }, "human score"), bands.map((band, k) => legendEntry(band.name, colours[k])));
    refill(stage, panels.map(([metric, curves]) =>
      drawDistribution(metric, curves, scales[metric], { width, palette: palette(), dark: isDark() })));
  };
  onResizeOrTheme(stage, draw);
  return section("Scores by human quality", null,
    criteria.length > 1 && h("div", { class: "fields" }, choice("Criterion", criteria, criterion, (value) => {
      criterion = value;
      draw();
    })),
    legend, stage);
}

/** A name in the legend of a chart, with its colour. */
export function legendEntry(name, colour) {
  const box = { width: 12, height: 12 };
  return h("span", {}, s("svg", { ...box, "aria-hidden": "true" }, s("rect", { ...box, rx: 2, fill: colour })), ` ${name}`);
}
