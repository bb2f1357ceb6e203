// The candidate with its predicted errors marked.

import { h } from "./elements.js";
import { counted } from "./number_format.js";

/** A paragraph with the marked text, or nothing if no errors can be predicted (`spans` is null). */
export function predictedErrors(text, spans) {
  if (!spans) return null;
  const letters = Array.from(text); // offsets count characters, not UTF-16 units
  const nodes = [];
  let at = 0;
  for (const { start, end, severity } of spans) {
    nodes.push(letters.slice(at, start).join(""));
    nodes.push(h("mark", { class: severity, title: `${severity} error` }, letters.slice(start, end).join("")));
    at = end;
  }
  nodes.push(letters.slice(at).join(""));
  return [
    h("h3", {}, "Predicted errors"),
    h("p", { class: "marked", dir: "auto" }, nodes),
    h("p", { class: "note" }, spans.length ? legend(spans) : "No word costs enough to count as an error."),
  ];
}

function legend(spans) {
  const counts = ["minor", "major"].map((severity) => [severity, spans.filter((span) => span.severity === severity).length]);
  const present = counts.filter(([, count]) => count);
  const kinds = present.map(([severity, count], k) =>
    [k > 0 && ", ", h("mark", { class: severity }, counted(count, `${severity} error`))]);
  return [kinds, ": words that cost much to match. The thresholds are averages over many texts."];
}
