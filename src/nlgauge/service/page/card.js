// The view of a metric card: the properties of one metric on judged data.

import { distributionCard } from "./charts.js";
import { correlationTable } from "./correlations.js";
import { saveText } from "./download.js";
import { choice, h, refill, reveal } from "./elements.js";
import { runJob } from "./jobs.js";
import { clipped, linkReader } from "./link.js";
import { metricPicker } from "./metric_picker.js";
import { notes, showLinkNotice } from "./notices.js";
import { counted, end } from "./number_format.js";
import { taskRunner } from "./run_task.js";
import { signatures } from "./scores.js";
import { table } from "./table.js";
import { describeJudged, JUDGED, tableUpload } from "./table_upload.js";

const BESIDE = ["bleu", "chrf"];
const DIRECTIONS = [["higher", "higher is better"], ["lower", "lower is better"]];
const PARTS = ["metric", "stored", "direction", "beside", "criterion", "example", "texts"];
const CURVES = "Scores by human quality"; // the section that has a drawing

/** The view; `onChange` is called when its link changes. */
export function cardView(catalogue, onChange) {
  const known = catalogue.metrics.some((metric) => metric.name === "gauge") ? "gauge" : "bertscore";
  const state = { stored: "", direction: "higher", criterion: null };
  const metric = metricPicker(catalogue, [known], onChange, { label: "Metric of the card", single: true });
  const beside = metricPicker(catalogue, BESIDE, onChange, { label: "Metrics beside it" });
  const own = h("div", {}, h("h2", { class: "label" }, "Metric"), metric.element);
  const fields = h("div", { class: "fields" });
  const progress = h("div");
  const result = h("div", { class: "results" });
  const go = h("button", { type: "button", class: "primary", onclick: () => run() }, "Make the card");
  const work = taskRunner(go, result);
  const upload = tableUpload(JUDGED, { result, work, onTable, onChange, run: () => run() });

  function onTable(rows) {
    Object.assign(state, { stored: "", criterion: Object.keys(rows[0].human)[0] });
    drawFields(rows);
    return describeJudged(rows);
  }

  /** The choices that depend on the file: stored scores, their direction, and the criterion. */
  function drawFields(rows) {
    const stored = Object.keys(rows[0].scores ?? {});
    const field = (name, label, choices) => choice(label, choices, state[name], (value) => {
      state[name] = value;
      drawFields(rows);
      fields.querySelector(`select[name="${name}"]`).focus();
      onChange();
    }, { name });
    own.hidden = state.stored !== "";
    refill(fields,
      stored.length > 0 && field("stored", "Scores", [["", "computed by the metric"], ...stored.map((name) => [name, `stored: ${name}`])]),
      state.stored !== "" && field("direction", "Direction", DIRECTIONS),
      field("criterion", "Human scores", Object.keys(rows[0].human)));
  }

  function body() {
    const stored = state.stored || null;
    return {
      rows: upload.found.table, data: upload.found.name.slice(0, 200), beside: beside.wanted(), human: state.criterion,
      metric: stored ? null : metric.wanted()[0], stored, lower_is_better: stored !== null && state.direction === "lower",
    };
  }

  const run = () => work(async (stop) => {
    const request = body();
    refill(result);
    show(await runJob("card", request, progress, stop));
  });

  function show(answer) {
    const [agreement, ...others] = answer.sections;
    refill(result,
      h("section", { class: "card", "aria-labelledby": "card-title" },
        h("div", { class: "headline" }, h("h2", { id: "card-title" }, `${answer.title}: metric card`),
          h("div", { class: "buttons" }, downloads(answer))),
        facts(answer),
        h("h3", {}, agreement.title), sentences(agreement),
        correlationTable({ correlations: answer.agreement, tests: [] }),
        notes(answer.notes), signatures({ [answer.metric]: answer.signature })),
      h("div", { class: "sections" }, others.map((section) => sectionCard(section, answer))));
    reveal(result);
  }

  return {
    element: h("div", { class: "view" },
      h("h1", {}, "Create a metric card"),
      h("p", { class: "lead" },
        "See on one page how well a metric agrees with people, what it favours, what it misses and what it costs."),
      upload.form(own, h("h2", { class: "label" }, "Compare with"), beside.element, fields,
        h("div", { class: "actions" }, go)),
      progress, result),
    texts: upload.texts,
    settings() {
      const link = new URLSearchParams();
      if (metric.linkPart()) link.set("metric", metric.linkPart());
      if (beside.linkPart()) link.set("beside", beside.linkPart());
      if (state.stored) {
        link.set("stored", state.stored);
        link.set("direction", state.direction);
      }
      if (upload.found.table) link.set("criterion", state.criterion);
      if (upload.found.isExample) link.set("example", "1");
      return link;
    },
    restore(settings) {
      const link = linkReader(settings, PARTS);
      metric.restore(link, settings.get("metric")?.split(";")[0] ?? null);
      beside.restore(link, settings.get("beside"));
      state.direction = link.choice("direction", DIRECTIONS.map(([value]) => value)) ?? state.direction;
      upload.restore(link, settings);
      const { table: rows } = upload.found;
      if (rows) restoreNames(rows, link, settings);
      if (link.waits("metric", "beside")) showLinkNotice(result, link.problems, rows ? go.textContent : null);
      else if (rows) run();
    },
  };

  function restoreNames(rows, link, settings) {
    for (const [name, cells] of [["criterion", rows[0].human], ["stored", rows[0].scores ?? {}]]) {
      const wanted = settings.get(name);
      if (wanted !== null && !Object.hasOwn(cells, wanted)) link.refuse(`the rows have no ${name} “${clipped(wanted)}”`);
      else if (wanted !== null) state[name] = wanted;
    }
    drawFields(rows);
  }
}

