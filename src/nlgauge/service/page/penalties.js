// Two sliders for what mass costs that stays behind: from 0 through small prices to infinity.

import { h } from "./elements.js";

const LAST = 100;
const LOWEST = 0.005;
const HIGHEST = 5;

/** The sliders; `values()` are the prices as texts, "inf" at the upper end. */
export function penalties(candidate, reference, onChange) {
  const first = slider("Price on the candidate’s side", "candidate", candidate, onChange);
  const second = slider("Price on the reference’s side", "reference", reference, onChange);
  return {
    element: h("div", { class: "penalties" }, first.element, second.element),
    values: () => [first.value(), second.value()],
    set: (one, other) => {
      first.set(one);
      second.set(other);
    },
  };
}

/** The price at a place of the slider, evenly spaced in its logarithm. */
function priceAt(place) {
  if (place <= 0) return "0";
  if (place >= LAST) return "inf";
  const price = LOWEST * (HIGHEST / LOWEST) ** ((place - 1) / (LAST - 2));
  return String(Number(price.toPrecision(2)));
}

/** The place of a price. */
function placeOf(price) {
  const value = Number(price === "inf" ? Infinity : price);
  if (!(value > 0)) return 0;
  if (value === Infinity) return LAST;
  const place = 1 + ((LAST - 2) * Math.log(value / LOWEST)) / Math.log(HIGHEST / LOWEST);
  return Math.min(Math.max(Math.round(place), 1), LAST - 1);
}

function slider(label, side, price, onChange) {
  let exact = price;
  const output = h("output", { for: `price-${side}` });
  const input = h("input", {
    type: "range", id: `price-${side}`, min: 0, max: LAST, step: 1,
    oninput: () => {
      exact = priceAt(Number(input.value));
      show();
      onChange();
    },
  });
  function show() {
    input.value = placeOf(exact);
    output.textContent = exact === "inf" ? "∞" : exact;
    input.setAttribute("aria-valuetext", exact === "inf" ? "infinite" : exact);
  }
  show();
  return {
    element: h("div", { class: "penalty" },
      h("label", { for: `price-${side}` }, label), output, input,
      h("span", { class: "ends", "aria-hidden": "true" }, h("span", {}, "0, free"), h("span", {}, "∞, forbidden"))),
    value: () => exact,
    set: (value) => {
      exact = value;
      show();
    },
  };
}
