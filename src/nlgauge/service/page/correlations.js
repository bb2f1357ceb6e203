// The table of correlations with human scores by criterion and level.

import { filterFields, h, refill } from "./elements.js";
import { coefficient as written } from "./number_format.js";
import { table } from "./table.js";

const LEVELS = { segment: "segments", text: "systems within a segment", system: "systems" };
/** Names of the coefficients. */
export const NAMES = {
  pearson: "Pearson r", spearman: "Spearman ρ", kendall_b: "Kendall τ-b", kendall_c: "Kendall τ-c",
  accuracy: "pairwise accuracy",
};

/** The table, with select boxes for criterion and level. */
export function correlationTable(answer) {
  const coefficients = [...new Set(answer.correlations.map((each) => each.coefficient))];
  const columns = [{ name: "criterion", label: "Criterion" }, { name: "level", label: "Level", names: LEVELS }];
  const place = h("div");
  const fields = filterFields(answer.correlations, columns, (rows, chosen) =>
    refill(place, drawTable(rows, coefficients, chosen)));
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

function drawTable(seen, coefficients, chosen) {
  const metrics = [...new Set(seen.map((each) => each.metric))];
  const find = (metric, coefficient) =>
    seen.find((each) => each.metric === metric && each.coefficient === coefficient) ?? null;
  const columns = coefficients.map((coefficient) => {
    const values = seen.filter((each) => each.coefficient === coefficient && each.value !== null);
    const best = Math.max(...values.map((each) => each.value));
    return {
      name: NAMES[coefficient] ?? coefficient, numeric: true, key: (each) => each?.value ?? null,
      show: (each) => cell(each, best),
    };
  });
  const [{ n } = { n: 0 }] = seen;
  return table({
    caption: `Correlation with human scores: ${chosen.criterion}, ${n} ${LEVELS[chosen.level]}`,
    columns: [{ name: "metric" }, ...columns],
    rows: metrics.map((metric) => [metric, ...coefficients.map((each) => find(metric, each))]),
  });
}

function cell(each, best) {
  if (!each) return "–";
  if (each.value === null) return h("span", { class: "note", title: each.reason }, "undefined");
  const bar = h("span", { class: "fill" });
  bar.style.width = `${100 * Math.min(Math.abs(each.value), 1)}%`;
  return h("div", { class: "measured" },
    h("span", { class: "value" },
      each.value === best && h("span", { class: "best", title: "the highest" }, "★ "), written(each.value)),
    h("span", { class: each.value < 0 ? "agreement negative" : "agreement", "aria-hidden": "true" }, bar),
    typeof each.low === "number" && h("span", { class: "note" }, `[${written(each.low)}, ${written(each.high)}]`));
}
