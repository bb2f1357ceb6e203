// The table of a comparison: values with intervals, differences and p-values.

import { h, s } from "./elements.js";
import { directionOf } from "./metrics.js";
import { chance, difference, score } from "./number_format.js";
import { table } from "./table.js";

const SIGNIFICANT = 0.05;

/** The table of an answer of /v1/compare. */
export function comparisonTable(answer) {
  const metrics = Object.keys(answer.scales);
  const names = [...new Set(answer.systems.map((each) => each.system))];
  const find = (system, metric) =>
    answer.systems.find((each) => each.system === system && each.metric === metric);
  const columns = metrics.map((metric) => {
    const scale = answer.scales[metric];
    const { sign, words } = directionOf(scale.direction);
    const extent = extentOf(answer.systems.filter((each) => each.metric === metric));
    return {
      name: `${metric} ${sign}`, title: words, numeric: true, key: (each) => each?.value ?? null,
      show: (each) => cell(each, scale, extent),
    };
  });
  return table({
    caption: `Scores of ${names.length} systems, compared with ${answer.baseline}`,
    columns: [{ name: "system", show: (name) => systemName(name, answer.baseline) }, ...columns],
    rows: names.map((name) => [name, ...metrics.map((metric) => find(name, metric))]),
  });
}

/** The table of an answer of /v1/score, where there is only one system. */
export function scoreTable(scores) {
  return table({
    caption: "Scores of one system; add a second one to compare",
    columns: [
      { name: "metric" },
      { name: "score", numeric: true, show: (value, [, , scale]) => score(value, scale.range) },
      { name: "better", key: (scale) => scale.direction, show: (scale) => directionOf(scale.direction).words },
    ],
    rows: scores.map((each) => [each.metric, each.value, each]),
  });
}

/** All numbers of a comparison as rows for a file. */
export function comparisonRows(answer) {
  const names = [
    "metric", "system", "value", "value_low", "value_high", "difference", "low", "high", "p_uncorrected",
    "p_holm", "cluster",
  ];
  return [names, ...answer.systems.map((each) => names.map((name) => each[name]))];
}

function systemName(name, baseline) {
  return [name, name === baseline && h("span", { class: "badge" }, "baseline")];
}

function cell(each, scale, extent) {
  if (!each) return "–";
  const significant = each.p_holm !== null && each.p_holm < SIGNIFICANT;
  const better = each.difference > 0 === (scale.direction === "higher");
  return h("div", { class: "measured" },
    h("span", { class: "value" },
      each.cluster === 1 && h("span", { class: "best", title: "in the best cluster" }, "★ "),
      score(each.value, scale.range)),
    whisker(each, extent),
    h("span", { class: "note" }, `[${score(each.value_low, scale.range)}, ${score(each.value_high, scale.range)}]`),
    each.p_holm !== null && h("span", { class: "note" }, `${difference(each.difference, scale.range)}, ${chance(each.p_holm)}`),
    significant && h("span", { class: better ? "gain" : "loss" },
      `significantly ${better ? "better" : "worse"} (p < .05)`));
}

function extentOf(rows) {
  const low = Math.min(...rows.map((each) => each.value_low ?? each.value));
  const high = Math.max(...rows.map((each) => each.value_high ?? each.value));
  return [low, high > low ? high : low + 1];
}

/** An interval and its middle on the scale that all systems share. */
function whisker(each, [low, high]) {
  const place = (value) => 3 + (94 * (value - low)) / (high - low);
  if (each.value_low === null) return null;
  return s("svg", { class: "whisker", width: 100, height: 9, viewBox: "0 0 100 9", "aria-hidden": "true" },
    s("line", { class: "rail", x1: 0, x2: 100, y1: 4.5, y2: 4.5 }),
    s("line", { class: "interval", x1: place(each.value_low), x2: place(each.value_high), y1: 4.5, y2: 4.5 }),
    s("circle", { class: "point", cx: place(each.value), cy: 4.5, r: 3.5 }));
}
