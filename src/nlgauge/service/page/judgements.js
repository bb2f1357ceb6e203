// The view of human judgements: correlations of metrics with human scores.

import { distributionCard, matrixCard, scatterCard } from "./charts.js";
import { checkboxes } from "./checkboxes.js";
import { correlationRows, correlationTable, testNote } from "./correlations.js";
import { saveCsv } from "./download.js";
import { choice, h, quietButton, refill, section } from "./elements.js";
import { runJob } from "./jobs.js";
import { linkReader, settingsOf } from "./link.js";
import { metricPicker } from "./metric_picker.js";
import { notes } from "./notices.js";
import { signatures } from "./scores.js";
import { describeJudged, JUDGED, tableView } from "./table_view.js";

const METRICS = ["gauge", "bleu", "chrf", "bertscore"];
const LEVELS = [
  ["segment", "segments"], ["text", "within a segment"], ["by_system", "within a system"], ["document", "documents"],
  ["system", "systems"],
];
const COEFFICIENTS = [
  ["pearson", "Pearson"], ["spearman", "Spearman"], ["kendall_b", "Kendall τ-b"],
  ["kendall_c", "Kendall τ-c"], ["accuracy", "accuracy"],
];
const BANDS = ["2", "3", "4", "5"];
const TESTS = [["williams", "Williams, for Pearson"], ["permutation", "permutation, slower"], ["none", "none"]];
const PARTS = ["metrics", "levels", "coefficients", "intervals", "tests", "bands", "example", "texts"];

/** The view; `onChange` is called when its link changes. */
export function judgementsView(catalogue, onChange) {
  const metrics = metricPicker(catalogue, METRICS, onChange);
  const levels = checkboxes("Compare", LEVELS, ["segment"], onChange);
  const coefficients = checkboxes("Coefficients", COEFFICIENTS, ["pearson", "spearman", "kendall_b"], onChange);
  const extras = checkboxes("Uncertainty", [["intervals", "95 % intervals"]], ["intervals"], onChange);
  const bands = choice("Quality bands", BANDS, "3", onChange);
  const tests = choice("Test between metrics", TESTS, TESTS[0][0], onChange);
  const criteria = h("div", { class: "slot" });
  let chosenCriteria = null;
  const view = tableView(JUDGED, {
    title: "Correlate metrics with human judgements",
    lead: "See which metrics agree with people, how certain that is, and where they fail.",
    fields: [h("h2", { class: "label" }, "Metrics"), metrics.element,
      h("div", { class: "fields" }, criteria, levels.element, coefficients.element, extras.element, tests, bands)],
    button: "Correlate",
    send: (body, stop, progress) => runJob("correlate", body, progress, stop),
    onTable, onChange, body, show,
  });

  function onTable(rows) {
    const names = Object.keys(rows[0].human);
    chosenCriteria = checkboxes("Criteria", names.map((each) => [each, each]), names, onChange);
    refill(criteria, chosenCriteria.element);
    levels.offer("document", rows.every((row) => row.document !== undefined));
    return describeJudged(rows);
  }

  function body(rows) {
    const [human, wide, how] = [chosenCriteria, levels, coefficients].map((each) => each.wanted());
    const test = tests.control.value;
    return {
      rows, metrics: metrics.wanted(), human, levels: wide, coefficients: how, bands: Number(bands.control.value),
      tests: test === "none" ? null : test, segments: true, confidence: extras.values().length ? 0.95 : null,
      matrix: { level: wide.includes("segment") ? "segment" : wide[0], coefficient: how[0] },
    };
  }

  return {
    element: view.element,
    texts: view.texts,
    settings: () => settingsOf({
      levels: levels.values().join(), coefficients: coefficients.values().join(), bands: bands.control.value,
      tests: tests.control.value, intervals: extras.values().length ? "1" : "0", metrics: metrics.linkPart(),
      example: view.found.isExample && "1",
    }),
    restore(settings) {
      const link = linkReader(settings, PARTS);
      metrics.restore(link, settings.get("metrics"));
      for (const [name, boxes, choices] of [["levels", levels, LEVELS], ["coefficients", coefficients, COEFFICIENTS]]) {
        const wanted = link.choices(name, choices.map(([value]) => value));
        if (wanted) boxes.choose(wanted);
      }
      const intervals = link.choice("intervals", ["0", "1"]);
      if (intervals) extras.choose(intervals === "1" ? ["intervals"] : []);
      link.select("tests", tests);
      link.select("bands", bands);
      view.restore(link, settings);
      view.start(link, "metrics");
    },
  };
}

function show(answer) {
  const save = () => saveCsv(correlationRows(answer), "correlations.csv");
  return [
    section("Correlation with human judgements", quietButton("Download CSV", save),
      correlationTable(answer), h("p", { class: "note" }, testNote(answer)), notes(answer.notes),
      signatures(answer.signatures)),
    scatterCard(answer), matrixCard(answer.matrix), distributionCard(answer.distributions, answer.scales),
  ];
}