/** Buttons that save the card as it is attached to a paper or an issue. */
function downloads(answer) {
  const name = answer.metric.replace(/[^\w.-]+/g, "-");
  const button = (words, content, ending, type) => h("button", {
    type: "button", class: "quiet", onclick: () => saveText(content, `${name}.card.${ending}`, type),
  }, words);
  return [
    button("Download HTML", answer.html, "html", "text/html"),
    button("Download Markdown", answer.markdown, "md", "text/markdown"),
  ];
}

/** What the metric is, and the data. */
function facts({ about, paper, direction, range, data, criterion, outputs, systems, inputs }) {
  const limits = range.every((each) => each === null) ? "" : `, from ${end(range[0])} to ${end(range[1])}`;
  const lines = [
    about, paper, `${direction === "higher" ? "Higher" : "Lower"} is better${limits}.`,
    `${data}; human scores: ${criterion}; ${counted(outputs, "output")} of ${counted(systems, "system")} for ` +
      `${counted(inputs, "input")}.`,
  ];
  return lines.filter(Boolean).map((line) => h("p", { class: "note" }, line));
}

/** A section of the card; the distributions by quality are drawn, too. */
function sectionCard(section, { distributions, scales }) {
  const { title, columns } = section;
  const drawn = title === CURVES ? distributionCard(distributions, scales) : null;
  const card = drawn ?? h("div", { class: "card" }, h("h2", {}, title)); // its table is a region of that name
  card.append(...sentences(section));
  if (columns.length) card.append(sectionTable(section));
  return card;
}

function sentences(section) {
  return section.sentences.map((line) => h("p", { class: "note" }, line));
}

/** The table of a section: cells are shown as on the card, and sorted by their values. */
function sectionTable({ title, columns, rows, texts }) {
  const isNumber = (k) => rows.every((row) => row[k] === null || typeof row[k] === "number");
  const isInterval = (k) => texts.every((row) => /^(\[.*\])?$/.test(row[k]));
  return table({
    caption: title === CURVES ? "Mean scores by human quality" : title,
    captioned: false,
    columns: columns.map((name, k) => ({
      name, numeric: k > 0 && isNumber(k), look: isInterval(k) ? "whole" : null,
      key: ([value]) => value, show: ([, text]) => text || "–",
    })),
    rows: rows.map((row, r) => row.map((value, k) => [value, texts[r][k]])),
  });
}
