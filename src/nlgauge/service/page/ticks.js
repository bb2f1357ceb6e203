// A group of boxes to tick.

import { h } from "./elements.js";
import { mistake } from "./notices.js";

/** The group; `values()` are the ticked ones in their order. */
export function ticks(title, choices, ticked, onChange) {
  const boxes = choices.map(([value]) =>
    h("input", { type: "checkbox", value, checked: ticked.includes(value), onchange: onChange }));
  return {
    element: h("fieldset", { class: "ticks" }, h("legend", {}, title),
      choices.map(([, name], k) => h("label", {}, boxes[k], ` ${name}`))),
    values: () => boxes.filter((box) => box.checked).map((box) => box.value),
    /** The same for a request, which needs at least one. */
    wanted() {
      const chosen = this.values();
      if (chosen.length === 0) throw mistake(`Nothing is ticked under “${title}”: tick at least one.`);
      return chosen;
    },
    choose(values) {
      for (const box of boxes) box.checked = values.includes(box.value);
    },
  };
}
