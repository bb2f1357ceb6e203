// The view of a metric card: the properties of one metric on judged data.

import { distributionCard } from "./charts.js";
import { correlationTable } from "./correlations.js";
import { saveText } from "./download.js";
import { choice, h, quietButton, refill, section } from "./elements.js";
import { runJob } from "./jobs.js";
import { clipped, linkReader, settingsOf } from "./link.js";
import { metricPicker } from "./metric_picker.js";
import { notes } from "./notices.js";
import { counted, end } from "./number_format.js";
import { signatures } from "./scores.js";
import { table } from "./table.js";
import { describeJudged, JUDGED, tableView } from "./table_view.js";

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
  const choices = h("div", { class: "fields" });
  const view = tableView(JUDGED, {
    title: "Create a metric card",
    lead: "See on one page how well a metric agrees with people, what it favours, what it misses and what it costs.",
    fields: [own, h("h2", { class: "label" }, "Compare with"), beside.element, choices],
    button: "Make the card",
    send: (body, stop, progress) => runJob("card", body, progress, stop),
    onTable, onChange, body, show,
  });

  function onTable(rows) {
    Object.assign(state, { stored: "", criterion: Object.keys(rows[0].human)[0] });
    drawChoices(rows);
    return describeJudged(rows);
  }

  /** The choices that depend on the file: stored scores, their direction, and the criterion. */
  function drawChoices(rows) {
    const stored = Object.keys(rows[0].scores ?? {});
    const field = (name, label, values) => choice(label, values, state[name], (value) => {
      state[name] = value;
      drawChoices(rows);
      choices.querySelector(`select[name="${name}"]`).focus();
      onChange();
    }, { name });
    own.hidden = state.stored !== "";
    refill(choices,
      stored.length > 0 && field("stored", "Scores", [["", "computed by the metric"], ...stored.map((name) => [name, `stored: ${name}`])]),
      state.stored !== "" && field("direction", "Direction", DIRECTIONS),
      field("criterion", "Human scores", Object.keys(rows[0].human)));
  }

  function body(rows, name) {
    const stored = state.stored || null;
    return {
      rows, data: name.slice(0, 200), beside: beside.wanted(), human: state.criterion, stored,
      metric: stored ? null : metric.wanted()[0], lower_is_better: stored !== null && state.direction === "lower",
    };
  }

  return {
    element: view.element,
    texts: view.texts,
    settings: () => settingsOf({
      metric: metric.linkPart(), beside: beside.linkPart(), stored: state.stored,
      direction: state.stored && state.direction, criterion: view.found.table && state.criterion,
      example: view.found.isExample && "1",
    }),
    restore(settings) {
      const link = linkReader(settings, PARTS);
      metric.restore(link, settings.get("metric")?.split(";")[0] ?? null);
      beside.restore(link, settings.get("beside"));
      state.direction = link.choice("direction", DIRECTIONS.map(([value]) => value)) ?? state.direction;
      view.restore(link, settings);
      if (view.found.table) restoreNames(view.found.table, link, settings);
      view.start(link, "metric", "beside");
    },
  };

  function restoreNames(rows, link, settings) {
    for (const [name, cells] of [["criterion", rows[0].human], ["stored", rows[0].scores ?? {}]]) {
      const wanted = settings.get(name);
      if (wanted !== null && !Object.hasOwn(cells, wanted)) link.refuse(`the rows have no ${name} “${clipped(wanted)}”`);
      else if (wanted !== null) state[name] = wanted;
    }
    drawChoices(rows);
  }
}

function show(answer) {
  const [agreement, ...others] = answer.sections;
  return [
    section(`${answer.title}: metric card`, h("div", { class: "buttons" }, downloads(answer)),
      facts(answer),
      h("h3", {}, agreement.title), sentences(agreement),
      correlationTable({ correlations: answer.agreement, tests: [] }),
      notes(answer.notes), signatures({ [answer.metric]: answer.signature })),
    h("div", { class: "sections" }, others.map((each) => sectionCard(each, answer))),
  ];
}

/** Buttons that save the card as it is attached to a paper or an issue. */
function downloads(answer) {
  const name = answer.metric.replace(/[^\w.-]+/g, "-");
  return [
    quietButton("Download HTML", () => saveText(answer.html, `${name}.card.html`, "text/html")),
    quietButton("Download Markdown", () => saveText(answer.markdown, `${name}.card.md`, "text/markdown")),
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
function sectionCard(part, { distributions, scales }) {
  const { title, columns } = part;
  const drawn = title === CURVES ? distributionCard(distributions, scales) : null;
  const card = drawn ?? h("div", { class: "card" }, h("h2", {}, title)); // its table is a region of that name
  card.append(...sentences(part));
  if (columns.length) card.append(sectionTable(part));
  return card;
}

function sentences(part) {
  return part.sentences.map((line) => h("p", { class: "note" }, line));
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
