// Two sliders for the penalties of mass that does not move, from 0 to infinity.

import { h } from "./elements.js";

const LAST = 100;
const LOWEST = 0.005;
const HIGHEST = 5;

/** The sliders; `values()` are the penalties as texts, "inf" at the upper end. */
export function penalties(candidate, reference, onChange) {
  const first = slider("Candidate penalty", "candidate", candidate, onChange);
  const second = slider("Reference penalty", "reference", reference, onChange);
  return {
    element: h("div", { class: "penalties" }, first.element, second.element),
    values: () => [first.value(), second.value()],
    set: (one, other) => {
      first.set(one);
      second.set(other);
    },
  };
}

/** Whether a text is a penalty. */
export function isPenalty(text) {
  return text === "inf" || /^\d{1,6}(\.\d{1,9})?$/.test(text ?? "");
}

/** The penalty at a position of the slider, on a logarithmic scale. */
function penaltyAt(position) {
  if (position <= 0) return "0";
  if (position >= LAST) return "inf";
  const penalty = LOWEST * (HIGHEST / LOWEST) ** ((position - 1) / (LAST - 2));
  return String(Number(penalty.toPrecision(2)));
}

/** The position of a penalty. */
function positionOf(penalty) {
  const value = Number(penalty === "inf" ? Infinity : penalty);
  if (!(value > 0)) return 0;
  if (value === Infinity) return LAST;
  const position = 1 + ((LAST - 2) * Math.log(value / LOWEST)) / Math.log(HIGHEST / LOWEST);
  return Math.min(Math.max(Math.round(position), 1), LAST - 1);
}

function slider(label, side, penalty, onChange) {
  let exact = penalty;
  const output = h("output", { for: `penalty-${side}` });
  const input = h("input", {
    type: "range", id: `penalty-${side}`, min: 0, max: LAST, step: 1,
    oninput: () => {
      exact = penaltyAt(Number(input.value));
      show();
      onChange();
    },
  });
  function show() {
    input.value = positionOf(exact);
    output.textContent = exact === "inf" ? "∞" : exact;
    input.setAttribute("aria-valuetext", exact === "inf" ? "infinite" : exact);
  }
  show();
  return {
    element: h("div", { class: "penalty" },
      h("label", { for: `penalty-${side}` }, label), output, input,
      h("span", { class: "ends", "aria-hidden": "true" }, h("span", {}, "0"), h("span", {}, "∞"))),
    value: () => exact,
    set: (value) => {
      exact = value;
      show();
    },
  };
}
