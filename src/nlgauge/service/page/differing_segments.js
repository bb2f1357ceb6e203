// The segments with the largest differences between a system and the baseline.

import { filterFields, h, refill, section } from "./elements.js";
import { difference, score } from "./number_format.js";
import { markDifferences } from "./word_differences.js";

/** The section; metric and system can be chosen from those that were compared. */
export function differingSegments(answer, nameSegment) {
  if (answer.differ.length === 0) return null;
  const columns = [
    { name: "metric", label: "Metric" }, { name: "system", label: `System, against ${answer.baseline}` },
  ];
  const list = h("ol", { class: "differing" });
  const fields = filterFields(answer.differ, columns, (rows) => refill(list, rows.map((each) =>
    segment(each, answer.scales[each.metric], nameSegment(each.segment)))));
  return section("Largest differences", null, fields, list);
}

function segment(each, scale, name) {
  const [before, after] = markDifferences(each.baseline_candidate, each.candidate);
  const gain = each.difference * (scale.direction === "higher" ? 1 : -1);
  return h("li", {},
    h("p", { class: "beside" },
      h("span", { class: "note" }, name),
      h("span", { class: gain > 0 ? "gain" : "loss" },
        `${difference(each.difference, scale.range)} ${gain > 0 ? "better" : "worse"}`)),
    h("div", { class: "sides" },
      side(each.baseline, each.baseline_value, before, scale), side(each.system, each.value, after, scale)),
    each.references.map((text) =>
      h("p", { class: "reference" }, h("span", { class: "note" }, "reference "), h("bdi", {}, text))));
}

function side(name, value, text, scale) {
  return h("div", { class: "side" },
    h("p", { class: "beside" }, h("strong", {}, name), h("span", { class: "value" }, score(value, scale.range))),
    h("p", { dir: "auto" }, text.length ? text : h("em", { class: "note" }, "empty")));
}
