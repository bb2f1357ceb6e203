// The scores of one pair: value, position in the range, components and signatures.

import { copy } from "./clipboard.js";
import { h } from "./elements.js";
import { directionOf } from "./metrics.js";
import { warnings } from "./notices.js";
import { score } from "./number_format.js";
import { scaleBar } from "./score_scale.js";

/** A list of all scores of an answer of /v1/score. */
export function scoreList(scores) {
  return [
    h("ul", { class: "scores" }, scores.map(row)),
    sharedWarnings(scores),
    signatures(Object.fromEntries(scores.map((each) => [each.metric, each.signature]))),
  ];
}

/** Every warning once, after the metrics that have it; nothing if there are none. */
export function sharedWarnings(scores) {
  const texts = new Set(scores.flatMap((each) => each.warnings));
  const metrics = (text) => scores.filter((each) => each.warnings.includes(text)).map((each) => each.metric);
  return warnings([...texts].map((text) => `${metrics(text).join(", ")}: ${text}`));
}

/** The signatures, which reproduce the scores, in a collapsed list. */
export function signatures(byMetric) {
  const lines = Object.entries(byMetric).map(([metric, signature]) => {
    const text = h("code", {}, signature);
    const button = h("button", {
      type: "button", class: "quiet small", "aria-label": `Copy the signature of ${metric}`,
      onclick: async () => {
        if (await copy(signature)) button.textContent = "Copied";
        else getSelection().selectAllChildren(text);
      },
    }, "Copy");
    return h("li", {}, text, button);
  });
  return h("details", { class: "signatures" },
    h("summary", {}, "Signatures"), h("ul", {}, lines));
}

function row(each) {
  const { sign, words } = directionOf(each.direction);
  const others = Object.entries(each.components).slice(1);
  return h("li", {},
    h("span", { class: "name" }, each.metric, " ",
      h("span", { class: "sign", title: words, role: "img", "aria-label": words }, sign)),
    h("span", { class: "value" }, score(each.value, each.range)),
    each.value === null ? null : scaleBar(each.value, each.range, each.direction),
    h("span", { class: "components" }, others.map(([name, value]) =>
      h("span", {}, `${name.replaceAll("_", " ")} `, h("b", {}, score(value))))));
}
