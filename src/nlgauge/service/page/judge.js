// The view of a judge: does it agree with people as well as people agree with each other?

import { post } from "./api.js";
import { checkboxes } from "./checkboxes.js";
import { LIGHT } from "./colours.js";
import { drawConfusion } from "./confusion.js";
import { saveCsv, saveSvg } from "./download.js";
import { choice, h, refill, reveal, scrollable } from "./elements.js";
import { exampleLabels } from "./examples.js";
import { readFile } from "./files.js";
import { agreementTable, biasTable, judgeRows, personTable, replacementTable } from "./judge_tables.js";
import { areTexts, clipped, linkReader } from "./link.js";
import { inputError, notes, showLinkNotice } from "./notices.js";
import { counted } from "./number_format.js";
import { taskRunner } from "./run_task.js";
import { tableUpload } from "./table_upload.js";
import { onResizeOrTheme, palette } from "./theme.js";

const SCALES = [["default", "by the labels"], ["nominal", "nominal"], ["ordinal", "ordinal"], ["interval", "interval"], ["ratio", "ratio"]];
const EPSILONS = ["0", "0.05", "0.1", "0.15", "0.2"];
const PARTS = ["judge", "people", "order", "scale", "epsilon", "example", "texts"];
const LABELS = {
  title: "Drop a file of labels here",
  hint: "A table (.csv, .tsv, .jsonl, .json) with the column item and a column for each rater, or with the columns " +
    "item, rater and label. The columns system, position and length are used, too.",
  read: async (file) => (await readFile(file, "labels")).labels,
  exampleName: "The example (its labels are invented)",
  example: exampleLabels,
  isTable: areLabels,
};

/** The view; `onChange` is called when its link changes. */
export function judgeView(catalogue, onChange) {
  const state = { judge: null, scale: "default", epsilon: "0.1" };
  const raters = h("div", { class: "fields" });
  let people = null;
  const order = h("input", {
    type: "text", autocomplete: "off", spellcheck: "false", placeholder: "low, high", onchange: onChange,
  });
  const scale = choice("Scale", SCALES, state.scale, (value) => {
    state.scale = value;
    onChange();
  });
  const epsilon = choice("Epsilon of the replacement test", EPSILONS, state.epsilon, (value) => {
    state.epsilon = value;
    onChange();
  });
  const result = h("div", { class: "results" });
  const go = h("button", { type: "button", class: "primary", onclick: () => run() }, "Check the judge");
  const work = taskRunner(go, result);
  const upload = tableUpload(LABELS, { result, work, onTable, onChange, run: () => run() });

  function onTable(table) {
    const names = Object.keys(table.labels);
    state.judge = names.at(-1);
    drawRaters(table);
    return `${counted(table.items.length, "row")}, ${counted(names.length, "rater")}`;
  }

  /** The choice of the judge, and of people among the other raters. */
  function drawRaters(table, chosen = null) {
    const names = Object.keys(table.labels);
    const others = names.filter((name) => name !== state.judge);
    people = checkboxes("People", others.map((name) => [name, name]), chosen ?? others, onChange);
    const judge = choice("Judge", names, state.judge, (value) => {
      state.judge = value;
      drawRaters(table);
      raters.querySelector("select").focus();
      onChange();
    });
    refill(raters, judge, people.element);
  }

  function body() {
    if (people.values().length === 0) throw inputError("Nobody is selected under “People”: select at least one.");
    const ordered = orderOf(order.value);
    return {
      ...upload.found.table, judge: state.judge, human: people.values(), epsilon: Number(state.epsilon),
      order: ordered.length ? ordered : null, scale: state.scale === "default" ? null : state.scale,
    };
  }

  const run = () => work(async ({ signal }) => {
    const request = body();
    refill(result, h("p", { class: "note", role: "status" }, "Checking …"));
    show(await post("/v1/judge", request, { signal }));
  });

  function show(answer) {
    const save = () => saveCsv(judgeRows(answer), "judge.csv");
    refill(result,
      h("section", { class: "card", "aria-labelledby": "verdict-title" },
        h("div", { class: "headline" }, h("h2", { id: "verdict-title" }, "Verdict"),
          h("button", { type: "button", class: "quiet", onclick: save }, "Download CSV")),
        h("p", {}, answer.verdict),
        h("p", { class: "note" }, `${answer.judge} and ${answer.people.join(", ")}; ${counted(answer.items, "item")}; ` +
          `${answer.scale} scale; intervals: bootstrap over ${answer.agreement[0].judge.resampled}.`),
        agreementTable(answer), personTable(answer), notes(answer.notes)),
      moreCard(answer), confusionCard(answer));
    reveal(result);
  }

  return {
    element: h("div", { class: "view" },
      h("h1", {}, "Check a judge against people"),
      h("p", { class: "lead" },
        "See whether an LLM, or a person, gives the same labels as people, and whether it is biased."),
      upload.form(raters,
        h("div", { class: "fields" }, scale,
          h("label", { class: "field" }, h("span", {}, "Order of labels, lowest first"), order), epsilon),
        h("div", { class: "actions" }, go)),
      result),
    texts: upload.texts,
    settings() {
      const link = new URLSearchParams({ scale: state.scale, epsilon: state.epsilon });
      if (order.value.trim()) link.set("order", order.value);
      if (upload.found.table) {
        link.set("judge", state.judge);
        link.set("people", JSON.stringify(people.values()));
      }
      if (upload.found.isExample) link.set("example", "1");
      return link;
    },
    restore(settings) {
      const link = linkReader(settings, PARTS);
      state.scale = link.choice("scale", SCALES.map(([value]) => value)) ?? state.scale;
      scale.querySelector("select").value = state.scale;
      state.epsilon = link.choice("epsilon", EPSILONS) ?? state.epsilon;
      epsilon.querySelector("select").value = state.epsilon;
      order.value = settings.get("order") ?? "";
      upload.restore(link, settings);
      const { table } = upload.found;
      if (table) restoreRaters(table, link, settings);
      if (link.waits()) showLinkNotice(result, link.problems, table ? go.textContent : null);
      else if (table) run();
    },
  };

  function restoreRaters(table, link, settings) {
    const wanted = settings.get("judge");
    if (wanted !== null && !Object.hasOwn(table.labels, wanted)) link.refuse(`there is no rater “${clipped(wanted)}”`);
    else if (wanted !== null) state.judge = wanted;
    const others = link.json("people", areTexts, "the people of the link are not a list of names");
    const unknown = others?.find((name) => !Object.hasOwn(table.labels, name));
    if (unknown !== undefined) link.refuse(`there is no rater “${clipped(unknown)}”`);
    drawRaters(table, others);
  }
}

