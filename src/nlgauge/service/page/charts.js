// The charts of a correlation study, redrawn when the width or theme changes.

import { LIGHT } from "./colours.js";
import { NAMES } from "./correlations.js";
import { bandColours, drawDistribution } from "./distributions.js";
import { saveSvg } from "./download.js";
import { choice, h, refill, s } from "./elements.js";
import { drawMatrix } from "./matrix.js";
import { isDark, onResizeOrTheme, palette } from "./theme.js";

const PANEL = 300; // width of a distribution
const SHEET = 760; // of the matrix, at most

/** The matrix of all coefficients; null if there is none. */
export function matrixCard(matrix) {
  if (!matrix) return null;
  const stage = h("div", { class: "stage" });
  onResizeOrTheme(stage, () => {
    const width = Math.min(stage.clientWidth, SHEET);
    refill(stage, drawMatrix(matrix, { width, palette: palette() }));
  });
  const save = () => saveSvg(drawMatrix(matrix, { width: SHEET, palette: LIGHT }), "matrix.svg");
  return h("section", { class: "card", "aria-labelledby": "matrix-title" },
    h("div", { class: "headline" }, h("h2", { id: "matrix-title" }, "Correlations between metrics"),
      h("button", { type: "button", class: "quiet", onclick: save }, "Download SVG")),
    h("p", { class: "note" }, `${NAMES[matrix.coefficient]} over ${matrix.cells} ${matrix.level}s; ` +
      "purple is positive, orange negative. Metrics where lower is better are negated."),
    stage);
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
    refill(legend, h("span", { class: "note" }, "human score"), bands.map((band, k) =>
      h("span", {}, s("svg", { width: 12, height: 12, "aria-hidden": "true" },
        s("rect", { width: 12, height: 12, rx: 2, fill: colours[k] })), ` ${band.name}`)));
    refill(stage, panels.map(([metric, curves]) =>
      drawDistribution(metric, curves, scales[metric], { width, palette: palette(), dark: isDark() })));
  };
  onResizeOrTheme(stage, draw);
  return h("section", { class: "card", "aria-labelledby": "distributions-title" },
    h("h2", { id: "distributions-title" }, "Scores by human quality"),
    h("div", { class: "fields" }, choice("Criterion", criteria, criterion, (value) => {
      criterion = value;
      draw();
    })),
    legend, stage);
}
