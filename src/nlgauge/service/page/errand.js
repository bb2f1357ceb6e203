// One piece of work at a time: its button rests meanwhile, and what went wrong takes the result's place.

import { h, refill } from "./elements.js";
import { showError } from "./notices.js";

/** A function that does a task, unless one is being done already. */
export function errand(button, result) {
  return async (task) => {
    if (button.disabled) return;
    button.disabled = true;
    try {
      await task();
    } catch (error) {
      const cancelled = h("p", { class: "note" }, "Cancelled. Nothing is running any more.");
      if (error.name === "AbortError") refill(result, cancelled);
      else showError(result, error);
    } finally {
      button.disabled = false;
    }
  };
}
