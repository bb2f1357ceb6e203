// The view of several systems: a comparison with intervals and significance tests.

import { metricPicker } from "./metric_picker.js";
import { comparisonRows, comparisonTable, scoreTable } from "./comparison.js";
import { differingSegments } from "./differing_segments.js";
import { saveCsv } from "./download.js";
import { dropzone } from "./dropzone.js";
import { choice, h, quietButton, refill, reveal, section } from "./elements.js";
import { taskRunner } from "./run_task.js";
import { exampleSystems } from "./examples.js";
import { fileList } from "./file_list.js";
import { runJob } from "./jobs.js";
import { areReferences, areTexts, clipped, linkReader, settingsOf } from "./link.js";
import { notes, showError, showLinkNotice } from "./notices.js";
import { count } from "./number_format.js";
import { sharedWarnings, signatures } from "./scores.js";
import { segmentSection } from "./segment_scores.js";

const METRICS = ["gauge", "bleu", "chrf"];
const METHODS = [["bootstrap", "paired bootstrap"], ["randomisation", "approximate randomisation"]];
const DIFFERING = 5; // segments shown for each metric and system
const COUNTS = [["300", "300"], ["1000", "1,000"], ["10000", "10,000"]];

/** The view; `onChange` is called when its link changes, `onPair` to show the alignment of a segment. */
export function systemsView(catalogue, onChange, onPair) {
  const state = { baseline: null, example: false, done: false };
  const metrics = metricPicker(catalogue, METRICS, onChange);
  const files = fileList(() => {
    refill(result);
    work.cancel();
    Object.assign(state, { example: false, done: false });
    arrange();
    onChange();
  }, (error) => showError(result, error));
  const result = h("div", { class: "results" });
  const progress = h("div");
  const baselines = h("div", { class: "slot" });
  const method = choice("Test", METHODS, METHODS[0][0], onChange);
  const resamples = choice("Resamples", COUNTS, "1000", onChange);
  const go = h("button", { type: "button", class: "primary", onclick: () => run() }, "Compare");
  const work = taskRunner(go, result);
  const chosen = h("div", { class: "chosen" }, files.element);
  const settings = h("div", {},
    h("h2", { class: "label" }, "Metrics"), metrics.element,
    h("div", { class: "fields" }, baselines, method, resamples),
    h("div", { class: "actions" }, go));

  const zone = dropzone({
    title: "Drop the outputs of your systems and their references here",
    hint: "Plain text with one segment per line, one file per system and per set of references; " +
      "or tables (.jsonl, .tsv, .csv) with columns candidate, references, system and id.",
  }, take);
  const empty = h("p", { class: "actions" }, quietButton("Try an example", example));

  async function take(given) {
    try {
      await files.add(given);
    } catch (error) {
      showError(result, error);
    }
  }

  function example() {
    files.set(exampleSystems());
    state.example = true;
    onChange();
    run();
  }

  function arrange() {
    const names = files.systems();
    if (!names.includes(state.baseline)) state.baseline = names[0] ?? null;
    refill(baselines, choice("Baseline", names, state.baseline, (name) => {
      state.baseline = name;
      onChange();
      if (state.done) run();
    }));
    settings.hidden = chosen.hidden = files.isEmpty();
    empty.hidden = !files.isEmpty();
    go.textContent = names.length === 1 ? "Score" : "Compare";
  }

  const run = () => work(async (stop) => {
    state.done = false;
    const body = { ...files.body(), metrics: metrics.wanted() };
    refill(result);
    if (files.systems().length > 1) {
      const [test, count] = [method.control.value, Number(resamples.control.value)];
      const how = { baseline: state.baseline, method: test, count, differ: DIFFERING, segments: true };
      showComparison(await runJob("compare", { ...body, ...how }, progress, stop), textFinder(body));
    } else {
      showScores(await runJob("score", body, progress, stop), textFinder(body));
    }
    reveal(result);
    state.done = true;
  });

  function segmentsOf(scores, scales, baseline, find) {
    return segmentSection(scores, scales, { baseline, find, nameSegment: files.nameSegment, onOpen: onPair });
  }

  function showComparison(answer, find) {
    const save = () => saveCsv(comparisonRows(answer), "comparison.csv");
    refill(result,
      section("Comparison", quietButton("Download CSV", save),
        comparisonTable(answer),
        h("p", { class: "note" },
          `${count(answer.segments)} segments. 95 % intervals; differences from ${answer.baseline} with p-values ` +
          `(${answer.method}, ${count(answer.count)} resamples, seed ${answer.seed}; Holm-corrected). ` +
          "★ marks the best cluster: its systems are significantly better than all others (p < .05, not corrected)."),
        notes(answer.notes),
        signatures(answer.signatures)),
      segmentsOf(answer.segment_scores, answer.scales, answer.baseline, find),
      differingSegments(answer, files.nameSegment));
  }

  function showScores(answer, find) {
    const byMetric = Object.fromEntries(answer.scores.map((each) => [each.metric, each.signature]));
    refill(result, section("Scores", null, scoreTable(answer.scores),
      sharedWarnings(answer.scores), signatures(byMetric)),
    segmentsOf(segmentScores(answer.scores), Object.fromEntries(answer.scores.map((each) => [each.metric, each])),
      answer.scores[0].system, find));
  }

  arrange();
  return {
    element: h("div", { class: "view" },
      h("h1", {}, "Compare systems"),
      h("p", { class: "lead" },
        "Compare systems on the same segments, with confidence intervals and significance tests."),
      h("div", { class: "card form" }, zone, empty, chosen, settings), progress, result),
    texts: () => (files.isEmpty() || state.example ? null : textsFor(files)),
    settings: () => settingsOf({
      method: method.control.value, count: resamples.control.value, metrics: metrics.linkPart(),
      baseline: state.baseline, example: state.example && "1",
    }),
    restore(settings) {
      const link = linkReader(settings, ["metrics", "method", "count", "baseline", "example", "texts"]);
      metrics.restore(link, settings.get("metrics"));
      link.select("method", method);
      link.select("count", resamples);
      const texts = link.texts(areFiles);
      const wanted = settings.get("baseline");
      if (wanted !== null) state.baseline = wanted;
      if (texts) files.set(texts);
      else if (settings.has("example")) {
        files.set(exampleSystems());
        state.example = true;
      } else arrange();
      if (wanted && !files.isEmpty() && state.baseline !== wanted) link.refuse(`there is no system “${clipped(wanted)}”`);
      if (link.waits("metrics")) showLinkNotice(result, link.problems, files.isEmpty() ? null : go.textContent);
      else if (!files.isEmpty()) run();
    },
  };
}

