// One task at a time: its button is disabled meanwhile, and an error replaces the result.

import { h, refill } from "./elements.js";
import { showError } from "./notices.js";

/** A function that runs a task unless one is running. */
export function taskRunner(button, result) {
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
