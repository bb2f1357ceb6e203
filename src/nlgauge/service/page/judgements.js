// The view of human judgements: correlations of metrics with human scores.

import { metricPicker } from "./metric_picker.js";
import { distributionCard, matrixCard, scatterCard } from "./charts.js";
import { correlationRows, correlationTable, testNote } from "./correlations.js";
import { saveCsv } from "./download.js";
import { choice, h, refill, reveal } from "./elements.js";
import { taskRunner } from "./run_task.js";
import { runJob } from "./jobs.js";
import { linkReader } from "./link.js";
import { notes, showLinkNotice } from "./notices.js";
import { signatures } from "./scores.js";
import { checkboxes } from "./checkboxes.js";
import { describeJudged, JUDGED, tableUpload } from "./table_upload.js";

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
  const state = { bands: "3", tests: TESTS[0][0] };
  const metrics = metricPicker(catalogue, METRICS, onChange);
  const levels = checkboxes("Compare", LEVELS, ["segment"], onChange);
  const coefficients = checkboxes("Coefficients", COEFFICIENTS, ["pearson", "spearman", "kendall_b"], onChange);
  const extras = checkboxes("Uncertainty", [["intervals", "95 % intervals"]], ["intervals"], onChange);
  const bands = choice("Quality bands", BANDS, state.bands, (value) => {
    state.bands = value;
    onChange();
  });
  const tests = choice("Test between metrics", TESTS, state.tests, (value) => {
    state.tests = value;
    onChange();
  });
  const criteria = h("div", { class: "slot" });
  let chosenCriteria = null;
  const progress = h("div");
  const result = h("div", { class: "results" });
  const go = h("button", { type: "button", class: "primary", onclick: () => run() }, "Correlate");
  const work = taskRunner(go, result);
  const upload = tableUpload(JUDGED, { result, work, onTable, onChange, run: () => run() });

  function onTable(rows) {
    const names = Object.keys(rows[0].human);
    chosenCriteria = checkboxes("Criteria", names.map((each) => [each, each]), names, onChange);
    refill(criteria, chosenCriteria.element);
    levels.offer("document", rows.every((row) => row.document !== undefined));
    return describeJudged(rows);
  }

  function body() {
    const [human, wide, how] = [chosenCriteria, levels, coefficients].map((each) => each.wanted());
    return {
      rows: upload.found.table, metrics: metrics.wanted(), human, levels: wide, coefficients: how,
      bands: Number(state.bands), tests: state.tests === "none" ? null : state.tests, segments: true, confidence: extras.values().length ? 0.95 : null,
      matrix: { level: wide.includes("segment") ? "segment" : wide[0], coefficient: how[0] },
    };
  }

  const run = () => work(async (stop) => {
    const request = body();
    refill(result);
    show(await runJob("correlate", request, progress, stop));
  });

  function show(answer) {
    const save = () => saveCsv(correlationRows(answer), "correlations.csv");
    refill(result,
      h("section", { class: "card", "aria-labelledby": "correlation-title" },
        h("div", { class: "headline" }, h("h2", { id: "correlation-title" }, "Correlation with human judgements"),
          h("button", { type: "button", class: "quiet", onclick: save }, "Download CSV")),
        correlationTable(answer), h("p", { class: "note" }, testNote(answer)), notes(answer.notes),
        signatures(answer.signatures)),
      scatterCard(answer), matrixCard(answer.matrix),
      distributionCard(answer.distributions, answer.scales));
    reveal(result);
  }

  return {
    element: h("div", { class: "view" },
      h("h1", {}, "Correlate metrics with human judgements"),
      h("p", { class: "lead" }, "See which metrics agree with people, how certain that is, and where they fail."),
      upload.form(
        h("h2", { class: "label" }, "Metrics"), metrics.element,
        h("div", { class: "fields" }, criteria, levels.element, coefficients.element, extras.element, tests, bands),
        h("div", { class: "actions" }, go)),
      progress, result),
    texts: upload.texts,
    settings() {
      const link = new URLSearchParams({
        levels: levels.values().join(), coefficients: coefficients.values().join(), bands: state.bands, tests: state.tests,
        intervals: extras.values().length ? "1" : "0",
      });
      if (metrics.linkPart()) link.set("metrics", metrics.linkPart());
      if (upload.found.isExample) link.set("example", "1");
      return link;
    },
    restore(settings) {
      const link = linkReader(settings, PARTS);
      metrics.restore(link, settings.get("metrics"));
      for (const [name, boxes, choices] of [["levels", levels, LEVELS], ["coefficients", coefficients, COEFFICIENTS]]) {
        const wanted = link.choices(name, choices.map(([value]) => value));
        if (wanted) boxes.choose(wanted);
      }
      const intervals = link.choice("intervals", ["0", "1"]);
      if (intervals) extras.choose(intervals === "1" ? ["intervals"] : []);
      state.tests = link.choice("tests", TESTS.map(([value]) => value)) ?? state.tests;
      tests.querySelector("select").value = state.tests;
      state.bands = link.choice("bands", BANDS) ?? state.bands;
      bands.querySelector("select").value = state.bands;
      upload.restore(link, settings);
      if (link.waits("metrics")) showLinkNotice(result, link.problems, upload.found.table ? "Correlate" : null);
      else if (upload.found.table) run();
    },
  };
}