/** The segments of an answer of /v1/score in the form of /v1/compare. */
function segmentScores(scores) {
  const metrics = scores.map(({ metric, system, segments }) =>
    [metric, { [system]: { values: segments.map(({ id, ...components }) => Object.values(components)[0]) } }]);
  return { ids: scores[0].segments.map(({ id }) => id), metrics: Object.fromEntries(metrics) };
}

/** A function that finds the texts of a system's segment in a request. */
function textFinder({ systems, references, pairs }) {
  if (systems) {
    return (system, id) => {
      const candidate = systems[system]?.[Number(id)];
      return candidate === undefined ? null : { candidate, references: references[Number(id)] };
    };
  }
  const counts = new Map(); // rows without an id are numbered within their system, as by the service
  const byKey = new Map(pairs.map(({ system = "candidates", id, candidate, references: texts }) => {
    const number = counts.get(system) ?? 0;
    counts.set(system, number + 1);
    return [JSON.stringify([system, id ?? String(number)]), { candidate, references: [texts].flat() }];
  }));
  return (system, id) => byKey.get(JSON.stringify([system, id])) ?? null;
}

/** Whether the texts of a link are systems with references, or pairs. */
function areFiles(texts) {
  if (Array.isArray(texts?.pairs)) {
    const fits = (pair) => typeof pair?.candidate === "string" && areReferences(pair.references) &&
      [pair.system, pair.id].every((each) => each === undefined || typeof each === "string");
    return texts.pairs.length > 0 && texts.pairs.every(fits);
  }
  const outputs = Object.values(texts?.systems ?? {});
  return outputs.length > 0 && outputs.every(areTexts) && Array.isArray(texts.references) &&
    texts.references.length > 0 && texts.references.every((row) => areTexts(row) && row.length > 0);
}

/** The texts of the files for a link; null if the files do not match. */
function textsFor(files) {
  try {
    return files.body();
  } catch {
    return null;
  }
}