/** The labels of a list with commas. */
function orderOf(text) {
  return text.split(",").map((label) => label.trim()).filter(Boolean);
}

/** The test of replacement and the biases; null if there are neither. */
function moreCard(answer) {
  const tables = [replacementTable(answer), biasTable(answer)].filter(Boolean);
  if (tables.length === 0) return null;
  return h("section", { class: "card", "aria-labelledby": "replacement-title" },
    h("h2", { id: "replacement-title" }, "Replacement and biases"), tables);
}

/** The confusion matrix; null if there are too many labels. */
function confusionCard(answer) {
  if (!answer.confusion) return null;
  const stage = h("div", { class: "stage" });
  onResizeOrTheme(stage, () => refill(stage, drawConfusion(answer, { palette: palette() })));
  const save = () => saveSvg(drawConfusion(answer, { palette: LIGHT }), "confusion.svg");
  return h("section", { class: "card", "aria-labelledby": "confusion-title" },
    h("div", { class: "headline" }, h("h2", { id: "confusion-title" }, "Confusion matrix"),
      h("button", { type: "button", class: "quiet", onclick: save }, "Download SVG")),
    h("p", { class: "note" }, "How often people gave the label of the row, and the judge that of the column."),
    scrollable(stage));
}

/** Whether the texts of a link are a table of labels. */
function areLabels(table) {
  const size = table?.items?.length;
  const fits = (cells) => Array.isArray(cells) && cells.length === size &&
    cells.every((cell) => cell === null || ["string", "number"].includes(typeof cell));
  const { items, labels, ...columns } = table ?? {};
  const known = Object.keys(columns).every((name) => ["position", "length", "system", "cluster"].includes(name));
  return size > 0 && fits(items) && known && Object.keys(labels ?? {}).length > 0 &&
    [...Object.values(labels), ...Object.values(columns)].every(fits);
}
