// A group of checkboxes.

import { h } from "./elements.js";
import { inputError } from "./notices.js";

/** The group; `values()` are the checked values in order, of those that are offered. */
export function checkboxes(title, choices, checked, onChange) {
  const boxes = choices.map(([value]) =>
    h("input", { type: "checkbox", value, checked: checked.includes(value), onchange: onChange }));
  const labels = choices.map(([, name], k) => h("label", {}, boxes[k], ` ${name}`));
  return {
    element: h("fieldset", { class: "ticks" }, h("legend", {}, title), labels),
    values: () => boxes.filter((box, k) => box.checked && !labels[k].hidden).map((box) => box.value),
    /** Show a choice, or hide one that the data does not allow. */
    offer(value, possible) {
      labels[boxes.findIndex((box) => box.value === value)].hidden = !possible;
    },
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
