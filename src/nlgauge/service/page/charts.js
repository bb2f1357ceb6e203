// The drawings of a correlation study: they follow the width and the colours of the page.

import { LIGHT } from "./colours.js";
import { NAMES } from "./correlations.js";
import { bandColours, drawDistribution } from "./distributions.js";
import { saveSvg } from "./download.js";
import { choice, h, refill, s } from "./elements.js";
import { drawMatrix } from "./matrix.js";
import { isDark, onTheme, palette } from "./theme.js";

const PANEL = 300; // width of a distribution
const SHEET = 760; // of the matrix, at most

/** The grid of all coefficients, or nothing where there is none. */
export function matrixCard(matrix) {
  if (!matrix) return null;
  const stage = h("div", { class: "stage" });
  follow(stage, () => {
    const width = Math.min(stage.clientWidth, SHEET);
    refill(stage, drawMatrix(matrix, { width, palette: palette() }));
  });
  const save = () => saveSvg(onPaper(drawMatrix(matrix, { width: SHEET, palette: LIGHT })), "matrix.svg");
  return h("section", { class: "card", "aria-labelledby": "matrix-title" },
    h("div", { class: "headline" }, h("h2", { id: "matrix-title" }, "Metrics against one another"),
      h("button", { type: "button", class: "quiet", onclick: save }, "Download SVG")),
    h("p", { class: "note" }, `${NAMES[matrix.coefficient]} over ${matrix.cells} ${matrix.level}s; ` +
      "purple agrees, orange contradicts. Metrics where lower is better are turned round."),
    stage);
}

/** A panel of curves for every metric, for one criterion at a time. */
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
    refill(legend, h("span", { class: "note" }, "people gave"), bands.map((band, k) =>
      h("span", {}, s("svg", { width: 12, height: 12, "aria-hidden": "true" },
        s("rect", { width: 12, height: 12, rx: 2, fill: colours[k] })), ` ${band.name}`)));
    refill(stage, panels.map(([metric, curves]) =>
      drawDistribution(metric, curves, scales[metric], { width, palette: palette(), dark: isDark() })));
  };
  follow(stage, draw);
  return h("section", { class: "card", "aria-labelledby": "distributions-title" },
    h("h2", { id: "distributions-title" }, "Scores by what people said"),
    h("div", { class: "fields" }, choice("Criterion", criteria, criterion, (value) => {
      criterion = value;
      draw();
    })),
    legend, stage);
}

/** Draw when the place gets its width, whenever that changes, and when colours change. */
function follow(stage, draw) {
  let width = 0;
  new ResizeObserver(() => {
    if (stage.clientWidth === 0 || Math.abs(stage.clientWidth - width) < 2) return;
    width = stage.clientWidth;
    draw();
  }).observe(stage);
  onTheme(stage, draw);
}

function onPaper(drawing) {
  drawing.prepend(s("rect", { width: "100%", height: "100%", fill: LIGHT.paper }));
  return drawing;
}
