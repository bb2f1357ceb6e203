// One task at a time for a button: a new task replaces the one that runs, and an error replaces the result.

import { h, refill } from "./elements.js";
import { showError } from "./notices.js";

/**
 * A function that runs a task, which gets an AbortController: the task has to end when it is aborted. While a
 * task runs, its button ignores clicks; it stays enabled, so that it keeps the focus. `cancel()` ends the
 * task because the texts have changed.
 */
export function taskRunner(button, result) {
  let running = null;

  function set(task) {
    running?.abort();
    running = task;
    if (task) button.setAttribute("aria-disabled", "true");
    else button.removeAttribute("aria-disabled");
  }

  button.addEventListener("click", (event) => {
    if (!running) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, { capture: true });

  async function run(task) {
    const own = new AbortController();
    set(own);
    try {
      await task(own);
    } catch (error) {
      if (own !== running) return;
      if (error.name !== "AbortError") showError(result, error);
      else {
        showCancelled("Cancelled. Nothing is running any more.");
        button.focus(); // the button that cancels is gone
      }
    } finally {
      if (own === running) set(null);
    }
  }

  function showCancelled(words) {
    refill(result, h("p", { class: "note" }, words));
  }

  run.cancel = () => {
    if (!running) return;
    set(null);
    showCancelled("Cancelled, because the texts have changed.");
  };
  return run;
}
