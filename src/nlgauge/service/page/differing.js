// The segments on which a system differs most from the baseline, side by side.

import { choice, h, refill } from "./elements.js";
import { difference, score } from "./numbers.js";
import { markDifferences } from "./words.js";

/** The section; metric and system can be chosen from those that were compared. */
export function differingSegments(answer, nameSegment) {
  if (answer.differ.length === 0) return null;
  const unique = (name) => [...new Set(answer.differ.map((each) => each[name]))];
  const [metrics, systems] = [unique("metric"), unique("system")];
  const chosen = { metric: metrics[0], system: systems[0] };
  const list = h("ol", { class: "differing" });
  const draw = () => refill(list, answer.differ
    .filter((each) => each.metric === chosen.metric && each.system === chosen.system)
    .map((each) => segment(each, answer.scales[each.metric], nameSegment(each.segment))));
  const pick = (name) => (value) => {
    chosen[name] = value;
    draw();
  };
  draw();
  return h("section", { class: "card", "aria-labelledby": "differing-title" },
    h("h2", { id: "differing-title" }, "Where they differ most"),
    h("div", { class: "fields" },
      choice("Metric", metrics, chosen.metric, pick("metric")),
      choice(`System, against ${answer.baseline}`, systems, chosen.system, pick("system"))),
    list);
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
      h("p", { class: "reference" }, h("span", { class: "note" }, "reference "), text)));
}

function side(name, value, text, scale) {
  return h("div", { class: "side" },
    h("p", { class: "beside" }, h("strong", {}, name), h("span", { class: "value" }, score(value, scale.range))),
    h("p", {}, text.length ? text : h("em", { class: "note" }, "empty")));
}
