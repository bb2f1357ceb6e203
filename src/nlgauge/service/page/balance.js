// What became of the mass: how much moved, was left behind, is lacking, or was made from nothing.

import { h } from "./elements.js";
import { percent } from "./numbers.js";

const SEEN = 5e-4;

/** Two bars, one a side, and their numbers in words. */
export function balance(ledger) {
  const sides = [
    ["candidate", ledger.moved, ledger.left, "left behind", ledger.doubled],
    ["reference", ledger.moved, ledger.unmet, "unmet", ledger.created],
  ];
  return h("dl", { class: "balance" }, sides.map(([side, moved, lacking, name, extra]) => [
    h("dt", {}, side),
    h("dd", {},
      bar(moved - extra, extra),
      h("span", {}, [
        `${percent(moved)} moved`,
        lacking > SEEN && `${percent(lacking)} ${name}`,
        extra > SEEN && `${percent(extra)} created`,
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
