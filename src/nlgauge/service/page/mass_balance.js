// The mass balance of a plan: how much was moved, left behind, unmet or created.

import { h } from "./elements.js";
import { percent } from "./number_format.js";

const VISIBLE = 5e-4;

/** Two bars, one for each side, and their numbers. */
export function massBalance(totals) {
  const sides = [
    ["candidate", totals.moved, totals.left, "left behind", totals.doubled],
    ["reference", totals.moved, totals.unmet, "unmet", totals.created],
  ];
  return h("dl", { class: "balance" }, sides.map(([side, moved, lacking, name, extra]) => [
    h("dt", {}, side),
    h("dd", {},
      bar(moved - extra, extra),
      h("span", {}, [
        `${percent(moved)} moved`,
        lacking > VISIBLE && `${percent(lacking)} ${name}`,
        extra > VISIBLE && `${percent(extra)} created`,
      ].filter(Boolean).join(", "))),
  ]));
}

function bar(kept, extra) {
  const part = (name, share) => {
    const made = h("span", { class: name });
    made.style.width = `${100 * Math.min(Math.max(share, 0), 1)}%`;
    return made;
  };
  return h("span", { class: "mass", "aria-hidden": "true" }, part("kept", kept), part("extra", extra));
}
