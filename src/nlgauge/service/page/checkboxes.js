// A group of checkboxes.

import { h } from "./elements.js";
import { inputError } from "./notices.js";

/** The group; `values()` are the checked values in order. */
export function checkboxes(title, choices, checked, onChange) {
  const boxes = choices.map(([value]) =>
    h("input", { type: "checkbox", value, checked: checked.includes(value), onchange: onChange }));
  return {
    element: h("fieldset", { class: "ticks" }, h("legend", {}, title),
      choices.map(([, name], k) => h("label", {}, boxes[k], ` ${name}`))),
    values: () => boxes.filter((box) => box.checked).map((box) => box.value),
    /** The values for a request, which needs at least one. */
    wanted() {
      const chosen = this.values();
      if (chosen.length === 0) throw inputError(`Nothing is selected under “${title}”: select at least one.`);
      return chosen;
    },
    choose(values) {
      for (const box of boxes) box.checked = values.includes(box.value);
    },
  };
}
