// The table of correlations with human scores by criterion and level.

import { filterFields, h, refill } from "./elements.js";
import { coefficient as written } from "./number_format.js";
import { table } from "./table.js";

/** What the points of a correlation are, by level. */
export const LEVELS = {
  segment: "segments", text: "systems within a segment", by_system: "segments within a system",
  document: "documents of a system", system: "systems",
};
const SIGNIFICANT = 0.05;
const TESTS = { williams: "Williams’s test of Pearson’s r", permutation: "a permutation test" };

/** A sentence on the marks between metrics. */
export function testNote({ tests }) {
  if (tests.length === 0) return "Differences between metrics were not tested, so no metric is marked as significant.";
  return `“> bleu” means significantly better than bleu (${TESTS[tests[0].method]}, p < .05, Holm-corrected). ` +
    "★ marks a metric that is significantly better than another, while none is better than it.";
}

/** Names of the coefficients. */
export const NAMES = {
  pearson: "Pearson r", spearman: "Spearman ρ", kendall_b: "Kendall τ-b", kendall_c: "Kendall τ-c",
  accuracy: "pairwise accuracy", acc_eq: "pairwise accuracy, ties calibrated", spa: "soft pairwise accuracy",
  pairwise_pearson: "pairwise Pearson r",
};

/** The table, with select boxes for criterion and level. */
export function correlationTable(answer) {
  const columns = [{ name: "criterion", label: "Criterion" }, { name: "level", label: "Level", names: LEVELS }];
  const place = h("div");
  const fields = filterFields(answer.correlations, columns, (rows, chosen) =>
    refill(place, drawTable(rows, chosen, answer.tests)));
  return [fields, place];
}

/** All coefficients as rows for a file. */
export function correlationRows(answer) {
  const names = [
    "metric", "criterion", "level", "coefficient", "value", "low", "high", "confidence", "n", "rows_used",
    "undefined", "reason",
  ];
  return [names, ...answer.correlations.map((each) => names.map((name) => each[name]))];
}

function drawTable(seen, chosen, tests) {
  const [metrics, coefficients] = ["metric", "coefficient"].map((name) => [...new Set(seen.map((each) => each[name]))]);
  const find = (metric, coefficient) =>
    seen.find((each) => each.metric === metric && each.coefficient === coefficient) ?? null;
  const columns = coefficients.map((coefficient) => {
    const test = tests.find((each) => each.coefficient === coefficient && each.criterion === chosen.criterion &&
      each.level === chosen.level);
    return {
      name: NAMES[coefficient] ?? coefficient, numeric: true, key: (each) => each?.value ?? null,
      show: (each) => cell(each, test),
    };
  });
  const [{ n } = { n: 0 }] = seen;
  return table({
    caption: `Correlation with human scores: ${chosen.criterion}, ${n} ${LEVELS[chosen.level]}`,
    columns: [{ name: "metric" }, ...columns],
    rows: metrics.map((metric) => [metric, ...coefficients.map((each) => find(metric, each))]),
  });
}

/** The metrics that this one is significantly better than, and whether none is better than it. */
function standing(each, test) {
  const at = test ? test.names.indexOf(each.metric) : -1;
  if (at < 0) return { beats: [], best: false };
  const significant = (p) => p !== null && p < SIGNIFICANT;
  const beats = test.names.filter((_, k) => significant(test.p[at][k]));
  const beaten = test.names.some((_, k) => significant(test.p[k][at]));
  const positive = each.value > 0 && (typeof each.low !== "number" || each.low > 0);
  return { beats, best: beats.length > 0 && !beaten && positive };
}

function cell(each, test) {
  if (!each) return "–";
  if (each.value === null) return h("span", { class: "note", title: each.reason }, "undefined");
  const { beats, best } = standing(each, test);
  const bar = h("span", { class: "fill" });
  bar.style.width = `${100 * Math.min(Math.abs(each.value), 1)}%`;
  return h("div", { class: "measured" },
    h("span", { class: "value" },
      best && h("span", { class: "best", title: "significantly better than others, and none is better" }, "★ "),
      written(each.value)),
    h("span", { class: each.value < 0 ? "agreement negative" : "agreement", "aria-hidden": "true" }, bar),
    typeof each.low === "number" && h("span", { class: "note" }, `[${written(each.low)}, ${written(each.high)}]`),
    typeof each.chance === "number" && h("span", { class: "note" }, `chance ${written(each.chance)}`),
    typeof each.rank === "number" && h("span", { class: "note" }, `rank ${each.rank}`),
    beats.length > 0 && h("span", { class: "gain beats" }, `> ${beats.join(", ")}`));
}
