// The view of a judge: does it agree with people as well as people agree with each other?

import { post } from "./api.js";
import { drawingCard } from "./charts.js";
import { checkboxes } from "./checkboxes.js";
import { drawConfusion } from "./confusion.js";
import { saveCsv } from "./download.js";
import { choice, h, quietButton, refill, section } from "./elements.js";
import { exampleLabels } from "./examples.js";
import { readFile } from "./files.js";
import { agreementTable, biasTable, judgeRows, personTable, replacementTable } from "./judge_tables.js";
import { areTexts, clipped, linkReader, settingsOf } from "./link.js";
import { inputError, notes } from "./notices.js";
import { counted } from "./number_format.js";
import { tableView } from "./table_view.js";

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
  const raters = h("div", { class: "fields" });
  let judge = null;
  let people = null;
  const order = h("input", {
    type: "text", autocomplete: "off", spellcheck: "false", placeholder: "low, high", onchange: onChange,
  });
  const scale = choice("Scale", SCALES, "default", onChange);
  const epsilon = choice("Epsilon of the replacement test", EPSILONS, "0.1", onChange);
  const view = tableView(LABELS, {
    title: "Check a judge against people",
    lead: "See whether an LLM, or a person, gives the same labels as people, and whether it is biased.",
    fields: [raters, h("div", { class: "fields" }, scale,
      h("label", { class: "field" }, h("span", {}, "Order of labels, lowest first"), order), epsilon)],
    button: "Check the judge", waiting: "Checking …",
    send: (body, { signal }) => post("/v1/judge", body, { signal }),
    onTable, onChange, body, show,
  });

  function onTable(table) {
    const names = Object.keys(table.labels);
    judge = names.at(-1);
    drawRaters(table);
    return `${counted(table.items.length, "row")}, ${counted(names.length, "rater")}`;
  }

  /** The choice of the judge, and of people among the other raters. */
  function drawRaters(table, chosen = null) {
    const names = Object.keys(table.labels);
    const others = names.filter((name) => name !== judge);
    people = checkboxes("People", others.map((name) => [name, name]), chosen ?? others, onChange);
    const field = choice("Judge", names, judge, (value) => {
      judge = value;
      drawRaters(table);
      raters.querySelector("select").focus();
      onChange();
    });
    refill(raters, field, people.element);
  }

  function body(table) {
    if (people.values().length === 0) throw inputError("Nobody is selected under “People”: select at least one.");
    const ordered = order.value.split(",").map((label) => label.trim()).filter(Boolean);
    return {
      ...table, judge, human: people.values(), epsilon: Number(epsilon.control.value),
      order: ordered.length ? ordered : null, scale: scale.control.value === "default" ? null : scale.control.value,
    };
  }

  return {
    element: view.element,
    texts: view.texts,
    settings: () => settingsOf({
      scale: scale.control.value, epsilon: epsilon.control.value, order: order.value.trim() && order.value,
      judge: view.found.table && judge, people: view.found.table && JSON.stringify(people.values()),
      example: view.found.isExample && "1",
    }),
    restore(settings) {
      const link = linkReader(settings, PARTS);
      link.select("scale", scale);
      link.select("epsilon", epsilon);
      order.value = settings.get("order") ?? "";
      view.restore(link, settings);
      if (view.found.table) restoreRaters(view.found.table, link, settings);
      view.start(link);
    },
  };

  function restoreRaters(table, link, settings) {
    const wanted = settings.get("judge");
    if (wanted !== null && !Object.hasOwn(table.labels, wanted)) link.refuse(`there is no rater “${clipped(wanted)}”`);
    else if (wanted !== null) judge = wanted;
    const others = link.json("people", areTexts, "the people of the link are not a list of names");
    const unknown = others?.find((name) => !Object.hasOwn(table.labels, name));
    if (unknown !== undefined) link.refuse(`there is no rater “${clipped(unknown)}”`);
    drawRaters(table, others);
  }
}

function show(answer) {
  return [
    section("Verdict", quietButton("Download CSV", () => saveCsv(judgeRows(answer), "judge.csv")),
      h("p", {}, answer.verdict),
      h("p", { class: "note" }, `${answer.judge} and ${answer.people.join(", ")}; ${counted(answer.items, "item")}; ` +
        `${answer.scale} scale; intervals: bootstrap over ${answer.agreement[0].judge.resampled}.`),
      agreementTable(answer), personTable(answer), notes(answer.notes)),
    moreCard(answer), confusionCard(answer),
  ];
}

/** The test of replacement and the biases; null if there are neither. */
function moreCard(answer) {
  const tables = [replacementTable(answer), biasTable(answer)].filter(Boolean);
  return tables.length ? section("Replacement and biases", null, tables) : null;
}

/** The confusion matrix; null if there are too many labels. */
function confusionCard(answer) {
  return answer.confusion && drawingCard({
    title: "Confusion matrix", file: "confusion.svg",
    note: "How often people gave the label of the row, and the judge that of the column.",
    draw: (_, palette) => drawConfusion(answer, { palette }),
  });
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
