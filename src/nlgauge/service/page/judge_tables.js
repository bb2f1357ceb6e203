// The tables of a judge: agreement, persons, the alternative annotator test and biases.

import { h } from "./elements.js";
import { chance, coefficient } from "./number_format.js";
import { table } from "./table.js";

const NAMES = {
  agreement: "agreement", kappa: "Cohen's κ", kappa_linear: "κ, linear weights", kappa_quadratic: "κ, quadratic weights",
  ac1: "Gwet's AC1", ac2: "Gwet's AC2", alpha_nominal: "α, nominal", alpha_ordinal: "α, ordinal",
  alpha_interval: "α, interval", alpha_ratio: "α, ratio",
};
const BIASES = {
  position: "first output preferred", consistency: "same label when swapped",
  length: "length against judge − people", "self-preference": "own outputs, judge − people",
};

/** Coefficients of the judge with people and of people with each other. */
export function agreementTable({ agreement }) {
  const kinds = [["judge", "Judge and people"], ["people", "People"], ["difference", "Difference"]]
    .filter(([kind]) => agreement[0][kind]);
  return table({
    caption: "Agreement, with 95 % intervals",
    columns: [{ name: "Coefficient" }, ...kinds.map(([, name]) => estimateColumn(name))],
    rows: agreement.map((row) => [NAMES[row.coefficient], ...kinds.map(([kind]) => row[kind])]),
  });
}

/** The judge with each person. */
export function personTable({ persons, scale }) {
  const shown = ["agreement", "kappa", "ac1", `alpha_${scale}`]
    .filter((name) => persons.some((row) => row.coefficient === name));
  const people = [...new Set(persons.map((row) => row.person))];
  const find = (person, name) => persons.find((row) => row.person === person && row.coefficient === name);
  return table({
    caption: "The judge with each person",
    columns: [{ name: "Person" }, { name: "Items", numeric: true }, ...shown.map((name) => estimateColumn(NAMES[name]))],
    rows: people.map((person) => [person, find(person, "agreement").n, ...shown.map((name) => find(person, name).interval)]),
  });
}

/** The alternative annotator test; null if there are fewer than three people. */
export function replacementTable({ alternative_test: test }) {
  if (!test) return null;
  const number = (value) => (value === null ? "–" : coefficient(value));
  return table({
    caption: `Alternative annotator test, ε ${test.epsilon}: ω ${coefficient(test.winning_rate)}, ρ ${coefficient(test.advantage)}`,
    columns: [
      { name: "Left out" }, { name: "Items", numeric: true },
      { name: "Judge as good", numeric: true, show: number }, { name: "Person as good", numeric: true, show: number },
      { name: "p", numeric: true, show: (p) => (p === null ? "–" : chance(p)) }, { name: "Judge wins", numeric: true },
    ],
    rows: test.people.map((each) => [
      each.person, each.n, each.judge_advantage, each.person_advantage, each.p, each.wins ? "yes" : "no",
    ]),
  });
}

/** The biases that the columns of the file allow to measure; null if there are none. */
export function biasTable({ biases }) {
  if (biases.length === 0) return null;
  return table({
    caption: "Biases, with 95 % intervals",
    columns: [{ name: "Bias" }, { name: "Rater" }, { name: "Items", numeric: true }, estimateColumn("Value")],
    rows: biases.map((each) => [BIASES[each.bias], each.rater, each.n, each]),
  });
}

/** Rows for CSV: one for each coefficient, then one for each bias. */
export function judgeRows({ agreement, persons, biases, judge }) {
  const cells = (estimate) => [estimate.value, estimate.low, estimate.high];
  const kinds = [["judge", "judge and people"], ["people", "people"], ["difference", "difference"]];
  return [
    ["statistic", "raters", "value", "low", "high"],
    ...agreement.flatMap((row) => kinds.filter(([kind]) => row[kind])
      .map(([kind, raters]) => [row.coefficient, raters, ...cells(row[kind])])),
    ...persons.map((row) => [row.coefficient, `${judge} and ${row.person}`, ...cells(row.interval)]),
    ...biases.map((row) => [row.bias, row.rater, ...cells(row)]),
  ];
}

function estimateColumn(name) {
  return {
    name, numeric: true, key: (estimate) => estimate.value,
    show: ({ value, low, high }) => (value === null ? "–" : [
      h("span", { class: "value" }, coefficient(value)),
      low !== null && h("span", { class: "note" }, ` [${coefficient(low)}, ${coefficient(high)}]`),
    ]),
  };
}
